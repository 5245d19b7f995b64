//! A write timeout for clients that stop reading.
//!
//! Data for a client that does not read waits, along with everything the
//! response holds. Nothing else would notice: a body is not polled while the
//! client has no room.

use std::{
    future::Future as _,
    io::{self, IoSlice},
    num::NonZeroUsize,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

use super::activity::ConnectionActivity;

/// A stream that fails if written data is not read for some time, or too
/// slowly.
pub(super) struct WriteTimeout<T> {
    stream: T,
    limit: Duration,
    /// The minimum rate in bytes per second, if any.
    min_rate: Option<NonZeroUsize>,
    /// Set while a write is blocked.
    blocked: Option<Box<BlockedWrite>>,
    /// Records what the client reads.
    activity: Option<Arc<ConnectionActivity>>,
}

struct BlockedWrite {
    since: Instant,
    /// How much was written since then.
    written: usize,
    timer: Pin<Box<Sleep>>,
}

impl<T> WriteTimeout<T> {
    pub(super) fn new(stream: T, limit: Duration, rate: usize) -> Self {
        Self {
            stream,
            limit,
            min_rate: NonZeroUsize::new(rate),
            blocked: None,
            activity: None,
        }
    }

    /// Records what the client reads in this state.
    pub(super) fn with_activity(mut self, activity: Arc<ConnectionActivity>) -> Self {
        self.activity = Some(activity);
        self
    }

    /// Fails if the write has been blocked for too long.
    fn enforce(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        let activity = self.activity.as_deref();
        if let Poll::Ready(accepted) = &written {
            match (&mut self.blocked, self.min_rate, accepted) {
                (Some(blocked), Some(_), Ok(accepted)) => blocked.written += accepted,
                (blocked, _, _) => *blocked = None,
            }
            activity.inspect(|activity| activity.record_write());
            return written;
        }
        activity.inspect(|activity| activity.record_blocked_write());
        let limit = self.limit;
        let blocked = self.blocked.get_or_insert_with(|| {
            Box::new(BlockedWrite {
                since: Instant::now(),
                written: 0,
                timer: Box::pin(tokio::time::sleep(limit)),
            })
        });
        loop {
            std::task::ready!(blocked.timer.as_mut().poll(cx));
            let extra = self
                .min_rate
                .map_or(Duration::ZERO, |rate| transfer_time(blocked.written, rate));
            let deadline = blocked.since + limit + extra;
            if deadline <= Instant::now() {
                let why = "write timed out: the client does not read, or too slowly";
                return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)));
            }
            blocked.timer.as_mut().reset(deadline);
        }
    }
}

/// Returns how long this many bytes may take.
pub(super) fn transfer_time(bytes: usize, rate: NonZeroUsize) -> Duration {
    let [bytes, rate] = [bytes, rate.get()].map(|it| u32::try_from(it).unwrap_or(u32::MAX));
    Duration::from_secs(1) * bytes / rate
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteTimeout<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.enforce(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.enforce(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // Neither waits for a client that does not read: a socket has nothing to
    // flush, and callers flush after all data was written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.blocked = None;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up_in_time() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = WriteTimeout::new(near, LIMIT, 1024);
        let began = Instant::now();
        let written = near.write_all(&[0; 20]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), LIMIT);
        // The client received everything written by then.
        drop(near);
        let mut accepted = Vec::new();
        far.read_to_end(&mut accepted).await.unwrap();
        assert_eq!(accepted.len(), 8);
    }

    /// Writes this many bytes to a client that reads one per second.
    async fn write_slowly(bytes: usize, limit: Duration, rate: usize) -> (bool, Duration) {
        let (near, mut far) = tokio::io::duplex(1);
        let mut near = WriteTimeout::new(near, limit, rate);
        let reading = tokio::spawn(async move {
            let mut interval = tokio::time::interval(Duration::from_secs(1));
            let mut byte = [0];
            while far.read_exact(&mut byte).await.is_ok() {
                interval.tick().await;
            }
        });
        let began = Instant::now();
        let written = near.write_all(&vec![0; bytes]).await;
        drop(near);
        reading.await.unwrap();
        (written.is_ok(), began.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_is_waited_for() {
        let (written, took) = write_slowly(200, LIMIT, 1).await;
        assert!(written && took > 5 * LIMIT, "{took:?}");
        let (written, took) = write_slowly(200, LIMIT, 0).await;
        assert!(written && took > 5 * LIMIT, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_bit_by_bit_does_not_hold_an_answer_for_ever() {
        let (written, took) = write_slowly(200, LIMIT, 10).await;
        assert!(!written && took < 2 * LIMIT, "{took:?}");
    }
}
