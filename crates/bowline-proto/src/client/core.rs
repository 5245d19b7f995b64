//! What every state of a connection shares.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;

use super::{
    CallId, CallOptions, CallPolicy, Cause, Config, Event, Failure, Link, Outcome, Output,
    Progress, RestartLimit, StateName, Telemetry, TransitionReason, Violation, Wiring,
    binding::{Binding, ConnectionNumber},
    calls::{Call, Calls, Phase, Purpose},
    intents::Intents,
    request::Want,
    rng::Rng,
    timer::{Timer, Timers},
    tombstones::{Grave, Tombstones},
};
use crate::{
    Instant,
    jsonrpc::ErrorObject,
    model::method::{self, RequestClass},
    revision::Era,
};

/// The data that outlives a state: settings, counters, calls, timers, and what
/// is to be said.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) rng: Rng,
    pub(super) timers: Timers,
    pub(super) calls: Calls,
    pub(super) tombstones: Tombstones,
    pub(super) intents: Intents,
    /// Which era the server is believed to speak, until it proves otherwise.
    pub(super) belief: Option<Era>,
    /// Which transport the next dial is for.
    pub(super) wiring: Wiring,
    /// What the server said where it was asked first, while another transport
    /// is tried.
    pub(super) refused: Option<Cause>,
    /// Attempts that failed since the last success.
    pub(super) failures: u32,
    /// Waits since the last success. The loss of a session is no failed attempt,
    /// but there is a wait behind it.
    pub(super) waits: u32,
    /// Why the connection fell just now, for the observer.
    pub(super) fall: Option<Cause>,
    /// Attempts in a row that timed out although the server was there.
    pub(super) slow_openings: u32,
    /// Tells our sessions from those of other connections.
    pub(super) number: ConnectionNumber,
    /// How many sessions there have been.
    pub(super) sessions: u64,
    /// Whether a session is open that has not fallen.
    pub(super) in_session: bool,
    /// When sessions fell lately, as far as that is limited.
    pub(super) falls: VecDeque<Instant>,
    /// Why the connection was given up, if it was.
    pub(super) gave_up: Option<Cause>,
    /// Where `_meta` is put together, so that doing so allocates nothing.
    pub(super) scratch: Vec<u8>,
    pub(super) ids: Ids,
    outputs: VecDeque<Output>,
    last_link: u64,
    last_peer_request: u64,
}

/// The ids of requests and calls: one counter for the life of the connection,
/// never reset.
#[derive(Debug, Default)]
pub(super) struct Ids {
    last: u64,
}

impl Ids {
    pub(super) fn fresh(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }
}

impl Core {
    pub(super) fn new(config: Config, seed: u64) -> Self {
        let tombstones = Tombstones::new(config.tombstone_ttl(), config.max_tombstones);
        Self {
            intents: Intents::new(config.log_level.clone()),
            belief: config.assume,
            rng: Rng::new(seed),
            config,
            timers: Timers::default(),
            calls: Calls::default(),
            tombstones,
            wiring: Wiring::Usual,
            refused: None,
            failures: 0,
            waits: 0,
            fall: None,
            slow_openings: 0,
            number: ConnectionNumber::fresh(),
            sessions: 0,
            in_session: false,
            falls: VecDeque::new(),
            gave_up: None,
            scratch: Vec::new(),
            ids: Ids::default(),
            outputs: VecDeque::new(),
            last_link: 0,
            last_peer_request: 0,
        }
    }

    pub(super) fn next_link(&mut self) -> Link {
        self.last_link += 1;
        Link(self.last_link)
    }

    pub(super) fn next_peer_request(&mut self) -> u64 {
        self.last_peer_request += 1;
        self.last_peer_request
    }

    pub(super) fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(super) fn event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Observes, if anybody wants to know.
    pub(super) fn observe(&mut self, telemetry: impl FnOnce() -> Telemetry) {
        if self.config.telemetry {
            self.outputs.push_back(Output::Telemetry(telemetry()));
        }
    }

    pub(super) fn violation(&mut self, what: Violation, size: usize) {
        let limit = match what {
            Violation::Oversize => Some(self.config.max_frame),
            Violation::TooManyRequests => Some(self.config.max_server_requests),
            _ => None,
        };
        self.observe(|| Telemetry::Violation { what, size, limit });
    }

    pub(super) fn pop_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub(super) fn outputs_pending(&self) -> usize {
        self.outputs.len()
    }

