//! Blocking streams, each on its own thread.
//!
//! Not on the runtime's blocking pool: a runtime waits for its pool when it
//! shuts down, and would wait for a key press if the input is a terminal. A
//! separate thread ends with the program.

use std::{
    io::{self, IoSlice, Read, Write},
    pin::Pin,
    task::{Context, Poll, ready},
    thread,
};

use bytes::{Buf as _, Bytes};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

/// Number of bytes read at once, and roughly written at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Number of chunks that are read ahead.
const READ_AHEAD_CHUNKS: usize = 4;

/// A reader whose source is read by a thread.
pub(super) struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    /// The rest of the last chunk.
    rest: Bytes,
}

impl ThreadReader {
    /// Starts reading.
    pub(super) fn start(source: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(READ_AHEAD_CHUNKS);
        thread::Builder::new()
            .name("bowline-stdin".to_owned())
            .spawn(move || read(source, &sender))?;
        Ok(Self {
            chunks,
            rest: Bytes::new(),
        })
    }
}

/// Reads until the end, an error, or until the receiver is dropped.
fn read(mut source: impl Read, chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let chunk = match source.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || failed {
            return;
        }
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.rest = chunk?,
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest[..length]);
        self.rest.advance(length);
        Poll::Ready(Ok(()))
    }
}

/// A writer whose target is written by a thread.
///
/// A write is ready when it is done, not when it has started, so errors are
/// reported for the write they belong to. Until then it must be repeated with
/// the same bytes, possibly followed by more.
pub(super) struct ThreadWriter {
    chunks: mpsc::Sender<Vec<u8>>,
    written: mpsc::Receiver<io::Result<usize>>,
    busy: bool,
}

impl ThreadWriter {
    /// Starts the thread, which waits for data to write.
    pub(super) fn start(target: impl Write + Send + 'static) -> io::Result<Self> {
        let (chunks, receiver) = mpsc::channel(1);
        let (sender, written) = mpsc::channel(1);
        thread::Builder::new()
            .name("bowline-stdout".to_owned())
            .spawn(move || write(target, receiver, &sender))?;
        Ok(Self {
            chunks,
            written,
            busy: false,
        })
    }
}

/// Writes until the sender is dropped.
fn write(
    mut target: impl Write,
    mut chunks: mpsc::Receiver<Vec<u8>>,
    written: &mpsc::Sender<io::Result<usize>>,
) {
    while let Some(chunk) = chunks.blocking_recv() {
        let done = target.write_all(&chunk).and_then(|()| target.flush());
        if written.blocking_send(done.map(|()| chunk.len())).is_err() {
            return;
        }
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.busy {
            if self.chunks.try_send(concat_slices(slices)).is_err() {
                return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
            }
            self.busy = true;
        }
        let written = ready!(self.written.poll_recv(cx));
        self.busy = false;
        Poll::Ready(written.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Concatenates the first slices.
fn concat_slices(slices: &[IoSlice<'_>]) -> Vec<u8> {
    let mut chunk = Vec::new();
    for slice in slices {
        let room = CHUNK_BYTES - chunk.len();
        chunk.extend_from_slice(&slice[..slice.len().min(room)]);
    }
    chunk
}
