//! Building `_meta` for an outgoing request.

use crate::{
    jsonrpc::OutgoingMessage,
    model::{Meta, meta::key},
};

/// The key under which calls carry the session number.
pub(super) const SESSION_KEY: &str = "dev.bowline/session-id";
const COMMON_KEYS: [&str; 4] = [
    key::PROTOCOL_VERSION,
    key::CLIENT_CAPABILITIES,
    key::CLIENT_INFO,
    key::LOG_LEVEL,
];

/// The parts of a request's `_meta`.
#[derive(Debug, Default)]
pub(super) struct RequestMeta<'a> {
    /// Members that every request of the session carries, as JSON without the braces.
    pub(super) common: &'a [u8],
    /// The progress token.
    pub(super) progress: Option<u64>,
    /// The session number.
    pub(super) session: Option<u64>,
    /// Members that the caller added.
    pub(super) caller: Option<&'a Meta>,
}

impl RequestMeta<'_> {
    /// Adds `_meta` to the message unless it would be empty. `scratch` saves an
    /// allocation.
    pub(super) fn write(&self, message: &mut OutgoingMessage, scratch: &mut Vec<u8>) {
        scratch.clear();
        scratch.push(b'{');
        scratch.extend_from_slice(self.common);
        if let Some(meta) = self.caller {
            for (key, value) in meta.members().iter() {
                // Keys that the machine sets override the caller's.
                if !self.is_set_by_us(key) {
                    push_member(scratch, key, value.get().as_bytes());
                }
            }
        }
        if let Some(token) = self.progress {
            push_member(scratch, key::PROGRESS_TOKEN, token.to_string().as_bytes());
        }
        if let Some(session) = self.session {
            push_member(scratch, SESSION_KEY, session.to_string().as_bytes());
        }
        if scratch.len() > 1 {
            scratch.push(b'}');
            message.push_raw("_meta", scratch);
        }
    }

    fn is_set_by_us(&self, key: &str) -> bool {
        (key == key::PROGRESS_TOKEN && self.progress.is_some())
            || (key == SESSION_KEY && self.session.is_some())
            || (!self.common.is_empty() && COMMON_KEYS.contains(&key))
    }
}

/// Appends `"key":value`, with a comma if needed.
pub(super) fn push_member(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    if out.len() > 1 {
        out.push(b',');
    }
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, key);
    out.push(b':');
    out.extend_from_slice(value);
}
