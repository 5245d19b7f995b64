//! A built server and its connections.

use std::{
    fmt,
    future::Future,
    sync::{Arc, RwLock},
    time::Duration,
};

#[cfg(all(feature = "auth", feature = "http-server"))]
use super::auth::permissions::Permissions;
use tokio::time::Instant;

use super::{
    background::BackgroundTasks,
    builder::BuildError,
    changes::ChangeRelay,
    conversation::{
        HandlerContext,
        client_channel::ClientChannel,
        invocation::{Invocation, InvocationGuard},
    },
    dispatch::{
        catalog::{Catalog, Section},
        extension::Extensions,
        list::{CatalogItem, ListItem, Paging},
        request::{
            Dispatched, HandlerReply, IncomingNotification, OpenChannel, Request, RequestHandler,
            SubscriptionChange,
        },
        router::Router,
        subscriptions::SubscriptionListener,
        tools::into_result,
    },
    limits::CallLimits,
    replay::round::ReplayEngine,
    resource::AnySource,
    serve::{Connections, Observation},
    state::AnyState,
    task::TaskEngine,
};
#[cfg(all(feature = "auth", feature = "http-server"))]
use crate::proto::model::method;
use crate::{
    proto::{
        model::{ListToolsParams, ResultObject},
        server::{CacheHint, Config, ListKind, Reply, RequestContext, RequestParams, errors},
    },
    sync,
    transport::BoxFuture,
};

/// A server that is ready to serve any number of clients, returned by
/// [`Server::build`](crate::server::Server::build). Cheap to clone.
///
/// Tools, resources and prompts can be added and removed while it serves;
/// subscribed clients are notified.
///
/// It is not a tower service; the method `http` (feature `http-server`) returns
/// one.
pub struct Service<S = ()> {
    pub(crate) core: Arc<Core>,
    pub(super) state: Arc<S>,
}

/// The state that all parts of a server share.
pub(crate) struct Core {
    pub(crate) config: Arc<Config>,
    pub(crate) state: AnyState,
    /// The handlers of requests.
    pub(crate) router: Router,
    pub(crate) catalog: RwLock<Arc<Catalog>>,
    /// Dynamic sets of resources, in order.
    pub(crate) sources: Vec<AnySource>,
    pub(crate) extensions: Extensions,
    pub(crate) subscription_listener: SubscriptionListener,
    pub(crate) replay: ReplayEngine,
    /// The stores of HTTP, if they were set.
    #[cfg(feature = "http-server")]
    pub(crate) stores: Option<super::store::Stores>,
    pub(crate) task_engine: TaskEngine,
    /// Tells the other nodes what has changed.
    pub(crate) change_relay: Option<Arc<ChangeRelay>>,
    pub(crate) page_size: usize,
    pub(crate) cache_hints: CacheHints,
    pub(crate) serve_options: ServeOptions,
    pub(crate) connections: Connections,
    /// Tasks that continue after their caller has left.
    pub(crate) background: Arc<BackgroundTasks>,
}

/// How long clients may cache results.
#[derive(Clone, Debug)]
pub(crate) struct CacheHints {
    pub(crate) tools: CacheHint,
    pub(crate) prompts: CacheHint,
    pub(crate) resources: CacheHint,
    pub(crate) templates: CacheHint,
    /// The contents of resources.
    pub(crate) contents: CacheHint,
}

/// The settings of connections.
#[derive(Clone)]
pub(crate) struct ServeOptions {
    /// The maximum number of calls of one client that run at once.
    pub(crate) max_concurrent_calls: usize,
    /// How long calls in progress may take once the client has closed its end,
    /// or the server is stopping.
    pub(crate) shutdown_timeout: Duration,
    pub(crate) observer: Option<Observer>,
    /// The server's name in telemetry.
    pub(crate) server_name: Arc<str>,
}

impl ServeOptions {
    /// Returns whether there is an observer or a `tracing` subscriber.
    pub(crate) fn has_observers(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::tracing_events::has_subscriber() {
            return true;
        }
        self.observer.is_some()
    }
}

/// Receives observations.
pub(crate) type Observer = Arc<dyn Fn(&Observation) + Send + Sync>;

