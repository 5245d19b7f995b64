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

use super::shared::{Inner, Shared, Wanted};
use crate::{
    proto::{
        Instant,
        client::{Cause, Input, Link as LinkId},
    },
    transport::{BoxFuture, Dial, Link, LinkEvent, Transport},
};

/// How many frames are taken in before others on this thread get a turn, and
/// what they ask is written. With many of them, the server would have nothing
/// to do until we have looked at all.
const FRAMES_PER_TURN: usize = 32;

type Dialling = BoxFuture<'static, Result<Box<dyn Link>, Cause>>;

/// Drives one connection until it has ended.
pub(crate) struct Driver {
    shared: Arc<Shared>,
    transport: Box<dyn Transport>,
    max_frame: usize,
    dialling: Option<(LinkId, Dialling)>,
    timer: Pin<Box<Sleep>>,
    /// Whether a task that others wake runs before those that wait already.
    cuts_in: bool,
}

impl Driver {
    pub(crate) fn new(
        shared: Arc<Shared>,
        transport: Box<dyn Transport>,
        max_frame: usize,
    ) -> Self {
        if let Some(era) = transport.known_era() {
            shared.lock().machine.assume(era);
        }
        let timer = Box::pin(sleep_until(shared.clock(shared.now())));
        Self {
            shared,
            transport,
            max_frame,
            dialling: None,
            timer,
            cuts_in: Handle::current().runtime_flavor() == RuntimeFlavor::MultiThread,
        }
    }

    /// Does what can be done now. Says whether more could be done at once.
    fn turn(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let now = self.shared.now();
        if inner.deadline.is_some_and(|deadline| deadline <= now) {
            inner.machine.handle(now, Input::Tick);
        }
        self.dial(inner, cx);
        let more = Self::read(inner, now, cx);
        self.shared.settle(inner, now);
        if let Some((_, link)) = &mut inner.link {
            // Not ready means that the link wakes us when it can go on.
            let _ = link.poll_flush(cx);
        }
        more || inner.wanted.is_some()
    }

    /// Starts a dial that is wanted, drops one that is not, looks after one
    /// that is under way.
    fn dial(&mut self, inner: &mut Inner, cx: &mut Context<'_>) {
        if let Some(link) = inner.given_up.take() {
            self.dialling.take_if(|(dialled, _)| *dialled == link);
        }
        if let Some(Wanted {
            link,
            attempt,
            wiring,
        }) = inner.wanted.take()
        {
            let dial = Dial {
                attempt,
                wiring,
                max_frame: self.max_frame,
                closing: self.shared.closing.clone(),
            };
            self.dialling = Some((link, self.transport.dial(dial)));
        }
        let Some((link, dialling)) = &mut self.dialling else {
            return;
        };
        let Poll::Ready(dialled) = dialling.as_mut().poll(cx) else {
            return;
        };
        let link = *link;
        self.dialling = None;
        let now = self.shared.now();
        match dialled {
            Ok(live) => {
                inner.link = Some((link, live));
                inner.machine.handle(now, Input::Up { link });
            }
            Err(cause) => inner.machine.handle(now, Input::DialFailed { link, cause }),
        }
    }

    /// Takes in what has arrived; what follows from all of it is carried out
    /// together. Says whether there may be more.
    fn read(inner: &mut Inner, now: Instant, cx: &mut Context<'_>) -> bool {
        for _ in 0..FRAMES_PER_TURN {
            let Some((link, live)) = &mut inner.link else {
                return false;
            };
            let link = *link;
            if inner.machine.receiving() != Some(link) {
                return false;
            }
            let Poll::Ready(event) = live.poll_event(cx) else {
                return false;
            };
            let input = match event {
                LinkEvent::Frame(frame) => Input::Frame { link, frame },
                LinkEvent::Oversize { size, prefix } => Input::Oversize { link, size, prefix },
                LinkEvent::Refused { id, refusal } => Input::Refused { link, id, refusal },
                LinkEvent::Down(cause) => {
                    if let Some((_, dead)) = inner.link.take() {
                        dead.close();
                    }
                    Input::Down { link, cause }
                }
            };
            inner.machine.handle(now, input);
        }
        true
    }

    /// Sets the timer. Says whether it has run out already.
    fn watch_clock(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(at) = inner.deadline else {
            inner.alarm.take_if(|_| self.timer.is_elapsed());
            return false;
        };
        let deadline = self.shared.clock(at);
        // A timer that is early is let run out: most deadlines are those of
        // calls, which are answered long before, and setting it costs more.
        if self.timer.is_elapsed() || deadline < self.timer.deadline() {
            self.timer.as_mut().reset(deadline);
            inner.alarm = Some(at);
        }
        self.timer.as_mut().poll(cx).is_ready()
    }

    /// Whether to wait for one turn, in which those who are about to make calls
    /// make them: one write is enough for all.
    fn lets_gather(&self, inner: &mut Inner) -> bool {
        std::mem::take(&mut inner.gathering) && self.cuts_in
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
        match &mut inner.driver {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        if this.lets_gather(&mut inner) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let more = this.turn(&mut inner, cx);
        if inner.ended {
            return Poll::Ready(());
        }
        if more || this.watch_clock(&mut inner, cx) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}
