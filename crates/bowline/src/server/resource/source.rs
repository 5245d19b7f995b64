//! Dynamic sets of resources.

use std::{future::Future, marker::PhantomData, sync::Arc};

use super::{ContentPart, IntoReadResult as _, RequestedResource};
use crate::{
    proto::model::{self, ReadResourceResult},
    server::{
        Conversation, HandlerContext,
        capability::{CapabilitySet, ClientCapability},
        error::Result,
    },
    transport::BoxFuture,
};

/// A set of resources that is determined at run time, such as a file tree or a
/// database.
///
/// Its resources are listed after those that were added to the server, page by
/// page with its own cursors. It is asked to read URIs that match no resource and
/// no template of the server.
///
/// ```
/// use bowline::{server::{resource::{ContentPart, ResourcePage}, Conversation, ResourceSource, Result, HandlerContext}, model};
///
/// struct Squares;
///
/// impl ResourceSource for Squares {
///     async fn list(&self, cursor: Option<&str>, _cx: &HandlerContext) -> Result<ResourcePage> {
///         let first: u64 = cursor.unwrap_or("0").parse()?;
///         let some = (first..first + 10).map(|n| model::Resource::new(format!("square:{n}"), "square"));
///         let page = ResourcePage::new(some);
///         Ok(if first < 90 { page.next((first + 10).to_string()) } else { page })
///     }
///
///     async fn read(&self, uri: &str, _cx: Conversation) -> Result<Option<Vec<ContentPart>>> {
///         let Some(n) = uri.strip_prefix("square:").and_then(|n| n.parse::<u64>().ok()) else {
///             return Ok(None);
///         };
///         Ok(Some(vec![ContentPart::text((n * n).to_string())]))
///     }
/// }
/// ```
pub trait ResourceSource<S = ()>: Send + Sync + 'static {
    /// Returns one page of the list: the first, or the one at `cursor`.
    ///
    /// The client sends back a cursor of an earlier page, but it could send any
    /// string. Return an error if the cursor is not valid.
    fn list(
        &self,
        cursor: Option<&str>,
        cx: &HandlerContext<S>,
    ) -> impl Future<Output = Result<ResourcePage>> + Send;

    /// Reads a URI, or returns `None` if this source has no such resource.
    ///
    /// The URI is passed exactly as the client sent it: nothing in it is
    /// decoded or checked. Ask the user only when you know that the resource
    /// exists; otherwise the next source, which is tried after this one returns
    /// `None`, may ask again.
    fn read(
        &self,
        uri: &str,
        cx: Conversation<S>,
    ) -> impl Future<Output = Result<Option<Vec<ContentPart>>>> + Send;

    /// Returns whether clients may subscribe to a URI. By default they may
    /// subscribe to any, including those that do not exist yet.
    fn is_subscribable(&self, uri: &str) -> bool {
        let _ = uri;
        true
    }

    /// Returns the capabilities that a client must have. The source is hidden
    /// from other clients.
    fn requires(&self) -> Vec<ClientCapability> {
        Vec::new()
    }
}

/// A page of a source's list.
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct ResourcePage {
    pub(crate) resources: Vec<model::Resource>,
    pub(crate) next: Option<String>,
}

impl ResourcePage {
    /// Creates the last page, with these resources.
    pub fn new(resources: impl IntoIterator<Item = model::Resource>) -> Self {
        Self {
            resources: resources.into_iter().collect(),
            next: None,
        }
    }

    /// Sets the cursor of the next page. Clients see it.
    pub fn next(mut self, cursor: impl Into<String>) -> Self {
        self.next = Some(cursor.into());
        self
    }
}

/// A source, with its type erased.
#[derive(Clone)]
pub(crate) struct AnySource {
    source: Arc<dyn ErasedSource>,
    pub(crate) needs: CapabilitySet,
}

trait ErasedSource: Send + Sync {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: HandlerContext,
    ) -> BoxFuture<'static, Result<ResourcePage>>;

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation,
    ) -> BoxFuture<'static, Result<Option<Vec<ContentPart>>>>;

    fn is_subscribable(&self, uri: &str) -> bool;
}

/// A source with its type.
struct TypedSource<S, T> {
    source: T,
    state: PhantomData<fn(S)>,
}

impl<S: Send + Sync + 'static, T: ResourceSource<S>> ErasedSource for TypedSource<S, T> {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: HandlerContext,
    ) -> BoxFuture<'static, Result<ResourcePage>> {
        let cx = cx.for_state();
        Box::pin(async move { self.source.list(cursor.as_deref(), &cx).await })
    }

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation,
    ) -> BoxFuture<'static, Result<Option<Vec<ContentPart>>>> {
        let cx = cx.for_state();
        Box::pin(async move { self.source.read(&uri, cx).await })
    }

    fn is_subscribable(&self, uri: &str) -> bool {
        self.source.is_subscribable(uri)
    }
}

impl AnySource {
    pub(crate) fn new<S: Send + Sync + 'static>(source: impl ResourceSource<S>) -> Self {
        Self {
            needs: source.requires().into_iter().collect(),
            source: Arc::new(TypedSource {
                source,
                state: PhantomData,
            }),
        }
    }

    pub(crate) fn list(
        &self,
        cursor: Option<String>,
        cx: HandlerContext,
    ) -> BoxFuture<'static, Result<ResourcePage>> {
        Arc::clone(&self.source).list(cursor, cx)
    }

    pub(crate) async fn read(
        &self,
        requested: &RequestedResource,
        cx: Conversation,
    ) -> Result<Option<ReadResourceResult>> {
        let parts = Arc::clone(&self.source)
            .read(requested.uri.clone(), cx)
            .await?;
        parts.map(|parts| parts.into_result(requested)).transpose()
    }

    pub(crate) fn is_subscribable(&self, uri: &str) -> bool {
        self.source.is_subscribable(uri)
    }
}
