//! A partial envelope, recovered from a message that cannot be read.

use memchr::memrchr;

use super::{
    RequestId,
    envelope::read_id,
    member_scanner::{EnvelopeKey, MemberScanner},
    skip,
};

/// What could be recovered from a broken frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialEnvelope {
    /// The message's id; `None` if it is not found, or occurs twice and is
    /// therefore ambiguous.
    pub id: Option<RequestId>,
    /// Whether the frame was meant as a response: it has a `result` or `error`,
    /// or an `id` without `method` or `params`. A response must not be
    /// answered.
    pub is_response: bool,
    /// Whether a `result` or `error` was seen, so it certainly was a response.
    pub has_result_or_error: bool,
}

impl PartialEnvelope {
    /// Returns the call that the frame answers, if it certainly is a response:
    /// what follows its start may make it a request from the peer, which has
    /// its own ids.
    pub(crate) fn response_to(&self) -> Option<u64> {
        response_to(self.id.as_ref(), self.has_result_or_error)
    }
}

/// Returns the call that a message with this id answers, if it is a response.
pub(super) fn response_to(id: Option<&RequestId>, is_response: bool) -> Option<u64> {
    id.filter(|_| is_response).and_then(RequestId::as_u64)
}

/// Searches for the id in a frame that is broken or truncated.
///
/// Only members of the message itself count: an `id` inside `params`, inside a
/// result or inside a string is never taken for it. Neither is a number that
/// the end of the prefix may have cut.
///
/// ```
/// use bowline_proto::jsonrpc::scan_partial;
///
/// let partial = scan_partial(br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"te"#);
/// assert_eq!(partial.id, Some(7_u64.into()));
/// assert!(partial.is_response);
/// ```
#[must_use]
pub fn scan_partial(prefix: &[u8]) -> PartialEnvelope {
    let start = skip::whitespace(prefix, 0);
    if prefix.get(start) != Some(&b'{') {
        return PartialEnvelope::default();
    }
    let mut members = MemberScanner::new(prefix, start);
    let mut seen = SeenKeys::default();
    while let Ok(Some(key)) = members.next_key() {
        let key = EnvelopeKey::from_quoted(key);
        let value = members.value::<false>(1);
        match key {
            Some(EnvelopeKey::Id) => {
                let id = value.ok().and_then(read_id);
                seen.id = if seen.ids == 0 { id } else { None };
                seen.ids += 1;
            }
            Some(EnvelopeKey::Method | EnvelopeKey::Params) => seen.has_method_or_params = true,
            Some(EnvelopeKey::Result | EnvelopeKey::Error) => seen.has_result_or_error = true,
            Some(EnvelopeKey::Jsonrpc) | None => {}
        }
        if value.is_err() {
            break;
        }
    }
    PartialEnvelope {
        id: seen.id,
        is_response: seen.has_result_or_error || (seen.ids > 0 && !seen.has_method_or_params),
        has_result_or_error: seen.has_result_or_error,
    }
}

/// Returns the raw id at the very end of a message of which only the end is
/// available: many peers write it last. It is the id of the message itself if
/// the message is JSON: what precedes the last brace is its last member, and a
/// quote after a comma or a brace begins a key.
pub(super) fn trailing_id(suffix: &[u8]) -> Option<&[u8]> {
    let rest = suffix.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let colon = memrchr(b':', rest)?;
    let (key, id) = (
        rest[..colon].trim_ascii_end(),
        rest[colon + 1..].trim_ascii(),
    );
    let before = key.strip_suffix(br#""id""#)?.trim_ascii_end();
    let is_member = matches!(before.last(), Some(b',' | b'{'));
    (is_member && is_complete(id)).then_some(id)
}

/// Returns whether it is a number or a plain string, and nothing else.
fn is_complete(id: &[u8]) -> bool {
    match id {
        [b'"', string @ .., b'"'] => !string.iter().any(|byte| matches!(byte, b'"' | b'\\')),
        [] => false,
        digits => digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-')),
    }
}

#[derive(Default)]
struct SeenKeys {
    id: Option<RequestId>,
    ids: usize,
    has_method_or_params: bool,
    has_result_or_error: bool,
}
