//! The machine, the link and those who wait, behind one lock.
//!
//! Callers and the driver's task meet here. Whoever makes the machine say
//! something carries it out at once, under the lock, which is held for as long
//! as that takes and never across a wait. Code of the application's does not
//! run under it: it may use the connection itself.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::Instant as Clock,
};

use super::{
    ListLimits, ProgressSender,
    health::Health,
    host::Host,
    locked::{Locked, Told},
    observations::Observation,
    span::CallSpan,
};
use crate::{
    observations::Observations,
    proto::{
        Instant,
        client::{
            CallId, CallMap, CallOptions, Cancel, Cause, CauseKind, Connection, Event, Failure,
            Input, Link as LinkId, Outcome, Output, Request, StateName, Timeouts, Wiring,
        },
    },
    transport::{CloseTracker, Link, Outgoing},
};

/// What callers and the driver share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    origin: Clock,
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    pub(crate) health: watch::Sender<Health>,
    /// What closed links still do.
    pub(crate) closing: CloseTracker,
}

/// What those need to know who ask for more than one thing.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) timeouts: Timeouts,
    pub(crate) list_limits: ListLimits,
    pub(crate) strict: bool,
}

pub(crate) struct Inner {
    pub(crate) machine: Connection,
    pub(crate) link: Option<(LinkId, Box<dyn Link>)>,
    /// A link that the machine wants and nobody dials yet.
    pub(crate) wanted: Option<Wanted>,
    /// A link that was given up while it was being dialled.
    pub(crate) given_up: Option<LinkId>,
    /// When the machine wants to be woken.
    pub(crate) deadline: Option<Instant>,
    pub(crate) driver: Option<Waker>,
    /// When the driver wakes by itself, at the latest.
    pub(crate) alarm: Option<Instant>,
    /// The driver was woken to send calls, and others may be about to be made.
    pub(crate) gathering: bool,
    pub(crate) ended: bool,
    /// What the server of the link that was just hung up said last.
    last_words: Option<String>,
    waiting: CallMap<Waiter>,
    pub(super) told: Told,
    pub(super) observations: Observations<Observation>,
}

/// Somebody who waits for the end of a call.
pub(crate) struct Waiter {
    pub(crate) outcome: oneshot::Sender<Outcome>,
    pub(crate) progress: Option<ProgressSender>,
}

impl Waiter {
    /// Tells it that the call has ended; first, that there is no more progress.
    pub(super) fn end(self, outcome: Outcome) {
        drop(self.progress);
        // A caller that is gone has cancelled the call already.
        let _ = self.outcome.send(outcome);
    }
}

/// A dial that the machine asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) link: LinkId,
    pub(crate) attempt: u32,
    pub(crate) wiring: Wiring,
}

impl Shared {
    pub(crate) fn new(machine: Connection, host: Host, settings: Settings) -> Arc<Self> {
        let inner = Inner {
            machine,
            link: None,
            wanted: None,
            given_up: None,
            deadline: None,
            driver: None,
            alarm: None,
            gathering: false,
            ended: false,
            last_words: None,
            waiting: CallMap::default(),
            told: Told::default(),
            observations: Observations::default(),
        };
        Arc::new(Self {
            inner: Mutex::new(inner),
            origin: Clock::now(),
            host,
            settings,
            health: watch::Sender::new(Health::default()),
            closing: CloseTracker::default(),
        })
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        Locked::new(self, self.lock_quietly())
    }

    /// As [`lock`](Self::lock); nobody is told anything afterwards.
    pub(super) fn lock_quietly(&self) -> MutexGuard<'_, Inner> {
        // A panic under the lock would be a bug of ours; whoever comes next
        // should still get an answer.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The machine's idea of now.
    pub(crate) fn now(&self) -> Instant {
        Instant::after_origin(self.origin.elapsed())
    }

    /// The clock's idea of a moment of the machine's.
    pub(crate) fn clock(&self, moment: Instant) -> Clock {
        self.origin + moment.since_origin()
    }

