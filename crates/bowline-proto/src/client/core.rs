//! Data shared by all states of a connection.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;

use super::{
    CallId, CallOptions, CallPolicy, Config, ConnectionError, ConnectionState, Event, Failure,
    HttpVariant, LinkId, Outcome, Output, ProgressMode, RestartLimit, TelemetryEvent,
    TransitionReason, Violation,
    binding::{Binding, ConnectionNumber},
    calls::{Call, Calls, Phase, Purpose},
    cancelled_calls::{CancelledCalls, UnmatchedResponse},
    desired_state::{DesiredChange, DesiredState},
    request::CallKind,
    rng::Rng,
    task_support::ToolListing,
    timer::{Timer, Timers},
};
use crate::{
    Instant,
    jsonrpc::ErrorObject,
    model::method::{self, RequestClass},
    revision::Era,
};

/// Data that outlives a state: settings, counters, calls, timers and pending output.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) config: Config,
    pub(super) rng: Rng,
    pub(super) timers: Timers,
    pub(super) calls: Calls,
    pub(super) cancelled_calls: CancelledCalls,
    pub(super) desired: DesiredState,
    /// The era the server is assumed to speak, until proven wrong.
    pub(super) assumed_era: Option<Era>,
    /// The HTTP transport for the next dial.
    pub(super) http_variant: HttpVariant,
    /// The error of the streamable transport while the legacy one is tried.
    pub(super) streamable_error: Option<ConnectionError>,
    /// Failed attempts since the last success.
    pub(super) failed_attempts: u32,
    /// Backoff delays since the last success. Losing a session is not a failed attempt,
    /// but it is followed by a delay.
    pub(super) backoff_attempts: u32,
    /// The cause of the latest disconnect, for telemetry.
    pub(super) last_disconnect: Option<ConnectionError>,
    /// Consecutive attempts that timed out although the server was reachable.
    pub(super) slow_openings: u32,
    /// Distinguishes our sessions from those of other connections.
    pub(super) connection_number: ConnectionNumber,
    /// The number of sessions opened so far.
    pub(super) session_count: u64,
    /// Whether a session is open.
    pub(super) in_session: bool,
    /// The times of recent disconnects, if restarts are limited.
    pub(super) recent_disconnects: VecDeque<Instant>,
    /// Why the connection gave up, if it did.
    pub(super) gave_up: Option<ConnectionError>,
    /// The request for the tool list that calls wait for.
    pub(super) tool_listing: ToolListing,
    /// A buffer for building `_meta` without allocating.
    pub(super) scratch: Vec<u8>,
    pub(super) ids: IdCounter,
    outputs: VecDeque<Output>,
    last_link: u64,
    last_peer_request: u64,
}

/// The ids of requests and calls: one counter for the life of the connection, never
/// reset.
#[derive(Debug, Default)]
pub(super) struct IdCounter {
    last: u64,
}

impl IdCounter {
    pub(super) fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }
}

impl Core {
    pub(super) fn new(config: Config, seed: u64) -> Self {
        let cancelled_calls =
            CancelledCalls::new(config.cancelled_call_ttl(), config.max_cancelled_calls);
        Self {
            desired: DesiredState::new(config.log_level.clone()),
            assumed_era: config.assumed_era,
            rng: Rng::new(seed),
            config,
            timers: Timers::default(),
            calls: Calls::default(),
            cancelled_calls,
            http_variant: HttpVariant::Streamable,
            streamable_error: None,
            failed_attempts: 0,
            backoff_attempts: 0,
            last_disconnect: None,
            slow_openings: 0,
            connection_number: ConnectionNumber::fresh(),
            session_count: 0,
            in_session: false,
            recent_disconnects: VecDeque::new(),
            gave_up: None,
            tool_listing: ToolListing::default(),
            scratch: Vec::new(),
            ids: IdCounter::default(),
            outputs: VecDeque::new(),
            last_link: 0,
            last_peer_request: 0,
        }
    }

    pub(super) fn next_link(&mut self) -> LinkId {
        self.last_link += 1;
        LinkId(self.last_link)
    }

    pub(super) fn next_peer_request(&mut self) -> u64 {
        self.last_peer_request += 1;
        self.last_peer_request
    }

    pub(super) fn push_output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    pub(super) fn push_event(&mut self, event: Event) {
        self.outputs.push_back(Output::Event(event));
    }

    /// Emits an observation if telemetry is enabled.
    pub(super) fn observe(&mut self, telemetry: impl FnOnce() -> TelemetryEvent) {
        if self.config.telemetry {
            self.outputs.push_back(Output::Telemetry(telemetry()));
        }
    }

