//! Patterns of URIs that clients may read.
//!
//! [`ResourceTemplate::new`] begins one; `builder` is how it goes on.
//! `pattern` finds out which URIs fit, `variables` is what stands in them,
//! and `values` reads that as types of the author's.

mod builder;
mod pattern;
pub(crate) mod string_map;
mod variables;

use std::{fmt, marker::PhantomData, sync::Arc};

use super::dispatch::request::ErasedHandler;
use crate::{
    proto::{
        model::{self, ReadResourceResult},
        server::CacheHint,
    },
    server::{
        capability::{CapabilitySet, ClientCapability},
        completion::Completers,
        limits::CallLimits,
        resource::RequestedResource,
    },
};

pub use builder::ResourceTemplateBuilder;
pub(crate) use pattern::UriPattern;
pub use variables::Variables;

/// Resources whose URIs have a pattern, for servers with the state `S`.
///
/// The pattern is a URI template of RFC 6570. `{name}` is anything up to the
/// next `/`, `?` or `#`; `{+name}` may hold these, too, as paths do. Templates
/// are tried in the order in which they are added, after all resources that
/// have a URI of their own.
///
/// ```
/// use bowline::server::{Conversation, ResourceTemplate, completion::CompletionContext};
///
/// let weather = ResourceTemplate::new("weather:///{city}/today", "weather")
///     .description("Today's weather in a city")
///     .mime_type("text/plain")
///     .complete("city", async |typed, _cx: CompletionContext| {
///         Ok(["Lisbon", "London"].into_iter().filter(|city| city.starts_with(&typed)).collect())
///     })
///     .read(async |variables, _cx: Conversation| Ok(format!("Sunny in {}", &variables["city"])));
/// assert_eq!(weather.uri_template(), "weather:///{city}/today");
/// ```
pub struct ResourceTemplate<S = ()> {
    pub(crate) shared: Arc<TemplateInner>,
    state: PhantomData<fn(S)>,
}

/// A finished template, as the server keeps it.
pub(crate) struct TemplateInner {
    pub(crate) definition: model::ResourceTemplate,
    pub(crate) pattern: UriPattern,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) cache_hint: Option<CacheHint>,
    pub(crate) completers: Completers,
    pub(crate) read: ErasedHandler<(RequestedResource, Variables), ReadResourceResult>,
    /// Why it cannot be served.
    pub(crate) problem: Option<String>,
}

impl<S: 'static> ResourceTemplate<S> {
    /// Begins a template with this pattern, and a name for programs.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a template that cannot be read must not compile, so that a new one is a draft"
    )]
    pub fn new(
        uri_template: impl Into<String>,
        name: impl Into<String>,
    ) -> ResourceTemplateBuilder<S, Variables> {
        ResourceTemplateBuilder::new(uri_template.into(), name.into())
    }
}

impl<S> ResourceTemplate<S> {
    /// The same, as if it were made for another state: servers keep what they
    /// serve without the type of theirs.
    pub(crate) fn for_state<T>(self) -> ResourceTemplate<T> {
        ResourceTemplate {
            shared: self.shared,
            state: PhantomData,
        }
    }

    /// The pattern.
    #[must_use]
    pub fn uri_template(&self) -> &str {
        &self.shared.definition.uri_template
    }

    /// What clients are told of it.
    #[must_use]
    pub fn definition(&self) -> &model::ResourceTemplate {
        &self.shared.definition
    }

    /// What a client must be able to do to see and read it.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// The scopes that reading what matches it takes.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

impl ResourceTemplate<()> {
    /// The same template, for a server with any state.
    #[must_use]
    pub fn with_any_state<S: Send + Sync + 'static>(self) -> ResourceTemplate<S> {
        self.for_state()
    }
}

impl<S> Clone for ResourceTemplate<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            state: PhantomData,
        }
    }
}

impl<S> fmt::Debug for ResourceTemplate<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut template = f.debug_struct("ResourceTemplate");
        template
            .field("uri_template", &self.uri_template())
            .finish_non_exhaustive()
    }
}
