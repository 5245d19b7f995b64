//! The machine, the link and the waiting callers, behind one lock.
//!
//! Callers and the driver's task meet here. Whoever produces an output of the machine
//! processes it immediately, under the lock, which is never held across an await.
//! Application code does not run under the lock, because it may use the connection
//! itself.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::{
    sync::{oneshot, watch},
    time::Instant as TokioInstant,
};

use super::{
    ListLimits, ProgressSender,
    health::Health,
    host::Host,
    observations::Observation,
    span::CallSpan,
    state_guard::{Completions, StateGuard},
};
use crate::{
    observation_queue::ObservationQueue,
    proto::{
        Instant,
        client::{
            CallId, CallMap, CallOptions, Cancellation, Connection, ConnectionError,
            ConnectionErrorKind, ConnectionState, Event, Failure, HttpVariant, Input, LinkId,
            Outcome, Output, Request, Timeouts,
        },
    },
    sync,
    transport::{CloseTracker, Link, OutgoingFrame, internal},
};

/// State shared by callers and the driver.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    origin: TokioInstant,
    pub(crate) host: Host,
    pub(crate) settings: Settings,
    pub(crate) health: watch::Sender<Health>,
    /// The work that closed links still do.
    pub(crate) close_tracker: CloseTracker,
}

/// Settings for operations of more than one request.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) timeouts: Timeouts,
    pub(crate) list_limits: ListLimits,
    pub(crate) strict: bool,
    pub(crate) max_input_rounds: u32,
    /// Whether tool calls may become tasks, and how long they are followed then.
    pub(crate) accepts_tasks: bool,
    pub(crate) task_timeout: Duration,
    /// The tools as they were reviewed, if calls are limited to those.
    #[cfg(feature = "lock")]
    pub(crate) pins: Option<Arc<super::pins::PinnedTools>>,
}

pub(crate) struct Inner {
    pub(crate) machine: Connection,
    pub(crate) link: Option<(LinkId, Box<dyn Link>)>,
    /// A link that the machine has requested and that is not being dialled yet.
    pub(crate) pending_dial: Option<PendingDial>,
    /// A link that was abandoned while it was being dialled.
    pub(crate) abandoned_dial: Option<LinkId>,
    /// When the machine wants to be woken.
    pub(crate) deadline: Option<Instant>,
    pub(crate) driver_waker: Option<Waker>,
    /// When the driver wakes by itself, at the latest.
    pub(crate) wakes_at: Option<Instant>,
    /// Whether the driver was woken to send calls and more calls may follow.
    pub(crate) is_batching: bool,
    pub(crate) ended: bool,
    /// The end of the standard error of the server whose link was just closed.
    stderr_tail: Option<String>,
    waiters: CallMap<Waiter>,
    pub(super) completions: Completions,
    pub(super) observations: ObservationQueue<Observation>,
}

/// A caller that waits for the end of a call.
pub(crate) struct Waiter {
    pub(crate) outcome: oneshot::Sender<Outcome>,
    pub(crate) progress: Option<ProgressSender>,
}

impl Waiter {
    /// Completes the call, after closing its progress channel.
    pub(super) fn complete(self, outcome: Outcome) {
        drop(self.progress);
        // A caller that is gone has already cancelled the call.
        let _ = self.outcome.send(outcome);
    }
}

/// A dial that the machine requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PendingDial {
    pub(crate) link: LinkId,
    pub(crate) attempt: u32,
    pub(crate) http_variant: HttpVariant,
}

impl Shared {
    pub(crate) fn new(machine: Connection, host: Host, settings: Settings) -> Arc<Self> {
        let inner = Inner {
            machine,
            link: None,
            pending_dial: None,
            abandoned_dial: None,
            deadline: None,
            driver_waker: None,
            wakes_at: None,
            is_batching: false,
            ended: false,
            stderr_tail: None,
            waiters: CallMap::default(),
            completions: Completions::default(),
            observations: ObservationQueue::default(),
        };
        Arc::new(Self {
            inner: Mutex::new(inner),
            origin: TokioInstant::now(),
            host,
            settings,
            health: watch::Sender::new(Health::default()),
            close_tracker: CloseTracker::default(),
        })
    }

