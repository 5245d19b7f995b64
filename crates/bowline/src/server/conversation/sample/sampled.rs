//! What a model answers.

use std::fmt;

use super::prompt::tool_calls;
use crate::proto::model::{
    ContentBlock, CreateMessageResult, Role, SamplingBlock, SamplingContent, SamplingMessage,
    StopReason, ToolResultContent, ToolUseContent,
};

/// What a model wrote. It is displayed as its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// Which model it was.
    pub model: String,
    /// Why it stopped.
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

    /// With the turn that it answers.
    pub(super) fn with_question(mut self, question: Option<SamplingMessage>) -> Self {
        self.question = question;
        self
    }

    /// The calls in it are taken note of, and need no results.
    pub(super) fn acknowledged(mut self) -> Self {
        self.acknowledged = true;
        self
    }

    /// The text; that of several blocks, line by line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All of it.
    #[must_use]
    pub fn content(&self) -> &[SamplingBlock] {
        self.content.blocks()
    }

    /// What was said, ready to be appended to a list of messages: the question
    /// and the answer. Behind a value that came as a call of a tool, an "ok"
    /// follows, which such a call needs. Where the question was a list of
    /// messages, this begins with the answer.
    #[must_use]
    pub fn exchange(&self) -> Vec<SamplingMessage> {
        let mut messages: Vec<_> = self.question.iter().cloned().collect();
        messages.push(self.message());
        if self.acknowledged {
            messages.extend(self.tool_result_message("ok", None));
        }
        messages
    }

    /// The answer, and why it is not good enough.
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

    /// The same result for all calls, if there are any.
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

/// A value that a model wrote, and how it wrote it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StructuredSample<T> {
    /// The value; it fits the schema.
    pub value: T,
    /// What the model wrote.
    pub sampled: Sampled,
}

/// The calls of tools that a model asks for; there is at least one.
///
/// Their results, as a list of [`ToolResultContent`], may be the next prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCalls {
    pub(super) calls: Vec<ToolUseContent>,
    pub(super) sampled: Sampled,
}

impl ToolCalls {
    /// The calls, of which each fits the schema of its tool.
    #[must_use]
    pub fn calls(&self) -> &[ToolUseContent] {
        &self.calls
    }

    /// The first call.
    #[must_use]
    pub fn first(&self) -> &ToolUseContent {
        &self.calls[0]
    }

    /// What the model wrote.
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
