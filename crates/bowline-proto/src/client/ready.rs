//! An open session: calls go out, answers come in.

use bytes::Bytes;

use super::{
    CallId, CallOptions, Cancel, Cause, CauseKind, Event, Failure, HttpRefusal, Link, OnInput,
    Outcome, Output, PeerRequest, Progress, Refusal, Server, Telemetry, Wire,
    binding::Binding,
    calls::{Call, Phase},
    core::Core,
    dress::Dress,
    handshake::Handshake,
    modes::{SessionMode, ToolModes},
    request::Want,
    state::{Fallen, Redial, State, fall},
    stateless::Stateless,
    timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{Draft, Envelope, ErrorObject, RawJson, error_response, response_raw, scan},
    model::{
        CancelledParams, ToolMode,
        method::{self, Side},
    },
    revision::{Era, Revision, Rules},
};

/// An open session on a link.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) link: Link,
    pub(super) rules: &'static Rules,
    pub(super) server: Server,
    pub(super) modes: ToolModes,
    pub(super) era: Session,
}

/// What the two eras do differently once a session is open.
#[derive(Debug)]
pub(super) enum Session {
    Handshake(Handshake),
    Stateless(Stateless),
}

impl Ready {
    /// Opens for business: wishes are restored, then those who waited go out
    /// in the order in which they came.
    pub(super) fn enter(core: &mut Core, now: Instant, link: Link, server: Server) -> State {
        core.sessions += 1;
        core.in_session = true;
        core.failures = 0;
        core.waits = 0;
        core.slow_openings = 0;
        core.refused = None;
        core.timers.disarm(Timer::Opening);
        core.timers.disarm(Timer::Probe);
        let rules = server.revision.rules();
        core.belief = Some(rules.era);
        core.output(Output::Settled {
            link,
            revision: server.revision,
        });
        let era = match rules.era {
            Era::Handshake => Session::Handshake(Handshake::default()),
            Era::Stateless => Session::Stateless(Stateless::new(core, rules)),
        };
        let mut ready = Self {
            link,
            rules,
            server,
            modes: ToolModes::new(),
            era,
        };
        ready.announce(core);
        core.event(Event::Ready {
            session: core.sessions,
        });
        ready.restore(core, now);
        for id in core.calls.ids() {
            let waits = core.calls.get(id).map(|call| &call.phase);
            if matches!(waits, Some(Phase::Waiting(_))) {
                ready.launch(core, now, id);
            }
        }
        State::Ready(Box::new(ready))
    }

    pub(super) fn link(&self) -> Link {
        self.link
    }

    pub(super) fn peer_requests(&self) -> usize {
        match &self.era {
            Session::Handshake(session) => session.serving.len(),
            Session::Stateless(_) => 0,
        }
    }

    pub(super) fn session_mode(&self) -> SessionMode {
        self.modes.session()
    }

    pub(super) fn call(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        want: Want,
        options: CallOptions,
    ) {
        let call = core.call(now, want, options);
        core.accept(id, call);
        self.launch(core, now, id);
    }

    pub(super) fn notify(&self, core: &mut Core, draft: Draft) {
        if self.can_notify(core, draft.method()).is_ok() {
            core.send(self.link, None, draft.into_notification());
        } else {
            core.observe(|| Telemetry::NotificationDropped {
                method: draft.method_name(),
            });
        }
    }

    /// Whether the revision has such a notification, and what it is about was
    /// declared.
    pub(super) fn can_notify(&self, core: &Core, method: &str) -> Result<(), Failure> {
        // Those that the protocol does not know are the caller's business.
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
        let told = roots.is_some_and(|roots| roots.list_changed == Some(true));
        if method == method::ROOTS_LIST_CHANGED && !told {
            return Err(Failure::Undeclared {
                capability: "roots.listChanged",
            });
        }
        Ok(())
    }

    pub(super) fn down(mut self: Box<Self>, core: &mut Core, now: Instant, cause: Cause) -> State {
        self.withdraw_peer_requests(core);
        fall(
            core,
            now,
            Fallen {
                hang_up: None,
                cause,
                redial: Redial::AfterBackoff,
            },
        )
    }

