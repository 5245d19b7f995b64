//! Sets of resources that nobody knows beforehand.

use std::{future::Future, sync::Arc};

use super::{About, Contents as _, Part};
use crate::{
    proto::model::{self, ReadResourceResult},
    server::{
        Conversation, ServerContext,
        error::Result,
        needs::{Need, Needs},
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
/// use bowline::{
///     proto::model,
///     server::{
///         Conversation, ResourceSource, Result, ServerContext,
///         resource::{Part, ResourcePage},
///     },
/// };
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
///     async fn read(&self, uri: &str, _cx: Conversation) -> Result<Option<Vec<Part>>> {
///         let Some(n) = uri.strip_prefix("square:").and_then(|n| n.parse::<u64>().ok()) else {
///             return Ok(None);
///         };
///         Ok(Some(vec![Part::text((n * n).to_string())]))
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
    ) -> impl Future<Output = Result<Option<Vec<Part>>>> + Send;

    /// Whether clients may watch a URI. They may watch all unless this says
    /// otherwise, also what is not there yet.
    fn may_watch(&self, uri: &str) -> bool {
        let _ = uri;
        true
    }

    /// What a client must be able to do. Others are told nothing of this
    /// source.
    fn requires(&self) -> Vec<Need> {
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
pub(crate) struct AnySource<S> {
    source: Arc<dyn Erased<S>>,
    pub(crate) needs: Needs,
}

trait Erased<S>: Send + Sync {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: ServerContext<S>,
    ) -> BoxFuture<'static, Result<ResourcePage>>;

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation<S>,
    ) -> BoxFuture<'static, Result<Option<Vec<Part>>>>;

    fn may_watch(&self, uri: &str) -> bool;
}

/// A source of an author's.
struct Own<T>(T);

impl<S: Send + Sync + 'static, T: ResourceSource<S>> Erased<S> for Own<T> {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: ServerContext<S>,
    ) -> BoxFuture<'static, Result<ResourcePage>> {
        Box::pin(async move { self.0.list(cursor.as_deref(), &cx).await })
    }

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation<S>,
    ) -> BoxFuture<'static, Result<Option<Vec<Part>>>> {
        Box::pin(async move { self.0.read(&uri, cx).await })
    }

    fn may_watch(&self, uri: &str) -> bool {
        self.0.may_watch(uri)
    }
}

/// A source without state in a server that has some.
struct Stateless(Arc<dyn Erased<()>>);

impl<S: Send + Sync + 'static> Erased<S> for Stateless {
    fn list(
        self: Arc<Self>,
        cursor: Option<String>,
        cx: ServerContext<S>,
    ) -> BoxFuture<'static, Result<ResourcePage>> {
        Arc::clone(&self.0).list(cursor, cx.with_state(Arc::new(())))
    }

    fn read(
        self: Arc<Self>,
        uri: String,
        cx: Conversation<S>,
    ) -> BoxFuture<'static, Result<Option<Vec<Part>>>> {
        let context = cx.server().with_state(Arc::new(()));
        Arc::clone(&self.0).read(uri, Conversation::new(context))
    }

    fn may_watch(&self, uri: &str) -> bool {
        self.0.may_watch(uri)
    }
}

impl<S: Send + Sync + 'static> AnySource<S> {
    pub(crate) fn new(source: impl ResourceSource<S>) -> Self {
        Self {
            needs: source.requires().into_iter().collect(),
            source: Arc::new(Own(source)),
        }
    }

    pub(crate) fn list(
        &self,
        cursor: Option<String>,
        cx: ServerContext<S>,
    ) -> BoxFuture<'static, Result<ResourcePage>> {
        Arc::clone(&self.source).list(cursor, cx)
    }

    pub(crate) async fn read(
        &self,
        about: &About,
        cx: Conversation<S>,
    ) -> Result<Option<ReadResourceResult>> {
        let parts = Arc::clone(&self.source).read(about.uri.clone(), cx).await?;
        parts.map(|parts| parts.into_result(about)).transpose()
    }

    pub(crate) fn may_watch(&self, uri: &str) -> bool {
        self.source.may_watch(uri)
    }
}

impl AnySource<()> {
    pub(crate) fn with_any_state<S: Send + Sync + 'static>(self) -> AnySource<S> {
        AnySource {
            source: Arc::new(Stateless(self.source)),
            needs: self.needs,
        }
    }
}

impl<S> Clone for AnySource<S> {
    fn clone(&self) -> Self {
        Self {
            source: Arc::clone(&self.source),
            needs: self.needs,
        }
    }
}
