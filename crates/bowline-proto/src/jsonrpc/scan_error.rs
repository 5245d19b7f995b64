//! Errors for frames that are not messages.

use std::fmt;

use super::{
    RequestId,
    partial_envelope::{response_to, scan_partial},
};

/// The error for a frame that is not a JSON-RPC message, with what could be
/// recovered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// What is wrong.
    pub kind: ScanErrorKind,
    /// The byte offset in the frame at which the fault was found.
    pub offset: usize,
    /// The message's id, if it can be read despite the fault.
    ///
    /// With it, a broken response fails its own call, not the whole connection.
    pub id: Option<RequestId>,
    /// Whether the frame was meant as a response; see
    /// [`PartialEnvelope::is_response`](super::PartialEnvelope::is_response).
    pub is_response: bool,
}

impl ScanError {
    /// Returns the call that the frame answers, if it is a response.
    pub(crate) fn response_to(&self) -> Option<u64> {
        response_to(self.id.as_ref(), self.is_response)
    }
}

/// What is wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// The frame ends in the middle of a value.
    UnexpectedEnd,
    /// A byte that JSON does not allow at its position.
    NotJson,
    /// The message is JSON, but not an object.
    NotAnObject,
    /// A member that may occur once occurs twice.
    DuplicateKey(&'static str),
    /// `jsonrpc` is missing, or is not the string `"2.0"`.
    BadVersion,
    /// The id is not an integer of up to 64 bits or a string, or is missing or
    /// null where the message needs one.
    BadId,
    /// `method` is not a string.
    BadMethod,
    /// `params` is neither an object nor an array.
    BadParams,
    /// `error` is not an object.
    BadError,
    /// Both `result` and `error` are present.
    ResultAndError,
    /// Both `method` and `result` or `error` are present.
    MethodAndResult,
    /// None of `method`, `result` and `error` is present.
    NoMethodOrResult,
    /// A bracket is closed by one of the other kind.
    MismatchedBracket,
    /// More than 128 levels of nested objects and arrays.
    TooDeep,
    /// Something other than whitespace follows the message.
    TrailingBytes,
    /// A batch without messages.
    EmptyBatch,
}

impl fmt::Display for ScanErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnexpectedEnd => "the frame ends in the middle of a value",
            Self::NotJson => "not JSON",
            Self::NotAnObject => "the message is not an object",
            Self::DuplicateKey(key) => return write!(f, "duplicate member `{key}`"),
            Self::BadVersion => "`jsonrpc` is not \"2.0\"",
            Self::BadId => "`id` is missing or is not a 64-bit integer or string",
            Self::BadMethod => "`method` is not a string",
            Self::BadParams => "`params` is neither an object nor an array",
            Self::BadError => "`error` is not an object",
            Self::ResultAndError => "both `result` and `error` are present",
            Self::MethodAndResult => "`method` is combined with `result` or `error`",
            Self::NoMethodOrResult => "`method`, `result` and `error` are all missing",
            Self::MismatchedBracket => "a bracket is closed by one of the other kind",
            Self::TooDeep => "more than 128 levels of nesting",
            Self::TrailingBytes => "unexpected trailing bytes after the message",
            Self::EmptyBatch => "the batch is empty",
        })
    }
}

impl fmt::Display for ScanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.kind, self.offset)?;
        match &self.id {
            Some(id) => write!(f, " (message id {id})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ScanError {}

/// A [`ScanError`] before the id is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanFault {
    pub(super) kind: ScanErrorKind,
    pub(super) offset: usize,
}

impl ScanFault {
    pub(super) fn new(kind: ScanErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Scans the frame again, leniently, for its id.
    #[cold]
    pub(super) fn into_error(self, frame: &[u8]) -> ScanError {
        let partial = scan_partial(frame);
        ScanError {
            kind: self.kind,
            offset: self.offset,
            id: partial.id,
            is_response: partial.is_response,
        }
    }
}