    pub(super) fn report_violation(&mut self, violation: Violation, size: usize) {
        let limit = match violation {
            Violation::OversizedFrame => Some(self.config.max_frame_size),
            Violation::TooManyRequests => Some(self.config.max_server_requests),
            _ => None,
        };
        self.observe(|| TelemetryEvent::Violation {
            violation,
            size,
            limit,
        });
    }

    pub(super) fn pop_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    pub(super) fn outputs_pending(&self) -> usize {
        self.outputs.len()
    }

    pub(super) fn send(&mut self, link: LinkId, id: Option<u64>, frame: Bytes) {
        self.outputs.push_back(Output::Send { link, id, frame });
    }

    pub(super) fn report_transition(&mut self, from: ConnectionState, to: ConnectionState) {
        let error = self.last_disconnect.take();
        self.observe(|| TelemetryEvent::Transition {
            from,
            to,
            reason: TransitionReason::from_states(from, to, error),
        });
        self.push_event(Event::StateChanged(to));
    }

    /// Remembers that the response to `wire_id` is no longer wanted.
    pub(super) fn remember_cancelled(&mut self, now: Instant, wire_id: u64) {
        self.cancelled_calls.insert(now, wire_id);
        if !self.timers.is_armed(Timer::SweepCancelledCalls) {
            self.arm_sweep(now);
        }
    }

    /// Arms the sweep timer, at least 1 ms ahead whatever the configuration: otherwise
    /// it would always be due.
    fn arm_sweep(&mut self, now: Instant) {
        let wait = self.config.sweep_interval.max(Duration::from_millis(1));
        self.timers.arm(Timer::SweepCancelledCalls, now + wait);
    }

    pub(super) fn sweep(&mut self, now: Instant) {
        let count = self.cancelled_calls.sweep(now);
        if count > 0 {
            self.observe(|| TelemetryEvent::CancelledCallsExpired { count });
        }
        if !self.cancelled_calls.is_empty() {
            self.arm_sweep(now);
        }
    }

    /// Reports a response that no call waits for.
    pub(super) fn report_unmatched_response(&mut self, now: Instant, wire_id: Option<u64>) {
        let unmatched = wire_id.map_or(UnmatchedResponse::Unknown, |wire_id| {
            self.cancelled_calls.classify(now, wire_id)
        });
        self.observe(|| match unmatched {
            UnmatchedResponse::Late => TelemetryEvent::LateResponse,
            UnmatchedResponse::Unknown => TelemetryEvent::UnknownResponse,
        });
    }
}

/// Starting and ending calls.
impl Core {
    /// Registers a call. Its deadline counts from here.
    pub(super) fn register_call(&mut self, id: CallId, call: Call) {
        self.timers.arm(Timer::Deadline(id), call.deadline);
        let (method, correlation) = (&call.method, call.correlation);
        if self.config.telemetry && !call.purpose.is_internal() {
            self.outputs
                .push_back(Output::Telemetry(TelemetryEvent::RequestStart {
                    call: id.0,
                    correlation,
                    method: method.clone(),
                }));
        }
        self.calls.insert(id, call);
    }

    /// Queues a call until a session is open, or refuses it, depending on its policy.
    pub(super) fn queue_or_refuse(
        &mut self,
        now: Instant,
        id: CallId,
        kind: CallKind,
        options: CallOptions,
        state: ConnectionState,
    ) {
        if options.session.is_some() {
            // A session that has ended does not come back.
            self.refuse(id, &kind, Failure::SessionLost);
            return;
        }
        match options.policy {
            CallPolicy::WaitForConnection => {
                let call = self.new_call(now, kind, options);
                self.register_call(id, call);
            }
            CallPolicy::FailFast => {
                let retry_in = self.retry_in(now);
                self.refuse(id, &kind, Failure::NotReady { state, retry_in });
            }
        }
    }

    /// Ends a call that was never registered.
    pub(super) fn refuse(&mut self, id: CallId, kind: &CallKind, failure: Failure) {
        let correlation = self.rng.next_u64();
        self.observe(|| TelemetryEvent::RequestException {
            call: id.0,
            correlation,
            method: kind.method(),
            duration: Duration::ZERO,
            reason: failure.reason(),
        });
        let outcome = Outcome::Failed(failure);
        self.push_output(Output::CallDone { call: id, outcome });
    }

