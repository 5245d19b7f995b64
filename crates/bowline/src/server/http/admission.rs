//! Request admission by method, host, origin and size.

use std::{
    borrow::Borrow,
    convert::Infallible,
    future::{Future, poll_fn},
    num::NonZeroUsize,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{
    HeaderName, HeaderValue, Method, Request, Response, StatusCode, header, request::Parts,
};

use super::{
    Body, HttpService, Inner,
    activity::RequestGuard,
    cors, lazy_timeout,
    post::{self, principal},
    protected,
    quotas::{ClientQuota, QuotaExceeded, RequestPermit},
    response::{self, PendingResponse},
    status::ResponseStatus,
    write_timeout::transfer_time,
};
use crate::proto::{
    http::{Accept, Headers, OriginError, header::name, is_json},
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// The minimum that hyper allows for the head of a request.
pub(super) const MIN_HEAD_BYTES: usize = 8 * 1024;
/// How long a body may take before the minimum rate is enforced.
const BODY_GRACE: Duration = Duration::from_secs(5);
/// Smaller chunks of a body are copied: they would keep the whole read buffer
/// alive.
const MIN_SHARED_CHUNK_BYTES: usize = 64 * 1024;
/// The resource named in quota errors.
pub(super) const REQUEST_BYTES: &str = "bytes in concurrent requests";
/// The content coding of uncompressed bodies.
const IDENTITY: &str = "identity";

/// The headers of a request, as the protocol core reads them.
pub(super) struct RequestHeaders<'a>(pub(super) &'a Parts);

impl Headers for RequestHeaders<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let headers = &self.0.headers;
        let values = match static_header_name(name) {
            Some(name) => headers.get_all(name),
            None => headers.get_all(name),
        };
        // HTTP/2 sends the host in the request URI. If both are present, they
        // must be the same; otherwise there is no host.
        let authority = self.0.uri.authority().filter(|_| name == name::HOST);
        let is_in_host = |authority: &[u8]| {
            let mut hosts = headers.get_all(header::HOST).iter();
            hosts.any(|host| host.as_bytes().eq_ignore_ascii_case(authority))
        };
        let authority = authority.filter(|it| !is_in_host(it.as_str().as_bytes()));
        let authority = authority.map(|authority| authority.as_str().as_bytes());
        let values = values.into_iter();
        values.map(HeaderValue::as_bytes).chain(authority)
    }
}

/// Returns the static name of a header that is looked up often, to avoid
/// parsing it.
fn static_header_name(name: &str) -> Option<&'static HeaderName> {
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
        let response = match inner.options.origins.check(&RequestHeaders(&parts)) {
            Ok(()) => {
                let answer = match protected::admit(inner, &mut parts, guard.as_ref()).await {
                    Some(early_response) => early_response.into(),
                    None => route(inner, &parts, guard.as_ref(), pin!(body)).await,
                };
                let mut response = answer.await;
                if inner.options.cors {
                    cors::add_cors_headers(&parts, response.headers_mut());
                }
                response
            }
            Err(refusal) => origin_refused(refusal),
        };
        Ok(response.map(|body| body.with_guard(guard)))
    }
}

