//! Messages of ours, each serialised in one pass into the frame it leaves in.

use std::{borrow::Cow, fmt};

use bytes::{Buf, Bytes};
use memchr::memchr2_iter;
use serde::Serialize;

use super::{ErrorObject, RequestId, escape, write};

/// An outgoing request or notification whose params are serialised already,
/// with room in front for the envelope whose id is not known yet.
///
/// ```
/// use bowline_proto::jsonrpc::Draft;
///
/// let mut draft = Draft::new("tools/call", &serde_json::json!({"name": "add"})).unwrap();
/// draft.push("_meta", &serde_json::json!({"progressToken": 7})).unwrap();
/// let encoded = draft.into_request(7);
/// assert_eq!(
///     encoded.frame,
///     r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":7}}}"#,
/// );
/// assert_eq!(encoded.members, r#""name":"add""#);
/// ```
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    method: Cow<'static, str>,
    /// Room for the longest id, then the message from the method on, without its
    /// closing braces.
    buffer: Vec<u8>,
    /// Where the members begin, behind the opening brace of the params.
    members_start: usize,
    /// Where the members that were there from the beginning end.
    members_end: usize,
}

/// A finished request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    /// What goes on the wire, without a line end.
    pub frame: Bytes,
    /// The part of the frame that is the params before any
    /// [`push`](Draft::push), without braces. [`Draft::from_members`] makes the
    /// same request again from it.
    pub members: Bytes,
}

impl OutgoingMessage {
    /// Serialises `params`, which must become an object. Where it becomes null
    /// (as `()` and `None` do) there are no members.
    ///
    /// # Errors
    ///
    /// Where `params` refuses to be serialised, or becomes something else.
    pub fn new<P: Serialize + ?Sized>(
        method: impl Into<Cow<'static, str>>,
        params: &P,
    ) -> Result<Self, EncodeError> {
        let mut message = Self::without_params(method);
        // The opening brace is part of the head; here it is written again.
        message.buffer.truncate(message.members_start - 1);
        write::append(&mut message.buffer, params)?;
        match &message.buffer[message.members_start - 1..] {
            b"null" => message.buffer.truncate(message.members_start),
            [b'{', .., b'}'] => {
                message.buffer.pop();
            }
            _ => return Err(EncodeError::NotAnObject),
        }
        message.trim_members();
        Ok(message)
    }

    /// A draft without params.
    pub fn without_params(method: impl Into<Cow<'static, str>>) -> Self {
        let method = method.into();
        let mut buffer =
            Vec::with_capacity(MESSAGE_CAPACITY.max(2 * (HEAD_CAPACITY + method.len())));
        buffer.resize(HEAD_CAPACITY, b' ');
        buffer.extend_from_slice(METHOD);
        escape::string(&mut buffer, &method);
        buffer.extend_from_slice(PARAMS);
        let members_start = buffer.len();
        Self {
            method,
            buffer,
            members_start,
            members_end: members_start,
        }
    }

    /// A draft with params that were serialised before: the inside of a JSON
    /// object, without braces. The bytes are trusted to be that.
    pub fn from_members(method: impl Into<Cow<'static, str>>, members: &[u8]) -> Self {
        let mut message = Self::without_params(method);
        message.buffer.reserve(members.len() + 2);
        message.buffer.extend_from_slice(members);
        message.trim_members();
        message
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The method, to keep. Costs nothing where it is one of ours.
    #[must_use]
    pub fn method_name(&self) -> Cow<'static, str> {
        self.method.clone()
    }

    /// The members of the params so far, without braces.
    #[must_use]
    pub fn members(&self) -> &[u8] {
        &self.buffer[self.members_start..]
    }

