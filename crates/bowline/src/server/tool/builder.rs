//! Writing a tool, step by step; what is missing does not compile.

use std::{future::Future, marker::PhantomData, sync::Arc};

use serde_json::{Map, Value};

use super::{
    Form, NeedsBefore, NoArguments, Output, Run, Shared, Tool, Work1, Work2,
    input::{Input, raw, schema_of},
    run::{Execute, Headless},
    stage::{
        Described, Given, HasDescription, HasInput, LacksDescription, LacksInput, ToolInput,
        Undecided, Undescribed,
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
        error::Result,
        form::Elicit,
        limits::Limits,
        needs::{Need, Needs},
    },
};

/// A tool in the making. `D` says whether it has a description, `I` whether it
/// is said what it is given; it takes both to finish it, with
/// [`execute`](Draft::execute), [`headless`](Draft::headless) or
/// [`handoff`](Draft::handoff).
#[must_use = "a draft is not a tool yet"]
#[derive(Debug)]
pub struct Draft<D, I> {
    pub(super) parts: Parts,
    stage: PhantomData<fn() -> (D, I)>,
}

/// What a draft has gathered.
#[derive(Debug)]
pub(super) struct Parts {
    definition: model::Tool,
    schema: Value,
    needs: Needs,
    scopes: Vec<Box<str>>,
    limits: Limits,
    elicits: Vec<Form>,
}

impl Draft<Undescribed, Undecided> {
    pub(super) fn new(name: String) -> Self {
        Self {
            parts: Parts {
                definition: model::Tool::new(name),
                schema: Value::Null,
                needs: Needs::default(),
                scopes: Vec::new(),
                limits: Limits::default(),
                elicits: Vec::new(),
            },
            stage: PhantomData,
        }
    }
}

/// What every tool must have.
impl<D, I> Draft<D, I> {
    /// What the tool does, for the model.
    pub fn description(mut self, description: impl Into<String>) -> Draft<Described, I>
    where
        D: LacksDescription,
    {
        self.parts.definition.description = Some(description.into());
        self.at()
    }

    /// What the tool is given: a struct with named fields. Its schema is
    /// published, and arguments that do not fit it never reach the tool.
    pub fn input<T: ToolInput>(mut self) -> Draft<D, Given<T>>
    where
        I: LacksInput,
    {
        self.parts.schema = schema_of::<T>();
        self.at()
    }

    /// The tool is given nothing.
    pub fn no_input(self) -> Draft<D, Given<NoArguments>>
    where
        I: LacksInput,
    {
        self.input()
    }

    /// A schema of one's own, published as it is. The tool is given the
    /// arguments as a map.
    pub fn input_schema(mut self, schema: Value) -> Draft<D, Given<Map<String, Value>>>
    where
        I: LacksInput,
    {
        self.parts.schema = schema;
        self.at()
    }
}

/// What may be said of every tool.
impl<D, I> Draft<D, I> {
    /// The name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.parts.definition.title = Some(title.into());
        self
    }

    /// It changes nothing.
    pub fn read_only(self) -> Self {
        self.hint(|hints| hints.read_only_hint = Some(true))
    }

    /// Whether it may destroy something, and not only add. It may unless it
    /// says otherwise.
    pub fn destructive(self, destructive: bool) -> Self {
        self.hint(|hints| hints.destructive_hint = Some(destructive))
    }

    /// Calling it again with the same arguments adds nothing.
    pub fn idempotent(self) -> Self {
        self.hint(|hints| hints.idempotent_hint = Some(true))
    }

    /// Whether it deals with the outside world. It does unless it says
    /// otherwise.
    pub fn open_world(self, open: bool) -> Self {
        self.hint(|hints| hints.open_world_hint = Some(open))
    }

    /// All hints at once.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.parts.definition.annotations = Some(Box::new(annotations));
        self
    }

    /// A picture to show; one more each time.
    pub fn icon(mut self, icon: Icon) -> Self {
        self.parts.definition.icons.push(icon);
        self
    }

    /// What travels beside it.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.parts.definition.meta = Some(meta);
        self
    }

    /// What a client must be able to do. To others the tool is not listed, and
    /// their calls are refused before anything runs.
    pub fn requires(mut self, needs: impl IntoIterator<Item = Need>) -> Self {
        let needs: Needs = needs.into_iter().collect();
        self.parts.needs = self.parts.needs.union(needs);
        self
    }

    /// What a caller's token must allow, over HTTP; one more scope each time.
    /// Calls without it are refused before anything runs, with a challenge that
    /// names all scopes that the call takes; so are calls without any token.
    /// Where there are no tokens, on stdio and in memory, it means nothing.
    ///
    /// The tool is listed to everybody, so that clients can ask for more.
    pub fn scope(mut self, scope: &str) -> Self {
        scope::add(&mut self.parts.scopes, [scope]);
        self
    }

    /// How much one call may do.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self
    }

    /// Says that the tool may show this form, which has a key of its own. The
    /// server's manifest lists it, so that hosts can prepare for it.
    pub fn elicits<T: Elicit>(mut self) -> Self {
        self.parts.elicits.extend(Form::of::<T>());
        self
    }

    fn hint(mut self, set: impl FnOnce(&mut ToolAnnotations)) -> Self {
        set(self.parts.definition.annotations.get_or_insert_default());
        self
    }

    fn at<E, J>(self) -> Draft<E, J> {
        Draft {
            parts: self.parts,
            stage: PhantomData,
        }
    }
}