    pub(crate) fn lock(&self) -> StateGuard<'_> {
        StateGuard::new(self, self.lock_inner())
    }

    /// As [`lock`](Self::lock), but without deferred deliveries.
    pub(super) fn lock_inner(&self) -> MutexGuard<'_, Inner> {
        // A panic under the lock would be a bug of this crate; later callers should
        // still get a response.
        sync::lock(&self.inner)
    }

    /// Returns the current time of the machine.
    pub(crate) fn now(&self) -> Instant {
        Instant::after_origin(self.origin.elapsed())
    }

    /// Converts a moment of the machine to the tokio clock.
    pub(crate) fn to_tokio_instant(&self, moment: Instant) -> TokioInstant {
        self.origin + moment.since_origin()
    }

    /// Runs a command on the machine, processes its outputs, and wakes the driver if
    /// needed.
    pub(crate) fn command<T>(
        self: &Arc<Self>,
        apply: impl FnOnce(&mut Connection, Instant) -> T,
    ) -> T {
        let now = self.now();
        let mut inner = self.lock();
        let result = apply(&mut inner.machine, now);
        self.process_outputs(&mut inner, now);
        inner.wake_driver();
        result
    }

    /// Starts a call for a waiter.
    pub(crate) fn call(
        self: &Arc<Self>,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
        waiter: Waiter,
    ) -> CallId {
        let now = self.now();
        let mut inner = self.lock();
        let call = start(&mut inner.machine, now);
        inner.waiters.insert(call, waiter);
        self.process_outputs(&mut inner, now);
        inner.flush_or_wake();
        call
    }

    /// Starts a call immediately and returns a future for its end. Dropping the future
    /// cancels the call.
    pub(crate) fn request(
        self: &Arc<Self>,
        request: Request,
        options: CallOptions,
        progress: Option<ProgressSender>,
    ) -> PendingCall<'_> {
        let span = CallSpan::new(&self.host.name, request.method());
        self.start_call(
            span,
            |machine, now| machine.call(now, request, options),
            progress,
        )
    }

    /// As [`request`](Self::request), for anything that ends like a call of `method`.
    pub(crate) fn call_method(
        self: &Arc<Self>,
        method: &str,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
    ) -> PendingCall<'_> {
        self.start_call(CallSpan::new(&self.host.name, method), start, None)
    }

    fn start_call(
        self: &Arc<Self>,
        span: CallSpan,
        start: impl FnOnce(&mut Connection, Instant) -> CallId,
        progress: Option<ProgressSender>,
    ) -> PendingCall<'_> {
        let (outcome, ended) = oneshot::channel();
        let call = span.in_scope(|| self.call(start, Waiter { outcome, progress }));
        PendingCall {
            shared: self,
            call,
            span,
            receiver: Some(ended),
        }
    }

    /// Processes the outputs of the machine.
    pub(crate) fn process_outputs(self: &Arc<Self>, inner: &mut Inner, now: Instant) {
        loop {
            match inner.machine.poll_output() {
                Output::Dial {
                    link,
                    attempt,
                    http_variant,
                } => {
                    inner.pending_dial = Some(PendingDial {
                        link,
                        attempt,
                        http_variant,
                    });
                }
                Output::Close { link } => inner.close_link(now, link),
                Output::Send { link, id, frame } => {
                    inner.send(now, link, OutgoingFrame { id, frame });
                }
                Output::Abort { link, id } => {
                    if let Some(open_link) = inner.link_mut(link) {
                        open_link.abort(id);
                    }
                }
                Output::Negotiated { link, revision } => {
                    if let Some(open_link) = inner.link_mut(link) {
                        open_link.set_revision(revision);
                    }
                }
                Output::CallDone { call, outcome } => inner.finish(call, outcome),
                Output::Event(event) => self.handle_event(inner, event),
                Output::Telemetry(telemetry) => {
                    if self.host.has_observers() {
                        inner.observations.push(self.host.observation(telemetry));
                    }
                }
                Output::Idle(deadline) => {
                    inner.stderr_tail = None;
                    inner.deadline = deadline;
                    return;
                }
            }
        }
    }

    /// Ends the connection when nothing drives it any more: the driver's task panicked,
    /// or its runtime is gone. All waiting callers get a response.
    pub(crate) fn abandon(self: &Arc<Self>) {
        let now = self.now();
        let mut inner = self.lock();
        if inner.ended {
            return;
        }
        // Dropped without closing: closing may need a runtime.
        inner.link = None;
        inner.machine.stop(now);
        self.process_outputs(&mut inner, now);
        if !inner.ended {
            self.handle_event(&mut inner, Event::Ended);
        }
    }

    fn handle_event(self: &Arc<Self>, inner: &mut Inner, event: Event) {
        match event {
            Event::Progress { call, progress } => {
                let waiter = inner.waiters.get(&call);
                if let Some(sender) = waiter.and_then(|waiter| waiter.progress.as_ref()) {
                    inner.completions.push_waker(sender.send(*progress));
                }
            }
            Event::StateChanged(state) => self.health.send_modify(|health| health.state = state),
            Event::Ready { session } => {
                let server = inner.machine.server_info().ok().cloned();
                self.health
                    .send_modify(|health| health.opened(session, server));
            }
            // The next attempt uses what this one learned and follows immediately: not
            // a failure yet.
            Event::Disconnected {
                retry_in: Some(Duration::ZERO),
                ..
            } => {}
            Event::Disconnected { cause, retry_in } => {
                let cause = inner.with_stderr_tail(cause);
                self.health
                    .send_modify(|health| health.disconnected(cause, retry_in));
            }
            Event::Ended => {
                inner.ended = true;
                self.host.end_notifications();
                self.health.send_modify(|health| health.ended = true);
            }
            other => self.host.handle_event(self, other),
        }
    }
}

