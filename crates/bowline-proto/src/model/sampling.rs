//! Sampling: requests from a server to the client's model.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{
        MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use std::fmt;

use super::{
    Adapt, AudioContent, ContentBlock, ImageContent, Meta, Number, Role, TaskMetadata, TextContent,
    Tool, WireFeatures,
    message::{request, result},
    method,
    object::object,
    open_enum::open_enum,
    tagged::tagged_union,
    tool::drop_unsupported,
};
use crate::jsonrpc::RawJson;

object! {
    /// Requests a message from the client's model.
    pub struct CreateMessageParams adjusted by CreateMessageParams::adjust {
        /// The conversation so far.
        messages: Vec<SamplingMessage> = required "messages",
        /// The preferred model; the client decides.
        model_preferences: Option<ModelPreferences> = optional "modelPreferences",
        /// The system prompt.
        system_prompt: Option<String> = optional "systemPrompt",
        /// The additional context for the model.
        include_context: Option<IncludeContext> = optional "includeContext",
        /// The sampling temperature.
        temperature: Option<Number> = optional "temperature",
        /// The maximum number of tokens to generate.
        max_tokens: i64 = required "maxTokens",
        /// Strings at which the model stops.
        stop_sequences: Vec<String> = sparse "stopSequences",
        /// Metadata for the provider of the model.
        metadata: Option<RawJson> = optional "metadata",
        /// Tools that the model may call.
        tools: Option<Vec<Tool>> = optional "tools" if sampling_tools,
        /// Whether the model may, must or must not call tools.
        tool_choice: Option<ToolChoice> = optional "toolChoice" if sampling_tools,
        /// Runs the request as a core task.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CreateMessageParams = method::SAMPLING_CREATE_MESSAGE => CreateMessageResult);

impl CreateMessageParams {
    /// Returns the client capability that this requires, as a path for
    /// [`ClientCapabilities::has`](super::ClientCapabilities::has).
    #[must_use]
    pub fn required_capability(&self) -> &'static str {
        if self.tools.is_some() || self.tool_choice.is_some() {
            "sampling.tools"
        } else {
            "sampling"
        }
    }

