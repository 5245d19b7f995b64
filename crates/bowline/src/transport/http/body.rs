//! Bodies, read up to a limit.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::time::timeout;

use super::answer::Answer;
use crate::transport::Cause;

/// How much of a body that says nothing is read, so that its connection can be
/// used again.
const DREGS: usize = 64 * 1024;

/// How long the rest of a body may take that nobody waits for.
const PATIENCE: Duration = Duration::from_secs(5);

/// How much room is made for a body on the word of its length alone.
const TRUSTED: usize = 1024 * 1024;

/// Why there is no body.
pub(super) enum NoBody {
    /// It is larger than the limit: at least this large.
    TooLarge(usize),
    /// It broke off.
    Broken(Cause),
}

/// Reads a whole body of up to `limit` bytes. One that comes in one piece is
/// not copied.
pub(super) async fn whole(response: &mut Answer, limit: usize) -> Result<Bytes, NoBody> {
    let announced = response.announced().unwrap_or(0);
    let announced = usize::try_from(announced).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(NoBody::TooLarge(announced));
    }
    let Some(first) = next(response).await? else {
        return Ok(Bytes::new());
    };
    if first.len() > limit {
        return Err(NoBody::TooLarge(first.len()));
    }
    let Some(second) = next(response).await? else {
        return Ok(first);
    };
    let mut body = BytesMut::with_capacity(announced.min(TRUSTED).max(first.len() + second.len()));
    body.extend_from_slice(&first);
    let mut chunk = second;
    loop {
        if body.len() + chunk.len() > limit {
            return Err(NoBody::TooLarge(body.len() + chunk.len()));
        }
        body.extend_from_slice(&chunk);
        match next(response).await? {
            Some(more) => chunk = more,
            None => return Ok(body.freeze()),
        }
    }
}

/// The beginning of a body, up to `limit` bytes, or what there is of it after
/// a while.
pub(super) async fn beginning(response: &mut Answer, limit: usize) -> Bytes {
    let mut body = BytesMut::new();
    let read = async {
        while let Ok(Some(chunk)) = next(response).await {
            let room = limit - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() >= room {
                return;
            }
        }
    };
    // What is there by then will have to do.
    let _ = timeout(PATIENCE, read).await;
    body.freeze()
}

/// Reads the rest of an answer of which nothing more is wanted, if it is short:
/// its connection can be used again then.
pub(super) async fn drain(mut response: Answer) {
    let read = async {
        let mut seen = 0;
        while let Ok(Some(chunk)) = next(&mut response).await {
            seen += chunk.len();
            if seen > DREGS {
                return;
            }
        }
    };
    let _ = timeout(PATIENCE, read).await;
}

async fn next(response: &mut Answer) -> Result<Option<Bytes>, NoBody> {
    response.chunk().await.map_err(NoBody::Broken)
}
