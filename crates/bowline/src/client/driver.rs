//! The task that drives a connection: it dials, reads, writes and keeps time.

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

/// How many frames are taken in before others on this thread get a turn, and
/// what they ask is written. With many of them, the server would have nothing
/// to do until we have looked at all.
const FRAMES_PER_TURN: usize = 32;

type DialFuture = BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>>;

/// Drives one connection until it has ended.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    transport: Box<dyn Transport>,
    max_frame_size: usize,
    dial: Option<(LinkId, DialFuture)>,
    timer: Pin<Box<Sleep>>,
    /// Whether a task that others wake runs before those that wait already.
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
        let timer = Box::pin(sleep_until(shared.to_tokio(shared.now())));
        Self {
            shared,
            transport,
            max_frame_size,
            dial: None,
            timer,
            is_multi_thread: Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread,
        }
    }

    /// Does what can be done now. Says whether more could be done at once.
    fn poll_once(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let now = self.shared.now();
        if inner.deadline.is_some_and(|deadline| deadline <= now) {
            inner.machine.handle(now, Input::Tick);
        }
        self.poll_dial(inner, cx);
        let more = Self::read(inner, now, cx);
        self.shared.drain_outputs(inner, now);
        if let Some((_, link)) = &mut inner.link {
            // Not ready means that the link wakes us when it can go on.
            let _ = link.poll_flush(cx);
        }
        more || inner.pending_dial.is_some()
    }

    /// Starts a dial that is wanted, drops one that is not, looks after one
    /// that is under way.
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

    /// Takes in what has arrived; what follows from all of it is carried out
    /// together. Says whether there may be more.
    fn read(inner: &mut Inner, now: Instant, cx: &mut Context<'_>) -> bool {
        for _ in 0..FRAMES_PER_TURN {
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

    /// Sets the timer. Says whether it has run out already.
    fn poll_timer(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(at) = inner.deadline else {
            inner.wakes_at.take_if(|_| self.timer.is_elapsed());
            return false;
        };
        let deadline = self.shared.to_tokio(at);
        // A timer that is early is let run out: most deadlines are those of
        // calls, which are answered long before, and setting it costs more.
        if self.timer.is_elapsed() || deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
            inner.wakes_at = Some(at);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }

    /// Whether to wait for one turn, in which those who are about to make calls
    /// make them: one write is enough for all.
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