    /// In a wire format with one block per message, several blocks become several
    /// messages.
    fn adjust(&mut self, features: &WireFeatures) {
        if !features.sampling_tools {
            self.messages = std::mem::take(&mut self.messages)
                .into_iter()
                .flat_map(SamplingMessage::split)
                .collect();
        }
    }
}

object! {
    /// The message that the model generated.
    pub struct CreateMessageResult adjusted by CreateMessageResult::adjust {
        /// The role of the message.
        role: Role = required "role",
        /// The content.
        content: SamplingContent = required "content",
        /// The name of the model.
        model: String = required "model",
        /// Why the model stopped.
        stop_reason: Option<StopReason> = optional "stopReason",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateMessageResult, untyped);

impl CreateMessageResult {
    fn adjust(&mut self, features: &WireFeatures) {
        if !features.sampling_tools {
            self.content.merge();
        }
    }
}

object! {
    /// A message of a conversation with a model.
    pub struct SamplingMessage adjusted by SamplingMessage::adjust {
        /// The role of the sender.
        role: Role = required "role",
        /// The content.
        content: SamplingContent = required "content",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if sampling_tools,
    }
}

impl SamplingMessage {
    fn adjust(&mut self, features: &WireFeatures) {
        if !features.sampling_tools {
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

/// The content of a message: one block, or a list of blocks.
///
/// The form is kept, since older peers support only the first.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block, not in a list.
    Single(SamplingBlock),
    /// A list, of any length.
    Multiple(Vec<SamplingBlock>),
}

impl SamplingContent {
    /// Returns the blocks, in either form.
    #[must_use]
    pub fn blocks(&self) -> &[SamplingBlock] {
        match self {
            Self::Single(block) => std::slice::from_ref(block),
            Self::Multiple(blocks) => blocks,
        }
    }

    /// Merges several blocks into one: the only one, or a text that renders
    /// all.
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
    /// A content block of a message.
    pub enum SamplingBlock by "type" {
        /// Text.
        Text(TextContent),
        /// An image.
        Image(ImageContent),
        /// Audio.
        Audio(AudioContent),
        /// A tool call by the model.
        ToolUse(ToolUseContent),
        /// The result of a tool call.
        ToolResult(ToolResultContent),
    }
}

impl SamplingBlock {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        TextContent::new(text).into()
    }

    /// Returns the text, if this is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }

    /// Renders the block as text.
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
    /// A tool call by the model.
    pub struct ToolUseContent tagged "type" = "tool_use" {
        /// The id of this call, to which its result refers.
        id: String = required "id",
        /// The name of the tool.
        name: String = required "name",
        /// Its arguments, an object.
        input: RawJson = required "input",
        /// The metadata.
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
    /// The result of a tool that the model called.
    pub struct ToolResultContent tagged "type" = "tool_result" adjusted by ToolResultContent::adjust {
        /// The id of the call.
        tool_use_id: String = required "toolUseId",
        /// The result, for the model.
        content: Vec<ContentBlock> = defaulted "content",
        /// The result, for programs.
        structured_content: Option<RawJson> = nullable "structuredContent",
        /// Whether the tool failed.
        is_error: Option<bool> = optional "isError",
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

impl ToolResultContent {
    fn adjust(&mut self, features: &WireFeatures) {
        drop_unsupported(&mut self.structured_content, &mut self.content, features);
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
    /// Criteria for the choice of a model. Priorities range from 0 to 1.
    pub struct ModelPreferences {
        /// Model names to prefer, the best first.
        hints: Vec<ModelHint> = sparse "hints",
        /// How much cost matters.
        cost_priority: Option<Number> = optional "costPriority",
        /// How much speed matters.
        speed_priority: Option<Number> = optional "speedPriority",
        /// How much capability matters.
        intelligence_priority: Option<Number> = optional "intelligencePriority",
    }
}

object! {
    /// A model name to prefer.
    pub struct ModelHint {
        /// A name or part of a name.
        name: Option<String> = optional "name",
    }
}

object! {
    /// Whether the model may call tools.
    pub struct ToolChoice {
        /// The mode; `auto` by default.
        mode: Option<ToolChoiceMode> = optional "mode",
    }
}

open_enum! {
    /// Whether the model may call tools.
    pub enum ToolChoiceMode {
        /// It may call tools.
        Auto = "auto",
        /// It must call a tool.
        Required = "required",
        /// It must not call tools.
        None = "none",
    }
}

open_enum! {
    /// The additional context for a model.
    pub enum IncludeContext {
        /// Nothing. The default.
        None = "none",
        /// Context from the requesting server. Deprecated.
        ThisServer = "thisServer",
        /// Context from all servers. Deprecated.
        AllServers = "allServers",
    }
}

open_enum! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It was finished.
        EndTurn = "endTurn",
        /// It generated a stop sequence.
        StopSequence = "stopSequence",
        /// It reached the maximum number of tokens.
        MaxTokens = "maxTokens",
        /// It calls a tool.
        ToolUse = "toolUse",
    }
}

impl Adapt for SamplingContent {
    fn adapt(&mut self, features: &WireFeatures) {
        match self {
            Self::Single(block) => block.adapt(features),
            Self::Multiple(blocks) => blocks.adapt(features),
        }
    }
}

impl Adapt for SamplingBlock {
    fn adapt(&mut self, features: &WireFeatures) {
        match self {
            Self::Audio(audio) if !features.audio => *self = audio.placeholder().into(),
            Self::ToolUse(_) | Self::ToolResult(_) if !features.sampling_tools => {
                *self = Self::text(self.to_text());
            }
            _ => {}
        }
        match self {
            Self::Text(block) => block.adapt(features),
            Self::Image(block) => block.adapt(features),
            Self::Audio(block) => block.adapt(features),
            Self::ToolUse(block) => block.adapt(features),
            Self::ToolResult(block) => block.adapt(features),
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