    pub(super) fn send(&mut self, link: Link, id: Option<u64>, frame: Bytes) {
        self.outputs.push_back(Output::Send { link, id, frame });
    }

    pub(super) fn changed(&mut self, from: StateName, to: StateName) {
        let fall = self.fall.take();
        self.observe(|| Telemetry::Transition {
            from,
            to,
            reason: TransitionReason::of(from, to, fall),
        });
        self.event(Event::State(to));
    }

    /// Remembers that the answer to `wire` is not wanted any more.
    pub(super) fn bury(&mut self, now: Instant, wire: u64) {
        self.tombstones.insert(now, wire);
        if !self.timers.is_armed(Timer::Sweep) {
            self.arm_sweep(now);
        }
    }

    /// Not at once, whatever the settings say: it would be due for ever.
    fn arm_sweep(&mut self, now: Instant) {
        let wait = self.config.sweep_every.max(Duration::from_millis(1));
        self.timers.arm(Timer::Sweep, now + wait);
    }

    pub(super) fn sweep(&mut self, now: Instant) {
        let count = self.tombstones.sweep(now);
        if count > 0 {
            self.observe(|| Telemetry::TombstonesSwept { count });
        }
        if !self.tombstones.is_empty() {
            self.arm_sweep(now);
        }
    }

    /// Counts an answer that nobody waits for.
    pub(super) fn unexpected_answer(&mut self, now: Instant, wire: Option<u64>) {
        let grave = wire.map_or(Grave::Unknown, |wire| self.tombstones.look_up(now, wire));
        self.observe(|| match grave {
            Grave::Tombstoned => Telemetry::LateResponse,
            Grave::Unknown => Telemetry::UnknownResponse,
        });
    }
}

/// Beginning and ending calls.
impl Core {
    /// Takes a call in. Its deadline counts from here.
    pub(super) fn accept(&mut self, id: CallId, call: Call) {
        self.timers.arm(Timer::Deadline(id), call.deadline);
        let (method, correlation) = (&call.method, call.correlation);
        if self.config.telemetry && !call.purpose.is_ours() {
            self.outputs
                .push_back(Output::Telemetry(Telemetry::RequestStart {
                    call: id.0,
                    correlation,
                    method: method.clone(),
                }));
        }
        self.calls.insert(id, call);
    }

    /// Takes a call in while there is no session: to wait for one, or to be
    /// told that there is none.
    pub(super) fn park_or_refuse(
        &mut self,
        now: Instant,
        id: CallId,
        want: Want,
        options: CallOptions,
        state: StateName,
    ) {
        if options.session.is_some() {
            // A session that is over does not come back.
            self.refuse(id, &want, Failure::SessionLost);
            return;
        }
        match options.policy {
            CallPolicy::WaitReady => {
                let call = self.call(now, want, options);
                self.accept(id, call);
            }
            CallPolicy::FailFast => {
                let retry_in = self.retry_in(now);
                self.refuse(id, &want, Failure::NotReady { state, retry_in });
            }
        }
    }

    /// Ends a call that was never taken in.
    pub(super) fn refuse(&mut self, id: CallId, want: &Want, failure: Failure) {
        let correlation = self.rng.next_u64();
        self.observe(|| Telemetry::RequestException {
            call: id.0,
            correlation,
            method: want.method(),
            duration: Duration::ZERO,
            reason: failure.reason(),
        });
        let outcome = Outcome::Failed(failure);
        self.output(Output::Done { call: id, outcome });
    }

    /// A call as it begins: waiting, with its deadline set.
    pub(super) fn call(&mut self, now: Instant, want: Want, options: CallOptions) -> Call {
        let method = want.method();
        let info = method::info(&method);
        let class = info.map_or(RequestClass::Other, |info| info.class);
        let mut timeout = options.timeout.unwrap_or(self.config.timeouts.of(class));
        if let Progress::ExtendsDeadline { at_most } = options.progress {
            timeout = timeout.min(at_most);
        }
        let cap = options.progress.cap(now);
        let probe = matches!(&want, Want::Request(request) if request.probe);
        let (purpose, draft, meta, tool) = match want {
            Want::Request(request) => {
                let purpose = Purpose::of(&request.draft);
                (purpose, Some(request.draft), request.meta, request.tool)
            }
            Want::Subscribe(uri) => (Purpose::Subscribe(uri), None, None, None),
            Want::Unsubscribe(uri) => (Purpose::Unsubscribe(uri), None, None, None),
            Want::SetLevel(level) => (Purpose::SetLevel(level), None, None, None),
        };
        Call {
            method,
            info,
            phase: Phase::Waiting(draft),
            purpose,
            options,
            meta,
            tool,
            binding: Binding::Undeclared,
            members: None,
            timeout,
            deadline: now + timeout,
            cap,
            started: now,
            correlation: self.rng.next_u64(),
            rounds: 0,
            held: false,
            holds: 0,
            moved: false,
            relisted: false,
            probe,
        }
    }

