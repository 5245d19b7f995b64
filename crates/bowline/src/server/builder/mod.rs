//! The builder of servers.
//!
//! [`registrations`] has what a server offers, [`settings`] its description and
//! options; this module builds it.

mod error;
mod registrations;
mod settings;

use std::{
    fmt,
    sync::{Arc, OnceLock, RwLock},
    time::{Duration, SystemTime},
};

use super::{
    background::BackgroundTasks,
    changes::{ChangeBus, ChangeRelay},
    dispatch::{catalog::Catalog, subscriptions::SubscriptionListener},
    replay::round::{Clock, ReplayEngine},
    seal::SealKeys,
    serve::Connections,
    service::{CacheHints, Core, ServeOptions, Service},
    state::AnyState,
    store::{JournalStore, SealedStateStore, Stores, TaskStore},
    task::{TaskEngine, TaskOptions},
};
use crate::proto::{
    model::CacheScope,
    server::{CacheHint, Config},
};
pub use error::BuildError;
pub(crate) use registrations::Registrations;
pub use settings::CacheTarget;

/// Configures a server; [`build`](Self::build) returns the [`Service`] that runs
/// it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use bowline::{Client, Server, server::Tool};
/// use serde_json::json;
///
/// let hello = Tool::new("hello")
///     .description("Says hello")
///     .no_input()
///     .handler(async |_| Ok("Hello!"));
/// let service = Server::new("greeter", "1.0.0").tool(hello).build().unwrap();
///
/// let client = Client::builder().connect(service.in_memory()).await.unwrap();
/// let answer = client.tools().call("hello", json!({})).await.unwrap();
/// assert_eq!(answer.all_text(), "Hello!");
/// # });
/// ```
#[must_use = "a server does nothing until it is built and served"]
pub struct Server<S = ()> {
    config: Config,
    state: Arc<S>,
    registrations: Registrations,
    page_size: usize,
    cache_hints: CacheHints,
    serve_options: ServeOptions,
    seal_keys: Option<SealKeys>,
    journal_store: Option<Arc<dyn JournalStore>>,
    sealed_state_store: Option<Arc<dyn SealedStateStore>>,
    task_store: Option<Arc<dyn TaskStore>>,
    change_bus: Option<Arc<dyn ChangeBus>>,
    stores: Option<Stores>,
    task_options: TaskOptions,
    conversation_timeout: Duration,
    lease_timeout: Duration,
    abandoned_step_timeout: Duration,
    max_sealed_state_bytes: usize,
    clock: Clock,
}

impl Server<()> {
    /// Creates a server with this name and version, without tools, resources or
    /// prompts.
    pub fn new(name: &str, version: &str) -> Self {
        let mut config = Config::new(name, version);
        config.telemetry = cfg!(feature = "tracing");
        let no_cache = CacheHint {
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
        };
        Self {
            config,
            state: Arc::new(()),
            registrations: Registrations::default(),
            page_size: 100,
            cache_hints: CacheHints {
                tools: no_cache.clone(),
                prompts: no_cache.clone(),
                resources: no_cache.clone(),
                templates: no_cache.clone(),
                contents: no_cache,
            },
            serve_options: ServeOptions {
                max_concurrent_calls: 64,
                shutdown_timeout: Duration::from_secs(5),
                observer: None,
                server_name: name.into(),
            },
            seal_keys: None,
            journal_store: None,
            sealed_state_store: None,
            task_store: None,
            change_bus: None,
            stores: None,
            task_options: TaskOptions::default(),
            conversation_timeout: Duration::from_secs(30 * 60),
            lease_timeout: Duration::from_secs(6),
            abandoned_step_timeout: Duration::from_secs(60),
            max_sealed_state_bytes: 32 * 1024,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// Sets the application's state, which handlers can use. Call this before you
    /// add the tools, prompts and resources that use it. Items that were added
    /// before have no access to the state, but keep working.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server {
            state: Arc::new(state),
            registrations: self.registrations,
            config: self.config,
            page_size: self.page_size,
            cache_hints: self.cache_hints,
            serve_options: self.serve_options,
            seal_keys: self.seal_keys,
            journal_store: self.journal_store,
            sealed_state_store: self.sealed_state_store,
            task_store: self.task_store,
            change_bus: self.change_bus,
            stores: self.stores,
            task_options: self.task_options,
            conversation_timeout: self.conversation_timeout,
            lease_timeout: self.lease_timeout,
            abandoned_step_timeout: self.abandoned_step_timeout,
            max_sealed_state_bytes: self.max_sealed_state_bytes,
            clock: self.clock,
        }
    }
}

