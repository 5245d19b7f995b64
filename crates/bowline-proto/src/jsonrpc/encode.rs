//! Encoding of outgoing messages, each serialised in one pass into its frame.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use memchr::memchr2_iter;
use serde::Serialize;

use super::{
    ErrorObject, Member, RequestId,
    fast::{escape, packed, write},
    member_scanner::MemberScanner,
};

/// An outgoing request or notification whose params are already serialised,
/// with space in front for the envelope, whose id is not known yet.
///
/// ```
/// use bowline_proto::jsonrpc::OutgoingMessage;
///
/// let params = serde_json::json!({"name": "add"});
/// let mut message = OutgoingMessage::new("tools/call", &params).unwrap();
/// message.push("_meta", &serde_json::json!({"progressToken": 7})).unwrap();
/// let encoded = message.into_request(7);
/// assert_eq!(
///     encoded.frame,
///     r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":7}}}"#,
/// );
/// assert_eq!(encoded.members, r#""name":"add""#);
/// ```
#[derive(Clone, Debug)]
pub struct OutgoingMessage {
    method: Cow<'static, str>,
    /// Space for the longest id, then the message from the method on, without
    /// its closing braces.
    buffer: Vec<u8>,
    /// The start of the members, after the opening brace of the params.
    members_start: usize,
    /// The end of the members that were present from the start.
    members_end: usize,
}

/// An encoded request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    /// The frame, without a line ending.
    pub frame: Bytes,
    /// The part of the frame that is the params before any
    /// [`push`](OutgoingMessage::push), without braces.
    /// [`OutgoingMessage::from_members`] builds the same request again from it.
    pub members: Bytes,
}

impl OutgoingMessage {
    /// Serialises `params`, which must become an object. If it becomes null (as
    /// `()` and `None` do) there are no members.
    ///
    /// # Errors
    ///
    /// Returns an error if `params` cannot be serialised, or does not become an
    /// object.
    pub fn new<P: Serialize + ?Sized>(
        method: impl Into<Cow<'static, str>>,
        params: &P,
    ) -> Result<Self, EncodeError> {
        let mut message = Self::without_params(method);
        // The opening brace is part of the head and is written again here.
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

    /// Creates a message without params.
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

    /// Creates a message from params that were serialised before: the inside of
    /// a JSON object, without braces. This is not checked.
    pub fn from_members(method: impl Into<Cow<'static, str>>, members: &[u8]) -> Self {
        let mut message = Self::without_params(method);
        message.buffer.reserve(members.len() + 2);
        message.buffer.extend_from_slice(members);
        message.trim_members();
        message
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the method as an owned name. Does not allocate for known
    /// methods.
    #[must_use]
    pub fn method_name(&self) -> Cow<'static, str> {
        self.method.clone()
    }

    /// Returns the members of the params so far, without braces.
    #[must_use]
    pub fn members(&self) -> &[u8] {
        &self.buffer[self.members_start..]
    }

    /// Finds a member of the params by its key, which contains nothing that
    /// must be escaped.
    pub(crate) fn member(&self, key: &str) -> Member<'_> {
        let mut members = MemberScanner::new(&self.buffer, self.members_start - 1);
        // The params are not closed yet, so the scan ends with an error.
        while let Ok(Some(found)) = members.next_key() {
            let value = members.value::<true>(1);
            if found.equals(key) {
                // A number at the very end has no delimiter yet.
                return value.map_or(Member::Other, Member::from_value);
            }
            if value.is_err() {
                break;
            }
        }
        Member::Absent
    }

    /// Returns whether the params have a member with this key.
    pub(crate) fn has_member(&self, key: &str) -> bool {
        !matches!(self.member(key), Member::Absent)
    }

    /// Appends a member to the params. The caller must make sure that no member
    /// has this key yet: readers disagree on the meaning of duplicate keys.
    ///
    /// # Errors
    ///
    /// Returns an error if `value` cannot be serialised. The message is
    /// unchanged in that case.
    pub fn push<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), EncodeError> {
        let before = self.buffer.len();
        self.push_key(key);
        write::append(&mut self.buffer, value).map_err(|error| {
            self.buffer.truncate(before);
            error.into()
        })
    }

    /// Appends a member to the params whose value is already JSON. This is not
    /// checked.
    pub fn push_raw(&mut self, key: &str, json: &[u8]) {
        self.push_key(key);
        self.buffer.extend_from_slice(json);
    }

    /// Returns the length of the frame if it were finished now with the longest
    /// possible id.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() + b"}}".len()
    }

    /// Returns whether the params have no members yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.len() == self.members_start
    }

    /// Finishes the message as a request.
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

    /// Finishes the message as a request that is sent once, so its members are
    /// not needed afterwards.
    #[must_use]
    pub fn into_request_frame(self, id: u64) -> Bytes {
        self.finish(Some(id))
    }

    /// Finishes the message as a notification.
    #[must_use]
    pub fn into_notification(self) -> Bytes {
        self.finish(None)
    }

    /// Marks the end of the members that are present from the start.
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
        packed::into_bytes(self.buffer, start)
    }
}

