//! Resources: what they are, and how they are written.
//!
//! [`Resource::new`] begins one that has a URI of its own; `builder` is how
//! it goes on and `contents` what reading it returns. A [`ResourceSource`] is
//! a set of resources that nobody knows beforehand. Patterns of URIs are
//! [templates](crate::server::template).

mod builder;
mod contents;
mod source;

use std::{fmt, marker::PhantomData, sync::Arc};

use super::dispatch::request::ErasedHandler;
use crate::{
    proto::{
        model::{self, ReadResourceResult},
        server::CacheHint,
    },
    server::{
        capability::{CapabilitySet, ClientCapability},
        limits::CallLimits,
    },
};

pub use builder::ResourceBuilder;
pub(crate) use builder::uri_problem;
pub use contents::{ContentPart, IntoReadResult, RequestedResource};
pub(crate) use source::AnySource;
pub use source::{ResourcePage, ResourceSource};

/// Something that clients may read, for servers with the state `S`.
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

/// A finished resource, as the server keeps it.
pub(crate) struct ResourceInner {
    pub(crate) definition: model::Resource,
    pub(crate) needs: CapabilitySet,
    pub(crate) scopes: Vec<Box<str>>,
    pub(crate) limits: CallLimits,
    pub(crate) cache_hint: Option<CacheHint>,
    pub(crate) read: ErasedHandler<RequestedResource, ReadResourceResult>,
    /// Why it cannot be served.
    pub(crate) problem: Option<String>,
}

impl Resource {
    /// Begins a resource at this URI, with a name for programs.
    #[expect(
        clippy::new_ret_no_self,
        reason = "a resource without contents must not compile, so that a new one is a draft"
    )]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> ResourceBuilder {
        ResourceBuilder::new(uri.into(), name.into())
    }

    /// The same resource, for a server with any state.
    #[must_use]
    pub fn with_any_state<S: Send + Sync + 'static>(self) -> Resource<S> {
        self.for_state()
    }
}

impl<S> Resource<S> {
    /// The same, as if it were made for another state: servers keep what they
    /// serve without the type of theirs.
    pub(crate) fn for_state<T>(self) -> Resource<T> {
        Resource {
            shared: self.shared,
            state: PhantomData,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.shared.definition.uri
    }

    /// What clients are told of it.
    #[must_use]
    pub fn definition(&self) -> &model::Resource {
        &self.shared.definition
    }

    /// What a client must be able to do to see and read it.
    pub fn required_capabilities(&self) -> impl Iterator<Item = ClientCapability> {
        self.shared.needs.iter()
    }

    /// The scopes that reading it takes.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        self.shared.scopes.iter().map(|scope| &**scope)
    }
}

impl<S> Clone for Resource<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            state: PhantomData,
        }
    }
}

impl<S> fmt::Debug for Resource<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut resource = f.debug_struct("Resource");
        resource.field("uri", &self.uri()).finish_non_exhaustive()
    }
}
