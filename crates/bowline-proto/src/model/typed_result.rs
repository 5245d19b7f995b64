//! Results of requests that may also ask for input or create a task.

use super::{
    CreateTaskResult, DecodeError, EmptyResult, InputRequiredResult, ResultObject, ResultType,
    decode,
};
use crate::jsonrpc::RawJson;

/// The result of a request that the server may answer now or later.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypedResult<R> {
    /// The complete result.
    Complete(R),
    /// Questions that must be answered first.
    InputRequired(InputRequiredResult),
    /// A task that will have the result.
    Task(CreateTaskResult),
    /// An unknown type of result. Unless the caller negotiated an extension
    /// that defines it, the response is invalid.
    Other {
        /// The declared type.
        result_type: ResultType,
        /// The whole result.
        raw: RawJson,
    },
}

impl<R: ResultObject> TypedResult<R> {
    /// Decodes a result according to its declared type.
    ///
    /// Almost all results are complete, so it is first decoded as such, and
    /// decoded again only if it is something else.
    ///
    /// # Errors
    ///
    /// Returns an error if the JSON does not have the shape of its declared
    /// type.
    pub fn decode(json: &[u8]) -> Result<Self, DecodeError> {
        match R::decode(json) {
            Ok(result) => match result.result_type() {
                None | Some(ResultType::Complete) => Ok(Self::Complete(result)),
                Some(other) => Self::decode_as(other.clone(), json),
            },
            Err(error) => match decode::<EmptyResult>(json)
                .ok()
                .and_then(|any| any.result_type)
            {
                None | Some(ResultType::Complete) => Err(error),
                Some(other) => Self::decode_as(other, json),
            },
        }
    }

    fn decode_as(result_type: ResultType, json: &[u8]) -> Result<Self, DecodeError> {
        match result_type {
            ResultType::InputRequired => decode(json).map(Self::InputRequired),
            ResultType::Task => decode(json).map(Self::Task),
            result_type => decode(json).map(|raw| Self::Other { result_type, raw }),
        }
    }
}