    /// Creates a queued call with its deadline set.
    pub(super) fn new_call(&mut self, now: Instant, kind: CallKind, options: CallOptions) -> Call {
        let method = kind.method();
        let info = method::info(&method);
        let class = info.map_or(RequestClass::Other, |info| info.class);
        let mut timeout = options
            .timeout
            .unwrap_or(self.config.timeouts.for_class(class));
        let elapsed = options.elapsed;
        let mut max_deadline = None;
        if let ProgressMode::ExtendDeadline { max } = options.progress {
            timeout = timeout.min(max);
            max_deadline = Some(now + max.saturating_sub(elapsed));
        }
        let is_ping = matches!(&kind, CallKind::Request(request) if request.is_ping);
        let (purpose, message, meta) = match kind {
            CallKind::Request(request) => {
                let purpose = match request.is_unattended {
                    true => Purpose::CancelTask,
                    false => Purpose::for_message(&request.message),
                };
                (purpose, Some(request.message), request.meta)
            }
            CallKind::Change(change) => (Purpose::Change(change), None, None),
        };
        Call {
            method,
            info,
            phase: Phase::Queued(message),
            purpose,
            options,
            meta,
            binding: Binding::Undeclared,
            members: None,
            timeout,
            deadline: now + timeout.saturating_sub(elapsed),
            max_deadline,
            started: now,
            correlation: self.rng.next_u64(),
            rounds: 0,
            awaits_host: false,
            deadline_pauses: 0,
            broken_exchanges: 0,
            moved_session: false,
            relisted: false,
            is_ping,
            asks_for_task: false,
        }
    }

    /// Fails a call with a timeout. It is not, or no longer, open on the wire.
    pub(super) fn fail_timed_out(&mut self, now: Instant, id: CallId) {
        if let Some(call) = self.calls.get(id) {
            let after = call.current_timeout(&self.config.timeouts);
            self.fail(now, id, Failure::Timeout { after });
        }
    }

    /// Ends a call within its session and returns its purpose. A subscription that
    /// could not be restored is dropped.
    pub(super) fn finish(&mut self, now: Instant, id: CallId, outcome: Outcome) -> Option<Purpose> {
        let failure_error = match &outcome {
            Outcome::Result(_) => None,
            Outcome::Error(error) => Some(Some(error.clone())),
            Outcome::Failed(_) => Some(None),
        };
        let purpose = self.remove_call(now, id, outcome)?;
        let Some(error) = failure_error else {
            return Some(purpose);
        };
        match &purpose {
            Purpose::Restore(DesiredChange::Subscribe(uri)) => {
                self.drop_subscription(uri.clone(), error);
            }
            Purpose::Relist(relisting) => {
                let relist_outcome = Outcome::Error(relisting.error.clone());
                self.finish(now, relisting.call, relist_outcome);
            }
            Purpose::ListForTasks { .. } => self.tool_listing_failed(now),
            _ => {}
        }
        Some(purpose)
    }

    /// Ends a call: removes it, disarms its timers and reports the outcome. Only this
    /// removes calls from the table, so no call ends twice.
    fn remove_call(&mut self, now: Instant, id: CallId, outcome: Outcome) -> Option<Purpose> {
        let call = self.calls.remove(id)?;
        self.timers.disarm_at(Timer::Deadline(id), call.deadline);
        match &call.phase {
            Phase::Retrying { wire_id, at, .. } => {
                self.timers.disarm_at(Timer::Resend(id), *at);
                self.calls.remove_alias(*wire_id);
            }
            Phase::Paused { at, .. } | Phase::Repeating { at, .. } => {
                self.timers.disarm_at(Timer::Resend(id), *at);
            }
            Phase::InFlight { wire_id, .. } => self.calls.remove_alias(*wire_id),
            Phase::AwaitingInput(_) => self.push_event(Event::InputWithdrawn { call: id }),
            Phase::Queued(_) | Phase::Subscribing => {}
        }
        if !call.purpose.is_internal() {
            self.observe_end(now, id, &call, &outcome);
            self.push_output(Output::CallDone { call: id, outcome });
        }
        Some(call.purpose)
    }

    pub(super) fn fail(&mut self, now: Instant, id: CallId, failure: Failure) {
        self.finish(now, id, Outcome::Failed(failure));
    }

