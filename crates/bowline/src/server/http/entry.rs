//! Letting requests in: by method, host, origin and size.

use std::{
    borrow::{Borrow, Cow},
    convert::Infallible,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderName, Method, Request, Response, StatusCode, header, request::Parts};
use tokio::sync::OwnedSemaphorePermit;

use super::{
    Body, HttpService, Inner,
    answer::{self, Answer},
    cors, patience, post, protected,
    pulse::Answering,
};
use crate::proto::{
    http::{Accept, Headers, OriginRefusal, header::name, is_json},
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// The headers of a request, in the words of the protocol core.
pub(super) struct Received<'a>(pub(super) &'a Parts);

impl Headers for Received<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let headers = &self.0.headers;
        let values = match known(name) {
            Some(name) => headers.get_all(name),
            None => headers.get_all(name),
        };
        // With HTTP/2 the host stands in the address of the request.
        let authority = self.0.uri.authority();
        let authority = authority.filter(|_| name == name::HOST && !headers.contains_key(name));
        let authority = authority.map(|authority| authority.as_str().as_bytes());
        let values = values.into_iter();
        values.map(http::HeaderValue::as_bytes).chain(authority)
    }
}

/// The headers that requests are asked for, which need not be made of text each
/// time.
fn known(name: &str) -> Option<&'static HeaderName> {
    static METHOD: HeaderName = HeaderName::from_static(name::MCP_METHOD);
    static NAME: HeaderName = HeaderName::from_static(name::MCP_NAME);
    static SESSION: HeaderName = HeaderName::from_static(name::MCP_SESSION_ID);
    static VERSION: HeaderName = HeaderName::from_static(name::MCP_PROTOCOL_VERSION);
    Some(match name {
        name::HOST => &header::HOST,
        name::ORIGIN => &header::ORIGIN,
        name::ACCEPT => &header::ACCEPT,
        name::MCP_METHOD => &METHOD,
        name::MCP_NAME => &NAME,
        name::MCP_SESSION_ID => &SESSION,
        name::MCP_PROTOCOL_VERSION => &VERSION,
        _ => return None,
    })
}

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
        Box::pin(enter(Arc::clone(&self.inner), request, None))
    }
}

/// Lets a request in, and answers it. What is held is let go when the answer is
/// sent.
///
/// A connection keeps room for this future as long as it is open, and most are
/// idle most of the time. So this is no `async fn`, which would hold the request
/// as it came besides its parts; and who must wait for something unusual, here
/// and in what follows, does so in a box.
pub(super) fn enter<I, B>(
    inner: I,
    request: Request<B>,
    held: Option<Answering>,
) -> impl Future<Output = Result<Response<Body>, Infallible>>
where
    I: Borrow<Arc<Inner>>,
    B: http_body::Body,
{
    let (mut parts, body) = request.into_parts();
    async move {
        let inner = inner.borrow();
        let response = match inner.options.origins.check(&Received(&parts)) {
            Ok(()) => {
                let answer = match protected::admit(inner, &mut parts).await {
                    Some(answered) => answered.into(),
                    None => by_method(inner, &parts, pin!(body)).await,
                };
                let mut response = answer.await;
                if inner.options.cors {
                    cors::allow(&parts, response.headers_mut());
                }
                response
            }
            Err(refusal) => unknown_origin(refusal),
        };
        Ok(response.map(|body| body.holding(held)))
    }
}

fn unknown_origin(refusal: OriginRefusal) -> Response<Body> {
    let status = StatusCode::from_u16(OriginRefusal::STATUS).unwrap_or(StatusCode::FORBIDDEN);
    answer::refusal(status, None, &errors::invalid_request(&refusal.to_string()))
}

async fn by_method<'a, B: http_body::Body>(
    inner: &'a Arc<Inner>,
    parts: &'a Parts,
    body: Pin<&mut B>,
) -> Answer<'a> {
    match parts.method {
        Method::POST => match read(inner, parts, body).await {
            Ok((body, place)) => match protected::admit_call(inner, parts, &body) {
                Some(refusal) => refusal.into(),
                None => post::serve(inner, parts, &body, place),
            },
            Err((status, why)) => told(status, &why).into(),
        },
        Method::GET if inner.has_sessions() => Answer::later(inner.listen_to_session(parts)),
        Method::DELETE if inner.has_sessions() => Answer::later(inner.end_session(parts)),
        Method::OPTIONS if inner.options.cors => answer::empty(StatusCode::NO_CONTENT).into(),
        _ => answer::no_such_method(inner.has_sessions()).into(),
    }
}

/// Reads what is posted, and finds a place for the work on it; or says why not.
async fn read<B: http_body::Body>(
    inner: &Inner,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Result<(Bytes, OwnedSemaphorePermit), (StatusCode, Cow<'static, str>)> {
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
        let why = "the body must be application/json";
        return Err((StatusCode::UNSUPPORTED_MEDIA_TYPE, why.into()));
    }
    if !Accept::read(&Received(parts)).both() {
        let why = "Accept must allow application/json and text/event-stream";
        return Err((StatusCode::NOT_ACCEPTABLE, why.into()));
    }
    let Ok(place) = Arc::clone(&inner.requests).try_acquire_owned() else {
        let why = "too many requests at once";
        return Err((StatusCode::SERVICE_UNAVAILABLE, why.into()));
    };
    let limit = inner.options.max_body.min(inner.handle.config().max_frame);
    let reading = pin!(read_up_to(limit, body));
    match patience::soon(inner.options.body_time, reading).await {
        Ok(Ok(body)) => Ok((body, place)),
        Ok(Err(Unread::TooLarge)) => {
            let why = format!("the body may have {limit} bytes");
            Err((StatusCode::PAYLOAD_TOO_LARGE, why.into()))
        }
        Ok(Err(Unread::Broken)) => Err((StatusCode::BAD_REQUEST, "the body broke off".into())),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the body took too long".into())),
    }
}

/// A refusal in words.
pub(super) fn told(status: StatusCode, why: &str) -> Response<Body> {
    let error = ErrorObject::new(code::INVALID_REQUEST, format!("Invalid request: {why}"));
    answer::refusal(status, None, &error)
}

enum Unread {
    TooLarge,
    Broken,
}

/// Reads a body, up to a limit.
async fn read_up_to<B: http_body::Body>(
    limit: usize,
    mut body: Pin<&mut B>,
) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    // Most come in one piece, which is taken as it is.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else {
            break;
        };
        let frame = frame.map_err(|_| Unread::Broken)?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let size = data.remaining();
        if first.len() + whole.len() + size > limit {
            return Err(Unread::TooLarge);
        }
        if first.is_empty() && whole.is_empty() {
            first = data.copy_to_bytes(size);
            continue;
        }
        whole.extend_from_slice(&std::mem::take(&mut first));
        whole.put(data);
    }
    Ok(if whole.is_empty() {
        first
    } else {
        whole.freeze()
    })
}