/// Estimates the size of a request head. hyper accepts more than its limit if
/// all of it arrives at once.
fn head_size(parts: &Parts) -> usize {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    let headers: usize = parts.headers.iter().map(size).sum();
    let target = parts.uri.path_and_query().map_or(0, |it| it.as_str().len());
    headers + target
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
            Ok((body, permit)) => match protected::admit_call(inner, parts, &body) {
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

/// Acquires a permit for a request and its head, or returns the error response.
fn acquire_permit(
    inner: &Inner,
    parts: &Parts,
    guard: Option<&RequestGuard>,
) -> Result<RequestPermit, Box<Response<Body>>> {
    let permit = client_quota(inner, parts, guard)
        .request_permit(head_size(parts), || inner.has_session(parts));
    permit.map_err(|it| quota_exceeded(it, "concurrent requests"))
}

/// Reads the body and acquires permits for it, or returns the error response.
async fn read_body<B: http_body::Body>(
    inner: &Inner,
    parts: &Parts,
    guard: Option<&RequestGuard>,
    body: Pin<&mut B>,
) -> Result<(Bytes, RequestPermit), Box<Response<Body>>> {
    check_body_headers(parts)?;
    let mut permit = acquire_permit(inner, parts, guard)?;
    let options = &inner.options;
    let limit = options
        .max_body_bytes
        .min(inner.handler.config().max_frame_size);
    let received = AtomicUsize::new(0);
    let on_chunk = |size: usize| {
        received.fetch_add(size, Ordering::Relaxed);
        permit.grow(size)
    };
    let timeout = || match NonZeroUsize::new(options.min_bytes_per_second) {
        Some(rate) => {
            let timeout = BODY_GRACE + transfer_time(received.load(Ordering::Relaxed), rate);
            timeout.min(options.body_timeout)
        }
        None => options.body_timeout,
    };
    let read = {
        let reading = pin!(read_limited(limit, body, on_chunk));
        lazy_timeout::with_lazy_timeout(timeout, reading).await
    };
    let (status, why) = match read {
        Ok(Ok(body)) => {
            let grown = permit.grow(estimate_parsed_size(&body));
            grown.map_err(|it| quota_exceeded(it, REQUEST_BYTES))?;
            return Ok((body, permit));
        }
        Ok(Err(ReadError::QuotaExceeded(it))) => return Err(quota_exceeded(it, REQUEST_BYTES)),
        Ok(Err(ReadError::TooLarge)) => {
            let why = format!("the body exceeds the limit of {limit} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, why)
        }
        Ok(Err(ReadError::Interrupted)) => {
            (StatusCode::BAD_REQUEST, "the body is incomplete".to_owned())
        }
        Err(_) => {
            let why = "the body was not received in time".to_owned();
            (StatusCode::REQUEST_TIMEOUT, why)
        }
    };
    Err(Box::new(invalid_request_response(status, &why)))
}

/// Estimates how much memory the values of a body need in addition to its
/// bytes: each has a separator before or after it, and one more if it has a
/// name. Separators within strings count too: excluding them would cost more
/// than it is worth.
fn estimate_parsed_size(body: &[u8]) -> usize {
    let is_separator =
        |&byte: &u8| u8::from((byte == b',') | (byte == b':') | (byte == b'[') | (byte == b'{'));
    // Chunks are short enough for a `u8` counter, which the compiler can
    // vectorize.
    let count = |piece: &[u8]| usize::from(piece.iter().map(is_separator).sum::<u8>());
    let separators: usize = body.chunks(255).map(count).sum();
    separators * size_of::<serde_json::Value>()
}

/// Rejects a body based on its headers.
fn check_body_headers(parts: &Parts) -> Result<(), Box<Response<Body>>> {
    let refuse =
        |status: StatusCode, why: &str| Err(Box::new(invalid_request_response(status, why)));
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
        let why = "the body must be application/json";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    let mut encodings = parts.headers.get_all(header::CONTENT_ENCODING).iter();
    if encodings.any(|it| !it.as_bytes().eq_ignore_ascii_case(IDENTITY.as_bytes())) {
        let why = "the body must not be compressed";
        let mut response = invalid_request_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        let identity = HeaderValue::from_static(IDENTITY);
        let headers = response.headers_mut();
        headers.insert(header::ACCEPT_ENCODING, identity);
        return Err(Box::new(response));
    }
    if !Accept::from_headers(&RequestHeaders(parts)).accepts_both() {
        let why = "Accept must allow application/json and text/event-stream";
        return refuse(StatusCode::NOT_ACCEPTABLE, why);
    }
    Ok(())
}

/// Returns the quota of the sender of a request, that of its connection if it
/// is ours.
pub(super) fn client_quota(
    inner: &Inner,
    parts: &Parts,
    guard: Option<&RequestGuard>,
) -> Arc<ClientQuota> {
    let quotas = &inner.quotas;
    if let Some(principal) = principal(parts) {
        return quotas.for_principal(principal);
    }
    match (inner.options.peer_source.read(parts), guard) {
        (Some(address), _) => quotas.for_address(address),
        (None, Some(connection)) => Arc::clone(connection.quota()),
        (None, None) => Arc::clone(quotas.unknown()),
    }
}

/// Returns the response for an exhausted quota.
pub(super) fn quota_exceeded(why: QuotaExceeded, what: &str) -> Box<Response<Body>> {
    let wait = Duration::from_secs(1);
    let (status, whose) = match why {
        QuotaExceeded::Client => (ResponseStatus::too_many_requests(wait), "you have"),
        QuotaExceeded::Total => (ResponseStatus::unavailable(wait), "the server has"),
    };
    let response = invalid_request_response(status, &format!("{whose} too many {what}"));
    Box::new(response)
}

/// Returns an error response with a reason.
pub(super) fn invalid_request_response(
    status: impl Into<ResponseStatus>,
    why: &str,
) -> Response<Body> {
    let error = ErrorObject::new(code::INVALID_REQUEST, format!("Invalid request: {why}"));
    response::jsonrpc_error(status, None, &error)
}

enum ReadError {
    TooLarge,
    Interrupted,
    QuotaExceeded(QuotaExceeded),
}

/// Reads a body up to a limit. `on_chunk` is called with the number of bytes received.
async fn read_limited<B: http_body::Body>(
    limit: usize,
    mut body: Pin<&mut B>,
    mut on_chunk: impl FnMut(usize) -> Result<(), QuotaExceeded>,
) -> Result<Bytes, ReadError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(ReadError::TooLarge);
    }
    // Most bodies arrive in one chunk.
    let mut first = Bytes::new();
    let mut whole = BytesMut::new();
    while !body.is_end_stream() {
        let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await else {
            break;
        };
        let frame = frame.map_err(|_| ReadError::Interrupted)?;
        let Ok(mut data) = frame.into_data() else {
            continue;
        };
        let size = data.remaining();
        if first.len() + whole.len() + size > limit {
            return Err(ReadError::TooLarge);
        }
        on_chunk(size).map_err(ReadError::QuotaExceeded)?;
        if first.is_empty() && whole.is_empty() {
            first = data.copy_to_bytes(size);
            if size < MIN_SHARED_CHUNK_BYTES {
                first = Bytes::copy_from_slice(&first);
            }
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
