//! The envelope of a message: its parts, not decoded.

use std::borrow::Cow;

use super::{
    RequestId, ScanError, ScanErrorKind,
    fast::MemberVisitor,
    member_scanner::{EnvelopeKey, MemberScanner, Quoted},
    scan_error::ScanFault,
    skip,
};

/// A JSON-RPC message split into parts that are not decoded.
///
/// Parts are slices of the frame. Their ends are verified; whether they are
/// valid JSON is only known once they are [decoded](super::decode()).
///
/// ```
/// use bowline_proto::jsonrpc::{Envelope, scan};
///
/// let frame = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add"}}"#;
/// let Envelope::Request { id, method, params } = scan(frame).unwrap() else {
///     panic!("it has a method and an id");
/// };
/// assert_eq!((id, method.as_ref()), (7_u64.into(), "tools/call"));
/// assert_eq!(params, Some(br#"{"name":"add"}"#.as_slice()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Envelope<'a> {
    /// A request, which expects a response.
    Request {
        /// The id that the response must carry.
        id: RequestId,
        /// The method; borrowed unless it has escapes.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a [u8]>,
    },
    /// A notification, which has no response.
    Notification {
        /// The method; borrowed unless it has escapes.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a [u8]>,
    },
    /// The response to a request.
    Response {
        /// The request's id.
        id: RequestId,
        /// Any JSON value.
        result: &'a [u8],
        /// The member `resultType` of a result that is an object, if it is a
        /// string. It determines the type to decode the result into.
        result_type: Option<Cow<'a, str>>,
    },
    /// An error response to a request, or to a message without a readable id.
    Error {
        /// The request's id; `None` if it is null or missing.
        id: Option<RequestId>,
        /// An object, to be decoded as an [`ErrorObject`](super::ErrorObject).
        error: &'a [u8],
    },
}

/// Finds the parts of a message in one pass.
///
/// Members may be in any order, unknown ones are skipped, and known ones may
/// occur only once. Nothing is allocated except for an id that is a string, and
/// a method or result type that has escapes.
///
/// # Errors
///
/// Returns an error if the frame is not one JSON-RPC message. Split batches
/// with [`split_batch`](super::split_batch) first.
pub fn scan(frame: &[u8]) -> Result<Envelope<'_>, ScanError> {
    EnvelopeParts::read(frame, None)
        .and_then(EnvelopeParts::assemble)
        .map_err(|fault| fault.into_error(frame))
}

/// As [`scan`], with a visitor for the members of the params. Also returns
/// whether it visited all of them, which is the case if the params are an
/// object in the usual form.
///
/// # Errors
///
/// As [`scan`].
pub(crate) fn scan_visiting<'a>(
    frame: &'a [u8],
    visitor: &mut dyn MemberVisitor<'a>,
) -> Result<(Envelope<'a>, bool), ScanError> {
    let assemble = |parts: EnvelopeParts<'a>| {
        let seen = parts.params_visited;
        parts.assemble().map(|envelope| (envelope, seen))
    };
    EnvelopeParts::read(frame, Some(visitor))
        .and_then(assemble)
        .map_err(|fault| fault.into_error(frame))
}

/// The members of a message seen so far.
#[derive(Default)]
struct EnvelopeParts<'a> {
    /// The keys seen so far, one bit each.
    seen: u8,
    has_version: bool,
    id: Id,
    method: Option<Cow<'a, str>>,
    params: Option<&'a [u8]>,
    /// Whether the visitor saw all members of the params.
    params_visited: bool,
    result: Option<&'a [u8]>,
    result_type: Option<Cow<'a, str>>,
    error: Option<&'a [u8]>,
    /// The end of the message.
    end: usize,
}

#[derive(Default)]
enum Id {
    #[default]
    Absent,
    Null,
    Present(RequestId),
}

impl<'a> EnvelopeParts<'a> {
    fn read(
        frame: &'a [u8],
        mut visitor: Option<&mut dyn MemberVisitor<'a>>,
    ) -> Result<Self, ScanFault> {
        let start = skip::whitespace(frame, 0);
        match frame.get(start) {
            Some(b'{') => {}
            Some(b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                return Err(ScanFault::new(ScanErrorKind::NotAnObject, start));
            }
            Some(_) => return Err(ScanFault::new(ScanErrorKind::NotJson, start)),
            None => return Err(ScanFault::new(ScanErrorKind::UnexpectedEnd, start)),
        }
        let mut members = MemberScanner::new(frame, start);
        let mut parts = Self::default();
        parts.set_common_head(members.common_head());
        while let Some(key) = members.next_key()? {
            parts.member(key, &mut members, &mut visitor)?;
        }
        let rest = skip::whitespace(frame, members.position());
        if rest < frame.len() {
            return Err(ScanFault::new(ScanErrorKind::TrailingBytes, rest));
        }
        parts.end = members.position();
        Ok(parts)
    }

    /// Records the common head, if the message has it.
    fn set_common_head(&mut self, id: Option<u64>) {
        if let Some(id) = id {
            self.has_version = true;
            self.id = Id::Present(id.into());
            self.seen = EnvelopeKey::Jsonrpc.bit() | EnvelopeKey::Id.bit();
        }
    }

