//! Letting requests in: by method, host, origin and size.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderName, Method, Request, Response, StatusCode, header, request::Parts};

use super::{Body, HttpService, Inner, answer, cors, patience, post, protected};
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
        let inner = Arc::clone(&self.inner);
        Box::pin(async move { Ok(enter(&inner, request).await) })
    }
}

/// Lets a request in, and answers it.
pub(super) async fn enter<B: http_body::Body>(
    inner: &Arc<Inner>,
    request: Request<B>,
) -> Response<Body> {
    let (mut parts, body) = request.into_parts();
    if let Err(refusal) = inner.options.origins.check(&Received(&parts)) {
        let status = StatusCode::from_u16(OriginRefusal::STATUS).unwrap_or(StatusCode::FORBIDDEN);
        return answer::refusal(status, None, &errors::invalid_request(&refusal.to_string()));
    }
    let mut response = match protected::admit(inner, &mut parts).await {
        Some(answered) => answered,
        None => by_method(inner, &parts, body).await,
    };
    if inner.options.cors {
        cors::allow(&parts, response.headers_mut());
    }
    response
}

async fn by_method<B: http_body::Body>(
    inner: &Arc<Inner>,
    parts: &Parts,
    body: B,
) -> Response<Body> {
    match parts.method {
        Method::POST => admit_post(inner, parts, body).await,
        Method::GET if inner.has_sessions() => inner.listen_to_session(parts).await,
        Method::DELETE if inner.has_sessions() => inner.end_session(parts).await,
        Method::OPTIONS if inner.options.cors => answer::empty(StatusCode::NO_CONTENT),
        _ => answer::no_such_method(inner.has_sessions()),
    }
}

async fn admit_post<B: http_body::Body>(
    inner: &Arc<Inner>,
    parts: &Parts,
    body: B,
) -> Response<Body> {
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
        let why = "the body must be application/json";
        return told(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    if !Accept::read(&Received(parts)).both() {
        let why = "Accept must allow application/json and text/event-stream";
        return told(StatusCode::NOT_ACCEPTABLE, why);
    }
    let Ok(place) = Arc::clone(&inner.requests).try_acquire_owned() else {
        return told(StatusCode::SERVICE_UNAVAILABLE, "too many requests at once");
    };
    let limit = inner.options.max_body.min(inner.handle.config().max_frame);
    let reading = read(body, limit);
    match patience::while_it_arrives(inner.options.body_time, reading).await {
        Ok(Ok(body)) => match protected::admit_call(inner, parts, &body) {
            Some(refused) => refused,
            None => post::serve(inner, parts, body, place).await,
        },
        Ok(Err(Unread::TooLarge)) => {
            let why = format!("the body may have {limit} bytes");
            told(StatusCode::PAYLOAD_TOO_LARGE, &why)
        }
        Ok(Err(Unread::Broken)) => told(StatusCode::BAD_REQUEST, "the body broke off"),
        Err(_) => told(StatusCode::REQUEST_TIMEOUT, "the body took too long"),
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
async fn read<B: http_body::Body>(body: B, limit: usize) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    let mut body = pin!(body);
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
