//! HTTP responses.

use std::{
    future::{Future, Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::{Body, events::EventStream, status::ResponseStatus};
use crate::{
    proto::{
        http::header::name,
        jsonrpc::{ErrorObject, RequestId, error_response},
        server::stateless::Rejection,
    },
    transport::BoxFuture,
};

/// The outcome of a request. Most are ready at once; the others are boxed, so
/// connections need not reserve space for them.
pub(super) enum PendingResponse<'a> {
    Ready(Ready<Response<Body>>),
    Pending(BoxFuture<'a, Response<Body>>),
}

impl<'a> PendingResponse<'a> {
    pub(super) fn pending(future: impl Future<Output = Response<Body>> + Send + 'a) -> Self {
        Self::Pending(Box::pin(future))
    }
}

impl From<Response<Body>> for PendingResponse<'_> {
    fn from(response: Response<Body>) -> Self {
        Self::Ready(ready(response))
    }
}

impl Future for PendingResponse<'_> {
    type Output = Response<Body>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        match self.get_mut() {
            Self::Ready(future) => Pin::new(future).poll(cx),
            Self::Pending(future) => future.as_mut().poll(cx),
        }
    }
}

/// Returns a response without a body.
pub(super) fn empty_response(status: impl Into<ResponseStatus>) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    status.into().set_on(&mut response);
    response
}

/// Returns the response for an unsupported method.
pub(super) fn method_not_allowed(sessions: bool) -> Response<Body> {
    let mut response = empty_response(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = if sessions {
        "POST, GET, DELETE"
    } else {
        "POST"
    };
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// Returns a JSON response.
pub(super) fn json_response(status: impl Into<ResponseStatus>, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::full(body));
    status.into().set_on(&mut response);
    let json = HeaderValue::from_static(name::APPLICATION_JSON);
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// Returns an error response with a JSON-RPC error.
pub(super) fn jsonrpc_error(
    status: impl Into<ResponseStatus>,
    id: Option<&RequestId>,
    error: &ErrorObject,
) -> Response<Body> {
    json_response(status, error_response(id, error))
}

pub(super) fn rejection_response(id: Option<&RequestId>, rejection: &Rejection) -> Response<Body> {
    let status = ResponseStatus::from_u16(rejection.status, StatusCode::BAD_REQUEST);
    jsonrpc_error(status, id, &rejection.error)
}

/// Returns an event stream; one that is already complete is sent as a whole.
pub(super) fn stream_response(mut events: EventStream) -> Response<Body> {
    let whole = events.try_complete();
    let body = whole.map_or_else(|| Body::events(events), Body::full);
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    let constant = HeaderValue::from_static;
    headers.insert(header::CONTENT_TYPE, constant(name::TEXT_EVENT_STREAM));
    headers.insert(header::CACHE_CONTROL, constant("no-cache, no-transform"));
    headers.insert(
        HeaderName::from_static(name::X_ACCEL_BUFFERING),
        constant(name::NO_BUFFERING),
    );
    response
}