impl Core {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = sync::read(&self.catalog);
        Arc::clone(&catalog)
    }

    /// Notifies the clients of this node that a list has changed.
    pub(super) fn notify_clients_of_list(&self, kind: ListKind) {
        self.connections
            .for_each(|connection| connection.list_changed(kind));
    }

    pub(super) fn list<T: ListItem>(
        &self,
        context: &RequestContext,
        section: &Section<T>,
        cursor: Option<&str>,
        hint: &CacheHint,
    ) -> Reply {
        let page_size = self.page_size;
        match section.list(context, cursor, Paging { page_size, hint }) {
            Ok(page) => Reply::Result(page),
            Err(error) => Reply::Error(error),
        }
    }

    /// Returns a page of one section of the catalog.
    pub(super) fn list_section<T: ListItem>(
        &self,
        request: &Request,
        section: &Section<T>,
        hint: &CacheHint,
    ) -> Dispatched {
        // All four list methods have the same params.
        let params = request.parse_params::<ListToolsParams>();
        let reply = match params {
            Ok(params) => self.list(&request.context, section, params.cursor.as_deref(), hint),
            Err(error) => Reply::Error(error),
        };
        HandlerReply::Ready(reply).into()
    }

    /// Runs a handler that asks nothing.
    pub(super) async fn run_without_questions<R: ResultObject, W>(
        &self,
        request: Request,
        channel: ClientChannel,
        name: &str,
        work: impl FnOnce(HandlerContext) -> W,
    ) -> Reply
    where
        W: Future<Output = super::Result<R>>,
    {
        let limits = CallLimits::default();
        let invocation = Arc::new(self.invocation(request, name, channel, limits));
        let _guard = InvocationGuard(Arc::clone(&invocation));
        let context = HandlerContext::new(Arc::clone(&invocation), Arc::clone(&self.state));
        let ended = work(context);
        let request = &invocation.request;
        match into_result(ended.await, &request.context) {
            Ok(result) => request.encode_reply(result),
            Err(error) => Reply::Error(error),
        }
    }

    /// Creates the state of a call of a handler that has a context.
    pub(super) fn invocation(
        &self,
        request: Request,
        name: &str,
        channel: ClientChannel,
        limits: CallLimits,
    ) -> Invocation {
        let clock = Arc::clone(&self.replay.clock);
        Invocation::new(request, name.into(), channel, limits, clock)
    }
}

impl Core {
    /// Calls a method that is not in the protocol.
    pub(super) fn call_extension(
        self: Arc<Self>,
        mut request: Request,
        open_channel: OpenChannel<'_>,
    ) -> Dispatched {
        let Some(method) = self.extensions.method(&request.method) else {
            return unknown_method(&request);
        };
        let (method, channel) = (Arc::clone(method), open_channel(&request));
        let work = async move {
            let name = request.method.clone();
            let params = request.params.take().map(RequestParams::into_bytes);
            let work = |cx| method(params, cx);
            self.run_without_questions(request, channel, &name, work)
                .await
        };
        HandlerReply::Pending(Box::pin(work)).into()
    }
}

fn unknown_method(request: &Request) -> Dispatched {
    HandlerReply::Ready(Reply::Error(errors::unknown_method(&request.method))).into()
}

impl Core {
    /// Starts what runs beside the requests.
    pub(crate) fn start_features(self: &Arc<Self>) {
        for start in self.router.iter().filter_map(|feature| feature.start) {
            start(self);
        }
    }

    /// Ends what runs beside the requests, up to the deadline.
    pub(crate) async fn shut_down_features(&self, deadline: Instant) {
        for feature in self.router.iter() {
            if let Some(shut_down) = feature.shut_down {
                shut_down(self, deadline).await;
            }
        }
    }
}

impl RequestHandler for Core {
    fn dispatch(self: Arc<Self>, request: Request, open_channel: OpenChannel<'_>) -> Dispatched {
        #[cfg(feature = "tracing")]
        let span = super::tracing_events::request_span(&request.context.server_info.name, &request);
        #[cfg(feature = "tracing")]
        let _entered = span.enter();
        let dispatched = match self.router.handler(&request.method) {
            Some(handler) => handler(self, request, open_channel),
            None => unknown_method(&request),
        };
        #[cfg(feature = "tracing")]
        let dispatched = super::tracing_events::instrument(&span, dispatched);
        dispatched
    }

