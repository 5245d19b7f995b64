//! Tools: listing and calling them.

use super::{
    CacheScope, ContentBlock, Extra, Icon, InputResponses, Meta, RejectedItem, ResultType,
    StructuredContent, TaskMetadata, WireFeatures, fast_result,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    meta::key,
    method,
    object::object,
    open_enum::open_enum,
};
use crate::jsonrpc::{RawJson, decode_fast};

object! {
    /// A tool that a server offers.
    pub struct Tool adjusted by Tool::adjust {
        /// The programmatic name, used to call it.
        name: String = required "name",
        /// The display name.
        title: Option<String> = optional "title" if titles,
        /// A description for the model.
        description: Option<String> = optional "description",
        /// The JSON Schema of its arguments. Servers must send one, but some do
        /// not; see [`input_schema_or_empty`](Tool::input_schema_or_empty).
        input_schema: Option<RawJson> = optional "inputSchema",
        /// The JSON Schema of its structured result.
        output_schema: Option<RawJson> = optional "outputSchema" if output_schema,
        /// Hints about its behaviour.
        annotations: Option<Box<ToolAnnotations>> = optional "annotations" if tool_annotations,
        /// How it is run.
        execution: Option<ToolExecution> = optional "execution" if core_tasks,
        /// Icons to display.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// The metadata.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

/// Whether a tool keeps state between calls.
///
/// A tool that declares nothing may keep state, so it counts as stateful: a server that
/// accepts stateless calls only does not receive its calls. But the client binds a call
/// to a session only if the tool declares this mode or the caller sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolMode {
    /// It may keep state for the session. The default.
    #[default]
    Stateful,
    /// It keeps no state: each call is independent.
    Stateless,
}

impl Tool {
    /// Returns the schema of the arguments, or the schema of any object if it
    /// is missing.
    #[must_use]
    pub fn input_schema_or_empty(&self) -> RawJson {
        self.input_schema.clone().unwrap_or_else(any_object_schema)
    }

    /// Returns whether the tool keeps state, according to its member `mode` or,
    /// in `_meta`, [`key::TOOL_MODE`]. The protocol has no such field.
    #[must_use]
    pub fn mode(&self) -> ToolMode {
        let in_meta = || self.meta.as_ref()?.members().get(key::TOOL_MODE);
        match self.extra.get("mode").or_else(in_meta).map(RawJson::get) {
            Some("\"stateless\"") => ToolMode::Stateless,
            _ => ToolMode::Stateful,
        }
    }

    /// Returns the name to display: the title, else the title in the
    /// annotations, else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_ref();
        self.title.as_ref().or_else(annotated).unwrap_or(&self.name)
    }

    fn adjust(&mut self, features: &WireFeatures) {
        self.input_schema.get_or_insert_with(any_object_schema);
        let only_objects = features.structured_content == StructuredContent::Object;
        if only_objects && !self.output_schema.as_ref().is_some_and(describes_object) {
            self.output_schema = None;
        }
    }
}

object! {
    /// Hints about a tool's behaviour. They are not guaranteed to be true.
    pub struct ToolAnnotations {
        /// The display name.
        title: Option<String> = optional "title",
        /// It changes nothing. The default is that it may.
        read_only_hint: Option<bool> = optional "readOnlyHint",
        /// It may destroy something, not only add. The default.
        destructive_hint: Option<bool> = optional "destructiveHint",
        /// Calling it again with the same arguments has no further effect. Not
        /// the default.
        idempotent_hint: Option<bool> = optional "idempotentHint",
        /// It interacts with the outside world. The default.
        open_world_hint: Option<bool> = optional "openWorldHint",
    }
}

impl ToolAnnotations {
    /// Returns whether the tool is declared to change nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Returns whether the tool may destroy something, according to its hints.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Returns whether calling the tool again is declared to have no further
    /// effect.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Returns whether the tool interacts with the outside world, according to
    /// its hints.
    #[must_use]
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }
}

object! {
    /// How a tool is run.
    pub struct ToolExecution {
        /// Whether it may be called as a core task.
        task_support: Option<TaskSupport> = optional "taskSupport",
    }
}

