//! What can be said of a message that cannot be read.

use memchr::memrchr;

use super::{
    RequestId,
    envelope::read_id,
    members::{Key, Members},
    skip,
};

/// What could be saved from a broken frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvage {
    /// The message's id; none where it is not to be found, or stands there
    /// twice, so that one cannot tell.
    pub id: Option<RequestId>,
    /// Whether the frame was meant as an answer: a `result` or `error` was seen,
    /// or an `id` without `method` or `params`. Nobody answers an answer.
    pub is_response: bool,
    /// Whether a `result` or `error` was seen, so that it surely was.
    pub has_answer: bool,
}

impl Salvage {
    /// The request of ours that the frame was to answer, if it surely was an
    /// answer: what follows its beginning may make it a request of the peer's,
    /// whose ids are its own.
    pub(crate) fn answered(&self) -> Option<u64> {
        answered(self.id.as_ref(), self.has_answer)
    }
}

/// The request of ours that a message of this id answers, if it is an answer.
pub(super) fn answered(id: Option<&RequestId>, is_response: bool) -> Option<u64> {
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
pub fn salvage(prefix: &[u8]) -> Salvage {
    let start = skip::whitespace(prefix, 0);
    if prefix.get(start) != Some(&b'{') {
        return Salvage::default();
    }
    let mut members = Members::open(prefix, start);
    let mut seen = Seen::default();
    while let Ok(Some(key)) = members.next_key() {
        let key = Key::read(key);
        let value = members.value::<false>(1);
        match key {
            Some(Key::Id) => {
                let id = value.ok().and_then(read_id);
                seen.id = if seen.ids == 0 { id } else { None };
                seen.ids += 1;
            }
            Some(Key::Method | Key::Params) => seen.question = true,
            Some(Key::Result | Key::Error) => seen.answer = true,
            Some(Key::Jsonrpc) | None => {}
        }
        if value.is_err() {
            break;
        }
    }
    Salvage {
        id: seen.id,
        is_response: seen.answer || (seen.ids > 0 && !seen.question),
        has_answer: seen.answer,
    }
}

/// The id, as it is written, at the very end of a message of which only the end
/// is there: many peers write it last. It is that of the message itself if the
/// message is JSON: what comes before the last brace is its last member, and a
/// quote after a comma or a brace begins a key.
pub(super) fn last_id(suffix: &[u8]) -> Option<&[u8]> {
    let rest = suffix.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let colon = memrchr(b':', rest)?;
    let (key, id) = (
        rest[..colon].trim_ascii_end(),
        rest[colon + 1..].trim_ascii(),
    );
    let before = key.strip_suffix(br#""id""#)?.trim_ascii_end();
    let is_member = matches!(before.last(), Some(b',' | b'{'));
    (is_member && is_whole(id)).then_some(id)
}

/// Whether it is a number or a plain string, and nothing beside it.
fn is_whole(id: &[u8]) -> bool {
    match id {
        [b'"', text @ .., b'"'] => !text.iter().any(|byte| matches!(byte, b'"' | b'\\')),
        [] => false,
        digits => digits.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-')),
    }
}

#[derive(Default)]
struct Seen {
    id: Option<RequestId>,
    ids: usize,
    question: bool,
    answer: bool,
}
