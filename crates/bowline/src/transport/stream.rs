//! Links over a pair of byte streams, with one frame per line.

use std::{
    collections::VecDeque,
    future::Future as _,
    io::{self, IoSlice},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::{
    ConnectionError, ConnectionErrorKind, Link, LinkEvent, OutgoingFrame, SendError, internal,
};
use crate::proto::jsonrpc::{LineFramer, OversizedFrame};

/// Maximum number of buffers in one write.
const MAX_SLICES: usize = 64;

/// Frames up to this size are copied, so many of them share one buffer. Above
/// it, a copy costs more than a separate buffer.
const MAX_COPIED_FRAME: usize = 4 * 1024;

/// Capacity of the buffer for small frames that is retained when all is
/// written.
const MAX_RETAINED_BUFFER: usize = 64 * 1024;

/// A link over two byte streams, with one frame per line.
///
/// Outgoing frames are queued, up to a number of bytes, and written together.
/// Large frames are not copied.
#[derive(Debug)]
pub struct StreamLink<R, W> {
    reader: R,
    framer: LineFramer,
    writer: W,
    /// Frames to be written first.
    queue: VecDeque<Bytes>,
    /// Small frames to be written after the queue, concatenated.
    tail: Vec<u8>,
    /// Number of bytes of `tail` that were written already.
    written: usize,
    queued: usize,
    max_queued: usize,
    broken: Option<ConnectionError>,
}

impl<R, W> StreamLink<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    /// Creates a link that refuses frames over `max_frame` bytes and queues
    /// about `max_queue` bytes at most.
    pub fn new(reader: R, writer: W, max_frame: usize, max_queue: usize) -> Self {
        Self {
            reader,
            framer: LineFramer::new(max_frame),
            writer,
            queue: VecDeque::new(),
            tail: Vec::new(),
            written: 0,
            queued: 0,
            max_queued: max_queue,
            broken: None,
        }
    }

    /// Returns why writing failed, if it did.
    #[cfg(feature = "server")]
    pub(super) fn broken(&self) -> Option<&ConnectionError> {
        self.broken.as_ref()
    }

    /// Returns the underlying streams.
    pub fn into_parts(self) -> (R, W) {
        (self.reader, self.writer)
    }

    /// Queues a frame. A frame larger than the whole queue is accepted when the
    /// queue is empty: it could never be sent otherwise.
    ///
    /// # Errors
    ///
    /// Returns an error if the queue is full or the stream is broken.
    pub fn enqueue(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        if let Some(cause) = &self.broken {
            return Err(SendError::Failed(cause.clone()));
        }
        let size = outgoing.frame.len() + 1;
        if self.queued > 0 && self.queued + size > self.max_queued {
            return Err(SendError::Busy(outgoing.frame));
        }
        self.queued += size;
        if size <= MAX_COPIED_FRAME {
            self.tail.extend_from_slice(&outgoing.frame);
        } else {
            self.queue_tail();
            self.queue.push_back(outgoing.frame);
        }
        self.tail.push(b'\n');
        Ok(())
    }

    /// Moves the collected small frames to the queue, so a large frame can
    /// follow.
    fn queue_tail(&mut self) {
        if !self.tail.is_empty() {
            let mut last = Bytes::from(mem::take(&mut self.tail));
            last.advance(mem::take(&mut self.written));
            self.queue.push_back(last);
        }
    }

    /// Writes the queued frames, with as few writes as possible.
    pub fn poll_write_queued(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.queued > 0 && self.broken.is_none() {
            match ready!(self.poll_write_some(cx)) {
                Ok(0) => self.mark_broken(ConnectionErrorKind::Eof.into(), cx),
                Ok(written) => self.advance(written),
                Err(error) => self.mark_broken(io_cause(&error), cx),
            }
        }
        if self.broken.is_none() {
            // Pipes do not buffer, so this is not a system call.
            let _ = ready!(Pin::new(&mut self.writer).poll_flush(cx));
        }
        Poll::Ready(())
    }

    /// Reads until a frame is complete or the stream ends.
    pub fn poll_read_frame(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            match self.framer.next_frame() {
                Ok(Some(frame)) => return Poll::Ready(LinkEvent::Frame(frame)),
                Ok(None) => {}
                Err(oversized) => return Poll::Ready(self.oversized_event(oversized)),
            }
            let end = match (self.poll_read_some(cx), &self.broken) {
                (Poll::Ready(Ok(1..)), _) => continue,
                (Poll::Ready(Ok(0)), _) => ConnectionErrorKind::Eof.into(),
                (Poll::Ready(Err(error)), _) => io_cause(&error),
                // Nothing we send is delivered any more, and everything
                // received was read: there is nothing to wait for.
                (Poll::Pending, Some(cause)) => cause.clone(),
                (Poll::Pending, None) => return Poll::Pending,
            };
            self.broken = Some(end.clone());
            return Poll::Ready(LinkEvent::Down(end));
        }
    }

    /// Reports a line that exceeds the limit. A line without an end also ends
    /// the link: first the event for the frame, then `Down`.
    fn oversized_event(&mut self, oversized: OversizedFrame) -> LinkEvent {
        let (size, limit) = (oversized.size_at_least, oversized.limit);
        let oversized_error = ConnectionErrorKind::OversizedFrame { size, limit };
        match &self.broken {
            Some(cause) if oversized.is_unrecoverable && *cause.kind() == oversized_error => {
                return LinkEvent::Down(cause.clone());
            }
            _ if oversized.is_unrecoverable => self.broken = Some(oversized_error.into()),
            _ => {}
        }
        LinkEvent::OversizedFrame {
            size,
            prefix: oversized.prefix,
        }
    }

    fn poll_write_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let writer = Pin::new(&mut self.writer);
        let last = &self.tail[self.written..];
        if self.queue.is_empty() {
            return writer.poll_write(cx, last);
        }
        let mut slices = [IoSlice::new(&[]); MAX_SLICES];
        let mut count = 0;
        let parts = self.queue.iter().map(|bytes| &**bytes).chain([last]);
        for (slice, bytes) in slices.iter_mut().zip(parts) {
            *slice = IoSlice::new(bytes);
            count += 1;
        }
        writer.poll_write_vectored(cx, &slices[..count])
    }

    /// Marks the writing side as broken and wakes the reader.
    fn mark_broken(&mut self, cause: ConnectionError, cx: &Context<'_>) {
        self.broken = Some(cause);
        cx.waker().wake_by_ref();
    }

    fn advance(&mut self, mut written: usize) {
        self.queued = self.queued.saturating_sub(written);
        while let Some(front) = self.queue.front_mut() {
            if front.len() > written {
                front.advance(written);
                return;
            }
            written -= front.len();
            self.queue.pop_front();
        }
        self.written += written;
        if self.written >= self.tail.len() {
            self.written = 0;
            self.tail.clear();
            self.tail.shrink_to(MAX_RETAINED_BUFFER);
        } else if self.written > MAX_RETAINED_BUFFER && self.written > self.tail.len() / 2 {
            // The queue may never become empty and must not grow without bound.
            self.tail.drain(..mem::take(&mut self.written));
        }
    }

    fn poll_read_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // Created again at each poll: the future keeps no state between polls.
        pin!(self.reader.read_buf(self.framer.buffer())).poll(cx)
    }
}

fn io_cause(error: &io::Error) -> ConnectionError {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
            ConnectionErrorKind::Eof.into()
        }
        _ => ConnectionErrorKind::Io(error.to_string()).into(),
    }
}

impl<R, W> Link for StreamLink<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        self.enqueue(outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_write_queued(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        self.poll_read_frame(cx)
    }

    fn close(self: Box<Self>) {}

    fn can_flush_on_any_thread(&self, _: internal::Token) -> bool {
        true
    }
}
