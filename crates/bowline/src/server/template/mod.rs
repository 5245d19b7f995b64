//! Resource templates: URI patterns that clients can read.
//!
//! [`ResourceTemplate::new`] returns a [`ResourceTemplateBuilder`]. The handler
//! receives the variables of the URI, as [`Variables`] or as a struct.

mod builder;
mod pattern;
pub(crate) mod string_map;
mod variables;

use std::{marker::PhantomData, sync::Arc};

use super::dispatch::request::ErasedHandler;
use crate::{
    proto::{
        model::{self, ReadResourceResult},
        server::CacheHint,
    },
    server::{
        builder_methods::shared_item,
        capability::{CapabilitySet, ClientCapability},
        completion::Completers,
        limits::CallLimits,
        resource::RequestedResource,
    },
};

pub use builder::ResourceTemplateBuilder;
pub(crate) use pattern::UriPattern;
pub use variables::Variables;

/// Resources whose URIs match a pattern, for servers with the state `S`.
///
/// The pattern is a URI template as in RFC 6570. `{name}` matches anything up
/// to the next `/`, `?` or `#`; `{+name}` may contain these too, as paths do.
/// Templates are tried in the order in which they were added, after all
/// resources with a fixed URI.
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

/// A built template, as the server keeps it.
pub(crate) struct TemplateInner {
    pub(crate) definition: model::ResourceTemplate,
    pub(crate) pattern: UriPattern,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) cache_hint: Option<CacheHint>,
    pub(crate) completers: Completers,
    pub(crate) read: ErasedHandler<(RequestedResource, Variables), ReadResourceResult>,
    /// Why the template cannot be served.
    pub(crate) problem: Option<String>,
}

impl<S: 'static> ResourceTemplate<S> {
    /// Returns a builder for a template with this pattern and a programmatic name.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a template that cannot be read must not compile, so `new` returns a builder"
    )]
    pub fn new(
        uri_template: impl Into<String>,
        name: impl Into<String>,
    ) -> ResourceTemplateBuilder<S, Variables> {
        ResourceTemplateBuilder::new(uri_template.into(), name.into())
    }
}

impl<S> ResourceTemplate<S> {
    /// Returns the URI template.
    #[must_use]
    pub fn uri_template(&self) -> &str {
        &self.shared.definition.uri_template
    }

    /// Returns the definition that is sent to clients.
    #[must_use]
    pub fn definition(&self) -> &model::ResourceTemplate {
        &self.shared.definition
    }

    /// Returns the capabilities that a client needs to see the template and
    /// read what matches it.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// Returns the scopes that a caller's token must have to read what matches
    /// it, over HTTP.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

shared_item!(ResourceTemplate, item: "template", key: uri_template);