    /// The deadline of a call that is not on the wire.
    pub(super) fn expire_unsent(&mut self, now: Instant, id: CallId) {
        if let Some(call) = self.calls.get(id) {
            let after = call.patience(&self.config.timeouts);
            self.fail(now, id, Failure::Timeout { after });
        }
    }

    /// Ends a call within its session, and says what it was for. A subscription
    /// that was to be restored and was not is lost.
    pub(super) fn finish(&mut self, now: Instant, id: CallId, outcome: Outcome) -> Option<Purpose> {
        let answer = match &outcome {
            Outcome::Result(_) => None,
            Outcome::Refused(error) => Some(Some(error.clone())),
            Outcome::Failed(_) => Some(None),
        };
        let purpose = self.conclude(now, id, outcome)?;
        let Some(error) = answer else {
            return Some(purpose);
        };
        match &purpose {
            Purpose::RestoreSubscription(uri) => self.lose_subscription(uri.clone(), error),
            Purpose::Relist(relisting) => {
                let refused = Outcome::Refused(relisting.error.clone());
                self.finish(now, relisting.call, refused);
            }
            _ => {}
        }
        Some(purpose)
    }

    /// Ends a call: forgets it, disarms its timers, and says how it ended.
    /// The only way out of the table, so that no call ends twice.
    fn conclude(&mut self, now: Instant, id: CallId, outcome: Outcome) -> Option<Purpose> {
        let call = self.calls.remove(id)?;
        self.timers.disarm_at(Timer::Deadline(id), call.deadline);
        match &call.phase {
            Phase::Retrying { wire, at, .. } => {
                self.timers.disarm_at(Timer::Resend(id), *at);
                self.calls.forget_alias(*wire);
            }
            Phase::Pausing { at, .. } => self.timers.disarm_at(Timer::Resend(id), *at),
            Phase::InFlight { wire, .. } => self.calls.forget_alias(*wire),
            Phase::Asking(_) => self.event(Event::InputWithdrawn { call: id }),
            Phase::Waiting(_) | Phase::Subscribing => {}
        }
        if !call.purpose.is_ours() {
            self.observe_end(now, id, &call, &outcome);
            self.output(Output::Done { call: id, outcome });
        }
        Some(call.purpose)
    }

    pub(super) fn fail(&mut self, now: Instant, id: CallId, failure: Failure) {
        self.finish(now, id, Outcome::Failed(failure));
    }

    /// Moves a call's deadline.
    pub(super) fn set_deadline(&mut self, id: CallId, deadline: Instant) {
        if let Some(call) = self.calls.get_mut(id) {
            let before = std::mem::replace(&mut call.deadline, deadline);
            self.timers.disarm_at(Timer::Deadline(id), before);
            self.timers.arm(Timer::Deadline(id), deadline);
        }
    }

    fn observe_end(&mut self, now: Instant, id: CallId, call: &Call, outcome: &Outcome) {
        let duration = now - call.started;
        let (correlation, method) = (call.correlation, &call.method);
        self.observe(|| match outcome {
            Outcome::Failed(failure) => Telemetry::RequestException {
                call: id.0,
                correlation,
                method: method.clone(),
                duration,
                reason: failure.reason(),
            },
            Outcome::Result(_) | Outcome::Refused(_) => Telemetry::RequestStop {
                call: id.0,
                correlation,
                method: method.clone(),
                duration,
                refused: match outcome {
                    Outcome::Refused(error) => Some(error.code),
                    Outcome::Result(_) | Outcome::Failed(_) => None,
                },
            },
        });
    }

