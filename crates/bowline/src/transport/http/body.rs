//! Bodies, read up to a limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::timeout;

use super::response::HttpResponse;
use crate::transport::ConnectionError;

/// How much of a body that says nothing is read, so that its connection can be
/// used again.
const MAX_DRAIN: usize = 64 * 1024;

/// How long the rest of a body may take that nobody waits for.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How much room is made for a body on the word of its length alone.
const MAX_PREALLOCATION: usize = 1024 * 1024;

/// Why there is no body.
pub(super) enum BodyError {
    /// It is larger than the limit: at least this large.
    TooLarge(usize),
    /// It broke off.
    Broken(ConnectionError),
}

/// Reads a whole body of up to `limit` bytes. One that comes in one piece is
/// not copied.
pub(super) async fn read_all(
    response: &mut HttpResponse,
    limit: usize,
) -> Result<Bytes, BodyError> {
    let content_length = response.content_length().unwrap_or(0);
    let content_length = usize::try_from(content_length).unwrap_or(usize::MAX);
    if content_length > limit {
        return Err(BodyError::TooLarge(content_length));
    }
    let Some(first) = next_chunk(response).await? else {
        return Ok(Bytes::new());
    };
    if first.len() > limit {
        return Err(BodyError::TooLarge(first.len()));
    }
    let Some(second) = next_chunk(response).await? else {
        return Ok(first);
    };
    let mut body = BytesMut::with_capacity(
        content_length
            .min(MAX_PREALLOCATION)
            .max(first.len() + second.len()),
    );
    body.extend_from_slice(&first);
    let mut chunk = second;
    loop {
        if body.len() + chunk.len() > limit {
            return Err(BodyError::TooLarge(body.len() + chunk.len()));
        }
        body.extend_from_slice(&chunk);
        match next_chunk(response).await? {
            Some(more) => chunk = more,
            None => return Ok(body.freeze()),
        }
    }
}

/// The beginning of a body, up to `limit` bytes, or what there is of it after
/// a while.
pub(super) async fn read_prefix(response: &mut HttpResponse, limit: usize) -> Bytes {
    let mut body = BytesMut::new();
    let read = async {
        while let Ok(Some(chunk)) = next_chunk(response).await {
            let remaining = limit - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(remaining)]);
            if chunk.len() >= remaining {
                return;
            }
        }
    };
    // What is there by then will have to do.
    let _ = timeout(DRAIN_TIMEOUT, read).await;
    body.freeze()
}

/// Reads the rest of an answer of which nothing more is wanted, if it is short:
/// its connection can be used again then.
pub(super) async fn drain(mut response: HttpResponse) {
    let read = async {
        let mut drained = 0;
        while let Ok(Some(chunk)) = next_chunk(&mut response).await {
            drained += chunk.len();
            if drained > MAX_DRAIN {
                return;
            }
        }
    };
    let _ = timeout(DRAIN_TIMEOUT, read).await;
}

async fn next_chunk(response: &mut HttpResponse) -> Result<Option<Bytes>, BodyError> {
    response.chunk().await.map_err(BodyError::Broken)
}