open_enum! {
    /// Whether a tool may be called as a core task.
    pub enum TaskSupport {
        /// It must not. The default.
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

object! {
    /// Requests a page of tools.
    pub struct ListToolsParams {
        /// The cursor of the page, from the previous page.
        cursor: Option<String> = optional "cursor",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListToolsParams = method::TOOLS_LIST => ListToolsResult);

object! {
    /// A page of tools.
    pub struct ListToolsResult adjusted by ListToolsResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The tools.
        tools: Vec<Tool> = required "tools",
        /// The cursor of the next page; an empty string is a valid cursor.
        next_cursor: Option<String> = optional "nextCursor",
        /// How long the result may be cached, in milliseconds.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share the cached result.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that are not valid tools.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListToolsResult, list);
lenient_list!(ListToolsResult {
    tools: Tool = "tools"
});

impl ListToolsResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, features);
    }
}

object! {
    /// Calls a tool.
    pub struct CallToolParams {
        /// The name of the tool.
        name: String = required "name",
        /// Its arguments, an object.
        arguments: Option<RawJson> = optional "arguments",
        /// Runs the request as a core task.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// The answers to the previous round.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// The state from the previous round, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CallToolParams = method::TOOLS_CALL => CallToolResult);

object! {
    /// The result of a tool call.
    pub struct CallToolResult adjusted by CallToolResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The result, for the model and for people.
        content: Vec<ContentBlock> = defaulted "content",
        /// The result, for programs. `null` is a value; `None` is absence.
        structured_content: Option<RawJson> = nullable "structuredContent",
        /// Whether the tool failed; the content then describes the failure.
        is_error: Option<bool> = optional "isError",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CallToolResult, plain by read_result);

/// Almost all results are only text; others may also contain long strings.
fn read_result(json: &str) -> Option<CallToolResult> {
    fast_result::read(json).or_else(|| decode_fast(json))
}

impl CallToolResult {
    /// Creates a success with one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// Creates a failure with one text block.
    pub fn failure(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// Returns all text blocks of the result, separated by line feeds.
    #[must_use]
    pub fn all_text(&self) -> String {
        let texts = self.content.iter().filter_map(ContentBlock::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns whether the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.is_error == Some(true)
    }

    /// Returns the result, or an error if the tool failed. A failure is a
    /// regular result, meant for a model to read; this is for callers that
    /// treat it as an error.
    ///
    /// ```
    /// use bowline_proto::model::CallToolResult;
    ///
    /// assert!(CallToolResult::text("sunny").into_result().is_ok());
    /// let failure = CallToolResult::failure("no such place").into_result().unwrap_err();
    /// assert_eq!(failure.to_string(), "the tool failed: no such place");
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the tool failed.
    pub fn into_result(self) -> Result<Self, ToolFailure> {
        match self.is_error() {
            true => Err(ToolFailure {
                result: Box::new(self),
            }),
            false => Ok(self),
        }
    }

    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
        drop_unsupported(&mut self.structured_content, &mut self.content, features);
    }
}

/// The error for a tool that ran and failed. See
/// [`CallToolResult::into_result`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The result.
    pub result: Box<CallToolResult>,
}

impl std::fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the tool failed: {}", self.result.all_text())
    }
}

impl std::error::Error for ToolFailure {}

object! {
    /// Notifies that the list of tools changed.
    pub struct ToolListChangedParams {
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ToolListChangedParams = method::TOOLS_LIST_CHANGED);

/// Removes structured content that the wire format cannot carry. If no content
/// block renders it, its JSON text is added.
pub(crate) fn drop_unsupported(
    structured_content: &mut Option<RawJson>,
    content: &mut Vec<ContentBlock>,
    features: &WireFeatures,
) {
    let is_supported = |value: &RawJson| match features.structured_content {
        StructuredContent::None => false,
        StructuredContent::Object => value.get().starts_with('{'),
        StructuredContent::Any => true,
    };
    if let Some(dropped) = structured_content.take_if(|value| !is_supported(value))
        && content.is_empty()
    {
        content.push(ContentBlock::text(dropped.get()));
    }
}

/// Returns the schema of any object.
fn any_object_schema() -> RawJson {
    RawJson::encode(&object_schema()).expect("a map of strings encodes")
}

fn object_schema() -> super::Members<&'static str> {
    [("type", "object")].into_iter().collect()
}

/// Returns whether a schema declares `object` as its root type.
fn describes_object(schema: &RawJson) -> bool {
    schema
        .decode::<Extra>()
        .is_ok_and(|members| members.get("type").map(RawJson::get) == Some("\"object\""))
}
