//! Stream adapters for links that only read or only write.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that appends a line break at the end of the input, so a last line
/// without one counts: people pipe such input into servers. Blank lines are
/// ignored, and half a message never parses as a whole one.
pub(super) struct NewlineTerminated<R> {
    reader: R,
    ended: bool,
}

impl<R> NewlineTerminated<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader,
            ended: false,
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for NewlineTerminated<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended || buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.reader).poll_read(cx, buffer))?;
        if buffer.filled().len() == before {
            self.ended = true;
            buffer.put_slice(b"\n");
        }
        Poll::Ready(Ok(()))
    }
}

/// A reader that never yields data and never ends.
pub(super) struct PendingReader;

impl AsyncRead for PendingReader {
    fn poll_read(
        self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
        _buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    async fn check(input: &[u8], expected: &[u8]) {
        let mut read = Vec::new();
        let mut reader = NewlineTerminated::new(input);
        reader
            .read_to_end(&mut read)
            .await
            .expect("bytes do not fail");
        assert_eq!(read, expected);
        assert_eq!(reader.read(&mut [0]).await.expect("nor later"), 0);
    }

    #[tokio::test]
    async fn the_input_ends_with_one_more_line_end() {
        check(b"", b"\n").await;
        check(b"a\nb", b"a\nb\n").await;
        check(b"a\n", b"a\n\n").await;
    }
}
