//! Sampling: a server asks the client's model.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use std::fmt;

use super::{
    Adapt, AudioContent, ContentBlock, Dialect, ImageContent, Meta, Number, Role, TaskMetadata,
    TextContent, Tool,
    message::{request, result},
    method,
    object::object,
    open_enum::open_enum,
    tagged::tagged_union,
    tool::drop_unsupported,
};
use crate::jsonrpc::RawJson;

object! {
    /// Asks the client's model to go on with a conversation.
    pub struct CreateMessageParams adjusted by CreateMessageParams::adjust {
        /// The conversation so far.
        messages: Vec<SamplingMessage> = required "messages",
        /// Which model is wanted; the client has the last word.
        model_preferences: Option<ModelPreferences> = optional "modelPreferences",
        /// What to tell the model first.
        system_prompt: Option<String> = optional "systemPrompt",
        /// What else the model should see.
        include_context: Option<IncludeContext> = optional "includeContext",
        /// How daring the model should be.
        temperature: Option<Number> = optional "temperature",
        /// How many tokens it may write.
        max_tokens: i64 = required "maxTokens",
        /// Texts at which it should stop.
        stop_sequences: Vec<String> = sparse "stopSequences",
        /// What goes to the provider of the model.
        metadata: Option<RawJson> = optional "metadata",
        /// Tools that the model may ask for.
        tools: Option<Vec<Tool>> = optional "tools" if sampling_tools,
        /// Whether it may, must or must not.
        tool_choice: Option<ToolChoice> = optional "toolChoice" if sampling_tools,
        /// Asks for a core task instead of an answer.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CreateMessageParams = method::SAMPLING_CREATE_MESSAGE => CreateMessageResult);

impl CreateMessageParams {
    /// The client capability that this needs, as a path for
    /// [`ClientCapabilities::has`](super::ClientCapabilities::has).
    #[must_use]
    pub fn required_capability(&self) -> &'static str {
        if self.tools.is_some() || self.tool_choice.is_some() {
            "sampling.tools"
        } else {
            "sampling"
        }
    }

    /// Where a message holds one block, several blocks become several messages.
    fn adjust(&mut self, dialect: &Dialect) {
        if !dialect.sampling_tools {
            self.messages = std::mem::take(&mut self.messages)
                .into_iter()
                .flat_map(SamplingMessage::split)
                .collect();
        }
    }
}

object! {
    /// What the model wrote.
    pub struct CreateMessageResult adjusted by CreateMessageResult::adjust {
        /// Whose turn it was.
        role: Role = required "role",
        /// What was said.
        content: SamplingContent = required "content",
        /// Which model it was.
        model: String = required "model",
        /// Why it stopped.
        stop_reason: Option<StopReason> = optional "stopReason",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateMessageResult, untyped);

impl CreateMessageResult {
    fn adjust(&mut self, dialect: &Dialect) {
        if !dialect.sampling_tools {
            self.content.merge();
        }
    }
}

object! {
    /// One turn of a conversation with a model.
    pub struct SamplingMessage adjusted by SamplingMessage::adjust {
        /// Whose turn.
        role: Role = required "role",
        /// What is said.
        content: SamplingContent = required "content",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if sampling_tools,
    }
}

impl SamplingMessage {
    fn adjust(&mut self, dialect: &Dialect) {
        if !dialect.sampling_tools {
            self.content.merge();
        }
    }

    fn split(self) -> Vec<Self> {
        match self.content {
            SamplingContent::Multiple(blocks) if !blocks.is_empty() => blocks
                .into_iter()
                .map(|block| Self::new(self.role.clone(), block))
                .collect(),
            SamplingContent::Multiple(_) => vec![Self::new(self.role, SamplingBlock::text(""))],
            SamplingContent::Single(_) => vec![self],
        }
    }
}

/// What is said in one turn: one block, or a list of them.
///
/// The form is kept, since older peers know only the first.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block, not in a list.
    Single(SamplingBlock),
    /// A list, of any length.
    Multiple(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// The blocks, in whichever form.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::Single(block) => std::slice::from_ref(block),
            Self::Multiple(blocks) => blocks,
        }
    }

    /// Makes one block of many: the only one, or a text that renders all.
    fn merge(&mut self) {
        let Self::Multiple(blocks) = self else { return };
        *self = Self::Single(if blocks.len() == 1 {
            blocks.remove(0)
        } else {
            let texts: Vec<_> = blocks.iter().map(SamplingBlock::to_text).collect();
            SamplingBlock::text(texts.join("\n\n"))
        });
    }
}

impl<T: Into<SamplingBlock>> From<T> for SamplingContent {
    fn from(block: T) -> Self {
        Self::Single(block.into())
    }
}

impl From<Vec<SamplingBlock>> for SamplingContent {
    fn from(blocks: Vec<SamplingBlock>) -> Self {
        Self::Multiple(blocks)
    }
}

tagged_union! {
    /// One piece of what is said.
    pub enum SamplingBlock by "type" {
        /// Text.
        Text(TextContent),
        /// A picture.
        Image(ImageContent),
        /// A sound.
        Audio(AudioContent),
        /// The model asks for a tool.
        ToolUse(ToolUseContent),
        /// What the tool returned.
        ToolResult(ToolResultContent),
    }
}

