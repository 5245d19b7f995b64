//! Stateless-era sessions: every request identifies the client, and changes arrive on a
//! stream that the client requests.

use bytes::Bytes;

use super::{
    CallId, Failure, Outcome,
    calls::Phase,
    core::Core,
    desired_state::DesiredChange,
    ready::{Ready, Session},
    request_meta::push_member,
    subscription_streams::SubscriptionStreams,
};
use crate::{
    Instant,
    model::{Adapt, meta::key},
    revision::Rules,
};

/// Data that only a stateless-era session has.
#[derive(Debug)]
pub(super) struct StatelessSession {
    /// The `_meta` members that every request carries, serialised once.
    pub(super) common_meta: Vec<u8>,
    /// The stream on which changes arrive.
    pub(super) subscriptions: SubscriptionStreams,
}

impl StatelessSession {
    pub(super) fn new(core: &Core, rules: &'static Rules) -> Self {
        Self {
            common_meta: common_meta(core, rules),
            subscriptions: SubscriptionStreams::new(core.session_count > 1),
        }
    }

    pub(super) fn common_meta(&self) -> &[u8] {
        &self.common_meta
    }
}

impl Ready {
    /// Performs an operation that needs no request in this era.
    pub(super) fn apply_without_request(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        change: DesiredChange,
    ) {
        let Session::Stateless(session) = &mut self.session else {
            return;
        };
        match change {
            DesiredChange::Subscribe(uri) => {
                let checks_capabilities = core
                    .calls
                    .get(id)
                    .is_some_and(|call| call.options.check_capabilities);
                let required = "resources.subscribe";
                if checks_capabilities && !self.server.has_capability(required) {
                    core.fail(
                        now,
                        id,
                        Failure::CapabilityNotSupported {
                            capability: required,
                        },
                    );
                    return;
                }
                if session.subscriptions.covers(&uri) {
                    // An earlier unsubscribe may be about to remove it from the stream.
                    core.desired.uris.insert(uri);
                    core.finish(now, id, empty_result());
                    self.refresh_subscriptions(core, now);
                    return;
                }
                if let Some(call) = core.calls.get_mut(id) {
                    call.phase = Phase::Subscribing;
                }
                session.subscriptions.add_waiting(id, uri);
                self.refresh_subscriptions(core, now);
            }
            DesiredChange::Unsubscribe(uri) => {
                core.desired.uris.remove(&uri);
                core.finish(now, id, empty_result());
                self.refresh_subscriptions(core, now);
            }
            DesiredChange::SetLevel(level) => {
                core.desired.log_level = Some(level);
                session.common_meta = common_meta(core, self.rules);
                core.finish(now, id, empty_result());
            }
        }
    }
}

/// Returns the empty result of an operation that needs no request.
pub(super) fn empty_result() -> Outcome {
    Outcome::Result(Bytes::from_static(b"{}"))
}

/// Returns the `_meta` members that every request carries.
pub(super) fn common_meta(core: &Core, rules: &Rules) -> Vec<u8> {
    let mut capabilities = core.config.capabilities.clone();
    let mut identity = core.config.client_info.clone();
    capabilities.adapt(&rules.dialect);
    identity.adapt(&rules.dialect);
    let mut object = vec![b'{'];
    let version = rules.revision.as_str();
    push_member(
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
            push_member(&mut object, key, &json);
        }
    }
    if let Some(level) = &core.desired.log_level {
        push_member(
            &mut object,
            key::LOG_LEVEL,
            format!("\"{}\"", level.as_str()).as_bytes(),
        );
    }
    object.split_off(1)
}
