//! Prompts and how to write them.
//!
//! [`Prompt::new`] returns a [`PromptBuilder`]. An [`Argument`] describes an
//! argument, [`Arguments`] are the values that the handler receives, and
//! [`IntoPromptResult`] is what it returns, usually messages made by [`user`] and
//! [`assistant`].

mod arguments;
mod builder;
mod messages;

use std::{marker::PhantomData, sync::Arc};

use super::dispatch::request::ErasedHandler;
use crate::{
    proto::model::{self, GetPromptResult},
    server::{
        builder_methods::shared_item,
        capability::{CapabilitySet, ClientCapability},
        completion::Completers,
        limits::CallLimits,
    },
};

pub use arguments::{Argument, Arguments};
pub use builder::PromptBuilder;
pub use messages::{IntoContentBlock, IntoPromptResult, assistant, user};

/// A prompt for servers with the state `S`: messages with which a user can start a
/// chat.
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

/// A built prompt, as the server keeps it.
pub(crate) struct PromptInner {
    pub(crate) definition: model::Prompt,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) completers: Completers,
    pub(crate) get: ErasedHandler<Arguments, GetPromptResult>,
    /// Why the prompt cannot be served.
    pub(crate) problem: Option<String>,
}

impl<S: 'static> Prompt<S> {
    /// Returns a builder for a prompt with this name.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a prompt without messages must not compile, so `new` returns a builder"
    )]
    pub fn new(name: impl Into<String>) -> PromptBuilder<S, Arguments> {
        PromptBuilder::new(name.into())
    }
}

impl<S> Prompt<S> {
    /// Returns the prompt's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.shared.definition.name
    }

    /// Returns the definition that is sent to clients.
    #[must_use]
    pub fn definition(&self) -> &model::Prompt {
        &self.shared.definition
    }

    /// Returns the capabilities that a client needs to see and get the prompt.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// Returns the scopes that a caller's token must have, over HTTP.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

shared_item!(Prompt, item: "prompt", key: name);
