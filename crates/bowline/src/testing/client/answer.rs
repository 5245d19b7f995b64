//! The answers of the user and the model in a test.

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    form_check::check_answer,
    proto::{
        jsonrpc::{ErrorObject, RawJson, code},
        model::{
            CreateMessageParams, CreateMessageResult, DecodeError, ElicitAction, ElicitParams,
            ElicitResult, Role, SamplingBlock, SamplingContent, StopReason, ToolUseContent,
        },
    },
};

/// The user's answer to a question. Created by [`accept`], [`decline`],
/// [`cancel`], [`confirm`] and [`accept_url`].
#[derive(Clone, Debug, PartialEq)]
pub struct UserAnswer {
    action: ElicitAction,
    content: Option<Value>,
    unchecked: bool,
}

/// The user submits the form with this content.
///
/// # Panics
///
/// Panics if the content cannot be serialized as JSON.
#[must_use]
pub fn accept(content: impl Serialize) -> UserAnswer {
    UserAnswer::new(ElicitAction::Accept, Some(to_json(&content)))
}

/// The user declines.
#[must_use]
pub fn decline() -> UserAnswer {
    UserAnswer::new(ElicitAction::Decline, None)
}

/// The user dismisses the question without an answer.
#[must_use]
pub fn cancel() -> UserAnswer {
    UserAnswer::new(ElicitAction::Cancel, None)
}

/// The user confirms a
/// [`Conversation::confirm`](crate::server::Conversation::confirm).
#[must_use]
pub fn confirm() -> UserAnswer {
    accept(json!({"confirmed": true}))
}

/// The user agrees to open the page.
#[must_use]
pub fn accept_url() -> UserAnswer {
    UserAnswer::new(ElicitAction::Accept, None)
}

impl UserAnswer {
    fn new(action: ElicitAction, content: Option<Value>) -> Self {
        Self {
            action,
            content,
            unchecked: false,
        }
    }

    /// Sends the answer even if the form does not allow it. Without this, an
    /// invalid answer is an error in the test and never reaches the server.
    #[must_use]
    pub fn unchecked(mut self) -> Self {
        self.unchecked = true;
        self
    }

    /// Converts the answer to the result that is sent.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not a valid answer to this question.
    pub(super) fn to_result(&self, question: &ElicitParams) -> Result<ElicitResult, DecodeError> {
        if !self.unchecked {
            self.check(question)?;
        }
        let mut answer = ElicitResult::new(self.action.clone());
        answer.content = self.content.as_ref().map(to_raw_json);
        Ok(answer)
    }

    fn check(&self, question: &ElicitParams) -> Result<(), DecodeError> {
        if self.action != ElicitAction::Accept {
            return Ok(());
        }
        match (&question.requested_schema, &self.content) {
            (Some(form), Some(content)) => check_answer(form, content),
            (Some(form), None) => check_answer(form, &json!({})),
            (None, Some(_)) => {
                let reason = "a URL question has no form to submit; use `accept_url()`";
                Err(DecodeError::new("", reason))
            }
            (None, None) => Ok(()),
        }
    }
}

/// The model's answer. Strings convert into it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer(ModelAnswerKind);

#[derive(Clone, Debug, PartialEq)]
enum ModelAnswerKind {
    Message(Box<CreateMessageResult>),
    /// In the form that the question asks for.
    Structured(Value),
    Refused(ErrorObject),
}

impl ModelAnswer {
    /// Creates a structured answer, in the form that is asked for: as the
    /// arguments of the only tool that the model is given, or else as JSON
    /// text.
    ///
    /// # Panics
    ///
    /// Panics if the value cannot be serialized as JSON.
    #[must_use]
    pub fn structured(value: impl Serialize) -> Self {
        Self(ModelAnswerKind::Structured(to_json(&value)))
    }

    /// The model calls these tools: names and arguments.
    #[must_use]
    pub fn tool_calls<N: Into<String>>(calls: impl IntoIterator<Item = (N, Value)>) -> Self {
        let block = |(at, (name, input)): (usize, (N, Value))| {
            let id = format!("call_{}", at + 1);
            SamplingBlock::from(ToolUseContent::new(id, name, to_raw_json(&input)))
        };
        let blocks: Vec<_> = calls.into_iter().enumerate().map(block).collect();
        message_result(blocks, StopReason::ToolUse).into()
    }

    /// No answer: the user or the client does not allow it.
    #[must_use]
    pub fn refused(reason: impl Into<String>) -> Self {
        Self(ModelAnswerKind::Refused(ErrorObject::new(
            code::USER_REJECTED,
            reason.into(),
        )))
    }

    pub(super) fn to_result(
        &self,
        question: &CreateMessageParams,
    ) -> Result<CreateMessageResult, ErrorObject> {
        match &self.0 {
            ModelAnswerKind::Message(result) => Ok((**result).clone()),
            ModelAnswerKind::Refused(error) => Err(error.clone()),
            ModelAnswerKind::Structured(value) => Ok(match question.tools.as_deref() {
                Some([tool]) => {
                    let call = ToolUseContent::new("call_1", &*tool.name, to_raw_json(value));
                    message_result(SamplingBlock::from(call), StopReason::ToolUse)
                }
                _ => message_result(SamplingBlock::text(value.to_string()), StopReason::EndTurn),
            }),
        }
    }
}

impl From<&str> for ModelAnswer {
    fn from(text: &str) -> Self {
        message_result(SamplingBlock::text(text), StopReason::EndTurn).into()
    }
}

impl From<String> for ModelAnswer {
    fn from(text: String) -> Self {
        Self::from(text.as_str())
    }
}

impl From<CreateMessageResult> for ModelAnswer {
    fn from(result: CreateMessageResult) -> Self {
        Self(ModelAnswerKind::Message(Box::new(result)))
    }
}

fn message_result(content: impl Into<SamplingContent>, reason: StopReason) -> CreateMessageResult {
    let mut result = CreateMessageResult::new(Role::Assistant, content, "test-model");
    result.stop_reason = Some(reason);
    result
}

fn to_json<T: Serialize>(value: &T) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => panic!("the answer cannot be serialized as JSON: {error}"),
    }
}

fn to_raw_json(value: &Value) -> RawJson {
    RawJson::encode(value).expect("a JSON value is JSON")
}
