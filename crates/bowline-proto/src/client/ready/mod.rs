//! The `Ready` state: an open session that sends calls.

mod resend;

use super::{
    CallId, CallOptions, Cancellation, ConnectionError, ConnectionErrorKind, Event, Failure,
    InputHandling, LinkId, Output, PeerRequestId, ProgressMode, ServerInfo, TelemetryEvent,
    TransportKind,
    binding::Binding,
    calls::{Call, Phase, Purpose},
    core::Core,
    redial::{Disconnect, RedialPolicy, disconnect},
    request::CallKind,
    request_meta::RequestMeta,
    session::Session,
    state::State,
    task_support::{TaskSupports, ToolListing},
    timer::Timer,
    tool_modes::{SessionRequirement, ToolModes},
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::{
        ToolMode,
        method::{self, Side},
    },
    revision::{Revision, Rules},
};

/// An open session on a link.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) link: LinkId,
    pub(super) rules: &'static Rules,
    pub(super) server: ServerInfo,
    pub(super) modes: ToolModes,
    pub(super) task_supports: TaskSupports,
    pub(super) session: Session,
}

impl Ready {
    /// Enters the state: restores the desired state, then sends queued calls in order.
    pub(super) fn enter(core: &mut Core, now: Instant, link: LinkId, server: ServerInfo) -> State {
        core.session_count += 1;
        core.in_session = true;
        core.failed_attempts = 0;
        core.backoff_attempts = 0;
        core.slow_openings = 0;
        core.streamable_error = None;
        core.tool_listing = ToolListing::default();
        core.timers.disarm(Timer::Opening);
        core.timers.disarm(Timer::Probe);
        let rules = server.revision.rules();
        core.assumed_era = Some(rules.era);
        core.push_output(Output::Negotiated {
            link,
            revision: server.revision,
        });
        let session = Session::new(core, link, rules);
        let mut ready = Self {
            link,
            rules,
            server,
            modes: ToolModes::new(),
            task_supports: TaskSupports::default(),
            session,
        };
        ready.session.start(core);
        core.push_event(Event::Ready {
            session: core.session_count,
        });
        ready.restore_desired_state(core, now);
        for id in core.calls.ids() {
            let phase = core.calls.get(id).map(|call| &call.phase);
            if matches!(phase, Some(Phase::Queued(_))) {
                ready.send_queued(core, now, id);
            }
        }
        State::Ready(Box::new(ready))
    }

    pub(super) fn link(&self) -> LinkId {
        self.link
    }

    pub(super) fn peer_request_count(&self) -> usize {
        self.session.peer_request_count()
    }

    pub(super) fn session_requirement(&self) -> SessionRequirement {
        self.modes.session_requirement()
    }

    pub(super) fn start_call(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        kind: CallKind,
        options: CallOptions,
    ) {
        let call = core.new_call(now, kind, options);
        core.register_call(id, call);
        self.send_queued(core, now, id);
    }

    pub(super) fn notify(&self, core: &mut Core, message: OutgoingMessage) {
        if self.can_notify(core, message.method()).is_ok() {
            core.send(self.link, None, message.into_notification());
        } else {
            core.observe(|| TelemetryEvent::NotificationDropped {
                method: message.method_name(),
            });
        }
    }

    /// Returns whether the revision allows the notification and the capability it needs
    /// was declared.
    pub(super) fn can_notify(&self, core: &Core, method: &str) -> Result<(), Failure> {
        // Methods that the protocol does not define are up to the caller.
        let known = Revision::ALL.iter().any(|revision| {
            let rules = revision.rules();
            rules.allows(method, Side::Client) || rules.allows(method, Side::Server)
        });
        if known && !self.rules.allows(method, Side::Client) {
            return Err(Failure::NoSuchMethod {
                method: method.to_owned(),
                revision: self.rules.revision.as_str(),
            });
        }
        let roots = core.config.capabilities.roots.as_ref();
        let declared = roots.is_some_and(|roots| roots.list_changed == Some(true));
        if method == method::ROOTS_LIST_CHANGED && !declared {
            return Err(Failure::CapabilityNotDeclared {
                capability: "roots.listChanged",
            });
        }
        Ok(())
    }

