//! Sessions of the stateless era: every request says who we are, and changes
//! arrive on a stream that we ask for.

use bytes::Bytes;

use super::{
    CallId, Failure, Outcome,
    calls::{Phase, Purpose},
    core::Core,
    dress::member,
    listening::Listening,
    ready::{Ready, Session},
};
use crate::{
    Instant,
    model::{Adapt, meta::key},
    revision::Rules,
};

/// What only a session of the stateless era has.
#[derive(Debug)]
pub(super) struct Stateless {
    /// The members of `_meta` that every request carries, serialised once.
    pub(super) standing: Vec<u8>,
    /// The stream on which changes arrive.
    pub(super) listening: Listening,
}

impl Stateless {
    pub(super) fn new(core: &Core, rules: &'static Rules) -> Self {
        Self {
            standing: standing_meta(core, rules),
            listening: Listening::new(core.sessions > 1),
        }
    }

    pub(super) fn standing_meta(&self) -> &[u8] {
        &self.standing
    }
}

impl Ready {
    /// Fulfils a wish that takes no request of its own in this era.
    pub(super) fn wish_stateless(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        purpose: Purpose,
    ) {
        let Session::Stateless(session) = &mut self.era else {
            return;
        };
        match purpose {
            Purpose::Subscribe(uri) => {
                let guarded = core.calls.get(id).is_some_and(|call| call.options.guard);
                let needed = "resources.subscribe";
                if guarded && !self.server.offers(needed) {
                    core.fail(now, id, Failure::NotSupported { capability: needed });
                    return;
                }
                if session.listening.honours(&uri) {
                    // It may have been on its way out.
                    core.intents.uris.insert(uri);
                    core.finish(now, id, done());
                    self.watch_changed(core, now);
                    return;
                }
                if let Some(call) = core.calls.get_mut(id) {
                    call.phase = Phase::Subscribing;
                }
                session.listening.wait_for(id, uri);
                self.watch_changed(core, now);
            }
            Purpose::Unsubscribe(uri) => {
                core.intents.uris.remove(&uri);
                core.finish(now, id, done());
                self.watch_changed(core, now);
            }
            Purpose::SetLevel(level) => {
                core.intents.log_level = Some(level);
                session.standing = standing_meta(core, self.rules);
                core.finish(now, id, done());
            }
            Purpose::User
            | Purpose::ListTools { .. }
            | Purpose::RestoreSubscription(_)
            | Purpose::RestoreLevel
            | Purpose::Relist(_) => {}
        }
    }
}

/// The result of a wish that is fulfilled: an empty one.
pub(super) fn done() -> Outcome {
    Outcome::Result(Bytes::from_static(b"{}"))
}

/// What every request says about us, as the members of an object.
pub(super) fn standing_meta(core: &Core, rules: &Rules) -> Vec<u8> {
    let mut capabilities = core.config.capabilities.clone();
    let mut identity = core.config.identity.clone();
    capabilities.adapt(&rules.dialect);
    identity.adapt(&rules.dialect);
    let mut object = vec![b'{'];
    let version = rules.revision.as_str();
    member(
        &mut object,
        key::PROTOCOL_VERSION,
        format!("\"{version}\"").as_bytes(),
    );
    let parts = [
        (key::CLIENT_CAPABILITIES, serde_json::to_vec(&capabilities)),
        (key::CLIENT_INFO, serde_json::to_vec(&identity)),
    ];
    for (key, json) in parts {
        if let Ok(json) = json {
            member(&mut object, key, &json);
        }
    }
    if let Some(level) = &core.intents.log_level {
        member(
            &mut object,
            key::LOG_LEVEL,
            format!("\"{}\"", level.as_str()).as_bytes(),
        );
    }
    object.split_off(1)
}
