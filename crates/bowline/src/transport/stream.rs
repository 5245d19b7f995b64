//! Links over a pair of byte streams: one frame a line.

use std::{
    collections::VecDeque,
    future::Future as _,
    io::{self, IoSlice},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};

use super::{Cause, CauseKind, Link, LinkEvent, Outgoing, Refusal};
use crate::proto::jsonrpc::LineFramer;

/// How many buffers one write takes at most.
const MOST_SLICES: usize = 64;

/// A link over two byte streams, with one frame on each line.
///
/// Outbound frames are queued without being copied, up to a number of bytes,
/// and written together.
#[derive(Debug)]
pub struct StreamLink<R, W> {
    reader: R,
    framer: LineFramer,
    writer: W,
    queue: VecDeque<Bytes>,
    queued: usize,
    most_queued: usize,
    broken: Option<Cause>,
}

impl<R, W> StreamLink<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin,
{
    /// A link that refuses frames over `max_frame` bytes and queues about
    /// `max_queue` bytes at most.
    pub fn new(reader: R, writer: W, max_frame: usize, max_queue: usize) -> Self {
        Self {
            reader,
            framer: LineFramer::new(max_frame),
            writer,
            queue: VecDeque::new(),
            queued: 0,
            most_queued: max_queue,
            broken: None,
        }
    }

    /// Takes the streams apart again.
    pub fn into_parts(self) -> (R, W) {
        (self.reader, self.writer)
    }

    /// Queues a frame. One that is larger than the whole queue is taken when
    /// the queue is empty: it could never be sent otherwise.
    ///
    /// # Errors
    ///
    /// Where the queue is full, or the stream is broken.
    pub fn enqueue(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        if let Some(cause) = &self.broken {
            return Err(Refusal::Failed(cause.clone()));
        }
        let size = outgoing.frame.len() + 1;
        if self.queued > 0 && self.queued + size > self.most_queued {
            return Err(Refusal::Busy(outgoing.frame));
        }
        self.queued += size;
        self.queue.push_back(outgoing.frame);
        self.queue.push_back(Bytes::from_static(b"\n"));
        Ok(())
    }

    /// Writes what is queued, as much in one go as possible.
    pub fn poll_write_queued(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while !self.queue.is_empty() && self.broken.is_none() {
            match ready!(self.poll_write_some(cx)) {
                Ok(0) => self.break_off(CauseKind::Eof.into(), cx),
                Ok(written) => self.advance(written),
                Err(error) => self.break_off(io_cause(&error), cx),
            }
        }
        if self.broken.is_none() {
            // Pipes do not buffer, so that this is no system call.
            let _ = ready!(Pin::new(&mut self.writer).poll_flush(cx));
        }
        Poll::Ready(())
    }

    /// Reads until there is a frame, or an end.
    pub fn poll_read_frame(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        loop {
            match self.framer.next_frame() {
                Ok(Some(frame)) => return Poll::Ready(LinkEvent::Frame(frame)),
                Ok(None) => {}
                Err(oversize) => {
                    return Poll::Ready(LinkEvent::Oversize {
                        size: oversize.size_at_least,
                        prefix: oversize.prefix,
                    });
                }
            }
            let end = match (self.poll_read_some(cx), &self.broken) {
                (Poll::Ready(Ok(1..)), _) => continue,
                (Poll::Ready(Ok(0)), _) => CauseKind::Eof.into(),
                (Poll::Ready(Err(error)), _) => io_cause(&error),
                // What we ask arrives nowhere any more, and what had been said
                // was read: there is nothing to wait for.
                (Poll::Pending, Some(cause)) => cause.clone(),
                (Poll::Pending, None) => return Poll::Pending,
            };
            self.broken = Some(end.clone());
            return Poll::Ready(LinkEvent::Down(end));
        }
    }

    fn poll_write_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut slices = [IoSlice::new(&[]); MOST_SLICES];
        let mut count = 0;
        for (slice, bytes) in slices.iter_mut().zip(&self.queue) {
            *slice = IoSlice::new(bytes);
            count += 1;
        }
        Pin::new(&mut self.writer).poll_write_vectored(cx, &slices[..count])
    }

    /// Writing is over. Whoever reads is told so.
    fn break_off(&mut self, cause: Cause, cx: &Context<'_>) {
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
    }

    fn poll_read_some(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        // Made anew at each poll: it keeps nothing between polls.
        pin!(self.reader.read_buf(self.framer.buffer())).poll(cx)
    }
}

fn io_cause(error: &io::Error) -> Cause {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => CauseKind::Eof.into(),
        _ => CauseKind::Io(error.to_string()).into(),
    }
}

impl<R, W> Link for StreamLink<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn send(&mut self, outgoing: Outgoing) -> Result<(), Refusal> {
        self.enqueue(outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.poll_write_queued(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        self.poll_read_frame(cx)
    }

    fn close(self: Box<Self>) {}
}
