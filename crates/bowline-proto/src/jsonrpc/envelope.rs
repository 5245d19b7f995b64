//! One message taken apart, its contents unread.

use std::borrow::Cow;

use super::{
    RequestId, ScanError, ScanErrorKind,
    members::{Key, Members, Quoted},
    scan_error::Fault,
    skip,
    walk::Sight,
};

/// A JSON-RPC message whose parts are found but not decoded.
///
/// Parts are slices of the frame. They are known to end where they should; that
/// they are valid JSON is known when they are [decoded](super::decode()).
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
    /// A call that wants an answer.
    Request {
        /// What the answer must carry.
        id: RequestId,
        /// What is called; borrowed unless it has escapes.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a [u8]>,
    },
    /// A message that wants no answer.
    Notification {
        /// What is told; borrowed unless it has escapes.
        method: Cow<'a, str>,
        /// An object or an array.
        params: Option<&'a [u8]>,
    },
    /// The answer to a call.
    Response {
        /// The call's id.
        id: RequestId,
        /// Any JSON value.
        result: &'a [u8],
        /// The member `resultType` of a result that is an object, if it is a
        /// string. It says which type to decode the result into.
        result_type: Option<Cow<'a, str>>,
    },
    /// The refusal of a call, or of a message that had no readable id.
    Error {
        /// The call's id; none where it is null or missing.
        id: Option<RequestId>,
        /// An object, to be decoded as an [`ErrorObject`](super::ErrorObject).
        error: &'a [u8],
    },
}

/// Finds the parts of a message in one pass.
///
/// Members may stand in any order, unknown ones are skipped, and known ones may
/// stand only once. Nothing is allocated but an id that is a string, and a
/// method or result type that has escapes.
///
/// # Errors
///
/// Where the frame is not one JSON-RPC message. Batches are taken apart by
/// [`split`](super::split) first.
pub fn scan(frame: &[u8]) -> Result<Envelope<'_>, ScanError> {
    Parts::read(frame, None)
        .and_then(Parts::assemble)
        .map_err(|fault| fault.explain(frame))
}

/// As [`scan`], and lets somebody look at the members of the params on the way.
/// Says whether all of them were seen, which is so where they are an object that
/// is written as usual.
///
/// # Errors
///
/// As [`scan`].
pub(crate) fn scan_with<'a>(
    frame: &'a [u8],
    sight: &mut dyn Sight<'a>,
) -> Result<(Envelope<'a>, bool), ScanError> {
    let assemble = |parts: Parts<'a>| {
        let seen = parts.params_seen;
        parts.assemble().map(|envelope| (envelope, seen))
    };
    Parts::read(frame, Some(sight))
        .and_then(assemble)
        .map_err(|fault| fault.explain(frame))
}

/// The type of a result that is the end of a call.
const COMPLETE: &str = "complete";

/// The members of a message as far as they have been seen.
#[derive(Default)]
struct Parts<'a> {
    /// The keys seen so far, a bit each.
    seen: u8,
    version: bool,
    id: Id,
    method: Option<Cow<'a, str>>,
    params: Option<&'a [u8]>,
    /// Whether somebody saw all members of the params.
    params_seen: bool,
    result: Option<&'a [u8]>,
    result_type: Option<Cow<'a, str>>,
    error: Option<&'a [u8]>,
    /// Where the message ends.
    end: usize,
}

#[derive(Default)]
enum Id {
    #[default]
    Absent,
    Null,
    Given(RequestId),
}

impl<'a> Parts<'a> {
    fn read(frame: &'a [u8], mut sight: Option<&mut dyn Sight<'a>>) -> Result<Self, Fault> {
        let start = skip::whitespace(frame, 0);
        match frame.get(start) {
            Some(b'{') => {}
            Some(b'[' | b'"' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n') => {
                return Err(Fault::new(ScanErrorKind::NotAnObject, start));
            }
            Some(_) => return Err(Fault::new(ScanErrorKind::NotJson, start)),
            None => return Err(Fault::new(ScanErrorKind::UnexpectedEnd, start)),
        }
        let mut members = Members::open(frame, start);
        let mut parts = Self::default();
        parts.head(members.usual_head());
        while let Some(key) = members.next_key()? {
            parts.member(key, &mut members, &mut sight)?;
        }
        let rest = skip::whitespace(frame, members.at());
        if rest < frame.len() {
            return Err(Fault::new(ScanErrorKind::Trailing, rest));
        }
        parts.end = members.at();
        Ok(parts)
    }

    /// Takes note of the head that was seen, if it was the usual one.
    fn head(&mut self, id: Option<u64>) {
        if let Some(id) = id {
            self.version = true;
            self.id = Id::Given(id.into());
            self.seen = Key::Jsonrpc.bit() | Key::Id.bit();
        }
    }

