//! Sets of resources that nobody knows beforehand.

use std::{future::Future, marker::PhantomData, sync::Arc};

use super::{ContentPart, IntoReadResult as _, RequestedResource};
use crate::{
    proto::model::{self, ReadResourceResult},
    server::{
        Conversation, ServerContext,
        capability::{CapabilitySet, ClientCapability},
        error::Result,
    },
    transport::BoxFuture,
};

/// A set of resources that changes by itself: a file tree, a database.
///
/// It is listed after the server's own resources, page by page with cursors of
/// its own, and asked for URIs that neither a resource nor a template of the
/// server's claims.
///
/// ```
/// use bowline::{server::{resource::{ContentPart, ResourcePage}, Conversation, ResourceSource, Result, ServerContext}, model};
///
/// struct Squares;
///
/// impl ResourceSource for Squares {
///     async fn list(&self, cursor: Option<&str>, _cx: &ServerContext) -> Result<ResourcePage> {
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
    /// One page of the list: the first, or the one that a cursor of this
    /// source's leads to.
    ///
    /// A cursor comes back from the client, so that it may be anything. Where
    /// it is none of this source's, fail.
    fn list(
        &self,
        cursor: Option<&str>,
        cx: &ServerContext<S>,
    ) -> impl Future<Output = Result<ResourcePage>> + Send;

    /// What is at a URI; `None` where this source has nothing there.
    ///
    /// The URI is the client's, verbatim: nothing in it was decoded or
    /// checked. Ask the user only once it is clear that there is something:
    /// the next source may be asked for the same URI.
    fn read(
        &self,
        uri: &str,
        cx: Conversation<S>,
    ) -> impl Future<Output = Result<Option<Vec<ContentPart>>>> + Send;

    /// Whether clients may watch a URI. They may watch all unless this says
    /// otherwise, also what is not there yet.
    fn is_subscribable(&self, uri: &str) -> bool {
        let _ = uri;
        true
    }

    /// What a client must be able to do. Others are told nothing of this
    /// source.
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
    /// A page with these on it, and none after it.
    pub fn new(resources: impl IntoIterator<Item = model::Resource>) -> Self {
        Self {
            resources: resources.into_iter().collect(),
            next: None,
        }
    }

    /// The cursor that leads to the next page. Clients see it.
    pub fn next(mut self, cursor: impl Into<String>) -> Self {
        self.next = Some(cursor.into());
        self
    }
}

/// A source, whatever its type is.
#[derive(Clone)]
pub(crate) struct AnySource {
    source: Arc<dyn ErasedSource>,
    pub(crate) needs: CapabilitySet,
}

trait ErasedSource: Send + Sync {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: ServerContext,
    ) -> BoxFuture<'static, Result<ResourcePage>>;

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation,
    ) -> BoxFuture<'static, Result<Option<Vec<ContentPart>>>>;

    fn is_subscribable(&self, uri: &str) -> bool;
}

/// A source of an author's.
struct TypedSource<S, T> {
    source: T,
    state: PhantomData<fn(S)>,
}

impl<S: Send + Sync + 'static, T: ResourceSource<S>> ErasedSource for TypedSource<S, T> {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: ServerContext,
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
        cx: ServerContext,
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
