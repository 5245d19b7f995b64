//! The builder of tools. A tool with missing parts does not compile.

use std::{future::Future, marker::PhantomData, sync::Arc};

use serde_json::{Map, Value};

use super::{
    DeclaredForm, IntoToolResult, NoArguments, PhasesNeedBefore, Tool, ToolFn1, ToolFn2, ToolInner,
    handler::{ContextFunction, ConversationHandler, PlainFunction, PlainHandler},
    input::{InputSchema, schema_of, to_raw_json},
    typestate::{
        HasDescription, HasInput, LacksDescription, LacksInput, MissingDescription, MissingInput,
        ToolInput, WithDescription, WithInput,
    },
};
#[cfg(feature = "http-server")]
use crate::proto::http::header::ParamHeaders;
use crate::{
    proto::{
        jsonrpc::RawJson,
        model::{self, ToolAnnotations},
    },
    server::{
        Conversation, HandlerContext,
        auth::scope,
        builder_methods::common_parts,
        capability::CapabilitySet,
        dispatch::tool_call::{ConversationTool, PlainTool, StartCall},
        error::Result,
        form::Elicit,
        limits::CallLimits,
        task::{TaskPolicy, TaskSetting, TaskableHandler},
    },
};

/// A builder for a [`Tool`]. `D` tracks whether it has a description, `I`
/// whether it has an input type. With both, one of these methods finishes it:
///
/// | method | the handler |
/// |---|---|
/// | [`handler`](Self::handler) | receives the input only |
/// | [`handler_with_context`](Self::handler_with_context) | can also use the state, log and report progress |
/// | [`handler_with_conversation`](Self::handler_with_conversation) | can also ask the user and models |
/// | [`phases`](Self::phases) | is split in three: before the questions, the questions, and after them |
#[must_use = "a builder is not a tool until it has a handler"]
#[derive(Debug)]
pub struct ToolBuilder<D, I> {
    pub(super) spec: ToolSpec,
    typestate: PhantomData<fn() -> (D, I)>,
}

/// The parts of a tool collected by its builder.
#[derive(Debug)]
pub(super) struct ToolSpec {
    definition: model::Tool,
    schema: Value,
    needs: CapabilitySet,
    scopes: Vec<Box<str>>,
    limits: CallLimits,
    elicits: Vec<DeclaredForm>,
    task: Option<TaskSetting>,
}

impl ToolBuilder<MissingDescription, MissingInput> {
    pub(super) fn new(name: String) -> Self {
        Self {
            spec: ToolSpec {
                definition: model::Tool::new(name),
                schema: Value::Null,
                needs: CapabilitySet::default(),
                scopes: Vec::new(),
                limits: CallLimits::default(),
                elicits: Vec::new(),
                task: None,
            },
            typestate: PhantomData,
        }
    }
}

/// Required parts.
impl<D, I> ToolBuilder<D, I> {
    /// Sets the description, which tells the model what the tool does.
    pub fn description(mut self, description: impl Into<String>) -> ToolBuilder<WithDescription, I>
    where
        D: LacksDescription,
    {
        self.spec.definition.description = Some(description.into());
        self.transition()
    }

    /// Sets the input type: a struct with named fields. Its schema is
    /// published, and arguments that do not match it never reach the tool.
    pub fn input<T: ToolInput>(mut self) -> ToolBuilder<D, WithInput<T>>
    where
        I: LacksInput,
    {
        self.spec.schema = schema_of::<T>();
        self.transition()
    }

    /// Declares that the tool takes no arguments.
    pub fn no_input(self) -> ToolBuilder<D, WithInput<NoArguments>>
    where
        I: LacksInput,
    {
        self.input()
    }

    /// Sets a hand-written input schema, which is published unchanged. The tool
    /// receives the arguments as a map.
    pub fn input_schema(mut self, schema: Value) -> ToolBuilder<D, WithInput<Map<String, Value>>>
    where
        I: LacksInput,
    {
        self.spec.schema = schema;
        self.transition()
    }
}

/// Optional parts.
impl<D, I> ToolBuilder<D, I> {
    common_parts! {
        in spec,
        item: "tool",
        request: "call",
        unavailable: "their calls are rejected before anything runs",
    }

