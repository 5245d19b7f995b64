//! What is stored of sessions, sealed for the nodes that share a secret.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{
    proto::http::SessionId,
    server::{replay::journal::digest, seal::SealKeys},
};

/// Seals session records and events. Without a secret no other node could open
/// them, and they are stored as they are.
pub(super) struct SessionSeal {
    keys: SealKeys,
    server_name: Box<str>,
}

/// What a session is restored from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SessionContents {
    /// The owner, if known. No one else can restore it.
    pub(super) principal: Option<String>,
    /// The client messages that define the session: JSON-RPC messages,
    /// `initialize` first.
    pub(super) messages: Vec<String>,
}

impl SessionSeal {
    pub(super) fn new(keys: &SealKeys, server_name: &str) -> Self {
        Self {
            keys: keys.clone(),
            server_name: server_name.into(),
        }
    }

    pub(super) fn seal_record(&self, id: &SessionId, contents: &SessionContents) -> Bytes {
        let plain = serde_json::to_vec(contents).unwrap_or_default();
        let purpose = self.record_purpose(id);
        self.keys.seal_if_shared(&purpose, plain.into())
    }

    /// Opens a record, unless it was altered, or sealed with another secret or for
    /// another session.
    pub(super) fn open_record(&self, id: &SessionId, value: &Bytes) -> Option<SessionContents> {
        let purpose = self.record_purpose(id);
        let plain = self.keys.open_if_shared(&purpose, value)?;
        serde_json::from_slice(&plain).ok()
    }

    /// Seals the message of an event, for its position in a stream.
    pub(super) fn seal_event(&self, id: &SessionId, event_id: &str, message: Bytes) -> Bytes {
        let purpose = self.event_purpose(id, event_id);
        self.keys.seal_if_shared(&purpose, message)
    }

    pub(super) fn open_event(
        &self,
        id: &SessionId,
        event_id: &str,
        value: &Bytes,
    ) -> Option<Bytes> {
        let purpose = self.event_purpose(id, event_id);
        self.keys.open_if_shared(&purpose, value)
    }

    fn record_purpose(&self, id: &SessionId) -> [u8; 32] {
        let id = id.as_str().as_bytes();
        digest([b"session", self.server_name.as_bytes(), id])
    }

    fn event_purpose(&self, id: &SessionId, event_id: &str) -> [u8; 32] {
        let id = id.as_str().as_bytes();
        let event_id = event_id.as_bytes();
        digest([b"session event", self.server_name.as_bytes(), id, event_id])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::new(text).expect("an id")
    }

    fn keys(secret: u8) -> SealKeys {
        SealKeys::from_secret(&[secret; 32]).expect("it is long enough")
    }

    #[test]
    fn only_nodes_with_the_secret_can_read_what_is_stored() {
        let contents = SessionContents {
            principal: Some("ada".to_owned()),
            messages: vec!["hello".to_owned()],
        };
        let seal = SessionSeal::new(&keys(1), "travel");
        let sealed = seal.seal_record(&id("a"), &contents);
        let text = String::from_utf8_lossy(&sealed);
        assert!(!text.contains("ada") && !text.contains("hello"));
        assert_eq!(seal.open_record(&id("a"), &sealed), Some(contents));
        let others = [
            (SessionSeal::new(&keys(2), "travel"), "a"),
            (SessionSeal::new(&keys(1), "weather"), "a"),
            (SessionSeal::new(&SealKeys::random(), "travel"), "a"),
            (seal, "b"),
        ];
        for (other, session) in others {
            assert_eq!(other.open_record(&id(session), &sealed), None);
        }
    }

    #[test]
    fn an_event_opens_at_its_position_only() {
        let seal = SessionSeal::new(&keys(1), "travel");
        let message = Bytes::from_static(b"{}");
        let sealed = seal.seal_event(&id("a"), "1-2", message.clone());
        assert_eq!(seal.open_event(&id("a"), "1-2", &sealed), Some(message));
        assert_eq!(seal.open_event(&id("a"), "1-3", &sealed), None);
        assert_eq!(seal.open_event(&id("b"), "1-2", &sealed), None);
    }
}
