//! Putting `_meta` together for an outgoing request.

use crate::{
    jsonrpc::Draft,
    model::{Meta, meta::key},
};

/// The key under which calls carry our session number.
pub(super) const SESSION_KEY: &str = "dev.bowline/session-id";
const STANDING_KEYS: [&str; 4] = [
    key::PROTOCOL_VERSION,
    key::CLIENT_CAPABILITIES,
    key::CLIENT_INFO,
    key::LOG_LEVEL,
];

/// The parts of one request's `_meta`.
#[derive(Debug, Default)]
pub(super) struct Dress<'a> {
    /// Members that every request of the session carries, as JSON text without
    /// the braces.
    pub(super) standing: &'a [u8],
    /// Where progress should refer to.
    pub(super) progress: Option<u64>,
    /// Our session number.
    pub(super) session: Option<u64>,
    /// What the caller added.
    pub(super) own: Option<&'a Meta>,
}

impl Dress<'_> {
    /// Adds `_meta` to the draft, if there is anything to say. `scratch` saves
    /// an allocation.
    pub(super) fn put_on(&self, draft: &mut Draft, scratch: &mut Vec<u8>) {
        scratch.clear();
        scratch.push(b'{');
        scratch.extend_from_slice(self.standing);
        if let Some(own) = self.own {
            for (key, value) in own.members().iter() {
                // What the machine knows to be true wins over the caller's idea.
                if !self.claims(key) {
                    member(scratch, key, value.get().as_bytes());
                }
            }
        }
        if let Some(token) = self.progress {
            member(scratch, key::PROGRESS_TOKEN, token.to_string().as_bytes());
        }
        if let Some(session) = self.session {
            member(scratch, SESSION_KEY, session.to_string().as_bytes());
        }
        if scratch.len() > 1 {
            scratch.push(b'}');
            draft.push_raw("_meta", scratch);
        }
    }

    fn claims(&self, key: &str) -> bool {
        (key == key::PROGRESS_TOKEN && self.progress.is_some())
            || (key == SESSION_KEY && self.session.is_some())
            || (!self.standing.is_empty() && STANDING_KEYS.contains(&key))
    }
}

/// Appends `"key":value`, with a comma where one is needed.
pub(super) fn member(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    if out.len() > 1 {
        out.push(b',');
    }
    // Writing a string into memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, key);
    out.push(b':');
    out.extend_from_slice(value);
}
