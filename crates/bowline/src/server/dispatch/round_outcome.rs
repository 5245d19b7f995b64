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

    pub(super) fn into_recorded(self, context: &RequestContext) -> RecordedRound {
        match self {
            Self::Complete(result) => RecordedRound::Ended(StoredReply::encode(context, result)),
            Self::Suspended(question) => RecordedRound::Suspended(question),
            Self::ProtocolError(error) => RecordedRound::Ended(StoredReply::Error(error)),
            Self::Retryable(error) => RecordedRound::Retryable(error),
        }
    }
}

/// A round whose end, if it ended the conversation, is recorded.
pub(crate) enum RecordedRound {
    /// The conversation has ended.
    Ended(StoredReply),
    /// It waits for answers.
    Suspended(InputRequiredResult),
    /// The round did not end. It may be repeated.
    Retryable(ErrorObject),
}

impl RecordedRound {
    pub(crate) fn into_reply(self, context: &RequestContext) -> Reply {
        match self {
            Self::Ended(stored) => stored.into_reply(),
            Self::Suspended(question) => StoredReply::encode(context, question).into_reply(),
            Self::Retryable(error) => Reply::Error(error),
        }
    }
}

/// A reply that is stored, to be returned again.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum StoredReply {
    #[serde(rename = "r")]
    Result(RawJson),
    #[serde(rename = "e")]
    Error(ErrorObject),
}

impl StoredReply {
    fn encode(context: &RequestContext, result: impl ResultObject) -> Self {
        match encode_result(context, result) {
            Ok(result) => Self::Result(result),
            Err(error) => Self::Error(errors::internal_error(&error.to_string())),
        }
    }

    pub(super) fn into_reply(self) -> Reply {
        match self {
            Self::Result(result) => Reply::Result(result),
            Self::Error(error) => Reply::Error(error),
        }
    }

    pub(super) fn decode(encoded_reply: &Bytes) -> Self {
        serde_json::from_slice(encoded_reply)
            .unwrap_or_else(|error| Self::Error(errors::internal_error(&error.to_string())))
    }
}
