//! Letting requests in: by method, host, origin and size.

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
    accounts::{Account, Exhausted, Place},
    answer::{self, Answer},
    cors, patience,
    post::{self, principal},
    protected,
    pulse::Answering,
    write_limit::time_for,
};
use crate::proto::{
    http::{Accept, Headers, OriginRefusal, header::name, is_json},
    jsonrpc::{ErrorObject, code},
    server::errors,
};

/// The least that the library takes for the head of a request.
pub(super) const LEAST_HEAD: usize = 8 * 1024;
/// How long a body may take to arrive at whatever rate.
const BODY_GRACE: Duration = Duration::from_secs(5);
/// Pieces of a body that are smaller are copied: they would keep all of the
/// buffer that they were read into.
const LEAST_TAKEN: usize = 64 * 1024;
/// What a client has too many of.
pub(super) const MANY_BYTES: &str = "bytes in requests at once";
/// The coding of bodies that are as they are.
const IDENTITY: &str = "identity";

/// The headers of a request, in the words of the protocol core.
pub(super) struct Received<'a>(pub(super) &'a Parts);

impl Headers for Received<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let headers = &self.0.headers;
        let values = match known(name) {
            Some(name) => headers.get_all(name),
            None => headers.get_all(name),
        };
        // With HTTP/2 the host stands in the address of the request. Where both
        // name one, it must be the same: two are none.
        let authority = self.0.uri.authority().filter(|_| name == name::HOST);
        let said = |authority: &[u8]| {
            let mut hosts = headers.get_all(header::HOST).iter();
            hosts.any(|host| host.as_bytes().eq_ignore_ascii_case(authority))
        };
        let authority = authority.filter(|it| !said(it.as_str().as_bytes()));
        let authority = authority.map(|authority| authority.as_str().as_bytes());
        let values = values.into_iter();
        values.map(HeaderValue::as_bytes).chain(authority)
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
        if held.is_some() && head_size(&parts) > inner.options.max_head.max(LEAST_HEAD) {
            let why = "the head is too large";
            let response = told(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, why);
            return Ok(response.map(|body| body.holding(held)));
        }
        let response = match inner.options.origins.check(&Received(&parts)) {
            Ok(()) => {
                let answer = match protected::admit(inner, &mut parts, held.as_ref()).await {
                    Some(answered) => answered.into(),
                    None => by_method(inner, &parts, held.as_ref(), pin!(body)).await,
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

/// About how large the head of a request was. The library takes more than it
/// is told to if all of it comes at once.
fn head_size(parts: &Parts) -> usize {
    let size = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + 4;
    let headers: usize = parts.headers.iter().map(size).sum();
    let target = parts.uri.path_and_query().map_or(0, |it| it.as_str().len());
    headers + target
}

fn unknown_origin(refusal: OriginRefusal) -> Response<Body> {
    let status = StatusCode::from_u16(OriginRefusal::STATUS).unwrap_or(StatusCode::FORBIDDEN);
    answer::refusal(status, None, &errors::invalid_request(&refusal.to_string()))
}

async fn by_method<'a, B: http_body::Body>(
    inner: &'a Arc<Inner>,
    parts: &'a Parts,
    held: Option<&Answering>,
    body: Pin<&mut B>,
) -> Answer<'a> {
    match parts.method {
        Method::POST => match read(inner, parts, held, body).await {
            Ok((body, place)) => match protected::admit_call(inner, parts, &body) {
                Some(refusal) => refusal.into(),
                None => post::serve(inner, parts, &body, place),
            },
            Err(refusal) => (*refusal).into(),
        },
        Method::GET if inner.has_sessions() => match take_place(inner, parts, held) {
            Ok(place) => Answer::later(inner.listen_to_session(parts, place)),
            Err(refusal) => (*refusal).into(),
        },
        Method::DELETE if inner.has_sessions() => match take_place(inner, parts, held) {
            Ok(place) => Answer::later(inner.end_session(parts, place)),
            Err(refusal) => (*refusal).into(),
        },
        Method::OPTIONS if inner.options.cors => answer::empty(StatusCode::NO_CONTENT).into(),
        _ => answer::no_such_method(inner.has_sessions()).into(),
    }
}

/// Finds a place for a request, and room for its head; or says why not.
fn take_place(
    inner: &Inner,
    parts: &Parts,
    held: Option<&Answering>,
) -> Result<Place, Box<Response<Body>>> {
    let place = account(inner, parts, held).place(head_size(parts), || inner.has_session(parts));
    place.map_err(|it| exhausted(it, "requests at once"))
}

/// Reads what is posted, and finds a place for the work on it; or says why not.
async fn read<B: http_body::Body>(
    inner: &Inner,
    parts: &Parts,
    held: Option<&Answering>,
    body: Pin<&mut B>,
) -> Result<(Bytes, Place), Box<Response<Body>>> {
    refuse_unreadable(parts)?;
    let mut place = take_place(inner, parts, held)?;
    let options = &inner.options;
    let limit = options.max_body.min(inner.handle.config().max_frame);
    let received = AtomicUsize::new(0);
    let came = |size: usize| {
        received.fetch_add(size, Ordering::Relaxed);
        place.grow(size)
    };
    let time = || match NonZeroUsize::new(options.min_rate) {
        Some(rate) => {
            let time = BODY_GRACE + time_for(received.load(Ordering::Relaxed), rate);
            time.min(options.body_time)
        }
        None => options.body_time,
    };
    let read = {
        let reading = pin!(read_up_to(limit, body, came));
        patience::soon(time, reading).await
    };
    let (status, why) = match read {
        Ok(Ok(body)) => {
            let grown = place.grow(size_when_parsed(&body));
            grown.map_err(|it| exhausted(it, MANY_BYTES))?;
            return Ok((body, place));
        }
        Ok(Err(Unread::NoRoom(it))) => return Err(exhausted(it, MANY_BYTES)),
        Ok(Err(Unread::TooLarge)) => {
            let why = format!("the body may have {limit} bytes");
            (StatusCode::PAYLOAD_TOO_LARGE, why)
        }
        Ok(Err(Unread::Broken)) => (StatusCode::BAD_REQUEST, "the body broke off".to_owned()),
        Err(_) => {
            let why = "the body took too long".to_owned();
            (StatusCode::REQUEST_TIMEOUT, why)
        }
    };
    Err(Box::new(told(status, &why)))
}

/// About how much the values in a body take besides its bytes once they are
/// read: there is a mark before or after each of them, and one more where it has
/// a name. Marks within texts count, too: looking for those would take longer
/// than it is worth.
fn size_when_parsed(body: &[u8]) -> usize {
    let is_mark =
        |&byte: &u8| u8::from((byte == b',') | (byte == b':') | (byte == b'[') | (byte == b'{'));
    // Pieces so short that a byte can count their marks: they are counted many
    // at a time.
    let count = |piece: &[u8]| usize::from(piece.iter().map(is_mark).sum::<u8>());
    let marks: usize = body.chunks(255).map(count).sum();
    marks * size_of::<serde_json::Value>()
}

/// A body that nobody would read, by what its head says.
fn refuse_unreadable(parts: &Parts) -> Result<(), Box<Response<Body>>> {
    let refuse = |status, why: &str| Err(Box::new(told(status, why)));
    let content_type = parts.headers.get(header::CONTENT_TYPE);
    if !content_type.is_some_and(|value| is_json(value.as_bytes())) {
        let why = "the body must be application/json";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
    }
    let mut encodings = parts.headers.get_all(header::CONTENT_ENCODING).iter();
    if encodings.any(|it| !it.as_bytes().eq_ignore_ascii_case(IDENTITY.as_bytes())) {
        let why = "the body must not be compressed";
        let mut response = told(StatusCode::UNSUPPORTED_MEDIA_TYPE, why);
        let identity = HeaderValue::from_static(IDENTITY);
        let headers = response.headers_mut();
        headers.insert(header::ACCEPT_ENCODING, identity);
        return Err(Box::new(response));
    }
    if !Accept::read(&Received(parts)).both() {
        let why = "Accept must allow application/json and text/event-stream";
        return refuse(StatusCode::NOT_ACCEPTABLE, why);
    }
    Ok(())
}

/// The account of whoever sent a request, over this connection if it is ours.
pub(super) fn account(inner: &Inner, parts: &Parts, held: Option<&Answering>) -> Arc<Account> {
    let accounts = &inner.accounts;
    if let Some(principal) = principal(parts) {
        return accounts.of_principal(principal);
    }
    match (inner.options.peer.read(parts), held) {
        (Some(address), _) => accounts.of_address(address),
        (None, Some(connection)) => Arc::clone(connection.account()),
        (None, None) => Arc::clone(accounts.of_unknown()),
    }
}

/// The answer where there is no room for a request.
pub(super) fn exhausted(why: Exhausted, what: &str) -> Box<Response<Body>> {
    let (status, whose) = match why {
        Exhausted::Client => (StatusCode::TOO_MANY_REQUESTS, "you have"),
        Exhausted::All => (StatusCode::SERVICE_UNAVAILABLE, "the server has"),
    };
    let mut response = told(status, &format!("{whose} too many {what}"));
    let soon = HeaderValue::from_static("1");
    response.headers_mut().insert(header::RETRY_AFTER, soon);
    Box::new(response)
}

/// A refusal in words.
pub(super) fn told(status: StatusCode, why: &str) -> Response<Body> {
    let error = ErrorObject::new(code::INVALID_REQUEST, format!("Invalid request: {why}"));
    answer::refusal(status, None, &error)
}

enum Unread {
    TooLarge,
    Broken,
    NoRoom(Exhausted),
}

/// Reads a body, up to a limit. `came` is told how much came.
async fn read_up_to<B: http_body::Body>(
    limit: usize,
    mut body: Pin<&mut B>,
    mut came: impl FnMut(usize) -> Result<(), Exhausted>,
) -> Result<Bytes, Unread> {
    if body.size_hint().lower() > limit as u64 {
        return Err(Unread::TooLarge);
    }
    // Most come in one piece.
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
        came(size).map_err(Unread::NoRoom)?;
        if first.is_empty() && whole.is_empty() {
            first = data.copy_to_bytes(size);
            if size < LEAST_TAKEN {
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
