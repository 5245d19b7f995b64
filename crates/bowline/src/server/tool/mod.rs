//! Tools: what they are, and how they are written.
//!
//! [`Tool::new`] begins one, and [`Draft`] is how it goes on. [`ToolInput`] and
//! [`Output`] are what goes in and out; [`HandoffNeedsBefore`] is the first of three
//! phases, for tools that have them. Where the macros are on, `#[tool]` makes a
//! tool of a function.
//!
//! The other traits are bounds that explain themselves to those who miss them.

mod builder;
mod fast_schema;
mod handler;
pub(crate) mod handoff;
mod input;
mod output;
mod tool_fn;
mod typestate;
mod unique_keys;

use std::{fmt, marker::PhantomData, sync::Arc};

use crate::{
    proto::model,
    server::{
        capability::{CapabilitySet, ClientCapability},
        form::Elicit,
        limits::CallLimits,
        serve::LatencyEstimate,
    },
};

pub use builder::ToolBuilder;
pub(crate) use handler::{ConversationHandler, ToolHandler};
pub use handoff::{HandoffNeedsAfter, HandoffNeedsBefore, HandoffNeedsClient};
pub use input::NoArguments;
pub(crate) use input::ToolArguments;
pub use output::{IntoToolResult, Json};
pub use tool_fn::{ToolFn1, ToolFn2, ToolFn3};
pub use typestate::{
    HandoffValue, HasDescription, HasInput, LacksDescription, LacksInput, MissingDescription,
    MissingInput, ToolInput, WithDescription, WithInput,
};

/// Makes a tool of an async function.
///
/// The function stays as it is. Beside it there is `name::tool()`, which has
/// what [`Tool::new`] and the calls after it would have made of the function:
///
/// ```
/// use bowline::{
///     Server,
///     server::{Conversation, Json, Result, tool},
/// };
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// /// Adds two numbers.
/// #[tool(read_only, open_world = false)]
/// async fn add(
///     /// The first number.
///     a: i64,
///     b: Option<i64>,
/// ) -> Result<Json<i64>> {
///     Ok(Json(a + b.unwrap_or_default()))
/// }
///
/// struct Airline;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Trip {
///     city: String,
/// }
///
/// /// Books a flight, if the traveller agrees.
/// #[tool(name = "book", requires(elicitation), limits(questions = 3))]
/// async fn book_flight(#[input] trip: Trip, cx: Conversation<Airline>) -> Result<String> {
///     cx.confirm(format!("To {}?", trip.city)).await?;
///     Ok(format!("booked to {}", trip.city))
/// }
///
/// let server = Server::new("travel", "1.0.0")
///     .state(Airline)
///     .tool(add::tool())
///     .tool(book_flight::tool());
/// assert!(server.build().is_ok());
/// ```
///
/// The `///` comment above the function is the tool's description, and must be
/// there. The function returns a [`Result`](crate::server::Result) of some
/// [`Output`].
///
/// Each parameter is an argument. An `Option` may be left out. Parameters may
/// have:
///
/// | attribute | meaning |
/// |---|---|
/// | a `///` comment | the description of the argument |
/// | `#[serde(…)]`, `#[schemars(…)]` | what it means on a field |
/// | `#[header("Region")]` | HTTP requests repeat the argument in the header `Mcp-Param-Region` |
/// | `#[input]` | this one is all arguments at once, as in [`Draft::input`]; there is no other |
///
/// The last parameter may be a [`Conversation`](crate::server::Conversation) or
/// a [`ServerContext`](crate::server::ServerContext), written under this name,
/// since a macro sees no types. `Conversation<App>` makes the tool one for
/// servers with the state `App`; without a state, and without a context, it is
/// one for servers with any state.
///
/// In `#[tool(…)]` there may be:
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name of the tool; the function's unless given |
/// | `title = "…"` | [`title`](Draft::title) |
/// | `read_only` | [`read_only`](Draft::read_only) |
/// | `idempotent` | [`idempotent`](Draft::idempotent) |
/// | `destructive = false` | [`destructive`](Draft::destructive) |
/// | `open_world = false` | [`open_world`](Draft::open_world) |
/// | `requires(…)` | [`requires`](Draft::requires): `elicitation`, `url_elicitation`, `sampling`, `sampling_tools`, `roots` |
/// | `elicits(Form, …)` | [`elicits`](Draft::elicits) |
/// | `scope = "…"`, `scope("…", …)` | [`scope`](Draft::scope), for each |
/// | `limits(…)` | [`limits`](Draft::limits): `timeout_ms = …`, `questions = …`, `tokens = …`, `depth = …` |
/// | `crate = "…"` | where this crate has another path than `::bowline` |
///
/// For all else, and for tools in three phases, there is the builder.
#[cfg(feature = "macros")]
pub use bowline_macros::tool;

/// What the code that `#[tool]` makes uses of others. Not for anybody else.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
}

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
///     .handler(async |sum| Ok((sum.a + sum.b).to_string()));
/// assert_eq!(add.name(), "add");
/// ```
pub struct Tool<S = ()> {
    pub(crate) shared: Arc<ToolInner>,
    state: PhantomData<fn(S)>,
}

/// A finished tool, as the server keeps it.
pub(crate) struct ToolInner {
    pub(crate) definition: model::Tool,
    pub(crate) needs: CapabilitySet,
    /// What callers must be allowed to do.
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) elicits: Vec<DeclaredForm>,
    /// The arguments that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    pub(crate) headers: crate::proto::http::header::ParamHeaders,
    pub(crate) input_schema: input::InputSchema,
    pub(crate) handler: Arc<dyn ToolHandler>,
    /// How long it holds its thread.
    pub(crate) latency: Arc<LatencyEstimate>,
    /// Why it cannot be served.
    pub(crate) problem: Option<String>,
}

/// A form that a tool may show.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredForm {
    pub(crate) key: &'static str,
    pub(crate) schema: model::ElicitSchema,
}

impl Tool {
    /// Begins a tool of this name: 1 to 128 letters, digits, `_`, `-` and `.`.
    #[expect(
        clippy::new_ret_no_self,
        reason = "what is missing must not compile, so that a new tool is a draft"
    )]
    pub fn new(name: impl Into<String>) -> ToolBuilder<MissingDescription, MissingInput> {
        ToolBuilder::new(name.into())
    }
}

impl<S> Tool<S> {
    /// The same, as if it were made for another state: servers keep what they
    /// serve without the type of theirs.
    pub(crate) fn for_state<T>(self) -> Tool<T> {
        Tool {
            shared: self.shared,
            state: PhantomData,
        }
    }

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
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// The scopes that a caller's token must have, over HTTP.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }

    /// The limits of one call.
    #[must_use]
    pub fn limits(&self) -> CallLimits {
        self.shared.limits
    }
}

impl DeclaredForm {
    fn declared<T: Elicit>() -> Option<Self> {
        let schema = T::form();
        T::KEY.map(|key| Self { key, schema })
    }
}

impl Tool<()> {
    /// The same tool, for a server with any state.
    #[must_use]
    pub fn with_any_state<S: Send + Sync + 'static>(self) -> Tool<S> {
        self.for_state()
    }
}

impl<S> Clone for Tool<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            state: PhantomData,
        }
    }
}

impl<S> fmt::Debug for Tool<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tool = f.debug_struct("Tool");
        tool.field("name", &self.name()).finish_non_exhaustive()
    }
}
