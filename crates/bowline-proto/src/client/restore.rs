//! What the host wants for good: asked for, and asked for again.

use super::{
    CallId, CallOptions,
    calls::{Phase, Purpose},
    core::Core,
    handshake::HandshakeSession,
    ready::{Ready, Session},
    request::CallKind,
};
use crate::{Instant, jsonrpc::OutgoingMessage, model::method, revision::Era};

/// Restoring and wishing, which the eras do in their own ways.
impl Ready {
    /// Says that the session is open, where that is said.
    pub(super) fn send_initialized(&mut self, core: &mut Core) {
        if self.rules.era == Era::Handshake {
            let frame = OutgoingMessage::without_params(method::INITIALIZED).into_notification();
            core.send(self.link, None, frame);
        }
    }

    /// Asks again for what the host wants for good.
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

    /// The request that fulfils a wish in this era, if it takes one.
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

    /// The host's wishes about lists, or about resources, have changed.
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
