//! From a request to its response: checks, authorization, and the choice by method.

use std::{
    borrow::Borrow,
    convert::Infallible,
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, request::Parts};

use super::{
    Body, HttpService, Inner,
    activity::RequestGuard,
    admission::{acquire_permit, invalid_request_response},
    cors, post, protected,
    request_body::read_body,
    request_headers::{RequestHeaders, head_size},
    response::{self, PendingResponse},
    status::ResponseStatus,
};
use crate::proto::{http::OriginError, server::errors};

/// The minimum that hyper allows for the head of a request.
pub(super) const MIN_HEAD_BYTES: usize = 8 * 1024;

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(handle_request(Arc::clone(&self.inner), request, None))
    }
}

/// Admits a request and responds to it. Its permits are released when the
/// response is sent.
///
/// A connection stores this future as long as it is open, and most are idle
/// most of the time. So this is not an `async fn`, which would store the
/// request in addition to its parts, and uncommon waits, here and in callees,
/// are boxed.
pub(super) fn handle_request<I, B>(
    inner: I,
    request: Request<B>,
    guard: Option<RequestGuard>,
) -> impl Future<Output = Result<Response<Body>, Infallible>>
where
    I: Borrow<Arc<Inner>>,
    B: http_body::Body,
{
    let (mut parts, body) = request.into_parts();
    async move {
        let inner = inner.borrow();
        if guard.is_some() && head_size(&parts) > inner.options.max_head_bytes.max(MIN_HEAD_BYTES) {
            let why = "the request head exceeds the size limit";
            let response =
                invalid_request_response(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why);
            return Ok(response.map(|body| body.with_guard(guard)));
        }
        let response = match check_source(inner, &mut parts) {
            Ok(source) => {
                let early_response = match source {
                    Source::Client => protected::admit(inner, &mut parts, guard.as_ref()).await,
                    #[cfg(feature = "cluster")]
                    Source::OtherNode => None,
                };
                let answer = match early_response {
                    Some(early_response) => early_response.into(),
                    None => route(inner, &parts, guard.as_ref(), pin!(body)).await,
                };
                let mut response = answer.await;
                if inner.options.cors {
                    cors::add_cors_headers(&parts, response.headers_mut());
                }
                response
            }
            Err(refusal) => *refusal,
        };
        Ok(response.map(|body| body.with_guard(guard)))
    }
}

/// Where a request comes from.
enum Source {
    Client,
    /// It was admitted there.
    #[cfg(feature = "cluster")]
    OtherNode,
}

/// Checks the headers that say where a request comes from.
fn check_source(inner: &Inner, parts: &mut Parts) -> Result<Source, Box<Response<Body>>> {
    #[cfg(feature = "cluster")]
    if super::cluster::admit_forwarded(inner, parts)? {
        return Ok(Source::OtherNode);
    }
    let checked = inner.options.origins.check(&RequestHeaders(parts));
    match checked {
        Ok(()) => Ok(Source::Client),
        Err(refusal) => Err(Box::new(origin_refused(refusal))),
    }
}

fn origin_refused(refusal: OriginError) -> Response<Body> {
    let status = ResponseStatus::from_u16(OriginError::STATUS, StatusCode::FORBIDDEN);
    response::jsonrpc_error(status, None, &errors::invalid_request(&refusal.to_string()))
}

async fn route<'a, B: http_body::Body>(
    inner: &'a Arc<Inner>,
    parts: &'a Parts,
    guard: Option<&RequestGuard>,
    body: Pin<&mut B>,
) -> PendingResponse<'a> {
    match parts.method {
        Method::POST => match read_body(inner, parts, guard, body).await {
            Ok((body, permit)) => match admit_body(inner, parts, &body) {
                Some(refusal) => refusal.into(),
                None => post::serve(inner, parts, &body, permit),
            },
            Err(refusal) => (*refusal).into(),
        },
        Method::GET if inner.has_sessions() => match acquire_permit(inner, parts, guard) {
            Ok(permit) => PendingResponse::pending(inner.listen_to_session(parts, permit)),
            Err(refusal) => (*refusal).into(),
        },
        Method::DELETE if inner.has_sessions() => match acquire_permit(inner, parts, guard) {
            Ok(permit) => PendingResponse::pending(inner.end_session(parts, permit)),
            Err(refusal) => (*refusal).into(),
        },
        Method::OPTIONS if inner.options.cors => {
            response::empty_response(StatusCode::NO_CONTENT).into()
        }
        _ => response::method_not_allowed(inner.has_sessions()).into(),
    }
}

/// Rejects a body that its sender may not send.
fn admit_body(inner: &Inner, parts: &Parts, body: &Bytes) -> Option<Response<Body>> {
    #[cfg(feature = "cluster")]
    if let Some(forwarded) = super::cluster::ForwardedRequest::of(parts) {
        let why = "the body is not the one that was forwarded";
        let refused = || invalid_request_response(StatusCode::FORBIDDEN, why);
        return (!forwarded.has_body(body)).then(refused);
    }
    protected::admit_call(inner, parts, body)
}
