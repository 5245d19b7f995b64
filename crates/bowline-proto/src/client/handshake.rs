//! Sessions of the handshake era: servers ask us things, and subscriptions are
//! requests.

use super::{calls::Purpose, request::Want, serving::Serving};
use crate::{
    jsonrpc::Draft,
    model::{SetLevelParams, SubscribeParams, UnsubscribeParams, method},
};

/// What only a session of the handshake era has.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    /// The server's requests that are open.
    pub(super) serving: Serving,
}

impl Handshake {
    /// The request that fulfils a wish.
    pub(super) fn draft(want: &Want) -> Option<Draft> {
        match want {
            Want::Request(_) => None,
            Want::Subscribe(uri) => Self::draft_for(&Purpose::Subscribe(uri.clone())),
            Want::Unsubscribe(uri) => Self::draft_for(&Purpose::Unsubscribe(uri.clone())),
            Want::SetLevel(level) => Self::draft_for(&Purpose::SetLevel(level.clone())),
        }
    }

    /// The request that serves a purpose of ours.
    pub(super) fn draft_for(purpose: &Purpose) -> Option<Draft> {
        match purpose {
            Purpose::Subscribe(uri) | Purpose::RestoreSubscription(uri) => {
                Draft::new(method::RESOURCES_SUBSCRIBE, &SubscribeParams::new(&**uri)).ok()
            }
            Purpose::Unsubscribe(uri) => Draft::new(
                method::RESOURCES_UNSUBSCRIBE,
                &UnsubscribeParams::new(&**uri),
            )
            .ok(),
            Purpose::SetLevel(level) => Draft::new(
                method::LOGGING_SET_LEVEL,
                &SetLevelParams::new(level.clone()),
            )
            .ok(),
            Purpose::User
            | Purpose::ListTools { .. }
            | Purpose::RestoreLevel
            | Purpose::Relist(_) => None,
        }
    }
}