    pub(super) fn handle_down(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        cause: ConnectionError,
    ) -> State {
        self.cancel_peer_requests(core);
        disconnect(
            core,
            now,
            Disconnect {
                close_link: None,
                cause,
                redial: RedialPolicy::AfterBackoff,
            },
        )
    }

    /// Ends the session from our side.
    pub(super) fn close_session(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        kind: ConnectionErrorKind,
        redial: RedialPolicy,
    ) -> State {
        self.cancel_peer_requests(core);
        let close_link = Some(self.link);
        disconnect(
            core,
            now,
            Disconnect {
                close_link,
                cause: kind.into(),
                redial,
            },
        )
    }

    pub(super) fn cancel_peer_requests(&mut self, core: &mut Core) {
        self.session.cancel_peer_requests(core);
    }

    /// Sends the host's response to a request from the server, if it is still open.
    pub(super) fn respond(
        &mut self,
        core: &mut Core,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        self.session.respond(core, now, request, reply);
    }
}

/// Sending.
impl Ready {
    /// Restores the desired state in a new session.
    fn restore_desired_state(&mut self, core: &mut Core, now: Instant) {
        for (change, message) in self.session.restore(core, now) {
            let id = CallId(core.ids.next_id());
            let kind = CallKind::Change(change.clone());
            let mut call = core.new_call(now, kind, CallOptions::default());
            call.purpose = Purpose::Restore(change);
            call.phase = Phase::Queued(message);
            core.register_call(id, call);
            self.send_queued(core, now, id);
        }
    }

    /// Returns the request for a call that has none yet, or `None` if it needs none.
    fn message_for_call(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
    ) -> Option<OutgoingMessage> {
        let Purpose::Change(change) = core.calls.get(id)?.purpose.clone() else {
            return None;
        };
        self.session.change(core, now, id, change, &self.server)
    }

    /// Sends a queued call, or fails it if it cannot be sent.
    pub(super) fn send_queued(&mut self, core: &mut Core, now: Instant, id: CallId) {
        if self.waits_for_tool_list(core, now, id) {
            return;
        }
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        let Phase::Queued(message) = &mut call.phase else {
            return;
        };
        let message = match message.take() {
            Some(message) if call.is_ping => Some(self.ping_message(call, message)),
            Some(message) => Some(message),
            None => self.message_for_call(core, now, id),
        };
        let Some(message) = message else {
            return;
        };
        if let Err(failure) = self.send_call(core, id, message) {
            core.fail(now, id, failure);
        }
    }

    /// Returns the liveness check for this revision. Revisions without `ping` use
    /// `server/discover`, which every server must answer.
    fn ping_message(&self, call: &mut Call, ping: OutgoingMessage) -> OutgoingMessage {
        if self.rules.allows(method::PING, Side::Client) {
            call.info = method::info(method::PING);
            return ping;
        }
        call.info = method::info(method::DISCOVER);
        OutgoingMessage::without_params(method::DISCOVER)
    }

    /// Checks that the call may be sent: the revision has the method, the server
    /// advertised the capability, and the tool's mode is supported.
    fn check_call(&mut self, call: &Call, message: &OutgoingMessage) -> Result<(), Failure> {
        if call.rounds > 0 && !self.session.has_input_rounds() {
            // The server came back in the era that cannot continue the call.
            return Err(Failure::ConnectionLost(
                ConnectionErrorKind::EraChanged.into(),
            ));
        }
        // Methods that the protocol does not define are up to the caller.
        let Some(info) = call.info else {
            return Ok(());
        };
        if !self.rules.allows(info.name, Side::Client) {
            return Err(Failure::NoSuchMethod {
                method: info.name.to_owned(),
                revision: self.rules.revision.as_str(),
            });
        }
        if call.options.check_capabilities || self.must_check_task_call(call) {
            match info.capability {
                Some(capability) if !self.server.has_capability(capability) => {
                    return Err(Failure::CapabilityNotSupported { capability });
                }
                _ => self.check_task_method(info.name)?,
            }
        }
        if info.name == method::TOOLS_CALL {
            let mode = self.declared_mode(call, message);
            let mode = mode.unwrap_or(ToolMode::Stateful);
            if mode == ToolMode::Stateful && self.server.is_stateless_only() {
                return Err(Failure::ModeMismatch);
            }
            self.modes.record_call(mode);
        }
        Ok(())
    }

