//! Calls that are suspended until their questions are answered.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeMap};

use super::{
    Client, Error, TaskHandle, TaskOrResult, call,
    task::{ToolResponse, task_or_result},
};
use crate::proto::{
    client::{Outcome, Request},
    jsonrpc::{EncodeError, OutgoingMessage, RawJson, decode},
    model::{CallToolResult, Extra, InputRequests, InputRequiredResult, InputResponses, method},
};

/// The outcome of one round of a tool call that may have questions.
#[derive(Debug)]
#[non_exhaustive]
pub enum ToolCallOutcome {
    /// The call is complete.
    Done(Box<CallToolResult>),
    /// The server needs answers to questions first.
    InputRequired(SuspendedCall),
    /// The call became a task, which may have questions too.
    Task(TaskHandle),
}

/// A call that is suspended until its questions are answered.
///
/// It can be serialized to JSON, stored, and resumed from another process, until it
/// expires on the server. It contains the arguments of the call and the server's state of
/// it, so treat it as a secret.
#[derive(Clone, Debug, PartialEq)]
pub struct SuspendedCall {
    params: Extra,
    state: Option<String>,
    questions: InputRequests,
}

impl SuspendedCall {
    /// Returns the server's questions by key. Answer all of them.
    #[must_use]
    pub fn questions(&self) -> &InputRequests {
        &self.questions
    }

    pub(crate) fn into_request(self, answers: &InputResponses) -> Result<Request, EncodeError> {
        let mut message = OutgoingMessage::new(method::TOOLS_CALL, &self.params)?;
        if !answers.is_empty() {
            message.push("inputResponses", answers)?;
        }
        if let Some(state) = &self.state {
            message.push("requestState", state)?;
        }
        Ok(Request::from(message))
    }
}

/// Classifies the outcome of a call whose questions are returned to the caller.
pub(crate) fn decode_outcome(
    client: &Client,
    members: &[u8],
    request_timeout: Option<Duration>,
    outcome: Outcome,
) -> Result<ToolCallOutcome, Error> {
    let is_input_required = |input: &InputRequiredResult| {
        let kind = input.result_type.as_ref();
        kind.is_some_and(|kind| kind.as_str() == "input_required")
    };
    let input_required = match &outcome {
        Outcome::Result(result) => decode::<InputRequiredResult>(result).ok(),
        Outcome::Error(_) | Outcome::Failed(_) => None,
    };
    let Some(input_required) = input_required.filter(is_input_required) else {
        let response: ToolResponse =
            call::decode_outcome(client.shared(), method::TOOLS_CALL, outcome)?;
        return Ok(match task_or_result(client, response, request_timeout) {
            TaskOrResult::Task(task) => ToolCallOutcome::Task(task),
            TaskOrResult::Result(result) => ToolCallOutcome::Done(result),
        });
    };
    let object = [b"{", members, b"}"].concat();
    let mut params: Extra =
        decode(&object).map_err(|error| Error::decode(method::TOOLS_CALL, error))?;
    // Answers belong to one round only.
    params.remove("inputResponses");
    params.remove("requestState");
    Ok(ToolCallOutcome::InputRequired(SuspendedCall {
        params,
        state: input_required.request_state,
        questions: input_required.input_requests.unwrap_or_default(),
    }))
}

impl Serialize for SuspendedCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("params", &self.params)?;
        if let Some(state) = &self.state {
            map.serialize_entry("state", state)?;
        }
        map.serialize_entry("questions", &self.questions)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for SuspendedCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Extra::deserialize(deserializer)?;
        let required = |key: &'static str| {
            members
                .get(key)
                .ok_or_else(|| de::Error::missing_field(key))
        };
        let state = members.get("state").map(RawJson::decode).transpose();
        Ok(Self {
            params: required("params")?.decode().map_err(de::Error::custom)?,
            state: state.map_err(de::Error::custom)?,
            questions: required("questions")?.decode().map_err(de::Error::custom)?,
        })
    }
}
