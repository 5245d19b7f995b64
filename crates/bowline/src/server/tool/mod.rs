//! Tools: what they are, and how they are written.
//!
//! [`Tool::new`] begins one, and [`Draft`] is how it goes on. [`ToolInput`] and
//! [`Output`] are what goes in and out; [`NeedsBefore`] is the first of three
//! phases, for tools that have them.
//!
//! The other traits are bounds that explain themselves to those who miss them.

mod builder;
mod handoff;
mod input;
mod output;
mod run;
mod stage;
mod work;

use std::{fmt, sync::Arc};

use crate::{
    proto::{http::header::ParamHeaders, model},
    server::{
        form::Elicit,
        limits::Limits,
        needs::{Need, Needs},
    },
};

pub use builder::Draft;
pub use handoff::{NeedsAfter, NeedsBefore, NeedsClient};
pub(crate) use input::Arguments;
pub use input::NoArguments;
pub use output::{Json, Output};
pub(crate) use run::Run;
pub use stage::{
    Carried, Described, Given, HasDescription, HasInput, LacksDescription, LacksInput, ToolInput,
    Undecided, Undescribed,
};
pub use work::{Work1, Work2, Work3};

/// Something that a server does on request, for servers with the state `S`.
///
/// ```
/// use bowline::server::Tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Sum {
///     a: i64,
///     b: i64,
/// }
///
/// let add: Tool = Tool::new("add")
///     .description("Adds two numbers")
///     .input::<Sum>()
///     .headless(async |sum| Ok((sum.a + sum.b).to_string()));
/// assert_eq!(add.name(), "add");
/// ```
pub struct Tool<S = ()> {
    pub(crate) shared: Arc<Shared<S>>,
}

/// A finished tool, as the server keeps it.
pub(crate) struct Shared<S> {
    pub(crate) definition: model::Tool,
    pub(crate) needs: Needs,
    pub(crate) limits: Limits,
    pub(crate) elicits: Vec<Form>,
    /// The arguments that HTTP requests repeat in headers.
    pub(crate) headers: ParamHeaders,
    pub(crate) input: input::Input,
    pub(crate) run: Box<dyn Run<S>>,
    /// Why it cannot be served.
    pub(crate) problem: Option<String>,
}

/// A form that a tool may show.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) key: &'static str,
    pub(crate) schema: model::ElicitSchema,
}

impl Tool {
    /// Begins a tool of this name: 1 to 128 letters, digits, `_`, `-` and `.`.
    #[expect(
        clippy::new_ret_no_self,
        reason = "what is missing must not compile, so that a new tool is a draft"
    )]
    pub fn new(name: impl Into<String>) -> Draft<Undescribed, Undecided> {
        Draft::new(name.into())
    }
}

impl<S> Tool<S> {
    /// The name by which it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.definition.name
    }

    /// What clients are told of it.
    #[must_use]
    pub fn definition(&self) -> &model::Tool {
        &self.shared.definition
    }

    /// What a client must be able to do to see and call it.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.shared.needs.iter()
    }

    /// The limits of one call.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.shared.limits
    }
}

impl Form {
    fn of<T: Elicit>() -> Option<Self> {
        let schema = T::form();
        T::KEY.map(|key| Self { key, schema })
    }
}

impl Tool<()> {
    /// The same tool, for a server with any state.
    #[must_use]
    pub fn with_any_state<S: Send + Sync + 'static>(self) -> Tool<S> {
        let shared = &self.shared;
        let inner = Shared {
            definition: shared.definition.clone(),
            needs: shared.needs,
            limits: shared.limits,
            elicits: shared.elicits.clone(),
            headers: shared.headers.clone(),
            input: shared.input.clone(),
            problem: shared.problem.clone(),
            run: Box::new(run::Stateless(self.clone())),
        };
        Tool {
            shared: Arc::new(inner),
        }
    }
}

impl<S> Clone for Tool<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<S> fmt::Debug for Tool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tool = f.debug_struct("Tool");
        tool.field("name", &self.name()).finish_non_exhaustive()
    }
}