    fn member(
        &mut self,
        key: Quoted<'a>,
        members: &mut Members<'a>,
        sight: &mut Option<&mut dyn Sight<'a>>,
    ) -> Result<(), Fault> {
        let at = members.at();
        let refuse = |kind| Err(Fault::new(kind, at));
        let Some(key) = Key::read(key) else {
            return members.value::<true>(1).map(drop);
        };
        if self.seen & key.bit() != 0 {
            return refuse(ScanErrorKind::DuplicateKey(key.name()));
        }
        self.seen |= key.bit();
        let first = members.peek();
        if key == Key::Result && first == b'{' {
            return self.result_object(members);
        }
        if key == Key::Params
            && first == b'{'
            && let Some(sight) = sight.take()
            && let Some(end) = members.walk(1).show(sight)
        {
            self.params = Some(members.value_to(end));
            self.params_seen = true;
            return Ok(());
        }
        let value = members.value::<true>(1)?;
        match key {
            Key::Jsonrpc => match Quoted::from_value(value) {
                Some(version) if version.is("2.0") => self.version = true,
                _ => return refuse(ScanErrorKind::BadVersion),
            },
            Key::Id => match read_id(value) {
                Some(id) => self.id = Id::Given(id),
                None if value == b"null" => self.id = Id::Null,
                None => return refuse(ScanErrorKind::BadId),
            },
            Key::Method => match Quoted::from_value(value).and_then(|method| method.decode()) {
                Some(method) => self.method = Some(method),
                None => return refuse(ScanErrorKind::BadMethod),
            },
            // Peers that write out what they do not have mean that it is not
            // there.
            Key::Params if value == b"null" => {}
            Key::Params if !matches!(first, b'{' | b'[') => {
                return refuse(ScanErrorKind::BadParams);
            }
            Key::Params => self.params = Some(value),
            Key::Error if first != b'{' => return refuse(ScanErrorKind::BadError),
            Key::Error => self.error = Some(value),
            Key::Result => self.result = Some(value),
        }
        Ok(())
    }

    /// The pass over the result looks at its keys on the way.
    fn result_object(&mut self, outer: &mut Members<'a>) -> Result<(), Fault> {
        let mut members = outer.enter();
        while let Some(key) = members.next_key()? {
            let at = members.at();
            let value = members.value::<true>(2)?;
            if !key.is("resultType") {
                continue;
            }
            self.result_type = match Quoted::from_value(value) {
                // Nearly all are, and this one need not be looked at closely.
                Some(text) if text.is(COMPLETE) => Some(Cow::Borrowed(COMPLETE)),
                Some(text) => {
                    let text = text.decode();
                    Some(text.ok_or(Fault::new(ScanErrorKind::NotJson, at))?)
                }
                None => None,
            };
        }
        self.result = Some(outer.resume(&members));
        Ok(())
    }

    /// Decides which kind of message these parts are.
    fn assemble(self) -> Result<Envelope<'a>, Fault> {
        let refuse = |kind| Err(Fault::new(kind, self.end - 1));
        if !self.version {
            return refuse(ScanErrorKind::BadVersion);
        }
        match (self.method, self.result, self.error) {
            (None, None, None) => refuse(ScanErrorKind::NeitherMethodNorAnswer),
            (None, Some(_), Some(_)) => refuse(ScanErrorKind::ResultAndError),
            (Some(_), _, Some(_)) | (Some(_), Some(_), _) => refuse(ScanErrorKind::MethodAndAnswer),
            (Some(method), None, None) => {
                let params = self.params;
                match self.id {
                    Id::Given(id) => Ok(Envelope::Request { id, method, params }),
                    Id::Absent => Ok(Envelope::Notification { method, params }),
                    Id::Null => refuse(ScanErrorKind::BadId),
                }
            }
            (None, Some(result), None) => match self.id {
                Id::Given(id) => Ok(Envelope::Response {
                    id,
                    result,
                    result_type: self.result_type,
                }),
                Id::Absent | Id::Null => refuse(ScanErrorKind::BadId),
            },
            (None, None, Some(error)) => match self.id {
                Id::Given(id) => Ok(Envelope::Error {
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
        Some(text) => Some(RequestId::String(text.decode()?.into())),
        None => integer(value).map(RequestId::Number),
    }
}

/// A fraction, an exponent, a leading zero and `-0` are all refused: no integer
/// would echo them as they came.
fn integer(text: &[u8]) -> Option<i128> {
    let (digits, negative) = match text.strip_prefix(b"-") {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    if digits.is_empty() || (digits[0] == b'0' && text.len() > 1) {
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
            assert_eq!(integer(number.to_string().as_bytes()), Some(number));
        }
        for text in ["", "-", "-0", "00", "01", "1.0", "1e3", "+1", "1_0"] {
            assert_eq!(integer(text.as_bytes()), None, "{text}");
        }
        for number in [
            i128::from(i64::MIN) - 1,
            i128::from(u64::MAX) + 1,
            i128::MAX,
        ] {
            assert_eq!(integer(number.to_string().as_bytes()), None, "{number}");
        }
    }
}