    /// Adds `_meta` to the message and sends it under an unused id, if it may be sent.
    fn send_call(
        &mut self,
        core: &mut Core,
        id: CallId,
        mut message: OutgoingMessage,
    ) -> Result<(), Failure> {
        let Some(call) = core.calls.get(id) else {
            return Ok(());
        };
        self.check_call(call, &message)?;
        let binding = self.bind(core, call, &message)?;
        let Some(call) = core.calls.get_mut(id) else {
            return Ok(());
        };
        call.binding = binding;
        call.asks_for_task = match self.task_param(call.options.task, &message) {
            Some(param) => message.push("task", &param).is_ok(),
            None => false,
        };
        // A call's number doubles as the id of its first request, unless another id was
        // assigned in between.
        let is_first = call.rounds == 0 && call.broken_exchanges == 0;
        let wire_id = if is_first && core.ids.last() == id.0 {
            id.0
        } else {
            core.ids.next_id()
        };
        let session = (self.session.is_kept_by_server()
            && self.modes.sends_session_number(core.config.session_meta))
        .then_some(core.session_count);
        let wants_progress = call.options.progress != ProgressMode::Off;
        let meta = RequestMeta {
            common: self.session.common_meta(call.declares_tasks()),
            progress: wants_progress.then_some(wire_id),
            session,
            caller: call.meta.as_deref(),
        };
        meta.write(&mut message, &mut core.scratch);
        let (size, limit) = (message.len(), core.config.max_frame_size);
        if size > limit {
            return Err(Failure::RequestTooLarge { size, limit });
        }
        let frame =
            if call.members.is_none() && self.must_retain_params(core.config.transport, call) {
                let encoded = message.into_request(wire_id);
                // Kept once: later rounds extend the original parameters.
                call.members = Some(encoded.members);
                encoded.frame
            } else {
                message.into_request_frame(wire_id)
            };
        call.phase = Phase::InFlight { wire_id, sends: 1 };
        core.calls.alias(wire_id, id);
        core.send(self.link, Some(wire_id), frame);
        Ok(())
    }

    /// Returns whether the parameters may be needed again: for another round, after a
    /// reconnection, because the server lost our session, or because any session can
    /// serve the call.
    fn must_retain_params(&self, transport: TransportKind, call: &Call) -> bool {
        let may_require_input = self.session.has_input_rounds()
            && call.options.input_handling == InputHandling::AskHost
            && call.info.is_some_and(|info| info.input_rounds);
        may_require_input
            || call.options.retry_on_disconnect
            || call.binding == Binding::AnySession
            || transport == TransportKind::Http
    }

    /// Cancels the request `wire_id` on the server.
    pub(super) fn send_cancel(&self, core: &mut Core, now: Instant, wire_id: u64, reason: &str) {
        core.send_cancel(now, self.link, self.rules, wire_id, reason);
    }
}

/// Deadlines, cancellation and busy links.
impl Ready {
    pub(super) fn handle_deadline(&mut self, core: &mut Core, now: Instant, id: CallId) {
        let Some(call) = core.calls.get(id) else {
            return;
        };
        let (wire_id, subscribing) = (call.wire_id(), matches!(call.phase, Phase::Subscribing));
        if let Some(wire_id) = wire_id {
            self.cancel_sent(core, now, id, wire_id, "timeout");
        }
        core.fail_timed_out(now, id);
        if subscribing {
            self.session.refresh_subscriptions(core, now);
        }
    }

    pub(super) fn cancel(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        cancellation: &Cancellation,
    ) {
        let Some(call) = core.calls.get(id) else {
            return;
        };
        let (wire_id, subscribing) = (call.wire_id(), matches!(call.phase, Phase::Subscribing));
        if let Some(wire_id) = wire_id {
            self.cancel_sent(core, now, id, wire_id, cancellation.reason());
        }
        core.fail(now, id, cancellation.failure());
        if subscribing {
            self.session.refresh_subscriptions(core, now);
        }
    }
}
