//! Tools: listing and calling them.

use super::{
    CacheScope, ContentBlock, Dialect, Extra, Icon, InputResponses, Meta, RejectedItem, ResultType,
    StructuredContent, TaskMetadata, fast_result,
    list::lenient_list,
    message::{notification, request, result, set_complete, set_uncacheable},
    meta::key,
    method,
    object::object,
    open_enum::open_enum,
};
use crate::jsonrpc::{RawJson, decode_fast};

object! {
    /// Something that a server does on request.
    pub struct Tool adjusted by Tool::adjust {
        /// The name for programs, by which it is called.
        name: String = required "name",
        /// The name for people.
        title: Option<String> = optional "title" if titles,
        /// What it does, for the model.
        description: Option<String> = optional "description",
        /// The JSON Schema of its arguments. Servers must send one, but some
        /// do not; see [`input_schema_or_empty`](Tool::input_schema_or_empty).
        input_schema: Option<RawJson> = optional "inputSchema",
        /// The JSON Schema of its structured result.
        output_schema: Option<RawJson> = optional "outputSchema" if output_schema,
        /// Hints about what it does.
        annotations: Option<Box<ToolAnnotations>> = optional "annotations" if tool_annotations,
        /// How it is run.
        execution: Option<ToolExecution> = optional "execution" if core_tasks,
        /// Pictures to show.
        icons: Vec<Icon> = sparse "icons" if icons,
        /// What travels beside it.
        meta: Option<Meta> = optional "_meta" if meta_on_types,
    }
}

/// Whether a tool keeps state between calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolMode {
    /// It may; so its calls belong to one session. The safe assumption.
    #[default]
    Stateful,
    /// It does not; each call stands alone.
    Stateless,
}

impl Tool {
    /// The schema of the arguments, or that of any object where there is none.
    #[must_use]
    pub fn input_schema_or_empty(&self) -> RawJson {
        self.input_schema.clone().unwrap_or_else(any_object_schema)
    }

    /// Whether the tool keeps state, by what it says of itself: a member `mode`
    /// or, in `_meta`, [`key::TOOL_MODE`]. The protocol has no such field.
    #[must_use]
    pub fn mode(&self) -> ToolMode {
        let in_meta = || self.meta.as_ref()?.members().get(key::TOOL_MODE);
        match self.extra.get("mode").or_else(in_meta).map(RawJson::get) {
            Some("\"stateless\"") => ToolMode::Stateless,
            _ => ToolMode::Stateful,
        }
    }

    /// The name to show: title, else the title among the hints, else the name.
    #[must_use]
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_ref();
        self.title.as_ref().or_else(annotated).unwrap_or(&self.name)
    }

    fn adjust(&mut self, dialect: &Dialect) {
        self.input_schema.get_or_insert_with(any_object_schema);
        let only_objects = dialect.structured_content == StructuredContent::Object;
        if only_objects && !self.output_schema.as_ref().is_some_and(describes_object) {
            self.output_schema = None;
        }
    }
}

object! {
    /// Hints about what a tool does. A server need not speak the truth.
    pub struct ToolAnnotations {
        /// The name for people.
        title: Option<String> = optional "title",
        /// It changes nothing. Else it may; that is the default.
        read_only_hint: Option<bool> = optional "readOnlyHint",
        /// It may destroy something, not only add. The default.
        destructive_hint: Option<bool> = optional "destructiveHint",
        /// Calling it again with the same arguments adds nothing. Not so by default.
        idempotent_hint: Option<bool> = optional "idempotentHint",
        /// It deals with the outside world. The default.
        open_world_hint: Option<bool> = optional "openWorldHint",
    }
}