    /// Does something to the machine, carries out what follows, and lets the
    /// driver know.
    pub(crate) fn command<T>(
        self: &Arc<Self>,
        act: impl FnOnce(&mut Connection, Instant) -> T,
    ) -> T {
        let now = self.now();
        let mut inner = self.lock();
        let result = act(&mut inner.machine, now);
        self.settle(&mut inner, now);
        inner.wake_driver();
        result
    }

    /// Makes a call for somebody who waits.
    pub(crate) fn call(
        self: &Arc<Self>,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
        waiter: Waiter,
    ) -> CallId {
        let now = self.now();
        let mut inner = self.lock();
        let call = start(&mut inner.machine, now);
        inner.waiting.insert(call, waiter);
        self.settle(&mut inner, now);
        inner.let_leave();
        call
    }

    /// Makes a call, at once. Its end can be waited for; giving up waiting
    /// gives up the call.
    pub(crate) fn request(
        self: &Arc<Self>,
        request: Request,
        options: CallOptions,
        progress: Option<ProgressSender>,
    ) -> UnderWay<'_> {
        let span = CallSpan::new(&self.host.name, request.method());
        self.begin(
            span,
            |machine, now| machine.call(now, request, options),
            progress,
        )
    }

    /// As [`request`](Self::request), for whatever ends like a call of `method`.
    pub(crate) fn ask(
        self: &Arc<Self>,
        method: &str,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
    ) -> UnderWay<'_> {
        self.begin(CallSpan::new(&self.host.name, method), start, None)
    }

    fn begin(
        self: &Arc<Self>,
        span: CallSpan,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
        progress: Option<ProgressSender>,
    ) -> UnderWay<'_> {
        let (outcome, ended) = oneshot::channel();
        let call = span.within(|| self.call(start, Waiter { outcome, progress }));
        UnderWay {
            shared: self,
            call,
            span,
            ended: Some(ended),
        }
    }

    /// Carries out what the machine has to say.
    pub(crate) fn settle(self: &Arc<Self>, inner: &mut Inner, now: Instant) {
        loop {
            match inner.machine.poll_output() {
                Output::Dial {
                    link,
                    attempt,
                    wiring,
                } => {
                    inner.wanted = Some(Wanted {
                        link,
                        attempt,
                        wiring,
                    });
                }
                Output::Hangup { link } => inner.hang_up(now, link),
                Output::Send { link, id, frame } => {
                    inner.send(now, link, Outgoing { id, frame });
                }
                Output::Abort { link, id } => {
                    if let Some(live) = inner.live(link) {
                        live.abort(id);
                    }
                }
                Output::Settled { link, revision } => {
                    if let Some(live) = inner.live(link) {
                        live.settle(revision);
                    }
                }
                Output::Done { call, outcome } => inner.finish(call, outcome),
                Output::Event(event) => self.event(inner, event),
                Output::Telemetry(seen) => {
                    if self.host.has_observers() {
                        inner.observations.push(self.host.observation(seen));
                    }
                }
                Output::Idle(deadline) => {
                    inner.last_words = None;
                    inner.deadline = deadline;
                    return;
                }
            }
        }
    }

    /// Ends it where nobody drives it any more: the driver's task panicked, or
    /// its runtime is gone. Everybody who waits is answered.
    pub(crate) fn abandon(self: &Arc<Self>) {
        let now = self.now();
        let mut inner = self.lock();
        if inner.ended {
            return;
        }
        // Dropped and not closed: closing may take a runtime.
        inner.link = None;
        inner.machine.stop(now);
        self.settle(&mut inner, now);
        if !inner.ended {
            self.event(&mut inner, Event::Ended);
        }
    }

    fn event(self: &Arc<Self>, inner: &mut Inner, event: Event) {
        match event {
            Event::Progress { call, progress } => {
                let waiter = inner.waiting.get(&call);
                if let Some(listener) = waiter.and_then(|waiter| waiter.progress.as_ref()) {
                    inner.told.wake(listener.send(*progress));
                }
            }
            Event::State(state) => self.health.send_modify(|health| health.state = state),
            Event::Ready { session } => {
                let server = inner.machine.server().ok().cloned();
                self.health
                    .send_modify(|health| health.opened(session, server));
            }
            // The next attempt knows better and comes at once: no failure yet.
            Event::Fell {
                retry_in: Some(Duration::ZERO),
                ..
            } => {}
            Event::Fell { cause, retry_in } => {
                let cause = inner.explained(cause);
                self.health
                    .send_modify(|health| health.fell(cause, retry_in));
            }
            Event::Ended => {
                inner.ended = true;
                self.host.end();
                self.health.send_modify(|health| health.ended = true);
            }
            other => self.host.event(self, other),
        }
    }
}

