//! A server that is ready to serve, and the clients that it serves.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use super::{
    build::BuildError,
    catalog::{Catalog, Shelf},
    list::{Listed, Paging},
    replay::round::Replay,
    request::{Handle, Handled, Request},
    serve::Connections,
    talk::voice::Voice,
    tool::Tool,
};
use crate::{
    proto::{
        model::{ListToolsParams, method},
        server::{Config, Kind, Reply, Telemetry, errors},
    },
    transport::{Link, Memory},
};

/// A server that is ready to serve any number of clients. Cheap to clone.
///
/// What it offers may change while it serves; clients that want to know are
/// told.
pub struct Service<S = ()> {
    pub(crate) core: Arc<Core<S>>,
}

/// What all parts of a server share.
pub(crate) struct Core<S> {
    pub(crate) config: Config,
    pub(crate) state: Arc<S>,
    pub(crate) catalog: RwLock<Arc<Catalog<S>>>,
    pub(crate) replay: Replay,
    pub(crate) paging: Paging,
    pub(crate) serving: Serving,
    pub(crate) connections: Connections,
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
}

/// Sees what happens inside.
pub(crate) type Observer = Arc<dyn Fn(&Telemetry) + Send + Sync>;

impl<S> Core<S> {
    pub(crate) fn catalog(&self) -> Arc<Catalog<S>> {
        let catalog = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&catalog)
    }

    fn list<T: Listed>(&self, request: &Request, shelf: &Shelf<T>, cursor: Option<&str>) -> Reply {
        match shelf.list(&request.context, cursor, &self.paging) {
            Ok(page) => Reply::Result(page),
            Err(error) => Reply::Error(error),
        }
    }
}

impl<S: Send + Sync + 'static> Handle for Core<S> {
    fn handle(self: Arc<Self>, request: Request, voice: Box<dyn Voice>) -> Handled {
        match &*request.method {
            method::TOOLS_CALL => Handled::Later(Box::pin(self.call_tool(request, voice))),
            method::TOOLS_LIST => {
                let params = request.read::<ListToolsParams>();
                Handled::Now(match params {
                    Ok(params) => {
                        let tools = &self.catalog().tools;
                        self.list(&request, tools, params.cursor.as_deref())
                    }
                    Err(error) => Reply::Error(error),
                })
            }
            other => Handled::Now(Reply::Error(errors::unknown_method(other))),
        }
    }
}

/// Serving.
impl<S: Send + Sync + 'static> Service<S> {
    /// Serves one client at the other end of a link, until the link is gone or
    /// the server is told to stop.
    pub async fn serve(&self, link: impl Link + 'static) {
        self.serve_boxed(Box::new(link), None).await;
    }

    /// As [`serve`](Self::serve), for a client whom the transport knows.
    /// Conversations that one principal began, no other can go on with.
    pub async fn serve_as(&self, principal: &str, link: impl Link + 'static) {
        self.serve_boxed(Box::new(link), Some(principal.into()))
            .await;
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
        let link = crate::transport::Stdio::take(self.core.config.max_frame)?;
        self.serve(link).await;
        Ok(())
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
    /// grace, and every connection is closed.
    pub fn stop(&self, grace: Duration) {
        self.core.connections.stop(grace);
    }

    async fn serve_boxed(&self, link: Box<dyn Link>, principal: Option<Arc<str>>) {
        let core = &self.core;
        let handle: Arc<dyn Handle> = Arc::clone(core) as Arc<dyn Handle>;
        let config = core.config.clone();
        let serving = core.serving.clone();
        core.connections
            .serve(handle, config, serving, principal, link)
            .await;
    }
}

/// Changing what is offered.
impl<S: Send + Sync + 'static> Service<S> {
    /// The application's state.
    #[must_use]
    pub fn state(&self) -> &S {
        &self.core.state
    }

    /// Offers one more tool, and tells clients so.
    ///
    /// # Errors
    ///
    /// Where there is one of that name, or something is wrong with it.
    pub fn add_tool(&self, tool: Tool<S>) -> Result<(), BuildError> {
        if let Some(why) = &tool.shared.problem {
            return Err(BuildError::tool(tool.name(), why));
        }
        self.change(|catalog| {
            let mut tools = catalog.tools.items().to_vec();
            tools.push(tool);
            catalog.tools =
                Shelf::new(tools).map_err(|twice| BuildError::duplicate("tool", twice))?;
            Ok(())
        })?;
        self.announce(Kind::Tools);
        Ok(())
    }

    /// Offers a tool no longer, and tells clients so. Says whether there was
    /// one. Calls under way go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.change(|catalog| {
            let mut tools = catalog.tools.items().to_vec();
            tools.retain(|tool| tool.name() != name);
            if tools.len() == catalog.tools.items().len() {
                return Err(());
            }
            catalog.tools = Shelf::new(tools).map_err(drop)?;
            Ok(())
        });
        if removed.is_ok() {
            self.announce(Kind::Tools);
        }
        removed.is_ok()
    }

    /// Tells clients that the list of tools is another, by what only the
    /// application knows.
    pub fn tools_changed(&self) {
        self.announce(Kind::Tools);
    }

    /// Replaces the catalog, if the change can be made.
    pub(crate) fn change<E>(
        &self,
        change: impl FnOnce(&mut Catalog<S>) -> Result<(), E>,
    ) -> Result<(), E> {
        let catalog = self.core.catalog.write();
        let mut current = catalog.unwrap_or_else(PoisonError::into_inner);
        let mut next = Catalog::clone(&current);
        change(&mut next)?;
        *current = Arc::new(next);
        Ok(())
    }

    pub(crate) fn announce(&self, kind: Kind) {
        self.core.connections.each(|connection| {
            connection.command(|machine, _| machine.list_changed(kind));
        });
    }

    /// What a client is told of the list of tools, for tests and manifests.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool<S>> {
        self.core.catalog().tools.items().to_vec()
    }
}

impl<S> Clone for Service<S> {
    fn clone(&self) -> Self {
        Self {
            core: Arc::clone(&self.core),
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