/// Building and serving.
impl<S: Send + Sync + 'static> Server<S> {
    /// Builds the server.
    ///
    /// # Errors
    ///
    /// Returns an error
    ///
    /// - if a tool, resource, prompt or method is not valid, or if two of a kind
    ///   have the same name or URI;
    /// - if the [`seal_keys`](Self::seal_keys) come from a secret, but
    ///   [`journal_store`](Self::journal_store) or
    ///   [`sealed_state_store`](Self::sealed_state_store) is not set, or calls of a tool
    ///   may become tasks and [`task_store`](Self::task_store) is not set;
    /// - if [`stores`](Self::stores) that other nodes share are set, but the
    ///   [`seal_keys`](Self::seal_keys) do not come from a secret.
    pub fn build(mut self) -> Result<Service<S>, BuildError> {
        self.registrations.check()?;
        self.check_stores()?;
        self.registrations.declare(&mut self.config);
        let mut registrations = self.registrations;
        let router = std::mem::take(&mut registrations.router);
        let mut catalog = Catalog::default();
        for feature in router.iter() {
            (feature.register)(&mut registrations, &mut catalog)?;
        }
        let clock = Arc::clone(&self.clock);
        let task_engine = TaskEngine::new(
            self.task_options,
            self.task_store,
            clock,
            self.lease_timeout,
        );
        let replay = ReplayEngine {
            server_name: self.config.server_info.name.as_str().into(),
            purpose: OnceLock::new(),
            seal_keys: self.seal_keys.map(OnceLock::from).unwrap_or_default(),
            journal_store: self.journal_store.map(OnceLock::from).unwrap_or_default(),
            sealed_state_store: self
                .sealed_state_store
                .map(OnceLock::from)
                .unwrap_or_default(),
            conversation_timeout: self.conversation_timeout,
            lease_timeout: self.lease_timeout,
            max_sealed_state_bytes: self.max_sealed_state_bytes,
            clock: self.clock,
        };
        Ok(Service {
            core: Arc::new(Core {
                config: Arc::new(self.config),
                state: Arc::clone(&self.state) as AnyState,
                router,
                catalog: RwLock::new(Arc::new(catalog)),
                sources: registrations.sources,
                extensions: registrations.extensions,
                subscription_listener: SubscriptionListener::new(
                    registrations.on_subscriptions_changed,
                ),
                replay,
                #[cfg(feature = "http-server")]
                stores: self.stores,
                task_engine,
                change_relay: self.change_bus.map(|bus| Arc::new(ChangeRelay::new(bus))),
                page_size: self.page_size,
                cache_hints: self.cache_hints,
                serve_options: self.serve_options,
                connections: Connections::default(),
                background: Arc::new(BackgroundTasks::new(self.abandoned_step_timeout)),
            }),
            state: self.state,
        })
    }

    /// Checks that keys that outlive the process come with stores that do too.
    /// Without the journals that belong to a resumed conversation, its side
    /// effects would happen again. Without a shared store of tasks, no other node
    /// would find a task.
    fn check_stores(&self) -> Result<(), BuildError> {
        let has_shared_keys = self.seal_keys.as_ref().is_some_and(SealKeys::is_shared);
        if !has_shared_keys && self.stores.as_ref().is_some_and(Stores::are_shared) {
            let why = "it has stores that other nodes share (`stores`), but no secret, so no \
                       other node or later run could open what it stores; set `seal_keys` with \
                       a secret that all nodes have";
            return Err(BuildError::setting("seal_keys", why));
        }
        let has_tasks = self.registrations.has_tasks();
        let stores = [
            ("journal_store", self.journal_store.is_none()),
            ("sealed_state_store", self.sealed_state_store.is_none()),
            ("task_store", self.task_store.is_none() && has_tasks),
        ];
        let missing = stores.into_iter().find(|(_, is_missing)| *is_missing);
        let Some((missing, _)) = missing.filter(|_| has_shared_keys) else {
            return Ok(());
        };
        let why = format!(
            "it has a secret (`seal_keys`), so other nodes and later runs can open its sealed \
             state, but no `{missing}`; set one that they share, or one in memory if the \
             server is a single process"
        );
        Err(BuildError::setting(missing, &why))
    }

    /// Builds the server and serves it on standard input and output; see
    /// [`Service::serve_stdio`].
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be built, or the streams are
    /// already in use.
    pub async fn serve_stdio(self) -> std::io::Result<()> {
        let service = self.build().map_err(std::io::Error::other)?;
        service.serve_stdio().await
    }

    /// Builds the server and serves it over HTTP at this address; see
    /// [`Service::serve_http`].
    ///
    /// # Errors
    ///
    /// Returns an error if the server cannot be built, or the address cannot be
    /// bound.
    #[cfg(feature = "http-server")]
    pub async fn serve_http(self, address: impl tokio::net::ToSocketAddrs) -> std::io::Result<()> {
        let service = self.build().map_err(std::io::Error::other)?;
        service.serve_http(address).await
    }
}

impl<S> fmt::Debug for Server<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut server = f.debug_struct("Server");
        server
            .field("name", &self.config.server_info.name)
            .finish_non_exhaustive()
    }
}
