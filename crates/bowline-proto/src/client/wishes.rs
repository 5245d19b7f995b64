//! What the host wants for good: asked for, and asked for again.

use super::{
    CallId, CallOptions,
    calls::{Phase, Purpose},
    core::Core,
    handshake::Handshake,
    ready::{Ready, Session},
    request::Want,
};
use crate::{Instant, jsonrpc::Draft, model::method, revision::Era};

/// Restoring and wishing, which the eras do in their own ways.
impl Ready {
    /// Says that the session is open, where that is said.
    pub(super) fn announce(&mut self, core: &mut Core) {
        if self.rules.era == Era::Handshake {
            let frame = Draft::empty(method::INITIALIZED).into_notification();
            core.send(self.link, None, frame);
        }
    }

    /// Asks again for what the host wants for good.
    pub(super) fn restore(&mut self, core: &mut Core, now: Instant) {
        if self.rules.era == Era::Stateless {
            self.watch_changed(core, now);
            return;
        }
        let mut wishes = Vec::new();
        if let Some(level) = core.intents.log_level.clone() {
            wishes.push((Want::SetLevel(level), Purpose::RestoreLevel));
        }
        for uri in &core.intents.uris {
            let purpose = Purpose::RestoreSubscription(uri.clone());
            wishes.push((Want::Subscribe(uri.clone()), purpose));
        }
        for (want, purpose) in wishes {
            let id = CallId(core.ids.fresh());
            let draft = Handshake::draft(&want);
            let mut call = core.call(now, want, CallOptions::default());
            call.purpose = purpose;
            call.phase = Phase::Waiting(draft);
            core.accept(id, call);
            self.launch(core, now, id);
        }
    }

    /// The request that fulfils a wish in this era, if it takes one.
    pub(super) fn draft_wish(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
    ) -> Option<Draft> {
        let purpose = core.calls.get(id)?.purpose.clone();
        match &mut self.era {
            Session::Handshake(_) => Handshake::draft_for(&purpose),
            Session::Stateless(_) => {
                self.wish_stateless(core, now, id, purpose);
                None
            }
        }
    }

    /// The host's wishes about lists, or about resources, have changed.
    pub(super) fn watch_changed(&mut self, core: &mut Core, now: Instant) {
        let link = self.link;
        if let Session::Stateless(session) = &mut self.era {
            let dropped = session
                .listening
                .refresh(core, now, link, &session.standing);
            for wire in dropped {
                self.withdraw(core, now, wire, "subscription changed");
            }
        }
    }
}