    /// Changes a call's deadline.
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
            Outcome::Failed(failure) => TelemetryEvent::RequestException {
                call: id.0,
                correlation,
                method: method.clone(),
                duration,
                reason: failure.reason(),
            },
            Outcome::Result(_) | Outcome::Error(_) => TelemetryEvent::RequestStop {
                call: id.0,
                correlation,
                method: method.clone(),
                duration,
                error_code: match outcome {
                    Outcome::Error(error) => Some(error.code),
                    Outcome::Result(_) | Outcome::Failed(_) => None,
                },
            },
        });
    }

    /// Ends every call that depends on the lost link or its session. Calls that wait
    /// for a connection keep waiting, as do calls that may be sent again, calls whose
    /// next request has not been sent yet, and stateless calls that the link was too
    /// busy to send.
    pub(super) fn fail_calls_on_link(&mut self, now: Instant, cause: &ConnectionError) {
        for id in self.calls.ids() {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let requeued = match &call.phase {
                Phase::Queued(_) | Phase::AwaitingInput(_) | Phase::Paused { .. } => {
                    // The host need not answer for a call that no other session
                    // accepts.
                    if call.binding.is_session() {
                        self.remove_call(now, id, Outcome::Failed(Failure::SessionLost));
                    }
                    continue;
                }
                Phase::InFlight { wire_id, .. } => {
                    let wire_id = *wire_id;
                    self.remember_cancelled(now, wire_id);
                    self.requeue_if_allowed(id)
                }
                // The server has not seen it, and any session can serve it.
                Phase::Retrying { .. } => call.binding == Binding::AnySession && self.requeue(id),
                // It was allowed when the exchange broke.
                Phase::Repeating { .. } => self.requeue(id),
                Phase::Subscribing => false,
            };
            if requeued {
                continue;
            }
            let lost = Failure::ConnectionLost(cause.clone());
            self.remove_call(now, id, Outcome::Failed(lost));
        }
    }

    /// Requeues a call that was sent, if its caller allowed that, its parameters were
    /// kept, and it is not bound to a session.
    pub(super) fn requeue_if_allowed(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get(id) else {
            return false;
        };
        call.options.retry_on_disconnect && !call.binding.is_session() && self.requeue(id)
    }

    /// Moves a call that was sent back to the queue, to wait for a connection.
    pub(super) fn requeue(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let message = match call.purpose {
            Purpose::User | Purpose::ListTools { .. } | Purpose::CancelTask => {
                match call.rebuild_message() {
                    Some(message) => Some(message),
                    None => return false,
                }
            }
            // The request for these depends on the era, and the next session may be in
            // the other era.
            Purpose::Change(_) => None,
            // The next session restores these itself.
            Purpose::Restore(_) | Purpose::Relist(_) | Purpose::ListForTasks { .. } => {
                return false;
            }
        };
        // The answers given so far are lost, so the call starts over.
        call.rounds = 0;
        call.awaits_host = false;
        let before = std::mem::replace(&mut call.phase, Phase::Queued(message));
        match before {
            Phase::InFlight { wire_id, .. } => self.calls.remove_alias(wire_id),
            Phase::Retrying { wire_id, at, .. } => {
                self.timers.disarm_at(Timer::Resend(id), at);
                self.calls.remove_alias(wire_id);
            }
            Phase::Repeating { at, .. } => self.timers.disarm_at(Timer::Resend(id), at),
            Phase::Queued(_)
            | Phase::AwaitingInput(_)
            | Phase::Paused { .. }
            | Phase::Subscribing => {}
        }
        true
    }

    /// Moves a call that the server did not process to the next session. Done once per
    /// call, so a server that never processes it cannot keep us busy forever. Internal
    /// calls are not moved: the next session makes them again, except for those about
    /// tasks.
    pub(super) fn move_to_next_session(&mut self, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let is_made_again = call.purpose.is_internal() && call.purpose != Purpose::CancelTask;
        if is_made_again || call.binding.is_session() {
            return false;
        }
        call.moved_session = true;
        self.requeue(id)
    }

    /// Returns the failure for calls on a connection that will not reopen.
    pub(super) fn closed_failure(&self) -> Failure {
        match &self.gave_up {
            Some(cause) => Failure::GaveUp(cause.clone()),
            None => Failure::Shutdown,
        }
    }

    /// Records a disconnect. Returns the limit if it is now exceeded.
    pub(super) fn record_disconnect(&mut self, now: Instant) -> Option<RestartLimit> {
        let limit = self.config.restart_limit?;
        while self
            .recent_disconnects
            .front()
            .is_some_and(|disconnected_at| now - *disconnected_at >= limit.period)
        {
            self.recent_disconnects.pop_front();
        }
        self.recent_disconnects.push_back(now);
        let restarts = usize::try_from(limit.max_restarts).unwrap_or(usize::MAX);
        (self.recent_disconnects.len() > restarts).then_some(limit)
    }

    /// Ends every call in any phase.
    pub(super) fn fail_all_calls(&mut self, now: Instant, failure: &Failure) {
        for id in self.calls.ids() {
            let wire_id = self.calls.get(id).and_then(Call::wire_id);
            if let Some(wire_id) = wire_id {
                self.remember_cancelled(now, wire_id);
            }
            self.remove_call(now, id, Outcome::Failed(failure.clone()));
        }
    }

    /// Returns the time until the next connection attempt.
    pub(super) fn retry_in(&self, now: Instant) -> Option<Duration> {
        self.timers.deadline_of(Timer::Redial).map(|at| at - now)
    }

    pub(super) fn drop_subscription(&mut self, uri: Box<str>, error: Option<ErrorObject>) {
        self.desired.uris.remove(&uri);
        self.push_event(Event::SubscriptionLost { uri, error });
    }
}
