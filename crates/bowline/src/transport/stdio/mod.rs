//! The link of a program that is itself a server on its standard streams.

mod adapters;
#[cfg(not(unix))]
mod blocking;
mod thread;
#[cfg(unix)]
mod unix;

use std::{
    fmt,
    future::poll_fn,
    io,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
};

use tokio::{
    io::{Sink, sink},
    runtime::Handle,
};

use self::adapters::{NewlineTerminated, PendingReader};
#[cfg(not(unix))]
use self::blocking::{Input, Output, take};
#[cfg(unix)]
use self::unix::{Input, Output, take};
use super::{ConnectionError, Link, LinkEvent, OutgoingFrame, SendError, StreamLink};

/// Number of outgoing bytes that are queued before the link is busy.
const QUEUE_BYTES: usize = 4 * 1024 * 1024;

/// Whether the streams were taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// This program's standard input and output, as a link to its parent process.
///
/// The end of the input is not the end of the link: after [`LinkEvent::Down`],
/// earlier requests can still be answered. So a server ends in three steps: the
/// link is down, the last responses are sent, and [`finish`](Self::finish)
/// waits until they are written.
///
/// On Unix, the streams then belong to the link alone. Whatever the program or
/// a library prints is redirected to standard error, and standard input is
/// empty, for this program and its child processes. If standard error is the
/// same pipe or socket that carries the frames, printed output is discarded. On
/// other systems the streams stay in place, and nothing else may be printed.
///
/// ```no_run
/// use std::future::poll_fn;
///
/// use bowline::transport::{Link as _, LinkEvent, OutgoingFrame, Stdio};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut link = Stdio::take(16 * 1024 * 1024)?;
/// // Sends every frame back.
/// while let LinkEvent::Frame(frame) = poll_fn(|cx| link.poll_event(cx)).await {
///     let _ = link.send(OutgoingFrame { id: None, frame });
///     poll_fn(|cx| link.poll_flush(cx)).await;
/// }
/// link.finish().await?;
/// # Ok(())
/// # }
/// ```
pub struct Stdio {
    // Two links of one direction each: with a single one, the end of the input
    // would be the end of the output, too.
    input: StreamLink<NewlineTerminated<Input>, Sink>,
    output: StreamLink<PendingReader, Output>,
    /// Writes the rest after the link was closed.
    runtime: Handle,
}

impl Stdio {
    /// Takes the standard streams, for frames of up to `max_frame` bytes.
    ///
    /// Call it early: input read from [`std::io::stdin`] before is missing
    /// here, and processes started before may hold the streams.
    ///
    /// # Errors
    ///
    /// Returns an error if the streams were taken before, outside of a Tokio
    /// runtime, or if the system refuses. The streams are then unchanged.
    ///
    /// # Panics
    ///
    /// Panics if the runtime was built without I/O.
    pub fn take(max_frame: usize) -> io::Result<Self> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        if TAKEN.swap(true, Ordering::SeqCst) {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "the standard streams are already in use by another `Stdio`",
            ));
        }
        let (input, output) = take().inspect_err(|_| TAKEN.store(false, Ordering::SeqCst))?;
        Ok(Self {
            input: StreamLink::new(NewlineTerminated::new(input), sink(), max_frame, 0),
            output: StreamLink::new(PendingReader, output, 0, QUEUE_BYTES),
            runtime,
        })
    }

    /// Writes the queued frames, then closes the streams. Waits for as long as
    /// the other side does not read.
    ///
    /// A driver that only has a [`Link`] does the same by waiting for
    /// [`poll_flush`](Link::poll_flush) before it calls [`close`](Link::close).
    ///
    /// # Errors
    ///
    /// Returns an error if the output is broken and some of it was not
    /// delivered.
    pub async fn finish(mut self) -> Result<(), ConnectionError> {
        poll_fn(|cx| self.output.poll_write_queued(cx)).await;
        match self.poll_broken() {
            Poll::Ready(cause) => Err(cause),
            Poll::Pending => Ok(()),
        }
    }

    /// Ready if the output is broken. Needs no waker: the writing task is woken
    /// when it breaks.
    fn poll_broken(&self) -> Poll<ConnectionError> {
        match self.output.broken() {
            Some(cause) => Poll::Ready(cause.clone()),
            None => Poll::Pending,
        }
    }
}

impl Link for Stdio {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        self.output.enqueue(outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.output.poll_write_queued(cx)
    }

    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<LinkEvent> {
        match self.input.poll_read_frame(cx) {
            Poll::Pending => self.poll_broken().map(LinkEvent::Down),
            event => event,
        }
    }

    /// Writes the queued frames in the background. A program that exits right
    /// away should call [`finish`](Stdio::finish) instead.
    fn close(mut self: Box<Self>) {
        let mut noop_cx = Context::from_waker(Waker::noop());
        if self.poll_flush(&mut noop_cx).is_pending() {
            let runtime = self.runtime.clone();
            runtime.spawn(self.finish());
        }
    }
}

impl fmt::Debug for Stdio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stdio").finish_non_exhaustive()
    }
}
