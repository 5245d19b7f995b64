//! What can be said of a message that cannot be read.

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
    }
}

#[derive(Default)]
struct Seen {
    id: Option<RequestId>,
    ids: usize,
    question: bool,
    answer: bool,
}