    /// Ends the session from our side.
    pub(super) fn abandon(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        kind: CauseKind,
        redial: Redial,
    ) -> State {
        self.withdraw_peer_requests(core);
        let hang_up = Some(self.link);
        fall(
            core,
            now,
            Fallen {
                hang_up,
                cause: kind.into(),
                redial,
            },
        )
    }

    pub(super) fn withdraw_peer_requests(&mut self, core: &mut Core) {
        if let Session::Handshake(session) = &mut self.era {
            session.serving.withdraw_all(core);
        }
    }

    /// Gives the server the host's answer to its request, if it still wants it.
    pub(super) fn respond(
        &mut self,
        core: &mut Core,
        now: Instant,
        request: PeerRequest,
        answer: Result<RawJson, ErrorObject>,
    ) {
        let Session::Handshake(session) = &mut self.era else {
            return;
        };
        if let Some(id) = session.serving.close(request) {
            let frame = match answer {
                Ok(result) => response_raw(&id, result.get().as_bytes()),
                Err(error) => error_response(Some(&id), &error),
            };
            core.send(self.link, None, frame);
            if session.serving.len() == 0 {
                core.release_calls(now);
            }
        }
    }
}

/// Sending.
impl Ready {
    /// Puts a waiting call on the wire, or says why that cannot be.
    pub(super) fn launch(&mut self, core: &mut Core, now: Instant, id: CallId) {
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        let Phase::Waiting(draft) = &mut call.phase else {
            return;
        };
        let draft = match draft.take() {
            Some(draft) if call.probe => Some(self.draft_ping(call, draft)),
            Some(draft) => Some(draft),
            None => self.draft_wish(core, now, id),
        };
        let Some(draft) = draft else {
            return;
        };
        if let Err(failure) = self.transmit(core, id, draft) {
            core.fail(now, id, failure);
        }
    }

    /// The question whether the server is there, as the revision has it. Those
    /// without a ping have a question that every server must answer.
    fn draft_ping(&self, call: &mut Call, ping: Draft) -> Draft {
        if self.rules.allows(method::PING, Side::Client) {
            call.info = method::info(method::PING);
            return ping;
        }
        call.info = method::info(method::DISCOVER);
        Draft::empty(method::DISCOVER)
    }

    /// Whether the call may go out at all: the revision has the method, the
    /// server advertised it, and its mode fits.
    fn check(&mut self, call: &Call, draft: &Draft) -> Result<(), Failure> {
        if call.rounds > 0 && self.rules.era == Era::Handshake {
            // The server came back in the era that cannot go on with a call.
            return Err(Failure::ConnectionLost(CauseKind::WrongEra.into()));
        }
        // Methods that the protocol does not know are the caller's business.
        let Some(info) = call.info else {
            return Ok(());
        };
        if !self.rules.allows(info.name, Side::Client) {
            return Err(Failure::NoSuchMethod {
                method: info.name.to_owned(),
                revision: self.rules.revision.as_str(),
            });
        }
        if call.options.guard
            && let Some(capability) = info.capability
            && !self.server.offers(capability)
        {
            return Err(Failure::NotSupported { capability });
        }
        if info.name == method::TOOLS_CALL {
            let mode = self.declared_mode(call, draft);
            let mode = mode.unwrap_or(ToolMode::Stateful);
            if mode == ToolMode::Stateful && self.server.stateless_only() {
                return Err(Failure::ModeMismatch);
            }
            self.modes.called(mode);
        }
        Ok(())
    }