/// How a tool is finished.
impl<D, I> Draft<D, I> {
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
    ///     .headless(move |_| {
    ///         let greeting = greeting.clone();
    ///         async move { Ok(greeting.to_string()) }
    ///     });
    /// ```
    pub fn headless<S, O, F, W>(self, work: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        O: Output,
        F: Work1<I::Input, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData;
        let run = Headless { work, types };
        self.parts.finish(O::schema(), Arc::new(run)).for_state()
    }

    /// A tool that may ask the user and models, and has the application's
    /// state at hand: `async |input, cx: Conversation<App>| …`. For what it
    /// captures, see [`headless`](Self::headless).
    pub fn execute<S, O, F, W>(self, work: F) -> Tool<S>
    where
        D: HasDescription,
        I: HasInput,
        S: 'static,
        O: Output,
        F: Work2<I::Input, Conversation<S>, W> + Send + Sync + 'static,
        W: Future<Output = Result<O>> + Send + 'static,
    {
        let types = PhantomData::<fn(S, I::Input)>;
        let run = Execute { work, types };
        self.parts.finish(O::schema(), Arc::new(run)).for_state()
    }

    /// A tool in three phases: work before the client is asked, the
    /// conversation, and work after it. The first and the last happen once.
    pub fn handoff(self) -> NeedsBefore<I::Input>
    where
        D: HasDescription,
        I: HasInput,
    {
        NeedsBefore::new(self.parts)
    }
}

impl Parts {
    /// The tool, apart from the types that it is made of, so that there is only
    /// one of this.
    pub(super) fn finish(mut self, output: Option<RawJson>, run: Arc<dyn Run>) -> Tool {
        self.definition.input_schema = raw(&self.schema);
        self.definition.output_schema = output;
        let input = Input::new(&self.schema);
        let problem = self.problem().or_else(|| input.as_ref().err().cloned());
        #[cfg(feature = "http-server")]
        let (headers, problem) = match param_headers(&self.definition) {
            Ok(headers) => (headers, problem),
            Err(fault) => (ParamHeaders::default(), problem.or(Some(fault))),
        };
        Tool {
            state: PhantomData,
            shared: Arc::new(Shared {
                definition: self.definition,
                needs: self.needs,
                scopes: self.scopes,
                limits: self.limits,
                elicits: self.elicits,
                #[cfg(feature = "http-server")]
                headers,
                input: input.unwrap_or_else(|_| Input::refusing()),
                run,
                pace: Arc::default(),
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
        if let Some(problem) = scope::problem_in(&self.scopes) {
            return Some(problem);
        }
        let mut forms = self.elicits.iter().enumerate();
        let twice =
            forms.find(|(at, form)| self.elicits[..*at].iter().any(|it| it.key == form.key));
        twice.map(|(_, form)| format!("two of its forms have the key {:?}", form.key))
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
