//! A connection with strict checks of HTTP request framing.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::proto::http::RequestFraming;

/// A stream that fails if the boundaries of its requests are ambiguous, so
/// nothing after that is served.
pub(super) struct FramingCheckedStream<T> {
    stream: T,
    /// Boxed: few connections are being read at any time.
    framing: Box<RequestFraming>,
}

impl<T> FramingCheckedStream<T> {
    pub(super) fn new(stream: T) -> Self {
        Self {
            stream,
            framing: Box::default(),
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for FramingCheckedStream<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        let new = buffer.filled().get(before..).unwrap_or_default();
        let result = self.framing.push(new);
        Poll::Ready(result.map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why)))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for FramingCheckedStream<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