    /// Ends every call that was bound to the link that fell, or to the session
    /// on it. Calls that wait for a connection go on waiting; so do those that
    /// may be sent again, those whose next request is not sent yet, and
    /// stateless calls that the link was too busy for.
    pub(super) fn fail_bound_calls(&mut self, now: Instant, cause: &Cause) {
        for id in self.calls.ids() {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let waits_again = match &call.phase {
                Phase::Waiting(_) | Phase::Asking(_) | Phase::Pausing { .. } => {
                    // Nobody need be asked for what no other session takes.
                    if call.binding.is_session() {
                        self.conclude(now, id, Outcome::Failed(Failure::SessionLost));
                    }
                    continue;
                }
                Phase::InFlight { wire, .. } => {
                    let wire = *wire;
                    self.bury(now, wire);
                    self.wait_again(id)
                }
                // The server has not seen it, and any session serves it.
                Phase::Retrying { .. } => call.binding == Binding::Any && self.requeue(id),
                Phase::Subscribing => false,
            };
            if waits_again {
                continue;
            }
            let lost = Failure::ConnectionLost(cause.clone());
            self.conclude(now, id, Outcome::Failed(lost));
        }
    }

    /// Puts a call that was sent back among those that wait, if its caller
    /// allowed that, its parameters were kept, and it is not bound to the
    /// session that is over.
    fn wait_again(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get(id) else {
            return false;
        };
        call.options.replay && !call.binding.is_session() && self.requeue(id)
    }

    /// Puts a call that was sent among those that wait for a connection.
    pub(super) fn requeue(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let draft = match call.purpose {
            Purpose::User | Purpose::ListTools { .. } => match call.redraft() {
                Some(draft) => Some(draft),
                None => return false,
            },
            // How a wish is put on the wire depends on the era, and the next
            // session may be of the other one.
            Purpose::Subscribe(_) | Purpose::Unsubscribe(_) | Purpose::SetLevel(_) => None,
            // The next session restores what is to be restored on its own.
            Purpose::RestoreSubscription(_) | Purpose::RestoreLevel | Purpose::Relist(_) => {
                return false;
            }
        };
        // Without the answers that were given, it begins anew.
        call.rounds = 0;
        call.held = false;
        let before = std::mem::replace(&mut call.phase, Phase::Waiting(draft));
        match before {
            Phase::InFlight { wire, .. } => self.calls.forget_alias(wire),
            Phase::Retrying { wire, at, .. } => {
                self.timers.disarm_at(Timer::Resend(id), at);
                self.calls.forget_alias(wire);
            }
            Phase::Waiting(_) | Phase::Asking(_) | Phase::Pausing { .. } | Phase::Subscribing => {}
        }
        true
    }

    /// Takes a call that the server did not look at along into the next
    /// session: once, lest a server that never does keep us busy for ever. Our
    /// own are asked for anew there anyway.
    pub(super) fn move_on(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        if call.purpose.is_ours() || call.binding.is_session() {
            return false;
        }
        call.moved = true;
        self.requeue(id)
    }

    /// Why there will be no connection any more.
    pub(super) fn over(&self) -> Failure {
        match &self.gave_up {
            Some(cause) => Failure::GaveUp(cause.clone()),
            None => Failure::Shutdown,
        }
    }

    /// Whether sessions have fallen more often than allowed, with this one.
    pub(super) fn falls_too_often(&mut self, now: Instant) -> Option<RestartLimit> {
        let limit = self.config.max_restarts?;
        while self
            .falls
            .front()
            .is_some_and(|fell| now - *fell >= limit.period)
        {
            self.falls.pop_front();
        }
        self.falls.push_back(now);
        let restarts = usize::try_from(limit.max_restarts).unwrap_or(usize::MAX);
        (self.falls.len() > restarts).then_some(limit)
    }

    /// Ends every call, whatever it waits for.
    pub(super) fn fail_all_calls(&mut self, now: Instant, failure: &Failure) {
        for id in self.calls.ids() {
            let wire = self.calls.get(id).and_then(Call::wire);
            if let Some(wire) = wire {
                self.bury(now, wire);
            }
            self.conclude(now, id, Outcome::Failed(failure.clone()));
        }
    }

    /// How long until the next attempt to connect.
    pub(super) fn retry_in(&self, now: Instant) -> Option<Duration> {
        self.timers.at(Timer::Redial).map(|at| at - now)
    }

    pub(super) fn lose_subscription(&mut self, uri: Box<str>, error: Option<ErrorObject>) {
        self.intents.uris.remove(&uri);
        self.event(Event::SubscriptionLost { uri, error });
    }
}
