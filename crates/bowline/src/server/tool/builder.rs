//! Writing a tool, step by step; what is missing does not compile.

use std::{future::Future, marker::PhantomData, sync::Arc};

use serde_json::{Map, Value};

use super::{
    DeclaredForm, HandoffNeedsBefore, IntoToolResult, NoArguments, Tool, ToolFn1, ToolFn2,
    ToolHandler, ToolInner,
    handler::{ContextHandler, PlainHandler},
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
        model::{self, Icon, Meta, ToolAnnotations},
    },
    server::{
        Conversation,
        auth::scope,
        capability::{CapabilitySet, ClientCapability},
        error::Result,
        form::Elicit,
        limits::CallLimits,
    },
};

/// A tool in the making. `D` says whether it has a description, `I` whether it
/// is said what it is given; it takes both to finish it, with
/// [`handler`](ToolBuilder::handler), [`handler_with_context`](ToolBuilder::handler_with_context) or
/// [`handoff`](Draft::handoff).
#[must_use = "a draft is not a tool yet"]
#[derive(Debug)]
pub struct ToolBuilder<D, I> {
    pub(super) spec: ToolSpec,
    typestate: PhantomData<fn() -> (D, I)>,
}

/// What a draft has gathered.
#[derive(Debug)]
pub(super) struct ToolSpec {
    definition: model::Tool,
    schema: Value,
    needs: CapabilitySet,
    scopes: Vec<Box<str>>,
    limits: CallLimits,
    elicits: Vec<DeclaredForm>,
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
            },
            typestate: PhantomData,
        }
    }
}

/// What every tool must have.
impl<D, I> ToolBuilder<D, I> {
    /// What the tool does, for the model.
    pub fn description(mut self, description: impl Into<String>) -> ToolBuilder<WithDescription, I>
    where
        D: LacksDescription,
    {
        self.spec.definition.description = Some(description.into());
        self.transition()
    }

    /// What the tool is given: a struct with named fields. Its schema is
    /// published, and arguments that do not fit it never reach the tool.
    pub fn input<T: ToolInput>(mut self) -> ToolBuilder<D, WithInput<T>>
    where
        I: LacksInput,
    {
        self.spec.schema = schema_of::<T>();
        self.transition()
    }

    /// The tool is given nothing.
    pub fn no_input(self) -> ToolBuilder<D, WithInput<NoArguments>>
    where
        I: LacksInput,
    {
        self.input()
    }

    /// A schema of one's own, published as it is. The tool is given the
    /// arguments as a map.
    pub fn input_schema(mut self, schema: Value) -> ToolBuilder<D, WithInput<Map<String, Value>>>
    where
        I: LacksInput,
    {
        self.spec.schema = schema;
        self.transition()
    }
}

/// What may be said of every tool.
impl<D, I> ToolBuilder<D, I> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.spec.definition.title = Some(title.into());
        self
    }

    /// It changes nothing.
    pub fn read_only(self) -> Self {
        self.annotate(|hints| hints.read_only_hint = Some(true))
    }

    /// Whether it may destroy something, and not only add. It may unless it
    /// says otherwise.
    pub fn destructive(self, destructive: bool) -> Self {
        self.annotate(|hints| hints.destructive_hint = Some(destructive))
    }

    /// Calling it again with the same arguments adds nothing.
    pub fn idempotent(self) -> Self {
        self.annotate(|hints| hints.idempotent_hint = Some(true))
    }

    /// Whether it deals with the outside world. It does unless it says
    /// otherwise.
    pub fn open_world(self, open: bool) -> Self {
        self.annotate(|hints| hints.open_world_hint = Some(open))
    }

    /// All hints at once.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.spec.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.spec.definition.icons.push(icon);
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.spec.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the tool is not listed, and
    /// their calls are refused before anything runs.
    pub fn requires(mut self, needs: impl IntoIterator<Item = ClientCapability>) -> Self {
        let needs: CapabilitySet = needs.into_iter().collect();
        self.spec.needs = self.spec.needs.union(needs);
        self
    }

    /// What a caller's token must allow, over HTTP; one more scope each time.
    /// Calls without it are refused before anything runs, with a challenge that
    /// names all scopes that the call takes; so are calls without any token.
    /// Where there are no tokens, on stdio and in memory, it means nothing.
    ///
    /// The tool is listed to everybody, so that clients can ask for more.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::push_unique(&mut self.spec.scopes, [scope]);
        self
    }

    /// How much one call may do.
    pub fn limits(mut self, limits: CallLimits) -> Self {
        self.spec.limits = limits;
        self
    }

    /// Says that the tool may show this form, which has a key of its own. The
    /// server's manifest lists it, so that hosts can prepare for it.
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

/// How a tool is finished.
impl<D, I> ToolBuilder<D, I> {
    /// A tool that needs nothing but its input.
    ///
    /// An async closure will do as long as it captures nothing. One that does
    /// would lend it to its future; then it takes a closure that gives the
    /// future a copy of its own:
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
        let tool_handler = PlainHandler { function, types };
        self.spec
            .build(O::schema(), Arc::new(tool_handler))
            .for_state()
    }

    /// A tool that may ask the user and models, and has the application's
    /// state at hand: `async |input, cx: Conversation<App>| …`. For what it
    /// captures, see [`handler`](Self::handler).
    pub fn handler_with_context<S, O, F, W>(self, function: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        S: 'static,
        O: IntoToolResult,
        F: ToolFn2<I::Input, Conversation<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData::<fn(S, I::Input)>;
        let tool_handler = ContextHandler { function, types };
        self.spec
            .build(O::schema(), Arc::new(tool_handler))
            .for_state()
    }

    /// A tool in three phases: work before the client is asked, the
    /// conversation, and work after it. The first and the last happen once.
    pub fn handoff(self) -> HandoffNeedsBefore<I::Input>
    where
        D: HasDescription,
        I: HasInput,
    {
        HandoffNeedsBefore::new(self.spec)
    }
}

impl ToolSpec {
    /// The tool, apart from the types that it is made of, so that there is only
    /// one of this.
    pub(super) fn build(
        mut self,
        output: Option<RawJson>,
        tool_handler: Arc<dyn ToolHandler>,
    ) -> Tool {
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
                #[cfg(feature = "http-server")]
                headers,
                input_schema: input.unwrap_or_else(|_| InputSchema::reject_all()),
                handler: tool_handler,
                latency: Arc::default(),
                problem,
            }),
        }
    }

    fn problem(&self) -> Option<String> {
        let name = &self.definition.name;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name.is_empty() || name.len() > 128 || !name.bytes().all(allowed) {
            let why = "its name must be 1 to 128 letters, digits, `_`, `-` and `.`";
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

/// The arguments that HTTP requests repeat in headers, by the marks in the
/// schema.
#[cfg(feature = "http-server")]
fn param_headers(tool: &model::Tool) -> Result<ParamHeaders, String> {
    let Some(schema) = &tool.input_schema else {
        return Ok(ParamHeaders::default());
    };
    ParamHeaders::from_schema(schema.get()).map_err(|fault| fault.to_string())
}
