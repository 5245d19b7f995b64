//! The `Ready` state: an open session that sends calls.

mod send_failure;

use super::{
    CallId, CallOptions, Cancellation, ConnectionError, ConnectionErrorKind, Event, Failure,
    InputHandling, LinkId, Output, PeerRequestId, ProgressMode, ServerInfo, Telemetry,
    TransportKind,
    binding::Binding,
    calls::{Call, Phase},
    core::Core,
    handshake::HandshakeSession,
    request::CallKind,
    request_meta::RequestMeta,
    state::{Disconnect, RedialPolicy, State, disconnect},
    stateless::StatelessSession,
    timer::Timer,
    tool_modes::{SessionRequirement, ToolModes},
};
use crate::{
    Instant,
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson, error_response, response_raw},
    model::{
        CancelledParams, ToolMode,
        method::{self, Side},
    },
    revision::{Era, Revision, Rules},
};

/// An open session on a link.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) link: LinkId,
    pub(super) rules: &'static Rules,
    pub(super) server: ServerInfo,
    pub(super) modes: ToolModes,
    pub(super) session: Session,
}

/// Session data that differs between the eras.
#[derive(Debug)]
pub(super) enum Session {
    Handshake(HandshakeSession),
    Stateless(StatelessSession),
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
        core.timers.disarm(Timer::Opening);
        core.timers.disarm(Timer::Probe);
        let rules = server.revision.rules();
        core.assumed_era = Some(rules.era);
        core.push_output(Output::Negotiated {
            link,
            revision: server.revision,
        });
        let session = match rules.era {
            Era::Handshake => Session::Handshake(HandshakeSession::default()),
            Era::Stateless => Session::Stateless(StatelessSession::new(core, rules)),
        };
        let mut ready = Self {
            link,
            rules,
            server,
            modes: ToolModes::new(),
            session,
        };
        ready.send_initialized(core);
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
        match &self.session {
            Session::Handshake(session) => session.peer_requests.len(),
            Session::Stateless(_) => 0,
        }
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
            core.observe(|| Telemetry::NotificationDropped {
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
        if let Session::Handshake(session) = &mut self.session {
            session.peer_requests.cancel_all(core);
        }
    }

    /// Sends the host's response to a request from the server, if it is still open.
    pub(super) fn respond(
        &mut self,
        core: &mut Core,
        now: Instant,
        request: PeerRequestId,
        reply: Result<RawJson, ErrorObject>,
    ) {
        let Session::Handshake(session) = &mut self.session else {
            return;
        };
        if let Some(id) = session.peer_requests.close(request) {
            let frame = match reply {
                Ok(result) => response_raw(&id, result.get().as_bytes()),
                Err(error) => error_response(Some(&id), &error),
            };
            core.send(self.link, None, frame);
            if session.peer_requests.len() == 0 {
                core.resume_deadlines(now);
            }
        }
    }
}

/// Sending.
impl Ready {
    /// Sends a queued call, or fails it if it cannot be sent.
    pub(super) fn send_queued(&mut self, core: &mut Core, now: Instant, id: CallId) {
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
        if call.rounds > 0 && self.rules.era == Era::Handshake {
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
        if call.options.check_capabilities
            && let Some(capability) = info.capability
            && !self.server.has_capability(capability)
        {
            return Err(Failure::CapabilityNotSupported { capability });
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
        // A call's number doubles as the id of its first request, unless another id was
        // assigned in between.
        let wire_id = if call.rounds == 0 && core.ids.last() == id.0 {
            id.0
        } else {
            core.ids.next_id()
        };
        let session = (self.rules.era == Era::Handshake
            && self.modes.sends_session_number(core.config.session_meta))
        .then_some(core.session_count);
        let wants_progress = call.options.progress != ProgressMode::Off;
        let meta = RequestMeta {
            common: self.session.common_meta(),
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
        let may_require_input = self.rules.era == Era::Stateless
            && call.options.input_handling == InputHandling::AskHost
            && call.info.is_some_and(|info| info.input_rounds);
        may_require_input
            || call.options.repeat_if_lost
            || call.binding == Binding::AnySession
            || transport == TransportKind::Http
    }

    /// Cancels the request `wire_id` on the server.
    pub(super) fn send_cancel(&self, core: &mut Core, now: Instant, wire_id: u64, reason: &str) {
        core.remember_cancelled(now, wire_id);
        let by_disconnect =
            core.config.transport == TransportKind::Http && self.rules.disconnect_cancels;
        if !by_disconnect {
            let params = CancelledParams {
                request_id: Some(wire_id.into()),
                reason: Some(reason.to_owned()),
                ..CancelledParams::default()
            };
            if let Ok(message) = OutgoingMessage::new(method::CANCELLED, &params) {
                core.send(self.link, None, message.into_notification());
            }
        }
        if core.config.transport == TransportKind::Http {
            core.push_output(Output::Abort {
                link: self.link,
                id: wire_id,
            });
        }
        core.observe(|| Telemetry::CancelSent { id: wire_id });
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
            self.send_cancel(core, now, wire_id, "timeout");
        }
        core.fail_timed_out(now, id);
        if subscribing {
            self.refresh_subscriptions(core, now);
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
            self.send_cancel(core, now, wire_id, cancellation.reason());
        }
        core.fail(now, id, cancellation.failure());
        if subscribing {
            self.refresh_subscriptions(core, now);
        }
    }
}

impl Session {
    /// Returns the `_meta` members that every request carries.
    fn common_meta(&self) -> &[u8] {
        match self {
            Self::Handshake(_) => &[],
            Self::Stateless(session) => session.common_meta(),
        }
    }
}
