//! Response bodies, read up to a limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::timeout;

use super::response::HttpResponse;
use crate::transport::ConnectionError;

/// Number of bytes of an unwanted body that are read so its connection can be
/// reused.
const MAX_DRAIN: usize = 64 * 1024;

/// Timeout for reading the rest of an unwanted body.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum buffer size that is allocated based on the announced length alone.
const MAX_PREALLOCATION: usize = 1024 * 1024;

/// Why a body could not be read.
pub(super) enum BodyError {
    /// It exceeds the limit: it has at least this size.
    TooLarge(usize),
    /// The connection failed.
    Broken(ConnectionError),
}

/// Reads a whole body of up to `limit` bytes. A body in a single chunk is not
/// copied.
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

/// Reads the beginning of a body, up to `limit` bytes, or what has arrived
/// before a timeout.
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
    // After the timeout, use what has arrived.
    let _ = timeout(DRAIN_TIMEOUT, read).await;
    body.freeze()
}

/// Reads the rest of an unwanted response if it is short, so its connection can
/// be reused.
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
