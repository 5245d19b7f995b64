//! A server that is ready to serve, and the clients that it serves.

use std::{
    fmt,
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use tokio::time::Instant;

#[cfg(all(feature = "auth", feature = "http-server"))]
use super::auth::grant::Granted;
use super::{
    background::Background,
    build::BuildError,
    catalog::{Catalog, Shelf},
    limits::Limits,
    list::{Listed, Paging, Shelved},
    replay::round::Replay,
    request::{Handle, Handled, Heard, Request, Taken, Voices, WatchChange, answer},
    resource::AnySource,
    route::Parts,
    serve::{Connections, Observation, extension::Extensions},
    state::AnyState,
    subscriptions::Watch,
    talk::{
        ServerContext,
        call::{Call, EndOfCall},
        voice::Voice,
    },
    tools::settle_or_refuse,
};
#[cfg(all(feature = "auth", feature = "http-server"))]
use crate::proto::model::method;
use crate::{
    proto::{
        model::{ListToolsParams, ResultObject},
        server::{CacheHint, Config, Kind, Reply, RequestContext, errors},
    },
    transport::{BoxFuture, Link, Memory},
};

/// A server that is ready to serve any number of clients. Cheap to clone.
///
/// What it offers may change while it serves; clients that want to know are
/// told.
pub struct Service<S = ()> {
    pub(crate) core: Arc<Core>,
    pub(super) state: Arc<S>,
}

/// What all parts of a server share.
pub(crate) struct Core {
    pub(crate) config: Arc<Config>,
    pub(crate) state: AnyState,
    /// What answers requests.
    pub(crate) parts: Parts,
    pub(crate) catalog: RwLock<Arc<Catalog>>,
    /// Sets of resources, in their order.
    pub(crate) sources: Vec<AnySource>,
    pub(crate) extensions: Extensions,
    pub(crate) watch: Watch,
    pub(crate) replay: Replay,
    pub(crate) page_size: usize,
    pub(crate) hints: Hints,
    pub(crate) serving: Serving,
    pub(crate) connections: Connections,
    /// What goes on although its caller left.
    pub(crate) background: Arc<Background>,
}

/// How long clients may keep what they are told.
#[derive(Clone, Debug)]
pub(crate) struct Hints {
    pub(crate) tools: CacheHint,
    pub(crate) prompts: CacheHint,
    pub(crate) resources: CacheHint,
    pub(crate) templates: CacheHint,
    /// What resources hold.
    pub(crate) contents: CacheHint,
}

/// How connections are treated.
#[derive(Clone)]
pub(crate) struct Serving {
    /// How many calls of one client's are worked on at once.
    pub(crate) at_once: usize,
    /// How long calls under way may take once the client has nothing more to
    /// say, or the server is to stop.
    pub(crate) grace: Duration,
    pub(crate) observer: Option<Observer>,
    /// What the server is called in telemetry.
    pub(crate) name: Arc<str>,
}

impl Serving {
    /// Whether anybody looks on.
    pub(crate) fn has_observers(&self) -> bool {
        #[cfg(feature = "tracing")]
        if crate::trace::is_heard() {
            return true;
        }
        self.observer.is_some()
    }
}

/// Sees what happens inside.
pub(crate) type Observer = Arc<dyn Fn(&Observation) + Send + Sync>;

impl Core {
    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&catalog)
    }

    pub(super) fn list<T: Listed>(
        &self,
        context: &RequestContext,
        shelf: &Shelf<T>,
        cursor: Option<&str>,
        hint: &CacheHint,
    ) -> Reply {
        let page_size = self.page_size;
        match shelf.list(context, cursor, Paging { page_size, hint }) {
            Ok(page) => Reply::Result(page),
            Err(error) => Reply::Error(error),
        }
    }

    /// A list of what stands on one shelf.
    pub(super) fn list_shelf<T: Listed>(
        &self,
        request: &Request,
        shelf: &Shelf<T>,
        hint: &CacheHint,
    ) -> Taken {
        // All four ask in the same way.
        let params = request.read::<ListToolsParams>();
        let reply = match params {
            Ok(params) => self.list(&request.context, shelf, params.cursor.as_deref(), hint),
            Err(error) => Reply::Error(error),
        };
        Handled::Now(reply).into()
    }

    /// Runs something that asks nothing.
    pub(super) async fn answer_quietly<R: ResultObject, W>(
        &self,
        request: Request,
        voice: Voice,
        name: &str,
        work: impl FnOnce(ServerContext) -> W,
    ) -> Reply
    where
        W: Future<Output = super::Result<R>>,
    {
        let mut call = Call::new(
            request.context,
            name.into(),
            voice,
            Limits::default(),
            Arc::clone(&self.replay.clock),
        );
        call.principal = request.principal;
        call.granted = request.granted;
        let call = Arc::new(call);
        let _end = EndOfCall(Arc::clone(&call));
        let context = ServerContext::new(Arc::clone(&call), Arc::clone(&self.state));
        let ended = work(context);
        match settle_or_refuse(ended.await, &call.context) {
            Ok(result) => answer(&call.context, &request.id, result),
            Err(error) => Reply::Error(error),
        }
    }
}