    /// Appends a member to the params. That no member has this key yet is up to
    /// the caller: JSON with a key twice means whatever its reader likes.
    ///
    /// # Errors
    ///
    /// Where `value` refuses to be serialised. The draft is as it was then.
    pub fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), EncodeError> {
        let before = self.buffer.len();
        self.push_key(key);
        write::append(&mut self.buffer, value).map_err(|error| {
            self.buffer.truncate(before);
            error.into()
        })
    }

    /// Appends a member to the params that is JSON already, and trusted to be.
    pub fn push_raw(&mut self, key: &str, json: &[u8]) {
        self.push_key(key);
        self.buffer.extend_from_slice(json);
    }

    /// How long the frame would be, were it finished now and its id the longest
    /// there is.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() + b"}}".len()
    }

    /// Whether the params have no members yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.len() == self.members_start
    }

    /// Finishes it as a request.
    #[must_use]
    pub fn into_request(self, id: u64) -> EncodedRequest {
        // Counted from the end, where nothing moves any more.
        let (start, pushed_len) = (
            self.buffer.len() - self.members_start,
            self.buffer.len() - self.members_end,
        );
        let braces = if self.is_empty() { 0 } else { 2 };
        let frame = self.finish(Some(id));
        let params_end = frame.len() - braces;
        let members = match braces {
            0 => Bytes::new(),
            _ => frame.slice(params_end - start..params_end - pushed_len),
        };
        EncodedRequest { frame, members }
    }

    /// Finishes it as a request that is sent once, so that its members are not
    /// needed any more.
    #[must_use]
    pub fn into_request_frame(self, id: u64) -> Bytes {
        self.finish(Some(id))
    }

    /// Finishes it as a notification.
    #[must_use]
    pub fn into_notification(self) -> Bytes {
        self.finish(None)
    }

    /// Ends the members that are there from the beginning.
    fn trim_members(&mut self) {
        let members = self.buffer[self.members_start..].trim_ascii_end();
        self.members_end = self.members_start + members.len();
        self.buffer.truncate(self.members_end);
    }

    fn push_key(&mut self, key: &str) {
        if !self.is_empty() {
            self.buffer.push(b',');
        }
        escape::string(&mut self.buffer, key);
        self.buffer.push(b':');
    }

    fn finish(mut self, id: Option<u64>) -> Bytes {
        if self.is_empty() {
            self.buffer.truncate(self.members_start - PARAMS.len());
            self.buffer.push(b'}');
        } else {
            self.buffer.extend_from_slice(b"}}");
            replace_newlines(&mut self.buffer[self.members_start..]);
        }
        let mut head = ReverseWriter {
            buffer: &mut self.buffer,
            at: HEAD_CAPACITY,
        };
        if let Some(id) = id {
            head.put_number(id);
            head.put(ID);
        }
        head.put(VERSION);
        let start = head.at;
        into_bytes(self.buffer, start)
    }
}

/// Encodes the answer to a request.
///
/// # Errors
///
/// Where `result` refuses to be serialised.
pub fn response<T: Serialize + ?Sized>(id: &RequestId, result: &T) -> Result<Bytes, EncodeError> {
    let mut buffer = begin_response(Some(id), RESULT, RESPONSE_CAPACITY);
    write::append(&mut buffer, result)?;
    Ok(finish_response(buffer))
}

/// As [`response`], with one more member in the result: its name and value as
/// JSON. It is trusted to be that, and one that the result does not have.
///
/// # Errors
///
/// As [`response`], and where the result does not become an object.
pub(crate) fn response_with_member<T: Serialize + ?Sized>(
    id: &RequestId,
    result: &T,
    member: &str,
) -> Result<Bytes, EncodeError> {
    let mut buffer = begin_response(Some(id), RESULT, RESPONSE_CAPACITY);
    let start = buffer.len();
    write::append(&mut buffer, result)?;
    let [b'{', members @ .., b'}'] = &buffer[start..] else {
        return Err(EncodeError::NotAnObject);
    };
    let comma: &[u8] = if members.is_empty() { b"" } else { b"," };
    buffer.pop();
    buffer.extend_from_slice(comma);
    buffer.extend_from_slice(member.as_bytes());
    buffer.push(b'}');
    Ok(finish_response(buffer))
}

/// Encodes the answer to a request from a result that is JSON already, and
/// trusted to be.
#[must_use]
pub fn response_raw(id: &RequestId, result: &[u8]) -> Bytes {
    let mut buffer = begin_response(Some(id), RESULT, MESSAGE_CAPACITY + result.len());
    buffer.extend_from_slice(result);
    finish_response(buffer)
}

/// Encodes a refusal; its id is null where the request's could not be read.
#[must_use]
pub fn error_response(id: Option<&RequestId>, error: &ErrorObject) -> Bytes {
    let mut buffer = begin_response(id, ERROR, MESSAGE_CAPACITY);
    write::append(&mut buffer, error)
        .expect("an error object is an integer, a string and JSON text");
    finish_response(buffer)
}

/// Why a message of ours could not be encoded.
#[derive(Debug)]
#[non_exhaustive]
pub enum EncodeError {
    /// Params and results must become a JSON object, and this became something
    /// else.
    NotAnObject,
    /// The value refused to be serialised.
    Serialize(serde_json::Error),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("the value does not serialise to a JSON object"),
            Self::Serialize(error) => write!(f, "the value cannot be serialised: {error}"),
        }
    }
}

