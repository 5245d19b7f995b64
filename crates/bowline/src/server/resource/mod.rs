//! Resources and how to write them.
//!
//! [`Resource::new`] returns a [`ResourceBuilder`] for a resource with a fixed URI;
//! [`IntoReadResult`] is what reading it can return. A [`ResourceSource`] is a
//! dynamic set of resources. For URI patterns, see
//! [`template`](crate::server::template).

mod builder;
mod contents;
mod source;

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
        limits::CallLimits,
    },
};

pub use builder::ResourceBuilder;
pub(crate) use builder::uri_problem;
pub use contents::{ContentPart, IntoReadResult, RequestedResource};
pub(crate) use source::AnySource;
pub use source::{ResourcePage, ResourceSource};

/// A resource that clients can read, for servers with the state `S`.
///
/// ```
/// use bowline::server::{Conversation, Resource};
///
/// let notes: Resource = Resource::new("notes:///today", "today")
///     .description("What is on today")
///     .mime_type("text/markdown")
///     .text("# Today\n\n- nothing");
/// let clock = Resource::new("clock:///now", "now")
///     .read(async |_cx: Conversation| Ok(format!("{:?}", std::time::SystemTime::now())));
/// assert_eq!((notes.uri(), clock.uri()), ("notes:///today", "clock:///now"));
/// ```
pub struct Resource<S = ()> {
    pub(crate) shared: Arc<ResourceInner>,
    state: PhantomData<fn(S)>,
}

/// A built resource, as the server keeps it.
pub(crate) struct ResourceInner {
    pub(crate) definition: model::Resource,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) cache_hint: Option<CacheHint>,
    pub(crate) read: ErasedHandler<RequestedResource, ReadResourceResult>,
    /// Why the resource cannot be served.
    pub(crate) problem: Option<String>,
}

impl Resource {
    /// Returns a builder for a resource with this URI and a programmatic name.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a resource without contents must not compile, so `new` returns a builder"
    )]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> ResourceBuilder {
        ResourceBuilder::new(uri.into(), name.into())
    }
}

impl<S> Resource<S> {
    /// Returns the URI.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.shared.definition.uri
    }

    /// Returns the definition that is sent to clients.
    #[must_use]
    pub fn definition(&self) -> &model::Resource {
        &self.shared.definition
    }

    /// Returns the capabilities that a client needs to see and read the
    /// resource.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// Returns the scopes that a caller's token must have, over HTTP.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

shared_item!(Resource, item: "resource", key: uri);