    /// Dresses the draft, if it may go out, and sends it under an id that was
    /// never used.
    fn transmit(&mut self, core: &mut Core, id: CallId, mut draft: Draft) -> Result<(), Failure> {
        let Some(call) = core.calls.get(id) else {
            return Ok(());
        };
        self.check(call, &draft)?;
        let binding = self.bind(core, call, &draft)?;
        let Some(call) = core.calls.get_mut(id) else {
            return Ok(());
        };
        call.binding = binding;
        // A call's number is the id of its first request, where no other came
        // between.
        let wire = if call.rounds == 0 && core.ids.last() == id.0 {
            id.0
        } else {
            core.ids.fresh()
        };
        let session = (self.rules.era == Era::Handshake
            && self.modes.announce(core.config.session_meta))
        .then_some(core.sessions);
        let wants_progress = call.options.progress != Progress::Unwanted;
        let dress = Dress {
            standing: self.era.standing_meta(),
            progress: wants_progress.then_some(wire),
            session,
            own: call.meta.as_deref(),
        };
        dress.put_on(&mut draft, &mut core.scratch);
        let (size, limit) = (draft.len(), core.config.max_frame);
        if size > limit {
            return Err(Failure::RequestTooLarge { size, limit });
        }
        let frame = if call.members.is_none() && self.keeps_members(core.config.wire, call) {
            let encoded = draft.into_request(wire);
            // Kept once: later rounds add to what was first asked.
            call.members = Some(encoded.members);
            encoded.frame
        } else {
            draft.into_frame(wire)
        };
        call.phase = Phase::InFlight { wire, sends: 1 };
        core.calls.alias(wire, id);
        core.send(self.link, Some(wire), frame);
        Ok(())
    }

    /// Whether the parameters may be needed again: for a further round, after
    /// a reconnection, because the server forgot our session, or because any
    /// session serves it.
    fn keeps_members(&self, wire: Wire, call: &Call) -> bool {
        let may_be_asked = self.rules.era == Era::Stateless
            && call.options.on_input == OnInput::Ask
            && call.info.is_some_and(|info| info.input_rounds);
        may_be_asked || call.options.replay || call.binding == Binding::Any || wire == Wire::Http
    }

    /// Tells the server that the answer to `wire` is not wanted any more.
    pub(super) fn withdraw(&self, core: &mut Core, now: Instant, wire: u64, reason: &str) {
        core.bury(now, wire);
        let by_disconnect = core.config.wire == Wire::Http && self.rules.disconnect_cancels;
        if !by_disconnect {
            let params = CancelledParams {
                request_id: Some(wire.into()),
                reason: Some(reason.to_owned()),
                ..CancelledParams::default()
            };
            if let Ok(draft) = Draft::new(method::CANCELLED, &params) {
                core.send(self.link, None, draft.into_notification());
            }
        }
        if core.config.wire == Wire::Http {
            core.output(Output::Abort {
                link: self.link,
                id: wire,
            });
        }
        core.observe(|| Telemetry::CancelSent { id: wire });
    }
}

/// Deadlines, cancellation, and links that are busy.
impl Ready {
    pub(super) fn deadline(&mut self, core: &mut Core, now: Instant, id: CallId) {
        let Some(call) = core.calls.get(id) else {
            return;
        };
        let (wire, subscribing) = (call.wire(), matches!(call.phase, Phase::Subscribing));
        if let Some(wire) = wire {
            self.withdraw(core, now, wire, "timeout");
        }
        core.expire_unsent(now, id);
        if subscribing {
            self.watch_changed(core, now);
        }
    }

    pub(super) fn cancel(&mut self, core: &mut Core, now: Instant, id: CallId, cancel: &Cancel) {
        let Some(call) = core.calls.get(id) else {
            return;
        };
        let (wire, subscribing) = (call.wire(), matches!(call.phase, Phase::Subscribing));
        if let Some(wire) = wire {
            self.withdraw(core, now, wire, cancel.reason());
        }
        core.fail(now, id, cancel.failure());
        if subscribing {
            self.watch_changed(core, now);
        }
    }

    pub(super) fn refused(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        wire: Option<u64>,
        refusal: Refusal,
    ) -> State {
        let call = wire.and_then(|wire| core.calls.awaiting(wire));
        let moved = call
            .and_then(|id| core.calls.get(id))
            .map(|call| call.moved);
        if let Refusal::Status(status) = &refusal
            && status.status == 404
            && self.rules.era == Era::Handshake
            && moved != Some(true)
        {
            return self.session_gone(core, now, call);
        }
        let Some(wire) = wire else {
            if let (Refusal::Busy(frame), Session::Handshake(session)) = (refusal, &mut self.era)
                && is_answer(&frame)
            {
                session.serving.put_off(core, now, frame);
            }
            // A notification is sent once, and that is that.
            return State::Ready(self);
        };
        match call {
            Some(id) => self.call_refused(core, now, id, refusal),
            None => self.listening_refused(core, now, wire, &refusal),
        }
        State::Ready(self)
    }