impl Core {
    /// A method that is not in the protocol.
    pub(super) fn extension(self: Arc<Self>, mut request: Request, voice: Voices<'_>) -> Taken {
        let Some(method) = self.extensions.method(&request.method) else {
            return unknown_method(&request);
        };
        let (method, voice) = (Arc::clone(method), voice(&request));
        let work = async move {
            let name = request.method.clone();
            let params = request.params.take();
            let work = |cx| method(params, cx);
            self.answer_quietly(request, voice, &name, work).await
        };
        Handled::Later(Box::pin(work)).into()
    }
}

fn unknown_method(request: &Request) -> Taken {
    Handled::Now(Reply::Error(errors::unknown_method(&request.method))).into()
}

impl Handle for Core {
    fn take(self: Arc<Self>, request: Request, voice: Voices<'_>) -> Taken {
        #[cfg(feature = "tracing")]
        let span = super::trace::request(&request.context.server.name, &request);
        #[cfg(feature = "tracing")]
        let _entered = span.enter();
        let taken = match self.parts.answer(&request.method) {
            Some(answer) => answer(self, request, voice),
            None => unknown_method(&request),
        };
        #[cfg(feature = "tracing")]
        let taken = super::trace::instrument(&span, taken);
        taken
    }

    fn hear(&self, notification: Heard) -> Option<BoxFuture<'static, ()>> {
        self.extensions.hear(notification, &self.state)
    }

    fn watch_changed(&self, changes: Vec<WatchChange>) {
        if let Some(tell) = self.parts.tell_watched {
            tell(self, changes);
        }
    }

    #[cfg(feature = "http-server")]
    fn config(&self) -> &Arc<Config> {
        &self.config
    }

    #[cfg(feature = "http-server")]
    fn serving(&self) -> &Serving {
        &self.serving
    }

    #[cfg(feature = "http-server")]
    fn connections(&self) -> &Connections {
        &self.connections
    }

    #[cfg(feature = "http-server")]
    fn background(&self) -> &Background {
        &self.background
    }

    #[cfg(feature = "http-server")]
    fn has_param_headers(&self) -> bool {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        catalog.tools.has_headers
    }

    #[cfg(feature = "http-server")]
    fn param_headers(&self, tool: &str) -> Option<crate::proto::http::header::ParamHeaders> {
        let catalog = self.catalog();
        let headers = &catalog.tools.get(tool)?.shared.headers;
        (!headers.is_empty()).then(|| headers.clone())
    }

    #[cfg(all(feature = "auth", feature = "http-server"))]
    fn refused_scopes(&self, method: &str, name: &str, granted: &Granted) -> Option<Vec<Box<str>>> {
        let catalog = self.catalog();
        let scopes = match method {
            method::TOOLS_CALL => &*catalog.tools.get(name)?.shared.scopes,
            method::PROMPTS_GET => &*catalog.prompts.get(name)?.shared.scopes,
            _ => catalog.resource_scopes(name),
        };
        (!granted.allows(scopes)).then(|| scopes.to_vec())
    }
}

