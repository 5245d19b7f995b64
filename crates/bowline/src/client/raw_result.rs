//! What a call can end with: a result of the model, or one that is left alone.

use crate::proto::{
    jsonrpc::{DecodeError, RawJson, decode},
    model::ResultObject,
};

/// What a [`Call`](super::Call) can end with. It is implemented for every
/// result of the model, and for [`Verbatim`].
pub trait DecodeResult: Sized {
    /// Decodes an answer.
    ///
    /// # Errors
    ///
    /// Where the text does not have the shape of this answer.
    fn decode(json: &[u8]) -> Result<Self, DecodeError>;
}

impl<R: ResultObject> DecodeResult for R {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        R::decode(json)
    }
}

/// A result as the server wrote it. See [`Client::raw`](super::Client::raw).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawResult(pub RawJson);

impl DecodeResult for RawResult {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        decode(json).map(Self)
    }
}