    /// The server does not know our session any more. It did not look at this
    /// request, so that the request is safe to send again in the next one,
    /// unless it belongs to this session.
    ///
    /// There is no wait before that, unless nobody waits for it: a server that
    /// knows no session at all would be dialled in a loop.
    fn session_gone(
        mut self: Box<Self>,
        core: &mut Core,
        now: Instant,
        call: Option<CallId>,
    ) -> State {
        let redial = match call {
            Some(id) if core.move_on(id) => Redial::AtOnce,
            Some(id)
                if core
                    .calls
                    .get(id)
                    .is_some_and(|call| call.binding.is_session()) =>
            {
                core.fail(now, id, Failure::SessionLost);
                Redial::AfterBackoff
            }
            _ => Redial::AfterBackoff,
        };
        self.withdraw_peer_requests(core);
        let hang_up = Some(self.link);
        let cause = CauseKind::SessionGone.into();
        fall(
            core,
            now,
            Fallen {
                hang_up,
                cause,
                redial,
            },
        )
    }

    fn call_refused(&mut self, core: &mut Core, now: Instant, id: CallId, refusal: Refusal) {
        match refusal {
            Refusal::Busy(frame) => Self::busy(core, now, id, frame),
            Refusal::Failed(cause) => {
                core.fail(now, id, Failure::Undelivered(cause));
            }
            Refusal::Unanswered(cause) => {
                if let Some(wire) = core.calls.get(id).and_then(Call::wire) {
                    core.bury(now, wire);
                }
                core.fail(now, id, Failure::ConnectionLost(cause));
            }
            Refusal::Status(status) => {
                let outcome = status_outcome(&status);
                self.end(core, now, id, outcome);
            }
        }
    }

    /// The link's queue is full: offer the frame again a little later, three
    /// times in all.
    fn busy(core: &mut Core, now: Instant, id: CallId, frame: Bytes) {
        let (delay, share) = (core.config.busy.delay, core.config.busy.jitter);
        let delay = core.rng.jitter(delay, share);
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        let Phase::InFlight { wire, sends } = call.phase else {
            return;
        };
        if sends >= core.config.busy.sends {
            core.observe(|| Telemetry::RetryExhausted { call: id.0 });
            core.fail(now, id, Failure::Busy { sends });
            return;
        }
        let at = now + delay;
        call.phase = Phase::Retrying {
            wire,
            frame,
            sends,
            at,
        };
        core.timers.arm(Timer::Resend(id), at);
        core.observe(|| Telemetry::RetryScheduled {
            call: id.0,
            sends,
            delay,
        });
    }

    /// The wait of answers that the link was too busy for is over.
    pub(super) fn offer_answers(&mut self, core: &mut Core) {
        if let Session::Handshake(session) = &mut self.era {
            session.serving.offer_again(core, self.link);
        }
    }

    /// The wait of a busy or paused call is over.
    pub(super) fn resend(&mut self, core: &mut Core, now: Instant, id: CallId) {
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        match &mut call.phase {
            Phase::Retrying {
                wire, frame, sends, ..
            } => {
                let (wire, frame, sends) = (*wire, frame.clone(), *sends + 1);
                call.phase = Phase::InFlight { wire, sends };
                core.send(self.link, Some(wire), frame);
            }
            Phase::Pausing { .. } => {
                if core.end_pause(now, id) {
                    self.launch(core, now, id);
                }
            }
            Phase::Waiting(_) | Phase::InFlight { .. } | Phase::Asking(_) | Phase::Subscribing => {}
        }
    }
}

/// Whether a frame of ours answers the server.
fn is_answer(frame: &[u8]) -> bool {
    matches!(
        scan(frame),
        Ok(Envelope::Response { .. } | Envelope::Error { .. })
    )
}

impl Session {
    /// The members of `_meta` that every request carries.
    fn standing_meta(&self) -> &[u8] {
        match self {
            Self::Handshake(_) => &[],
            Self::Stateless(session) => session.standing_meta(),
        }
    }
}

/// What a status that is not success means for the call that met it.
pub(super) fn status_outcome(refusal: &HttpRefusal) -> Outcome {
    if let Some(error) = super::opening::error_in(&refusal.body) {
        return Outcome::Refused(error);
    }
    Outcome::Failed(Failure::Undelivered(refusal.cause()))
}