    fn notify(&self, notification: IncomingNotification) -> Option<BoxFuture<'static, ()>> {
        self.extensions.notify(notification, &self.state)
    }

    fn subscriptions_changed(&self, changes: Vec<SubscriptionChange>) {
        if let Some(callback) = self.router.on_subscriptions_changed {
            callback(self, changes);
        }
    }

    #[cfg(feature = "http-server")]
    fn config(&self) -> &Arc<Config> {
        &self.config
    }

    #[cfg(feature = "http-server")]
    fn seal_keys(&self) -> &super::seal::SealKeys {
        self.replay.seal_keys()
    }

    #[cfg(feature = "http-server")]
    fn serve_options(&self) -> &ServeOptions {
        &self.serve_options
    }

    #[cfg(feature = "http-server")]
    fn connections(&self) -> &Connections {
        &self.connections
    }

    #[cfg(feature = "http-server")]
    fn stores(&self) -> Option<&super::store::Stores> {
        self.stores.as_ref()
    }

    #[cfg(feature = "http-server")]
    fn start(self: Arc<Self>) {
        self.start_features();
    }

    #[cfg(feature = "http-server")]
    fn shut_down(&self, deadline: Instant) -> BoxFuture<'_, ()> {
        Box::pin(self.shut_down_features(deadline))
    }

    #[cfg(feature = "http-server")]
    fn background(&self) -> &BackgroundTasks {
        &self.background
    }

    #[cfg(feature = "http-server")]
    fn has_param_headers(&self) -> bool {
        let catalog = sync::read(&self.catalog);
        catalog.tools.has_headers
    }

    #[cfg(feature = "http-server")]
    fn param_headers(&self, tool: &str) -> Option<crate::proto::http::header::ParamHeaders> {
        let catalog = self.catalog();
        let headers = &catalog.tools.get(tool)?.shared.headers;
        (!headers.is_empty()).then(|| headers.clone())
    }

    #[cfg(all(feature = "auth", feature = "http-server"))]
    fn insufficient_scopes(
        &self,
        method: &str,
        name: &str,
        permissions: &Permissions,
    ) -> Option<Vec<Box<str>>> {
        let catalog = self.catalog();
        let scopes = match method {
            method::TOOLS_CALL => &*catalog.tools.get(name)?.shared.scopes,
            method::PROMPTS_GET => &*catalog.prompts.get(name)?.shared.scopes,
            _ => catalog.resource_scopes(name),
        };
        (!permissions.allows(scopes)).then(|| scopes.to_vec())
    }
}

impl<S: Send + Sync + 'static> Service<S> {
    /// Returns the application's state.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }
}

// Changing what is offered. Not documentation: all of it is internal.
impl<S: Send + Sync + 'static> Service<S> {
    /// Adds an item to its section of the catalog.
    pub(super) fn add<T: CatalogItem>(&self, item: T) -> Result<(), BuildError> {
        let declared = &self.core.config.capabilities;
        let missing = if !declared.has(T::CAPABILITY) || !self.core.router.has_method(T::METHOD) {
            Some(T::CAPABILITY)
        } else if item.completes() && !declared.has("completions") {
            Some("completions")
        } else {
            None
        };
        if let Some(missing) = missing {
            let why = format!("the server did not declare `{missing}` when it was built");
            return Err(BuildError::new(T::KIND, item.name(), &why));
        }
        self.update_catalog(|catalog| {
            let section = T::section(catalog);
            *section = Arc::new(section.with_item(item)?);
            Ok(())
        })?;
        self.notify_list_changed(T::LIST_KIND);
        Ok(())
    }

    /// Removes an item from its section and returns whether it was there.
    pub(super) fn remove<T: CatalogItem>(&self, name: &str) -> bool {
        let removed = self.update_catalog(|catalog| {
            let section = T::section(catalog);
            *section = Arc::new(section.without_item(name).ok_or(())?);
            Ok::<_, ()>(())
        });
        if removed.is_ok() {
            self.notify_list_changed(T::LIST_KIND);
        }
        removed.is_ok()
    }

    /// Replaces the catalog, unless the change fails.
    fn update_catalog<E>(
        &self,
        change: impl FnOnce(&mut Catalog) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut current = sync::write(&self.core.catalog);
        let mut next = Catalog::clone(&current);
        change(&mut next)?;
        *current = Arc::new(next);
        Ok(())
    }

    pub(super) fn notify_list_changed(&self, kind: ListKind) {
        self.core.notify_clients_of_list(kind);
        self.core.relay_change(|| kind.into());
    }
}

impl<S> Clone for Service<S> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
            state: Arc::clone(&self.state),
        }
    }
}

impl<S> fmt::Debug for Service<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut service = f.debug_struct("Service");
        service
            .field("name", &self.core.config.server_info.name)
            .finish_non_exhaustive()
    }
}
