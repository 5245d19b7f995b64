//! Tools and how to write them.
//!
//! [`Tool::new`] returns a [`ToolBuilder`]. [`ToolInput`] is what a tool takes
//! and [`IntoToolResult`] what it returns; [`ToolBuilder::phases`] builds a
//! tool in three phases. With the macros enabled, `#[tool]` turns a function
//! into a tool.
//!
//! The other traits are bounds with helpful compiler messages.

mod builder;
mod handler;
mod input;
mod output;
pub(crate) mod phases;
mod tool_fn;
mod typestate;
mod unique_keys;

use std::{marker::PhantomData, sync::Arc};

use crate::{
    proto::model,
    server::{
        builder_methods::shared_item,
        capability::{CapabilitySet, ClientCapability},
        dispatch::{router::Feature, tool_call::StartCall},
        form::Elicit,
        limits::CallLimits,
        serve::LatencyEstimate,
    },
};

pub use builder::ToolBuilder;
pub(crate) use handler::{ConversationHandler, PlainHandler};
pub use input::NoArguments;
pub(crate) use input::ToolArguments;
pub use output::{IntoToolResult, Json};
pub use phases::{PhasesNeedAfter, PhasesNeedAsk, PhasesNeedBefore};
pub use tool_fn::{ToolFn1, ToolFn2, ToolFn3};
pub use typestate::{
    HasDescription, HasInput, LacksDescription, LacksInput, MissingDescription, MissingInput,
    PhaseValue, ToolInput, WithDescription, WithInput,
};

/// Turns an async function into a tool.
///
/// The function itself is unchanged. The macro adds an empty type of the same name,
/// with an associated function `tool()` that returns the [`Tool`], as if it had been
/// built with [`Tool::new`]:
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
/// #[tool(name = "book", requires(elicitation), limits(max_questions = 3))]
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
/// The `///` comment above the function is the tool's description and is
/// required. The function returns a [`Result`](crate::server::Result) of some
/// [`IntoToolResult`].
///
/// Each parameter is an argument. An `Option` may be omitted. Parameters may
/// have:
///
/// | attribute | meaning |
/// |---|---|
/// | a `///` comment | the description of the argument |
/// | `#[serde(…)]`, `#[schemars(…)]` | the same as on a field of a struct |
/// | `#[header("Region")]` | HTTP requests repeat the argument in the header `Mcp-Param-Region` |
/// | `#[input]` | this parameter receives all arguments as one struct, as in [`ToolBuilder::input`]; there can be no other arguments |
///
/// The last parameter may be a [`Conversation`](crate::server::Conversation) or
/// a [`HandlerContext`](crate::server::HandlerContext). Write the type under this
/// name: the macro does not recognize a type alias. A tool with a
/// `Conversation<App>` can be added to servers with the state `App`; one with a
/// plain `Conversation`, or without a context, to any server.
///
/// `#[tool(…)]` accepts these options:
///
/// | option | meaning |
/// |---|---|
/// | `name = "…"` | the name of the tool; defaults to the function's name |
/// | `title = "…"` | [`title`](ToolBuilder::title) |
/// | `read_only` | [`read_only`](ToolBuilder::read_only) |
/// | `idempotent` | [`idempotent`](ToolBuilder::idempotent) |
/// | `destructive = false` | [`destructive`](ToolBuilder::destructive) |
/// | `open_world = false` | [`open_world`](ToolBuilder::open_world) |
/// | `requires(…)` | [`requires`](ToolBuilder::requires): `elicitation`, `url_elicitation`, `sampling`, `sampling_tools`, `roots` |
/// | `elicits(Form, …)` | [`elicits`](ToolBuilder::elicits) |
/// | `scope = "…"`, `scope("…", …)` | [`scope`](ToolBuilder::scope), for each |
/// | `limits(…)` | [`limits`](ToolBuilder::limits): `timeout_ms = …`, `max_questions = …`, `max_tokens = …`, `max_depth = …` |
/// | `crate = "…"` | the path of this crate, if it is not `::bowline` |
///
/// For everything else, and for tools in three phases, use the builder.
#[cfg(feature = "macros")]
pub use bowline_macros::tool;

/// Dependencies of the code that `#[tool]` generates. Not public API.
#[cfg(feature = "macros")]
#[doc(hidden)]
pub mod __private {
    pub use schemars;
    pub use serde;
}

/// A tool for servers with the state `S`.
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

/// A built tool, as the server keeps it.
pub(crate) struct ToolInner {
    pub(crate) definition: model::Tool,
    pub(crate) needs: CapabilitySet,
    /// The scopes that the caller's token must have.
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) elicits: Vec<DeclaredForm>,
    /// What the server needs for calls that become tasks, if they may.
    pub(crate) task_feature: Option<&'static Feature>,
    /// The arguments that HTTP requests repeat in headers.
    #[cfg(feature = "http-server")]
    pub(crate) headers: crate::proto::http::header::ParamHeaders,
    pub(crate) input_schema: input::InputSchema,
    pub(crate) handler: Arc<dyn StartCall>,
    /// How long the tool blocks its thread.
    pub(crate) latency: Arc<LatencyEstimate>,
    /// Why the tool cannot be served.
    pub(crate) problem: Option<String>,
}

/// A form that a tool may show.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredForm {
    pub(crate) key: &'static str,
    pub(crate) schema: model::ElicitSchema,
}

impl Tool {
    /// Returns a builder for a tool with this name: 1 to 128 letters, digits, `_`,
    /// `-` and `.`.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a tool with missing parts must not compile, so `new` returns a builder"
    )]
    pub fn new(name: impl Into<String>) -> ToolBuilder<MissingDescription, MissingInput> {
        ToolBuilder::new(name.into())
    }
}

impl<S> Tool<S> {
    /// Returns the tool's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.definition.name
    }

    /// Returns the definition that is sent to clients.
    #[must_use]
    pub fn definition(&self) -> &model::Tool {
        &self.shared.definition
    }

    /// Returns the capabilities that a client needs to see and call the tool.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// Returns the scopes that a caller's token must have, over HTTP.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }

    /// Returns the limits of one call.
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

shared_item!(Tool, item: "tool", key: name);
