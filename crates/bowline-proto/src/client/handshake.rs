//! Handshake-era sessions: the server sends requests, and subscriptions are requests.

use super::{calls::Purpose, peer_requests::PeerRequests, request::CallKind};
use crate::{
    jsonrpc::OutgoingMessage,
    model::{SetLevelParams, SubscribeParams, UnsubscribeParams, method},
};

/// Data that only a handshake-era session has.
#[derive(Debug, Default)]
pub(super) struct HandshakeSession {
    /// Open requests from the server.
    pub(super) peer_requests: PeerRequests,
}

impl HandshakeSession {
    /// Returns the request for an operation.
    pub(super) fn message_for_kind(kind: &CallKind) -> Option<OutgoingMessage> {
        match kind {
            CallKind::Request(_) => None,
            CallKind::Subscribe(uri) => Self::message_for_purpose(&Purpose::Subscribe(uri.clone())),
            CallKind::Unsubscribe(uri) => {
                Self::message_for_purpose(&Purpose::Unsubscribe(uri.clone()))
            }
            CallKind::SetLevel(level) => {
                Self::message_for_purpose(&Purpose::SetLevel(level.clone()))
            }
        }
    }

    /// Returns the request for an internal purpose.
    pub(super) fn message_for_purpose(purpose: &Purpose) -> Option<OutgoingMessage> {
        match purpose {
            Purpose::Subscribe(uri) | Purpose::RestoreSubscription(uri) => {
                OutgoingMessage::new(method::RESOURCES_SUBSCRIBE, &SubscribeParams::new(&**uri))
                    .ok()
            }
            Purpose::Unsubscribe(uri) => OutgoingMessage::new(
                method::RESOURCES_UNSUBSCRIBE,
                &UnsubscribeParams::new(&**uri),
            )
            .ok(),
            Purpose::SetLevel(level) => OutgoingMessage::new(
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