impl SamplingBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// The text, if this is a block of text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// The block in words.
    fn to_text(&self) -> String {
        match self {
            Self::Text(block) => block.text.clone(),
            Self::Image(image) => format!("[Image left out: {}]", image.mime_type),
            Self::Audio(audio) => format!("[Audio left out: {}]", audio.mime_type),
            Self::ToolUse(call) => call.to_text(),
            Self::ToolResult(result) => result.to_text(),
            Self::Unknown(unknown) => format!("[Content of kind {:?} left out]", unknown.kind),
        }
    }
}

object! {
    /// The model asks for a tool.
    pub struct ToolUseContent tagged "type" = "tool_use" {
        /// The name of this call, by which its result refers to it.
        id: String = required "id",
        /// Which tool.
        name: String = required "name",
        /// Its arguments, an object.
        input: RawJson = required "input",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl ToolUseContent {
    fn to_text(&self) -> String {
        format!(
            "[Tool call {}: {} {}]",
            self.id,
            self.name,
            self.input.get()
        )
    }
}

object! {
    /// What a tool returned that the model had asked for.
    pub struct ToolResultContent tagged "type" = "tool_result" adjusted by ToolResultContent::adjust {
        /// The call that this answers.
        tool_use_id: String = required "toolUseId",
        /// What it returned, for the model.
        content: Vec<ContentBlock> = defaulted "content",
        /// What it returned, for programs.
        structured_content: Option<RawJson> = nullable "structuredContent",
        /// Whether the tool failed.
        is_error: Option<bool> = optional "isError",
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl ToolResultContent {
    fn adjust(&mut self, dialect: &Dialect) {
        drop_unsupported(&mut self.structured_content, &mut self.content, dialect);
    }

    fn to_text(&self) -> String {
        let verb = if self.is_error == Some(true) {
            "failed"
        } else {
            "returned"
        };
        let mut text = format!("[Tool call {} {verb}]", self.tool_use_id);
        for block in &self.content {
            text.push('\n');
            match block.as_text() {
                Some(block) => text.push_str(block),
                None => text.push_str(&format!("[Content of kind {:?} left out]", block.kind())),
            }
        }
        if let (true, Some(value)) = (self.content.is_empty(), &self.structured_content) {
            text.push('\n');
            text.push_str(value.get());
        }
        text
    }
}

object! {
    /// What matters in the choice of a model. Priorities go from 0 to 1.
    pub struct ModelPreferences {
        /// Names to look for, the best first.
        hints: Vec<ModelHint> = sparse "hints",
        /// How much cost matters.
        cost_priority: Option<Number> = optional "costPriority",
        /// How much speed matters.
        speed_priority: Option<Number> = optional "speedPriority",
        /// How much ability matters.
        intelligence_priority: Option<Number> = optional "intelligencePriority",
    }
}

object! {
    /// A name to look for among models.
    pub struct ModelHint {
        /// A name, or a part of one.
        name: Option<String> = optional "name",
    }
}

object! {
    /// Whether the model may use tools.
    pub struct ToolChoice {
        /// May, must, or must not; may by default.
        mode: Option<ToolChoiceMode> = optional "mode",
    }
}

open_enum! {
    /// Whether the model may use tools.
    pub enum ToolChoiceMode {
        /// It may.
        Auto = "auto",
        /// It must.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

open_enum! {
    /// What else a model should see.
    pub enum IncludeContext {
        /// Nothing. The default.
        None = "none",
        /// What the asking server offers. Deprecated.
        ThisServer = "thisServer",
        /// What all servers offer. Deprecated.
        AllServers = "allServers",
    }
}

open_enum! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It was done.
        EndTurn = "endTurn",
        /// It wrote a text at which it should stop.
        StopSequence = "stopSequence",
        /// It wrote as much as it may.
        MaxTokens = "maxTokens",
        /// It wants a tool.
        ToolUse = "toolUse",
    }
}

impl Adapt for SamplingContent {
    fn adapt(&mut self, dialect: &Dialect) {
        match self {
            Self::Single(block) => block.adapt(dialect),
            Self::Multiple(blocks) => blocks.adapt(dialect),
        }
    }
}

impl Adapt for SamplingBlock {
    fn adapt(&mut self, dialect: &Dialect) {
        match self {
            Self::Audio(audio) if !dialect.audio => *self = audio.placeholder().into(),
            Self::ToolUse(_) | Self::ToolResult(_) if !dialect.sampling_tools => {
                *self = Self::text(self.to_text());
            }
            _ => {}
        }
        match self {
            Self::Text(block) => block.adapt(dialect),
            Self::Image(block) => block.adapt(dialect),
            Self::Audio(block) => block.adapt(dialect),
            Self::ToolUse(block) => block.adapt(dialect),
            Self::ToolResult(block) => block.adapt(dialect),
            Self::Unknown(_) => {}
        }
    }
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Single(block) => block.serialize(serializer),
            Self::Multiple(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SamplingContentVisitor)
    }
}

struct SamplingContentVisitor;

impl<'de> Visitor<'de> for SamplingContentVisitor {
    type Value = SamplingContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a content block or a list of them")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SamplingContent, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(SamplingContent::Single)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<SamplingContent, A::Error> {
        Deserialize::deserialize(SeqAccessDeserializer::new(seq)).map(SamplingContent::Multiple)
    }
}