/// Encodes the response to a request.
///
/// # Errors
///
/// Returns an error if `result` cannot be serialised.
pub fn response<T: Serialize + ?Sized>(id: &RequestId, result: &T) -> Result<Bytes, EncodeError> {
    let mut buffer = begin_response(Some(id), RESULT, RESPONSE_CAPACITY);
    write::append(&mut buffer, result)?;
    Ok(finish_response(buffer))
}

/// As [`response`], with one more member in the result, given as JSON including
/// its name. The result must not have a member of that name; this is not
/// checked.
///
/// # Errors
///
/// As [`response`], and if the result does not become an object.
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

/// Encodes the response to a request from a result that is already JSON. This
/// is not checked.
#[must_use]
pub fn response_raw(id: &RequestId, result: &[u8]) -> Bytes {
    let mut buffer = begin_response(Some(id), RESULT, MESSAGE_CAPACITY + result.len());
    buffer.extend_from_slice(result);
    finish_response(buffer)
}

/// Encodes an error response; its id is null if the request's could not be
/// read.
#[must_use]
pub fn error_response(id: Option<&RequestId>, error: &ErrorObject) -> Bytes {
    let mut buffer = begin_response(id, ERROR, MESSAGE_CAPACITY);
    write::append(&mut buffer, error)
        .expect("an error object is an integer, a string and JSON text");
    finish_response(buffer)
}

/// Why an outgoing message could not be encoded.
#[derive(Debug)]
#[non_exhaustive]
pub enum EncodeError {
    /// Params and results must serialise to a JSON object; this value did not.
    NotAnObject,
    /// The value could not be serialised.
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

// The serializer's message is part of ours, so it is not a source.
impl std::error::Error for EncodeError {}

impl From<serde_json::Error> for EncodeError {
    fn from(error: serde_json::Error) -> Self {
        Self::Serialize(error)
    }
}

/// Most messages fit into this, so one allocation is enough for them.
const MESSAGE_CAPACITY: usize = 256;
/// The same for results; some carry the server info, which is long.
const RESPONSE_CAPACITY: usize = 512;

const VERSION: &[u8] = br#"{"jsonrpc":"2.0""#;
const ID: &[u8] = br#","id":"#;
const METHOD: &[u8] = br#","method":"#;
const PARAMS: &[u8] = br#","params":{"#;
const RESULT: &[u8] = br#","result":"#;
const ERROR: &[u8] = br#","error":"#;

const MAX_ID_LEN: usize = u64::MAX.ilog10() as usize + 1;

/// The maximum length of what precedes the method.
const HEAD_CAPACITY: usize = VERSION.len() + ID.len() + MAX_ID_LEN;

/// Writes towards the front, before what is already written.
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

/// Writes the start of a response, up to the value of its last member.
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
    packed::into_bytes(buffer, 0)
}

/// Raw JSON is written verbatim, including line endings, but a frame is one
/// line. A raw line ending is illegal inside a JSON string, so those present
/// are between tokens, where a space is equivalent.
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
    fn members_are_found_by_their_key() {
        let message = OutgoingMessage::from_members("m", br#""a":{"b":"\"c"},"d":[1,"e"],"f":7"#);
        for key in ["a", "d", "f"] {
            assert!(message.has_member(key), "{key}");
        }
        assert!(matches!(message.member("f"), Member::Other));
        let named = OutgoingMessage::from_members("m", br#""x":1,"name":"a\u0062""#);
        assert!(matches!(named.member("name"), Member::String(name) if name == "ab"));
        for key in ["", "b", "c", "e", "g", "m", "params"] {
            assert!(!message.has_member(key), "{key}");
        }
        assert!(!OutgoingMessage::without_params("m").has_member("m"));
        let open = OutgoingMessage::from_members("m", br#""a":{"b":1,"c""#);
        assert!(open.has_member("a") && !open.has_member("c"));
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
