//! What may come back when a request is not simply answered.

use super::{
    CreateTaskResult, DecodeError, EmptyResult, InputRequiredResult, ResultObject, ResultType,
    decode,
};
use crate::jsonrpc::RawJson;

/// The result of a request that the server may answer, or put off.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TypedResult<R> {
    /// The answer.
    Complete(R),
    /// A question that comes before the answer.
    InputRequired(InputRequiredResult),
    /// A promise of the answer.
    Task(CreateTaskResult),
    /// A kind of result that this crate does not know. Unless the caller
    /// negotiated an extension that has it, the response is invalid.
    Other {
        /// What it says it is.
        result_type: ResultType,
        /// All of it.
        raw: RawJson,
    },
}

impl<R: ResultObject> TypedResult<R> {
    /// Decodes a result by what it says it is.
    ///
    /// Answers are by far the most, so the text is first read as one; only
    /// where it turns out to be something else is it read again.
    ///
    /// # Errors
    ///
    /// Where the text does not have the shape of what it says it is.
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
