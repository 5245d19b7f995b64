//! Reading the body of a request, within limits of size, time and quota.

use std::{
    future::poll_fn,
    num::NonZeroUsize,
    pin::{Pin, pin},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, header, request::Parts};

use super::{
    Body, Inner,
    activity::RequestGuard,
    admission::{REQUEST_BYTES, acquire_permit, invalid_request_response, quota_exceeded},
    lazy_timeout,
    quotas::{QuotaExceeded, RequestPermit},
    request_headers::RequestHeaders,
    write_timeout::transfer_time,
};
use crate::proto::http::{Accept, is_json};

/// How long a body may take before the minimum rate is enforced.
const BODY_GRACE: Duration = Duration::from_secs(5);
/// Smaller chunks of a body are copied: they would keep the whole read buffer
/// alive.
const MIN_SHARED_CHUNK_BYTES: usize = 64 * 1024;
/// The content coding of uncompressed bodies.
const IDENTITY: &str = "identity";

/// Reads the body and acquires permits for it, or returns the error response.
pub(super) async fn read_body<B: http_body::Body>(
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