impl Inner {
    pub(crate) fn wake_driver(&self) {
        if let Some(driver) = &self.driver {
            driver.wake_by_ref();
        }
    }

    /// Lets a call leave that was made: at once if it is the only one, else
    /// together with those that are made meanwhile.
    fn let_leave(&mut self) {
        if self.waiting.len() > 1 {
            self.gathering = true;
        } else if !self.needs_driver() && self.flush_at_once() {
            return;
        }
        self.wake_driver();
    }

    /// Whether there is something to do that only the driver can.
    fn needs_driver(&self) -> bool {
        let sooner = |deadline| self.alarm.is_none_or(|alarm| deadline < alarm);
        self.ended
            || self.wanted.is_some()
            || self.given_up.is_some()
            || self.deadline.is_some_and(sooner)
    }

    /// Says whether nothing is left to be sent.
    fn flush_at_once(&mut self) -> bool {
        match (&mut self.link, &self.driver) {
            (Some((_, link)), Some(driver)) if link.flushes_anywhere() => {
                link.poll_flush(&mut Context::from_waker(driver)).is_ready()
            }
            _ => false,
        }
    }

    fn live(&mut self, link: LinkId) -> Option<&mut Box<dyn Link>> {
        let (id, live) = self.link.as_mut()?;
        (*id == link).then_some(live)
    }

    fn send(&mut self, now: Instant, link: LinkId, outgoing: Outgoing) {
        let id = outgoing.id;
        let Some(live) = self.live(link) else {
            return;
        };
        if let Err(refusal) = live.send(outgoing) {
            self.machine
                .handle(now, Input::Refused { link, id, refusal });
        }
    }

    fn hang_up(&mut self, now: Instant, link: LinkId) {
        self.wanted.take_if(|wanted| wanted.link == link);
        self.given_up = Some(link);
        if let Some((_, mut live)) = self.link.take_if(|(id, _)| *id == link) {
            self.last_words = live.last_words();
            // What was said last, such as that a call is given up, leaves if
            // that takes no waiting.
            let _ = live.poll_flush(&mut Context::from_waker(Waker::noop()));
            live.close();
        }
        if self.machine.state() == StateName::Closing {
            // What becomes of the link is its own business from here on; there
            // is nothing to wait for.
            let cause = CauseKind::Eof.into();
            self.machine.handle(now, Input::Down { link, cause });
        }
    }

    /// Adds what the server said last to the cause for which it was hung up.
    fn explained(&self, cause: Cause) -> Cause {
        match &self.last_words {
            Some(words) if cause.tail().is_none() => cause.with_tail(words),
            _ => cause,
        }
    }

    fn finish(&mut self, call: CallId, mut outcome: Outcome) {
        if let Outcome::Failed(Failure::ConnectionLost(cause)) = outcome {
            outcome = Outcome::Failed(Failure::ConnectionLost(self.explained(cause)));
        }
        if let Some(waiter) = self.waiting.remove(&call) {
            self.told.push(waiter, outcome);
        }
    }
}

/// A call that was made. Dropping it before its end gives the call up.
pub(crate) struct UnderWay<'a> {
    shared: &'a Arc<Shared>,
    call: CallId,
    span: CallSpan,
    /// `None` once it has ended.
    ended: Option<oneshot::Receiver<Outcome>>,
}

impl Future for UnderWay<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = match &mut self.ended {
            Some(ended) => ready!(Pin::new(ended).poll(cx)).ok(),
            None => None,
        };
        self.ended = None;
        // The machine answers every call, and nobody else drops the sender.
        let outcome = outcome.unwrap_or(Outcome::Failed(Failure::Shutdown));
        self.span.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.ended.take().is_some() {
            self.shared
                .command(|machine, now| machine.cancel(now, self.call, Cancel::Dropped));
        }
    }
}
