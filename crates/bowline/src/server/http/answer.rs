//! Answers of all kinds, as HTTP has them.

use std::{
    future::{Future, Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};

use super::{Body, events::Events};
use crate::{
    proto::{
        http::header::name,
        jsonrpc::{ErrorObject, RequestId, error_response},
        server::stateless::Rejection,
    },
    transport::BoxFuture,
};

/// What comes of a request. Most are answered at once; the others wait in a
/// box, so that there need be no room for that in every connection.
pub(super) enum Answer<'a> {
    Now(Ready<Response<Body>>),
    Later(BoxFuture<'a, Response<Body>>),
}

impl<'a> Answer<'a> {
    pub(super) fn later(answer: impl Future<Output = Response<Body>> + Send + 'a) -> Self {
        Self::Later(Box::pin(answer))
    }
}

impl From<Response<Body>> for Answer<'_> {
    fn from(response: Response<Body>) -> Self {
        Self::Now(ready(response))
    }
}

impl Future for Answer<'_> {
    type Output = Response<Body>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response<Body>> {
        match self.get_mut() {
            Self::Now(answer) => Pin::new(answer).poll(cx),
            Self::Later(answer) => answer.as_mut().poll(cx),
        }
    }
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// There is no such way to ask.
pub(super) fn no_such_method(sessions: bool) -> Response<Body> {
    let mut response = empty(StatusCode::METHOD_NOT_ALLOWED);
    let allowed = if sessions {
        "POST, GET, DELETE"
    } else {
        "POST"
    };
    let allowed = HeaderValue::from_static(allowed);
    response.headers_mut().insert(header::ALLOW, allowed);
    response
}

/// One JSON text.
pub(super) fn json(status: StatusCode, body: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::whole(body));
    *response.status_mut() = status;
    let json = HeaderValue::from_static(name::APPLICATION_JSON);
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}

/// A refusal, with its reason as a JSON-RPC error.
pub(super) fn refusal(
    status: StatusCode,
    id: Option<&RequestId>,
    error: &ErrorObject,
) -> Response<Body> {
    json(status, error_response(id, error))
}

pub(super) fn rejection(id: Option<&RequestId>, rejection: &Rejection) -> Response<Body> {
    let status = StatusCode::from_u16(rejection.status).unwrap_or(StatusCode::BAD_REQUEST);
    refusal(status, id, &rejection.error)
}

/// A stream of events; one that is over before it has begun is sent as a whole.
pub(super) fn stream(mut events: Events) -> Response<Body> {
    let whole = events.begin();
    let body = whole.map_or_else(|| Body::events(events), Body::whole);
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