/// Serving.
impl<S: Send + Sync + 'static> Service<S> {
    /// Serves one client at the other end of a link, until the link is gone or
    /// the server is told to stop. Steps that were begun come to their end
    /// first, within the [grace](super::Server::grace).
    pub async fn serve(&self, link: impl Link + 'static) {
        self.core.serve(Box::new(link), None).await;
    }

    /// As [`serve`](Self::serve), for a client whom the transport knows.
    /// Conversations that one principal began, no other can go on with.
    pub async fn serve_as(&self, principal: &str, link: impl Link + 'static) {
        let principal = Some(principal.into());
        self.core.serve(Box::new(link), principal).await;
    }

    /// Serves the program at the other end of this process's standard input
    /// and output, until that closes the input or the server is told to stop.
    ///
    /// From here on nothing else of the process reaches them: what is printed
    /// goes to the standard error output.
    ///
    /// # Errors
    ///
    /// Where they are taken already.
    pub async fn serve_stdio(&self) -> std::io::Result<()> {
        self.core.serve_stdio().await
    }

    /// A service for HTTP, in every revision; see [`HttpService`](super::http::HttpService).
    #[cfg(feature = "http-server")]
    #[must_use]
    pub fn http(&self, options: super::http::HttpOptions) -> super::http::HttpService {
        let handle: Arc<dyn Handle> = Arc::clone(&self.core) as Arc<dyn Handle>;
        super::http::HttpService::new(handle, options)
    }

    /// Binds an address and serves over HTTP there, at any path, until the
    /// future is dropped or the server is told to stop. Who has no address in
    /// mind gives [`DEFAULT_ADDRESS`](super::http::DEFAULT_ADDRESS).
    ///
    /// # Errors
    ///
    /// Where the address cannot be bound.
    #[cfg(feature = "http-server")]
    pub async fn serve_http(&self, address: impl tokio::net::ToSocketAddrs) -> std::io::Result<()> {
        let http = self.http(super::http::HttpOptions::default());
        http.bind(address, drop).await
    }

    /// A transport for clients in the same process. Each of its links is
    /// served by a task of its own.
    #[must_use]
    pub fn in_memory(&self) -> Memory {
        let (transport, mut dialled) = Memory::new();
        let service = self.clone();
        tokio::spawn(async move {
            while let Some(link) = dialled.accept().await {
                let service = service.clone();
                tokio::spawn(async move { service.serve(link).await });
            }
        });
        transport
    }

    /// Stops in order: no new requests, calls under way may finish within the
    /// grace, and every connection is closed. So is one that comes later.
    pub fn stop(&self, grace: Duration) {
        self.core.connections.stop(grace);
    }
}

/// The same for every state, so that there is only one of it.
impl Core {
    async fn serve_stdio(self: &Arc<Self>) -> std::io::Result<()> {
        let link = crate::transport::Stdio::take(self.config.max_frame)?;
        self.serve(Box::new(link), None).await;
        Ok(())
    }

    async fn serve(self: &Arc<Self>, link: Box<dyn Link>, principal: Option<Arc<str>>) {
        let handle: Arc<dyn Handle> = Arc::clone(self) as Arc<dyn Handle>;
        let config = Arc::clone(&self.config);
        let serving = self.serving.clone();
        self.connections
            .serve(handle, config, serving, principal, link)
            .await;
        let stops = self.connections.stopping().deadline();
        let last = stops.unwrap_or_else(|| Instant::now() + self.serving.grace);
        self.background.until_idle(last).await;
    }
}

/// Changing what is offered.
impl<S: Send + Sync + 'static> Service<S> {
    /// The application's state.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Puts one more thing on its shelf.
    pub(super) fn add<T: Shelved>(&self, item: T) -> Result<(), BuildError> {
        let declared = &self.core.config.capabilities;
        let missing = if !declared.has(T::CAPABILITY) || !self.core.parts.has(T::METHOD) {
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
        self.change(|catalog| {
            let shelf = T::shelf(catalog);
            *shelf = Arc::new(shelf.with(item)?);
            Ok(())
        })?;
        self.announce(T::LIST);
        Ok(())
    }

    /// Takes something off its shelf; says whether it was there.
    pub(super) fn remove<T: Shelved>(&self, name: &str) -> bool {
        let removed = self.change(|catalog| {
            let shelf = T::shelf(catalog);
            *shelf = Arc::new(shelf.without(name).ok_or(())?);
            Ok::<_, ()>(())
        });
        if removed.is_ok() {
            self.announce(T::LIST);
        }
        removed.is_ok()
    }

    /// Replaces the catalog, if the change can be made.
    fn change<E>(&self, change: impl FnOnce(&mut Catalog) -> Result<(), E>) -> Result<(), E> {
        let catalog = self.core.catalog.write();
        let mut current = catalog.unwrap_or_else(PoisonError::into_inner);
        let mut next = Catalog::clone(&current);
        change(&mut next)?;
        *current = Arc::new(next);
        Ok(())
    }

    pub(super) fn announce(&self, kind: Kind) {
        let connections = &self.core.connections;
        connections.each(|connection| connection.list_changed(kind));
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
            .field("name", &self.core.config.identity.name)
            .finish_non_exhaustive()
    }
}