impl ToolAnnotations {
    /// Whether the tool is said to change nothing.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may destroy something, as far as it says.
    #[must_use]
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether calling the tool again is said to add nothing.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool deals with the outside world, as far as it says.
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
        /// It may not. The default.
        Forbidden = "forbidden",
        /// It may.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

object! {
    /// Asks for a page of tools.
    pub struct ListToolsParams {
        /// Where the page begins, as the one before it said.
        cursor: Option<String> = optional "cursor",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListToolsParams = method::TOOLS_LIST => ListToolsResult);

object! {
    /// A page of tools.
    pub struct ListToolsResult adjusted by ListToolsResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The tools.
        tools: Vec<Tool> = required "tools",
        /// Where the next page begins; an empty string is a place, too.
        next_cursor: Option<String> = optional "nextCursor",
        /// For how many milliseconds it may be kept.
        ttl_ms: Option<i64> = optional "ttlMs" if cache_hints,
        /// Who may share it.
        cache_scope: Option<CacheScope> = optional "cacheScope" if cache_hints,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
        ;
        /// Items that were not tools.
        rejected: Vec<RejectedItem>,
    }
}
result!(ListToolsResult, list);
lenient_list!(ListToolsResult {
    tools: Tool = "tools"
});

impl ListToolsResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        set_uncacheable(&mut self.ttl_ms, &mut self.cache_scope, dialect);
    }
}

object! {
    /// Calls a tool.
    pub struct CallToolParams {
        /// Which tool.
        name: String = required "name",
        /// Its arguments, an object.
        arguments: Option<RawJson> = optional "arguments",
        /// Asks for a core task instead of an answer.
        task: Option<TaskMetadata> = optional "task" if core_tasks,
        /// Answers to what the round before asked.
        input_responses: Option<InputResponses> = optional "inputResponses" if input_rounds,
        /// What the round before said to bring along, unchanged.
        request_state: Option<String> = optional "requestState" if input_rounds,
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CallToolParams = method::TOOLS_CALL => CallToolResult);

object! {
    /// What a tool returned.
    pub struct CallToolResult adjusted by CallToolResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// What it returned, for the model and for people.
        content: Vec<ContentBlock> = defaulted "content",
        /// What it returned, for programs. `null` is a value; `None` is absence.
        structured_content: Option<RawJson> = nullable "structuredContent",
        /// Whether the tool failed; the content then says how.
        is_error: Option<bool> = optional "isError",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CallToolResult, plain by read_result);

/// Nearly all results are texts and no more; others may hold long ones, too.
fn read_result(json: &str) -> Option<CallToolResult> {
    fast_result::read(json).or_else(|| decode_fast(json))
}

impl CallToolResult {
    /// A success with one block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// A failure with one block of text.
    pub fn failure(text: impl Into<String>) -> Self {
        Self {
            is_error: Some(true),
            ..Self::text(text)
        }
    }

    /// All texts of the result, one below the other.
    #[must_use]
    pub fn all_text(&self) -> String {
        let texts = self.content.iter().filter_map(ContentBlock::as_text);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Whether the tool failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.is_error == Some(true)
    }

    /// The result, unless the tool failed. That it did is an answer like any
    /// other, meant for a model to read; this is for callers to whom it is an
    /// error.
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
    /// Where the tool failed.
    pub fn into_result(self) -> Result<Self, ToolFailure> {
        match self.is_failure() {
            true => Err(ToolFailure {
                result: Box::new(self),
            }),
            false => Ok(self),
        }
    }

    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
        drop_unsupported(&mut self.structured_content, &mut self.content, dialect);
    }
}

/// A tool ran, and failed. See [`CallToolResult::into_result`].
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// What it returned.
    pub result: Box<CallToolResult>,
}

impl std::fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the tool failed: {}", self.result.all_text())
    }
}

impl std::error::Error for ToolFailure {}

object! {
    /// Says that the list of tools changed.
    pub struct ToolListChangedParams {
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(ToolListChangedParams = method::TOOLS_LIST_CHANGED);

/// Drops a structured result that the dialect cannot carry. Where no content
/// renders it, its JSON text does.
pub(crate) fn drop_unsupported(
    structured_content: &mut Option<RawJson>,
    content: &mut Vec<ContentBlock>,
    dialect: &Dialect,
) {
    let is_supported = |value: &RawJson| match dialect.structured_content {
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

/// The schema of any object.
fn any_object_schema() -> RawJson {
    RawJson::encode(&object_schema()).expect("a map of strings encodes")
}

fn object_schema() -> super::Members<&'static str> {
    [("type", "object")].into_iter().collect()
}

/// Whether a schema says at its root that it describes objects.
fn describes_object(schema: &RawJson) -> bool {
    schema
        .decode::<Extra>()
        .is_ok_and(|members| members.get("type").map(RawJson::get) == Some("\"object\""))
}