    fn member(
        &mut self,
        key: Quoted<'a>,
        members: &mut MemberScanner<'a>,
        visitor: &mut Option<&mut dyn MemberVisitor<'a>>,
    ) -> Result<(), ScanFault> {
        let at = members.position();
        let fail = |kind| Err(ScanFault::new(kind, at));
        let Some(key) = EnvelopeKey::from_quoted(key) else {
            return members.value::<true>(1).map(drop);
        };
        if self.seen & key.bit() != 0 {
            return fail(ScanErrorKind::DuplicateKey(key.name()));
        }
        self.seen |= key.bit();
        let first = members.peek();
        if key == EnvelopeKey::Result && first == b'{' {
            return self.result_object(members);
        }
        if key == EnvelopeKey::Params
            && first == b'{'
            && let Some(visitor) = visitor.take()
            && let Some(end) = members.walker(1).visit(visitor)
        {
            self.params = Some(members.take_to(end));
            self.params_visited = true;
            return Ok(());
        }
        let value = members.value::<true>(1)?;
        match key {
            EnvelopeKey::Jsonrpc => match Quoted::from_value(value) {
                Some(version) if version.equals("2.0") => self.has_version = true,
                _ => return fail(ScanErrorKind::BadVersion),
            },
            EnvelopeKey::Id => match read_id(value) {
                Some(id) => self.id = Id::Present(id),
                None if value == b"null" => self.id = Id::Null,
                None => return fail(ScanErrorKind::BadId),
            },
            EnvelopeKey::Method => {
                match Quoted::from_value(value).and_then(|method| method.decode()) {
                    Some(method) => self.method = Some(method),
                    None => return fail(ScanErrorKind::BadMethod),
                }
            }
            // Peers that write null for a missing member mean that it is
            // missing.
            EnvelopeKey::Params if value == b"null" => {}
            EnvelopeKey::Params if !matches!(first, b'{' | b'[') => {
                return fail(ScanErrorKind::BadParams);
            }
            EnvelopeKey::Params => self.params = Some(value),
            EnvelopeKey::Error if first != b'{' => return fail(ScanErrorKind::BadError),
            EnvelopeKey::Error => self.error = Some(value),
            EnvelopeKey::Result => self.result = Some(value),
        }
        Ok(())
    }

    /// Scans the result, looking for `resultType` among its keys.
    fn result_object(&mut self, outer: &mut MemberScanner<'a>) -> Result<(), ScanFault> {
        let mut members = outer.enter();
        while let Some(key) = members.next_key()? {
            let at = members.position();
            let value = members.value::<true>(2)?;
            if !key.equals("resultType") {
                continue;
            }
            self.result_type = match Quoted::from_value(value) {
                Some(string) => {
                    let string = string.decode();
                    Some(string.ok_or(ScanFault::new(ScanErrorKind::NotJson, at))?)
                }
                None => None,
            };
        }
        self.result = Some(outer.leave(&members));
        Ok(())
    }

    /// Decides which kind of message these parts are.
    fn assemble(self) -> Result<Envelope<'a>, ScanFault> {
        let fail = |kind| Err(ScanFault::new(kind, self.end - 1));
        if !self.has_version {
            return fail(ScanErrorKind::BadVersion);
        }
        match (self.method, self.result, self.error) {
            (None, None, None) => fail(ScanErrorKind::NoMethodOrResult),
            (None, Some(_), Some(_)) => fail(ScanErrorKind::ResultAndError),
            (Some(_), _, Some(_)) | (Some(_), Some(_), _) => fail(ScanErrorKind::MethodAndResult),
            (Some(method), None, None) => {
                let params = self.params;
                match self.id {
                    Id::Present(id) => Ok(Envelope::Request { id, method, params }),
                    Id::Absent => Ok(Envelope::Notification { method, params }),
                    Id::Null => fail(ScanErrorKind::BadId),
                }
            }
            (None, Some(result), None) => match self.id {
                Id::Present(id) => Ok(Envelope::Response {
                    id,
                    result,
                    result_type: self.result_type,
                }),
                Id::Absent | Id::Null => fail(ScanErrorKind::BadId),
            },
            (None, None, Some(error)) => match self.id {
                Id::Present(id) => Ok(Envelope::Error {
                    id: Some(id),
                    error,
                }),
                Id::Absent | Id::Null => Ok(Envelope::Error { id: None, error }),
            },
        }
    }
}

/// Reads an id: a string, or an integer of up to 64 bits.
pub(super) fn read_id(value: &[u8]) -> Option<RequestId> {
    match Quoted::from_value(value) {
        Some(string) => Some(RequestId::String(string.decode()?.into())),
        None => parse_integer(value).map(RequestId::Number),
    }
}

/// A fraction, an exponent, a leading zero and `-0` are all refused: an integer
/// could not reproduce them verbatim.
fn parse_integer(bytes: &[u8]) -> Option<i128> {
    let (digits, negative) = match bytes.strip_prefix(b"-") {
        Some(digits) => (digits, true),
        None => (bytes, false),
    };
    if digits.is_empty() || (digits[0] == b'0' && bytes.len() > 1) {
        return None;
    }
    let mut magnitude = 0_u64;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        let digit = u64::from(digit - b'0');
        magnitude = magnitude.checked_mul(10)?.checked_add(digit)?;
    }
    match negative {
        true if magnitude > i64::MIN.unsigned_abs() => None,
        true => Some(-i128::from(magnitude)),
        false => Some(i128::from(magnitude)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_to_64_bits() {
        for number in [0, 1, -1, 10, i128::from(i64::MIN), i128::from(u64::MAX)] {
            assert_eq!(parse_integer(number.to_string().as_bytes()), Some(number));
        }
        for text in ["", "-", "-0", "00", "01", "1.0", "1e3", "+1", "1_0"] {
            assert_eq!(parse_integer(text.as_bytes()), None, "{text}");
        }
        for number in [
            i128::from(i64::MIN) - 1,
            i128::from(u64::MAX) + 1,
            i128::MAX,
        ] {
            assert_eq!(
                parse_integer(number.to_string().as_bytes()),
                None,
                "{number}"
            );
        }
    }
}
