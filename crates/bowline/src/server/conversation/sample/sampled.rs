//! Answers of a model.

use std::fmt;

use super::prompt::tool_calls;
use crate::proto::model::{
    ContentBlock, CreateMessageResult, Role, SamplingBlock, SamplingContent, SamplingMessage,
    StopReason, ToolResultContent, ToolUseContent,
};

/// The answer of a model. `Display` shows its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// The name of the model.
    pub model: String,
    /// Why the model stopped.
    pub stop_reason: Option<StopReason>,
    text: String,
    content: SamplingContent,
    question: Option<SamplingMessage>,
    acknowledged: bool,
}

impl Sampled {
    pub(super) fn new(result: CreateMessageResult) -> Self {
        let texts = result.content.blocks().iter();
        let texts: Vec<_> = texts.filter_map(SamplingBlock::as_text).collect();
        Self {
            model: result.model,
            stop_reason: result.stop_reason,
            text: texts.join("\n"),
            content: result.content,
            question: None,
            acknowledged: false,
        }
    }

    /// Adds the user message that it answers.
    pub(super) fn with_question(mut self, question: Option<SamplingMessage>) -> Self {
        self.question = question;
        self
    }

    /// Marks the tool calls in it as acknowledged; they need no results.
    pub(super) fn acknowledged(mut self) -> Self {
        self.acknowledged = true;
        self
    }

    /// Returns the text; that of several blocks is joined by newlines.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns all content blocks.
    #[must_use]
    pub fn content(&self) -> &[SamplingBlock] {
        self.content.blocks()
    }

    /// Returns the exchange, ready to be appended to a list of messages: the
    /// question and the answer. A value that was given as a tool call is
    /// followed by an "ok" result, which such a call needs. If the prompt was a
    /// list of messages, the exchange starts with the answer.
    #[must_use]
    pub fn exchange(&self) -> Vec<SamplingMessage> {
        let mut messages: Vec<_> = self.question.iter().cloned().collect();
        messages.push(self.message());
        if self.acknowledged {
            messages.extend(self.tool_result_message("ok", None));
        }
        messages
    }

    /// Returns the answer and a message that says why it is not valid.
    pub(super) fn correction_messages(&self, fault: &str) -> Vec<SamplingMessage> {
        let mut messages = Vec::new();
        if !self.content().is_empty() {
            messages.push(self.message());
        }
        let correction = self.tool_result_message(fault, Some(true));
        let as_text = || SamplingMessage::new(Role::User, SamplingBlock::text(fault));
        messages.push(correction.unwrap_or_else(as_text));
        messages
    }

    fn message(&self) -> SamplingMessage {
        SamplingMessage::new(Role::Assistant, self.content.clone())
    }

    /// Returns a message with the same result for all tool calls, if there are
    /// any.
    fn tool_result_message(&self, text: &str, is_error: Option<bool>) -> Option<SamplingMessage> {
        let results = tool_calls(self.content()).map(|call| {
            let mut result = ToolResultContent::new(&call.id);
            result.content = vec![ContentBlock::text(text)];
            result.is_error = is_error;
            SamplingBlock::from(result)
        });
        let results: Vec<_> = results.collect();
        (!results.is_empty()).then(|| SamplingMessage::new(Role::User, results))
    }
}

impl fmt::Display for Sampled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

/// A value from a model, and the answer it was read from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredSample<T> {
    /// The value, which matches the schema.
    pub value: T,
    /// The answer of the model.
    pub sampled: Sampled,
}

/// The tool calls that a model asks for; there is at least one.
///
/// Pass their results, as a list of [`ToolResultContent`], as the next prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCalls {
    pub(super) calls: Vec<ToolUseContent>,
    pub(super) sampled: Sampled,
}

impl ToolCalls {
    /// Returns the calls. Each matches the schema of its tool.
    #[must_use]
    pub fn calls(&self) -> &[ToolUseContent] {
        &self.calls
    }

    /// Returns the first call.
    #[must_use]
    pub fn first(&self) -> &ToolUseContent {
        &self.calls[0]
    }

    /// Returns the answer of the model.
    #[must_use]
    pub fn sampled(&self) -> &Sampled {
        &self.sampled
    }
}

impl IntoIterator for ToolCalls {
    type Item = ToolUseContent;
    type IntoIter = std::vec::IntoIter<ToolUseContent>;

    fn into_iter(self) -> Self::IntoIter {
        self.calls.into_iter()
    }
}
