//! How one round of a conversation ends, and the reply that it becomes.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::request::Request;
use crate::proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::{InputRequiredResult, ResultObject},
    server::{Reply, RequestContext, encode_result, errors},
};

/// The end of one round.
pub(super) struct RoundEnd<R> {
    pub(super) outcome: RoundOutcome<R>,
    /// The value of the first phase, to be released because no later phase is
    /// reached.
    pub(super) cleanup_input: Option<RawJson>,
}

/// The outcome of one round.
pub(super) enum RoundOutcome<R> {
    Complete(R),
    Suspended(InputRequiredResult),
    /// The handler returned an error that becomes an error response.
    ProtocolError(ErrorObject),
    /// The round did not end. The client may repeat it.
    Retryable(ErrorObject),
}

impl<R> From<RoundOutcome<R>> for RoundEnd<R> {
    fn from(round: RoundOutcome<R>) -> Self {
        Self {
            outcome: round,
            cleanup_input: None,
        }
    }
}

impl<R: ResultObject> RoundOutcome<R> {
    pub(super) fn into_reply(self, request: &Request) -> Reply {
        match self {
            Self::Complete(result) => request.encode_reply(result),
            Self::Suspended(question) => request.encode_reply(question),
            Self::ProtocolError(error) | Self::Retryable(error) => Reply::Error(error),
        }
    }

    pub(super) fn into_stored(self, context: &RequestContext) -> StoredReply {
        let encoded = match self {
            Self::Complete(result) => encode_result(context, result),
            Self::Suspended(question) => encode_result(context, question),
            Self::ProtocolError(error) | Self::Retryable(error) => {
                return StoredReply::Error(error);
            }
        };
        match encoded {
            Ok(result) => StoredReply::Result(result),
            Err(error) => StoredReply::Error(errors::internal_error(&error.to_string())),
        }
    }
}

/// A reply that is stored, to be returned again.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum StoredReply {
    #[serde(rename = "r")]
    Result(RawJson),
    #[serde(rename = "e")]
    Error(ErrorObject),
}

impl StoredReply {
    pub(super) fn into_reply(self) -> Reply {
        match self {
            Self::Result(result) => Reply::Result(result),
            Self::Error(error) => Reply::Error(error),
        }
    }

    pub(super) fn decode_reply(encoded_reply: &Bytes) -> Reply {
        match serde_json::from_slice::<Self>(encoded_reply) {
            Ok(stored) => stored.into_reply(),
            Err(error) => Reply::Error(errors::internal_error(&error.to_string())),
        }
    }
}