    /// Declares that the tool changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only_hint = Some(true))
    }

    /// Sets whether the tool may change or delete things, not only add them. The
    /// default is `true`.
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotate(|hints| hints.destructive_hint = Some(destructive))
    }

    /// Declares that calling the tool again with the same arguments has no
    /// further effect.
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent_hint = Some(true))
    }

    /// Sets whether the tool interacts with the outside world. The default is
    /// `true`.
    pub fn open_world(self, open: bool) -> Self {
        self.annotate(|hints| hints.open_world_hint = Some(open))
    }

    /// Sets all annotations at once.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.spec.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// Lets calls become tasks: the client gets an answer at once, asks for the
    /// result later, and may leave meanwhile. The handler needs no change. In a task:
    ///
    /// - A handler of [`handler`](Self::handler) or
    ///   [`handler_with_context`](Self::handler_with_context) runs as one
    ///   [step](Conversation::step), so it never runs twice: if its node dies, the task
    ///   ends with the error that the outcome is unknown. One of
    ///   [`handler_with_conversation`](Self::handler_with_conversation) is replayed, in
    ///   every revision, and only its steps run once.
    /// - Questions are part of the task, and wait for their answers as long as the task
    ///   is kept.
    /// - The message of a progress report becomes the status message of the task.
    ///   Reports without a message, and log messages, are dropped.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use bowline::server::{TaskPolicy, Tool};
    ///
    /// let render: Tool = Tool::new("render")
    ///     .description("Renders the film")
    ///     .no_input()
    ///     .task(TaskPolicy::After(Duration::from_secs(2)))
    ///     .handler(async |_| Ok("rendered"));
    /// ```
    pub fn task(mut self, policy: TaskPolicy) -> Self {
        self.spec.definition.execution = Some(policy.execution());
        self.spec.task = Some(TaskSetting::new(policy));
        self
    }

    /// Declares that the tool may show this form, so client applications can
    /// prepare for it. [`Service::manifest`](crate::server::Service::manifest) lists
    /// the form under its [key](Elicit::KEY), if it has one.
    pub fn elicits<T: Elicit>(mut self) -> Self {
        self.spec.elicits.extend(DeclaredForm::declared::<T>());
        self
    }

    fn annotate(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.spec.definition.annotations.get_or_insert_default());
        self
    }

    fn transition<E, J>(self) -> ToolBuilder<E, J> {
        ToolBuilder {
            spec: self.spec,
            typestate: PhantomData,
        }
    }
}

/// Finishing methods.
impl<D, I> ToolBuilder<D, I> {
    /// Finishes a tool that needs nothing but its input. For state, logging or
    /// progress, use [`handler_with_context`](Self::handler_with_context); for
    /// questions, [`handler_with_conversation`](Self::handler_with_conversation).
    ///
    /// An async closure works if it captures nothing. If it captures something,
    /// its future would borrow from the closure; use a closure that gives the
    /// future its own copy:
    ///
    /// ```
    /// use bowline::server::Tool;
    ///
    /// let greeting = std::sync::Arc::new(String::from("Hello!"));
    /// let hello: Tool = Tool::new("hello")
    ///     .description("Says hello")
    ///     .no_input()
    ///     .handler(move |_| {
    ///         let greeting = greeting.clone();
    ///         async move { Ok(greeting.to_string()) }
    ///     });
    /// ```
    pub fn handler<S, O, F, W>(self, function: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        O: IntoToolResult,
        F: ToolFn1<I::Input, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData;
        let function = Arc::new(PlainFunction { function, types });
        let tool_handler = self.spec.plain_tool(function);
        self.spec.build(O::schema(), tool_handler).for_state()
    }

    /// Finishes a tool that uses the application's state, logs or reports progress,
    /// and asks no questions. For captured values, see [`handler`](Self::handler).
    ///
    /// ```
    /// use bowline::{LogLevel, server::{HandlerContext, Tool}};
    ///
    /// struct App {
    ///     greeting: String,
    /// }
    ///
    /// let hello = Tool::new("hello")
    ///     .description("Says hello")
    ///     .no_input()
    ///     .handler_with_context(async |_, cx: HandlerContext<App>| {
    ///         cx.log(LogLevel::Info, "said hello");
    ///         Ok(cx.state().greeting.clone())
    ///     });
    /// # drop::<Tool<App>>(hello);
    /// ```
    pub fn handler_with_context<S, O, F, W>(self, function: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        S: 'static,
        O: IntoToolResult,
        F: ToolFn2<I::Input, HandlerContext<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData::<fn(S, I::Input)>;
        let function = move |input, cx: Conversation<S>| function(input, cx.into_context());
        let function = Arc::new(ContextFunction { function, types });
        let tool_handler = self.spec.context_tool(function);
        self.spec.build(O::schema(), tool_handler).for_state()
    }

