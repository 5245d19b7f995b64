//! Prompts: what they are, and how they are written.
//!
//! [`Prompt::new`] begins one; `builder` is how it goes on, `arguments` is
//! what can be filled in, and `messages` what comes out.

mod arguments;
mod builder;
mod messages;

use std::{fmt, marker::PhantomData, sync::Arc};

use super::dispatch::request::ErasedHandler;
use crate::{
    proto::model::{self, GetPromptResult},
    server::{
        capability::{CapabilitySet, ClientCapability},
        completion::Completers,
        limits::CallLimits,
    },
};

pub use arguments::{Argument, Arguments};
pub use builder::PromptBuilder;
pub use messages::{IntoContentBlock, IntoPromptResult, assistant, user};

/// A conversation that a server has ready for people to begin, for servers with
/// the state `S`.
///
/// ```
/// use bowline::server::{
///     Conversation, Prompt,
///     prompt::{Argument, assistant, user},
/// };
///
/// let review = Prompt::new("review")
///     .description("Reviews some code")
///     .argument(Argument::new("code").description("What to review").required())
///     .argument(Argument::new("language"))
///     .complete_from("language", ["rust", "ruby"])
///     .get(async |arguments, _cx: Conversation| {
///         let language = arguments.get("language").unwrap_or("unknown");
///         Ok(vec![
///             user(format!("Review this {language} code:\n{}", &arguments["code"])),
///             assistant("Let me see."),
///         ])
///     });
/// assert_eq!(review.name(), "review");
/// ```
pub struct Prompt<S = ()> {
    pub(crate) shared: Arc<PromptInner>,
    state: PhantomData<fn(S)>,
}

/// A finished prompt, as the server keeps it.
pub(crate) struct PromptInner {
    pub(crate) definition: model::Prompt,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) completers: Completers,
    pub(crate) get: ErasedHandler<Arguments, GetPromptResult>,
    /// Why it cannot be served.
    pub(crate) problem: Option<String>,
}

impl<S: 'static> Prompt<S> {
    /// Begins a prompt of this name.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a prompt without messages must not compile, so that a new one is a draft"
    )]
    pub fn new(name: impl Into<String>) -> PromptBuilder<S, Arguments> {
        PromptBuilder::new(name.into())
    }
}

impl<S> Prompt<S> {
    /// The same, as if it were made for another state: servers keep what they
    /// serve without the type of theirs.
    pub(crate) fn for_state<T>(self) -> Prompt<T> {
        Prompt {
            shared: self.shared,
            state: PhantomData,
        }
    }

    /// The name by which it is got.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.definition.name
    }

    /// What clients are told of it.
    #[must_use]
    pub fn definition(&self) -> &model::Prompt {
        &self.shared.definition
    }

    /// What a client must be able to do to see and get it.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// The scopes that getting it takes.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

impl Prompt<()> {
    /// The same prompt, for a server with any state.
    #[must_use]
    pub fn with_any_state<S: Send + Sync + 'static>(self) -> Prompt<S> {
        self.for_state()
    }
}

impl<S> Clone for Prompt<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            state: PhantomData,
        }
    }
}

impl<S> fmt::Debug for Prompt<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut prompt = f.debug_struct("Prompt");
        prompt.field("name", &self.name()).finish_non_exhaustive()
    }
}