impl Inner {
    pub(crate) fn wake_driver(&self) {
        if let Some(driver) = &self.driver_waker {
            driver.wake_by_ref();
        }
    }

    /// Sends a new call: immediately if it is the only one, else together with others
    /// made in the meantime.
    fn flush_or_wake(&mut self) {
        if self.waiters.len() > 1 {
            self.is_batching = true;
        } else if !self.needs_driver() && self.try_flush() {
            return;
        }
        self.wake_driver();
    }

    /// Returns whether there is work that only the driver can do.
    fn needs_driver(&self) -> bool {
        let is_earlier = |deadline| self.wakes_at.is_none_or(|wake| deadline < wake);
        self.ended
            || self.pending_dial.is_some()
            || self.abandoned_dial.is_some()
            || self.deadline.is_some_and(is_earlier)
    }

    /// Returns whether everything was sent.
    fn try_flush(&mut self) -> bool {
        match (&mut self.link, &self.driver_waker) {
            (Some((_, link)), Some(driver)) if link.can_flush_on_any_thread(internal::Token) => {
                link.poll_flush(&mut Context::from_waker(driver)).is_ready()
            }
            _ => false,
        }
    }

    fn link_mut(&mut self, link: LinkId) -> Option<&mut Box<dyn Link>> {
        let (id, open_link) = self.link.as_mut()?;
        (*id == link).then_some(open_link)
    }

    fn send(&mut self, now: Instant, link: LinkId, outgoing: OutgoingFrame) {
        let id = outgoing.id;
        let Some(open_link) = self.link_mut(link) else {
            return;
        };
        if let Err(error) = open_link.send(outgoing) {
            self.machine
                .handle(now, Input::SendFailed { link, id, error });
        }
    }

    fn close_link(&mut self, now: Instant, link: LinkId) {
        self.pending_dial.take_if(|pending| pending.link == link);
        self.abandoned_dial = Some(link);
        if let Some((_, mut open_link)) = self.link.take_if(|(id, _)| *id == link) {
            self.stderr_tail = open_link.stderr_tail();
            // Last frames, such as cancellations, are sent if that is possible without
            // waiting.
            let _ = open_link.poll_flush(&mut Context::from_waker(Waker::noop()));
            open_link.close();
        }
        if self.machine.state() == ConnectionState::Closing {
            // The link finishes by itself from here; there is nothing to wait for.
            let cause = ConnectionErrorKind::Eof.into();
            self.machine.handle(now, Input::Down { link, cause });
        }
    }

    /// Adds the end of the server's standard error to the reason for closing the link.
    fn with_stderr_tail(&self, cause: ConnectionError) -> ConnectionError {
        match &self.stderr_tail {
            Some(tail) if cause.detail().is_none() => cause.with_detail(tail),
            _ => cause,
        }
    }

    fn finish(&mut self, call: CallId, mut outcome: Outcome) {
        if let Outcome::Failed(Failure::ConnectionLost(cause)) = outcome {
            outcome = Outcome::Failed(Failure::ConnectionLost(self.with_stderr_tail(cause)));
        }
        if let Some(waiter) = self.waiters.remove(&call) {
            self.completions.push(waiter, outcome);
        }
    }
}

/// A call that was sent. Dropping it before its end cancels the call.
pub(crate) struct PendingCall<'a> {
    shared: &'a Arc<Shared>,
    call: CallId,
    span: CallSpan,
    /// `None` once it has ended.
    receiver: Option<oneshot::Receiver<Outcome>>,
}

impl Future for PendingCall<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Outcome> {
        let outcome = match &mut self.receiver {
            Some(ended) => ready!(Pin::new(ended).poll(cx)).ok(),
            None => None,
        };
        self.receiver = None;
        // The machine completes every call, and nothing else drops the sender.
        let outcome = outcome.unwrap_or(Outcome::Failed(Failure::Shutdown));
        self.span.end(&outcome);
        Poll::Ready(outcome)
    }
}

impl Drop for PendingCall<'_> {
    fn drop(&mut self) {
        if self.receiver.take().is_some() {
            self.shared
                .command(|machine, now| machine.cancel(now, self.call, Cancellation::Dropped));
        }
    }
}