    /// Finishes a tool that asks the user or models. It can also use the
    /// application's state, log and report progress: a [`Conversation`] has all
    /// methods of a [`HandlerContext`]. For captured values, see
    /// [`handler`](Self::handler).
    ///
    /// ```
    /// use bowline::server::{Conversation, Tool};
    ///
    /// let erase: Tool = Tool::new("erase")
    ///     .description("Erases everything, if the user agrees")
    ///     .no_input()
    ///     .handler_with_conversation(async |_, cx: Conversation| {
    ///         cx.confirm("Erase everything?").await?;
    ///         Ok("erased")
    ///     });
    /// ```
    pub fn handler_with_conversation<S, O, F, W>(self, function: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        S: 'static,
        O: IntoToolResult,
        F: ToolFn2<I::Input, Conversation<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData::<fn(S, I::Input)>;
        let function = Arc::new(ContextFunction { function, types });
        let tool_handler = self.spec.conversation_tool(function);
        self.spec.build(O::schema(), tool_handler).for_state()
    }

    /// Starts a tool whose handler runs in three phases: work before the questions, the
    /// questions, and work after them. The first and the last phase run once per
    /// conversation.
    pub fn phases(self) -> PhasesNeedBefore<I::Input>
    where
        D: HasDescription,
        I: HasInput,
    {
        PhasesNeedBefore::new(self.spec)
    }
}

impl ToolSpec {
    fn plain_tool(&self, handler: Arc<dyn PlainHandler>) -> Arc<dyn StartCall> {
        match self.task {
            Some(task) => (task.wrap)(TaskableHandler::Plain(handler), task.policy),
            None => Arc::new(PlainTool(handler)),
        }
    }

    fn context_tool(&self, handler: Arc<dyn ConversationHandler>) -> Arc<dyn StartCall> {
        match self.task {
            Some(task) => (task.wrap)(TaskableHandler::Context(handler), task.policy),
            None => Arc::new(ConversationTool(handler)),
        }
    }

    pub(super) fn conversation_tool(
        &self,
        handler: Arc<dyn ConversationHandler>,
    ) -> Arc<dyn StartCall> {
        match self.task {
            Some(task) => (task.wrap)(TaskableHandler::Conversation(handler), task.policy),
            None => Arc::new(ConversationTool(handler)),
        }
    }

    /// Builds the tool. Not generic, so it is compiled only once.
    pub(super) fn build(mut self, output: Option<RawJson>, handler: Arc<dyn StartCall>) -> Tool {
        self.definition.input_schema = to_raw_json(&self.schema);
        self.definition.output_schema = output;
        let input = InputSchema::new(&self.schema);
        let problem = self.problem().or_else(|| input.as_ref().err().cloned());
        #[cfg(feature = "http-server")]
        let (headers, problem) = match param_headers(&self.definition) {
            Ok(headers) => (headers, problem),
            Err(fault) => (ParamHeaders::default(), problem.or(Some(fault))),
        };
        Tool {
            state: PhantomData,
            shared: Arc::new(ToolInner {
                definition: self.definition,
                needs: self.needs,
                scopes: self.scopes,
                limits: self.limits,
                elicits: self.elicits,
                task_feature: self.task.map(|task| task.feature),
                #[cfg(feature = "http-server")]
                headers,
                input_schema: input.unwrap_or_else(|_| InputSchema::reject_all()),
                handler,
                latency: Arc::default(),
                problem,
            }),
        }
    }

    fn problem(&self) -> Option<String> {
        let name = &self.definition.name;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(allowed) {
            let why = "its name must be 1 to 128 letters, digits, `_`, `-` or `.`";
            return Some(why.to_owned());
        }
        if let Some(problem) = scope::first_problem(&self.scopes) {
            return Some(problem);
        }
        let mut forms = self.elicits.iter().enumerate();
        let duplicate =
            forms.find(|(at, form)| self.elicits[..*at].iter().any(|it| it.key == form.key));
        duplicate.map(|(_, form)| format!("two of its forms have the key {:?}", form.key))
    }
}

/// Returns the arguments that HTTP requests repeat in headers, as marked in the
/// schema.
#[cfg(feature = "http-server")]
fn param_headers(tool: &model::Tool) -> Result<ParamHeaders, String> {
    let Some(schema) = &tool.input_schema else {
        return Ok(ParamHeaders::default());
    };
    ParamHeaders::from_schema(schema.get()).map_err(|fault| fault.to_string())
}