impl std::error::Error for EncodeError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NotAnObject => None,
            Self::Serialize(error) => Some(error),
        }
    }
}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Serialize(error)
    }
}

/// Most messages fit into this much, so one allocation is enough for them.
const MESSAGE_CAPACITY: usize = 256;
/// The same for results: some of them say whose they are, which is long.
const RESPONSE_CAPACITY: usize = 512;

const VERSION: &[u8] = br#"{"jsonrpc":"2.0""#;
const ID: &[u8] = br#","id":"#;
const METHOD: &[u8] = br#","method":"#;
const PARAMS: &[u8] = br#","params":{"#;
const RESULT: &[u8] = br#","result":"#;
const ERROR: &[u8] = br#","error":"#;

const MAX_ID_LEN: usize = u64::MAX.ilog10() as usize + 1;

/// What stands before the method at most.
const HEAD_CAPACITY: usize = VERSION.len() + ID.len() + MAX_ID_LEN;

/// Writes towards the front: what stands behind is there already.
struct ReverseWriter<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl ReverseWriter<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let start = self.at - bytes.len();
        self.buffer[start..self.at].copy_from_slice(bytes);
        self.at = start;
    }

    fn put_number(&mut self, mut number: u64) {
        loop {
            self.put(&[b'0' + (number % 10) as u8]);
            number /= 10;
            if number == 0 {
                return;
            }
        }
    }
}

/// The beginning of an answer, up to the value of its last member.
fn begin_response(id: Option<&RequestId>, member: &[u8], capacity: usize) -> Vec<u8> {
    let mut buffer = Vec::with_capacity(capacity);
    buffer.extend_from_slice(VERSION);
    buffer.extend_from_slice(ID);
    write::append(&mut buffer, &id).expect("an id is an integer, a string or null");
    buffer.extend_from_slice(member);
    buffer
}

fn finish_response(mut buffer: Vec<u8>) -> Bytes {
    buffer.push(b'}');
    replace_newlines(&mut buffer);
    into_bytes(buffer, 0)
}

/// Up to this size, moving a message costs less than an allocation.
const MAX_MOVED: usize = 1024;

/// The message that begins at `start`, to be handed around.
///
/// Bytes of a full vector need no reference count until they are shared, and
/// its beginning is cut off for nothing. So a small message is moved to the end
/// of its buffer.
fn into_bytes(mut buffer: Vec<u8>, mut start: usize) -> Bytes {
    let (length, capacity) = (buffer.len(), buffer.capacity());
    if capacity <= MAX_MOVED {
        let spare = capacity - length;
        buffer.resize(capacity, b' ');
        buffer.copy_within(start..length, start + spare);
        start += spare;
    }
    let mut message = Bytes::from(buffer);
    message.advance(start);
    message
}

/// Raw JSON is written as it came, line ends and all, but a frame is one line.
/// Inside a JSON string a raw line end is illegal, so those that are there stand
/// between tokens, where a space is as good.
fn replace_newlines(frame: &mut [u8]) {
    let Some(first) = memchr2_iter(b'\n', b'\r', frame).next() else {
        return;
    };
    for byte in &mut frame[first..] {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_escaped_where_they_must_be() {
        let frame =
            |method: &'static str| OutgoingMessage::without_params(method).into_notification();
        assert_eq!(
            frame("größe\u{7f}"),
            "{\"jsonrpc\":\"2.0\",\"method\":\"größe\u{7f}\"}"
        );
        assert_eq!(
            frame("a\"b\\c\n\u{1}"),
            r#"{"jsonrpc":"2.0","method":"a\"b\\c\n\u0001"}"#
        );
    }

    #[test]
    fn large_messages_stay_where_they_are() {
        for length in [0, 1, 100, 200, 1000, 5000] {
            let members = format!(r#""a":"{}""#, "x".repeat(length));
            let encoded = OutgoingMessage::from_members("m", members.as_bytes()).into_request(7);
            let expected =
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m","params":{{{members}}}}}"#);
            assert_eq!(encoded.frame, expected);
            assert_eq!(encoded.members, members);
        }
    }

    #[test]
    fn room_is_made_for_the_longest_id() {
        let encoded = OutgoingMessage::from_members("m", b"\"a\":1").into_request(u64::MAX);
        assert_eq!(
            encoded.frame,
            r#"{"jsonrpc":"2.0","id":18446744073709551615,"method":"m","params":{"a":1}}"#
        );
    }
}
