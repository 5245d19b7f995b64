//! Links within one process: frames are passed on without copying.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{
    BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, Link, LinkEvent, OutgoingFrame,
    SendError, Transport, internal,
};

use crate::sync;

/// Number of bytes that each direction queues before it is busy.
const QUEUE_BYTES: usize = 1024 * 1024;

/// A transport to another part of the same program: a server in the same
/// process, or a test.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use bowline::transport::Memory;
///
/// let (transport, mut server_side) = Memory::new();
/// # let mut transport = transport;
/// # use bowline::transport::{DialOptions, Transport};
/// # let dialled = transport.dial(DialOptions::default());
/// // Connections through `transport` arrive here:
/// let peer = server_side.accept().await;
/// # drop((peer, dialled));
/// # });
/// ```
#[derive(Debug)]
pub struct Memory {
    links: mpsc::UnboundedSender<MemoryLink>,
}

/// Accepts the other ends of a [`Memory`] transport's links.
#[derive(Debug)]
pub struct MemoryListener {
    links: mpsc::UnboundedReceiver<MemoryLink>,
}

impl Memory {
    /// Creates a transport and the listener for its links.
    #[must_use]
    pub fn new() -> (Self, MemoryListener) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { links: sender }, MemoryListener { links: receiver })
    }
}

impl MemoryListener {
    /// Accepts the next link. Returns `None` once the transport is gone.
    pub async fn accept(&mut self) -> Option<MemoryLink> {
        self.links.recv().await
    }
}

impl Transport for Memory {
    fn dial(
        &mut self,
        _options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let (local, remote) = MemoryLink::pair();
        let sent = self.links.send(remote);
        Box::pin(async move {
            match sent {
                Ok(()) => Ok(Box::new(local) as Box<dyn Link>),
                Err(_) => Err(ConnectionErrorKind::Unreachable(
                    "the in-memory listener was dropped".to_owned(),
                )
                .into()),
            }
        })
    }

    fn describe(&self) -> String {
        "in this process".to_owned()
    }
}

/// One end of an in-memory link. Implements [`Link`].
pub struct MemoryLink {
    incoming: Arc<FrameQueue>,
    outgoing: Arc<FrameQueue>,
}

impl MemoryLink {
    /// Creates both ends of a link.
    #[must_use]
    pub fn pair() -> (Self, Self) {
        let (there, back) = (Arc::default(), Arc::default());
        let local = Self {
            incoming: Arc::clone(&back),
            outgoing: Arc::clone(&there),
        };
        let remote = Self {
            incoming: there,
            outgoing: back,
        };
        (local, remote)
    }

    /// Receives the next frame. Returns `None` once the other end is gone and
    /// all frames were read.
    pub async fn recv(&mut self) -> Option<Bytes> {
        std::future::poll_fn(|cx| self.incoming.poll_pop(cx)).await
    }

    /// Sends a frame, waiting while the other end is behind. Returns whether
    /// the other end still exists.
    pub async fn send_frame(&mut self, frame: Bytes) -> bool {
        std::future::poll_fn(|cx| self.outgoing.poll_push(&frame, cx)).await
    }
}

/// Reports to the other end why the link ends.
impl Drop for MemoryLink {
    fn drop(&mut self) {
        self.incoming.close();
        self.outgoing.close();
    }
}

impl Link for MemoryLink {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        self.outgoing.push(outgoing.frame)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.outgoing.poll_capacity(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        self.incoming.poll_pop(cx).map(|frame| match frame {
            Some(frame) => LinkEvent::Frame(frame),
            None => LinkEvent::Down(ConnectionErrorKind::Eof.into()),
        })
    }

    fn close(self: Box<Self>) {}

    fn can_flush_on_any_thread(&self, _: internal::Token) -> bool {
        true
    }
}

impl fmt::Debug for MemoryLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLink").finish_non_exhaustive()
    }
}

/// One direction of a link: a queue bounded in bytes.
#[derive(Default)]
struct FrameQueue {
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    frames: VecDeque<Bytes>,
    bytes: usize,
    closed: bool,
    /// A frame was returned as busy, and nothing was read since.
    refused: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl FrameQueue {
    fn push(&self, frame: Bytes) -> Result<(), SendError> {
        let mut queue = self.lock();
        if queue.closed {
            return Err(SendError::Failed(ConnectionErrorKind::Eof.into()));
        }
        if queue.is_full(frame.len()) {
            queue.refused = true;
            return Err(SendError::Busy(frame));
        }
        queue.push(frame);
        Ok(())
    }

    /// Waits for capacity, if the queue was full. Queued frames already count
    /// as delivered.
    fn poll_capacity(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut queue = self.lock();
        if queue.closed || !queue.refused {
            return Poll::Ready(());
        }
        queue.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    fn poll_push(&self, frame: &Bytes, cx: &mut Context<'_>) -> Poll<bool> {
        let mut queue = self.lock();
        if queue.closed {
            return Poll::Ready(false);
        }
        if queue.is_full(frame.len()) {
            queue.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        queue.push(frame.clone());
        Poll::Ready(true)
    }

    fn poll_pop(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = self.lock();
        if let Some(frame) = queue.frames.pop_front() {
            queue.bytes -= frame.len();
            queue.refused = false;
            if let Some(writer) = queue.writer.take() {
                writer.wake();
            }
            return Poll::Ready(Some(frame));
        }
        if queue.closed {
            return Poll::Ready(None);
        }
        match &mut queue.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn close(&self) {
        let mut queue = self.lock();
        queue.closed = true;
        let wakers = [queue.reader.take(), queue.writer.take()];
        drop(queue);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // No code that holds the lock can panic halfway.
        sync::lock(&self.state)
    }
}

impl QueueState {
    fn is_full(&self, more: usize) -> bool {
        !self.frames.is_empty() && self.bytes + more > QUEUE_BYTES
    }

    fn push(&mut self, frame: Bytes) {
        self.bytes += frame.len();
        self.frames.push_back(frame);
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}
