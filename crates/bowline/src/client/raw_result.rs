//! The result types of calls: typed, or raw JSON.

use crate::proto::{
    jsonrpc::{DecodeError, RawJson, decode},
    model::ResultObject,
};

/// The result type of a [`Call`](super::Call). Implemented for every result type of the
/// model, and for [`RawResult`].
pub trait DecodeResult: Sized {
    /// Decodes a response.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON does not match this type.
    fn decode(json: &[u8]) -> Result<Self, DecodeError>;
}

impl<R: ResultObject> DecodeResult for R {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        R::decode(json)
    }
}

/// A result as the server wrote it. See
/// [`Client::request_raw`](super::Client::request_raw).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawResult(pub RawJson);

impl DecodeResult for RawResult {
    fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        decode(json).map(Self)
    }
}
