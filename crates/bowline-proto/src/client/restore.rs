//! Restoring the desired state (subscriptions, log level) in a new session.

use super::{
    CallId, CallOptions,
    calls::{Phase, Purpose},
    core::Core,
    desired_state::DesiredChange,
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
        let level = core.desired.log_level.clone().map(DesiredChange::SetLevel);
        let uris = core.desired.uris.iter().cloned();
        let changes: Vec<_> = level
            .into_iter()
            .chain(uris.map(DesiredChange::Subscribe))
            .collect();
        for change in changes {
            let id = CallId(core.ids.next_id());
            let message = HandshakeSession::message(&change);
            let kind = CallKind::Change(change.clone());
            let mut call = core.new_call(now, kind, CallOptions::default());
            call.purpose = Purpose::Restore(change);
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
        let Purpose::Change(change) = core.calls.get(id)?.purpose.clone() else {
            return None;
        };
        match &mut self.session {
            Session::Handshake(_) => HandshakeSession::message(&change),
            Session::Stateless(_) => {
                self.apply_without_request(core, now, id, change);
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
