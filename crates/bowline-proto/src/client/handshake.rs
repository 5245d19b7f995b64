//! Handshake-era sessions: the server sends requests, and subscriptions are requests.

use super::{desired_state::DesiredChange, peer_requests::PeerRequests};
use crate::{
    jsonrpc::OutgoingMessage,
    model::{SetLevelParams, SubscribeParams, UnsubscribeParams},
};

/// Data that only a handshake-era session has.
#[derive(Debug, Default)]
pub(super) struct HandshakeSession {
    /// Open requests from the server.
    pub(super) peer_requests: PeerRequests,
}

impl HandshakeSession {
    /// Returns the request for a change of the desired state.
    pub(super) fn message(change: &DesiredChange) -> Option<OutgoingMessage> {
        let method = change.method();
        let message = match change {
            DesiredChange::Subscribe(uri) => {
                OutgoingMessage::new(method, &SubscribeParams::new(&**uri))
            }
            DesiredChange::Unsubscribe(uri) => {
                OutgoingMessage::new(method, &UnsubscribeParams::new(&**uri))
            }
            DesiredChange::SetLevel(level) => {
                OutgoingMessage::new(method, &SetLevelParams::new(level.clone()))
            }
        };
        message.ok()
    }
}
