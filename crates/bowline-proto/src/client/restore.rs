//! Restoring the desired state (subscriptions, log level) in a new session.

use super::{
    CallId, CallOptions,
    calls::{Phase, Purpose},
    core::Core,
    handshake::HandshakeSession,
    ready::{Ready, Session},
    request::CallKind,
};
use crate::{Instant, jsonrpc::OutgoingMessage, model::method, revision::Era};

/// Desired state, which each era restores differently.
impl Ready {
    /// Sends `notifications/initialized` in the handshake era.
    pub(super) fn send_initialized(&mut self, core: &mut Core) {
        if self.rules.era == Era::Handshake {
            let frame = OutgoingMessage::without_params(method::INITIALIZED).into_notification();
            core.send(self.link, None, frame);
        }
    }

    /// Requests the host's desired state again.
    pub(super) fn restore_desired_state(&mut self, core: &mut Core, now: Instant) {
        if self.rules.era == Era::Stateless {
            self.refresh_subscriptions(core, now);
            return;
        }
        let mut calls = Vec::new();
        if let Some(level) = core.desired.log_level.clone() {
            calls.push((CallKind::SetLevel(level), Purpose::RestoreLevel));
        }
        for uri in &core.desired.uris {
            let purpose = Purpose::RestoreSubscription(uri.clone());
            calls.push((CallKind::Subscribe(uri.clone()), purpose));
        }
        for (kind, purpose) in calls {
            let id = CallId(core.ids.next_id());
            let message = HandshakeSession::message_for_kind(&kind);
            let mut call = core.new_call(now, kind, CallOptions::default());
            call.purpose = purpose;
            call.phase = Phase::Queued(message);
            core.register_call(id, call);
            self.send_queued(core, now, id);
        }
    }

    /// Returns the request for a call in this era, or `None` if it needs no request.
    pub(super) fn message_for_call(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
    ) -> Option<OutgoingMessage> {
        let purpose = core.calls.get(id)?.purpose.clone();
        match &mut self.session {
            Session::Handshake(_) => HandshakeSession::message_for_purpose(&purpose),
            Session::Stateless(_) => {
                self.apply_without_request(core, now, id, purpose);
                None
            }
        }
    }

    /// Updates the subscription stream after the desired lists or resources changed.
    pub(super) fn refresh_subscriptions(&mut self, core: &mut Core, now: Instant) {
        let link = self.link;
        if let Session::Stateless(session) = &mut self.session {
            let dropped = session
                .subscriptions
                .refresh(core, now, link, &session.common_meta);
            for wire_id in dropped {
                self.send_cancel(core, now, wire_id, "subscription changed");
            }
        }
    }
}
