//! Why a frame is not a message.

use std::fmt;

use super::{
    RequestId,
    partial_envelope::{response_to, scan_partial},
};

/// A frame that is not a JSON-RPC message, and what can still be said of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanError {
    /// What was wrong.
    pub kind: ScanErrorKind,
    /// The byte of the frame at which it was found.
    pub offset: usize,
    /// The message's id, where it can be read in spite of the fault.
    ///
    /// A broken answer fails its own call by it, not the whole connection.
    pub id: Option<RequestId>,
    /// Whether the frame was meant as an answer; see
    /// [`Salvage::is_response`](super::Salvage::is_response).
    pub is_response: bool,
}

impl ScanError {
    /// The request of ours that the frame was to answer, if it was an answer.
    pub(crate) fn response_to(&self) -> Option<u64> {
        response_to(self.id.as_ref(), self.is_response)
    }
}

/// What was wrong with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanErrorKind {
    /// The frame stops in the middle of a value.
    UnexpectedEnd,
    /// A byte stands where JSON does not allow it.
    NotJson,
    /// The message is JSON, but not an object.
    NotAnObject,
    /// A member that may stand once stands twice.
    DuplicateKey(&'static str),
    /// `jsonrpc` is missing, or is not the string `"2.0"`.
    BadVersion,
    /// The id is not an integer of 64 bits or a string, or is missing or null
    /// where the message needs one.
    BadId,
    /// `method` is not a string.
    BadMethod,
    /// `params` is neither an object nor an array.
    BadParams,
    /// `error` is not an object.
    BadError,
    /// Both `result` and `error` are there.
    ResultAndError,
    /// A `method` and an answer in the same message.
    MethodAndResult,
    /// Neither `method`, `result` nor `error` is there.
    NoMethodOrResult,
    /// A bracket is closed by one of the other kind.
    MismatchedBracket,
    /// More than 128 objects and arrays are open at once.
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
            Self::DuplicateKey(key) => return write!(f, "`{key}` is there twice"),
            Self::BadVersion => "`jsonrpc` is not \"2.0\"",
            Self::BadId => "`id` is missing or is not a 64-bit integer or string",
            Self::BadMethod => "`method` is not a string",
            Self::BadParams => "`params` is neither an object nor an array",
            Self::BadError => "`error` is not an object",
            Self::ResultAndError => "both `result` and `error` are there",
            Self::MethodAndResult => "`method` stands beside `result` or `error`",
            Self::NoMethodOrResult => "there is no `method`, `result` or `error`",
            Self::MismatchedBracket => "a bracket is closed by one of the other kind",
            Self::TooDeep => "more than 128 levels of nesting",
            Self::TrailingBytes => "something follows the message",
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

/// A [`ScanError`] before anyone asked what can be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScanFault {
    pub(super) kind: ScanErrorKind,
    pub(super) offset: usize,
}

impl ScanFault {
    pub(super) fn new(kind: ScanErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }

    /// Reads the frame again, leniently, for its id.
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
