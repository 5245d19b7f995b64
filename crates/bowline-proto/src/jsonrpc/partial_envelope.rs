//! What can be said of a message that cannot be read.

use memchr::memrchr;

use super::{
    RequestId,
    envelope::read_id,
    member_scanner::{EnvelopeKey, MemberScanner},
    skip,
};

/// What could be saved from a broken frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PartialEnvelope {
    /// The message's id; none where it is not to be found, or stands there
    /// twice, so that one cannot tell.
    pub id: Option<RequestId>,
    /// Whether the frame was meant as an answer: a `result` or `error` was seen,
    /// or an `id` without `method` or `params`. Nobody answers an answer.
    pub is_response: bool,
    /// Whether a `result` or `error` was seen, so that it surely was.
    pub has_result_or_error: bool,
}

impl PartialEnvelope {
    /// The request of ours that the frame was to answer, if it surely was an
    /// answer: what follows its beginning may make it a request of the peer's,
    /// whose ids are its own.
    pub(crate) fn response_to(&self) -> Option<u64> {
        response_to(self.id.as_ref(), self.has_result_or_error)
    }
}

/// The request of ours that a message of this id answers, if it is an answer.
pub(super) fn response_to(id: Option<&RequestId>, is_response: bool) -> Option<u64> {
    id.filter(|_| is_response).and_then(RequestId::as_u64)
}

/// Looks for the id in a frame that is broken, or of which only the beginning
/// is there.
///
/// Only members of the message itself count: an `id` inside `params`, inside a
/// result or inside a string is never taken for it. Nor is a number that the
/// end of the prefix may have cut.
///
/// ```
/// use bowline_proto::jsonrpc::salvage;
///
/// let saved = salvage(br#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"te"#);
/// assert_eq!(saved.id, Some(7_u64.into()));
/// assert!(saved.is_response);
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

/// The id, as it is written, at the very end of a message of which only the end
/// is there: many peers write it last. It is that of the message itself if the
/// message is JSON: what comes before the last brace is its last member, and a
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

/// Whether it is a number or a plain string, and nothing beside it.
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
