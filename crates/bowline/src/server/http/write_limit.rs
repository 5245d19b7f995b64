//! A connection whose client must not stop reading for ever.
//!
//! What is written to a client that does not read waits, and with it all that
//! the answer holds. Nothing else would notice: a body is not asked for more
//! while its client has no room.

use std::{
    future::Future as _,
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use super::pulse::Pulse;

/// A stream that fails when nothing of what is written to it is taken for some
/// time.
pub(super) struct WriteLimit<T> {
    stream: T,
    limit: Duration,
    /// Runs while something waits to be taken.
    stuck: Option<Pin<Box<Sleep>>>,
    /// Where what is taken is noted.
    pulse: Option<Arc<Pulse>>,
}

impl<T> WriteLimit<T> {
    pub(super) fn new(stream: T, limit: Duration) -> Self {
        Self {
            stream,
            limit,
            stuck: None,
            pulse: None,
        }
    }

    /// Notes what the client takes.
    pub(super) fn noted_in(mut self, pulse: Arc<Pulse>) -> Self {
        self.pulse = Some(pulse);
        self
    }

    /// Fails in place of what has waited for too long.
    fn limit<O>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<O>>,
    ) -> Poll<io::Result<O>> {
        let pulse = self.pulse.as_deref();
        if written.is_ready() {
            self.stuck = None;
            pulse.inspect(|pulse| pulse.written());
            return written;
        }
        pulse.inspect(|pulse| pulse.stuck());
        let limit = self.limit;
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        std::task::ready!(stuck.as_mut().poll(cx));
        let why = "the client does not read";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WriteLimit<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for WriteLimit<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.limit(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.limit(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    // Neither of these waits for a client that does not read: a socket has
    // nothing to flush.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        time::Instant,
    };

    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    #[tokio::test(start_paused = true)]
    async fn who_does_not_read_is_given_up_in_time() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = WriteLimit::new(near, LIMIT);
        let began = Instant::now();
        let written = near.write_all(&[0; 20]).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed(), LIMIT);
        // What it took by then, it took.
        drop(near);
        let mut taken = Vec::new();
        far.read_to_end(&mut taken).await.unwrap();
        assert_eq!(taken.len(), 8);
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_is_waited_for() {
        let (near, mut far) = tokio::io::duplex(1);
        let mut near = WriteLimit::new(near, LIMIT);
        let reading = tokio::spawn(async move {
            let mut pace = tokio::time::interval(LIMIT - Duration::from_secs(1));
            let mut byte = [0];
            for _ in 0..10 {
                pace.tick().await;
                far.read_exact(&mut byte).await.unwrap();
            }
        });
        let began = Instant::now();
        near.write_all(&[0; 10]).await.unwrap();
        reading.await.unwrap();
        assert!(began.elapsed() > 5 * LIMIT);
    }
}
