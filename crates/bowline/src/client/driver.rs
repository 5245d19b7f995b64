//! The driver: the task that dials, reads, writes and keeps time for a connection.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    time::{Sleep, sleep_until},
};

use super::shared::{Inner, PendingDial, Shared};
use crate::{
    proto::{
        Instant,
        client::{ConnectionError, Input, LinkId},
    },
    transport::{BoxFuture, DialOptions, Link, LinkEvent, Transport},
};

/// How many frames are read before other tasks on this thread run and their requests
/// are written. Without a limit, the server would be idle until we have processed all
/// its frames.
const MAX_FRAMES_PER_TURN: usize = 32;

type DialFuture = BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>>;

/// Drives one connection until it has ended.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    transport: Box<dyn Transport>,
    max_frame_size: usize,
    dial: Option<(LinkId, DialFuture)>,
    timer: Pin<Box<Sleep>>,
    /// Whether a woken task runs before tasks that are already queued.
    is_multi_thread: bool,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        transport: Box<dyn Transport>,
        max_frame_size: usize,
    ) -> Self {
        if let Some(era) = transport.known_era() {
            shared.lock().machine.assume_era(era);
        }
        let timer = Box::pin(sleep_until(shared.to_tokio_instant(shared.now())));
        Self {
            shared,
            transport,
            max_frame_size,
            dial: None,
            timer,
            is_multi_thread: Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread,
        }
    }

    /// Makes all progress that is possible now. Returns whether more is possible
    /// immediately.
    fn poll_once(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let now = self.shared.now();
        if inner.deadline.is_some_and(|deadline| deadline <= now) {
            inner.machine.handle(now, Input::Tick);
        }
        self.poll_dial(inner, cx);
        let more = Self::read(inner, now, cx);
        self.shared.process_outputs(inner, now);
        if let Some((_, link)) = &mut inner.link {
            // If not ready, the link wakes us when it can make progress.
            let _ = link.poll_flush(cx);
        }
        more || inner.pending_dial.is_some()
    }

    /// Starts a requested dial, drops one that is no longer wanted, and polls the
    /// current one.
    fn poll_dial(&mut self, inner: &mut Inner, cx: &mut Context<'_>) {
        if let Some(link) = inner.abandoned_dial.take() {
            self.dial.take_if(|(dialled, _)| *dialled == link);
        }
        if let Some(PendingDial {
            link,
            attempt,
            http_variant,
        }) = inner.pending_dial.take()
        {
            let dial = DialOptions {
                attempt,
                http_variant,
                max_frame_size: self.max_frame_size,
                close_tracker: self.shared.close_tracker.clone(),
            };
            self.dial = Some((link, self.transport.dial(dial)));
        }
        let Some((link, future)) = &mut self.dial else {
            return;
        };
        let Poll::Ready(dialled) = future.as_mut().poll(cx) else {
            return;
        };
        let link = *link;
        self.dial = None;
        let now = self.shared.now();
        match dialled {
            Ok(open_link) => {
                inner.link = Some((link, open_link));
                inner.machine.handle(now, Input::Up { link });
            }
            Err(cause) => inner.machine.handle(now, Input::DialFailed { link, cause }),
        }
    }

    /// Reads the available frames and processes their outputs together. Returns whether
    /// there may be more frames.
    fn read(inner: &mut Inner, now: Instant, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_FRAMES_PER_TURN {
            let Some((link, open_link)) = &mut inner.link else {
                return false;
            };
            let link = *link;
            if inner.machine.readable_link() != Some(link) {
                return false;
            }
            let Poll::Ready(event) = open_link.poll_event(cx) else {
                return false;
            };
            let input = match event {
                LinkEvent::Frame(frame) => Input::Frame { link, frame },
                LinkEvent::OversizedFrame { size, prefix } => {
                    Input::OversizedFrame { link, size, prefix }
                }
                LinkEvent::SendFailed { id, error } => Input::SendFailed { link, id, error },
                LinkEvent::Down(cause) => {
                    if let Some((_, closed_link)) = inner.link.take() {
                        closed_link.close();
                    }
                    Input::Down { link, cause }
                }
            };
            inner.machine.handle(now, input);
        }
        true
    }

    /// Sets the timer. Returns whether it has already elapsed.
    fn poll_timer(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(at) = inner.deadline else {
            inner.wakes_at.take_if(|_| self.timer.is_elapsed());
            return false;
        };
        let deadline = self.shared.to_tokio_instant(at);
        // A timer that fires too early is left alone: most deadlines belong to calls,
        // which complete long before, and resetting the timer costs more.
        if self.timer.is_elapsed() || deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
            inner.wakes_at = Some(at);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }

    /// Returns whether to wait one scheduler turn for other tasks to make their calls,
    /// so that one write covers all of them.
    fn should_batch(&self, inner: &mut Inner) -> bool {
        std::mem::take(&mut inner.is_batching) && self.is_multi_thread
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.abandon();
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let shared = Arc::clone(&this.shared);
        let mut inner = shared.lock();
        match &mut inner.driver_waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        if this.should_batch(&mut inner) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let more = this.poll_once(&mut inner, cx);
        if inner.ended {
            return Poll::Ready(());
        }
        if more || this.poll_timer(&mut inner, cx) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
