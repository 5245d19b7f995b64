//! Putting a server together.
//!
//! [`offer`] is what it serves, [`settings`] what is said of it and how it
//! serves; here it is made whole.

mod error;
mod offer;
mod settings;

use std::{
    fmt,
    sync::{Arc, OnceLock, RwLock},
    time::{Duration, SystemTime},
};

use super::{
    background::Background,
    catalog::Catalog,
    replay::round::{Clock, Replay},
    seal::Keyring,
    serve::Connections,
    service::{Core, Hints, Service, Serving},
    state::AnyState,
    store::{JournalStore, StateStore},
    subscriptions::Watch,
};
use crate::proto::{
    model::CacheScope,
    server::{CacheHint, Config},
};
pub use error::BuildError;
pub(crate) use offer::Offer;
pub use settings::Cached;

/// A server in the making.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use bowline::{Client, Server, server::Tool};
/// use serde_json::json;
///
/// let hello = Tool::new("hello")
///     .description("Says hello")
///     .no_input()
///     .headless(async |_| Ok("Hello!"));
/// let service = Server::new("greeter", "1.0.0").tool(hello).build().unwrap();
///
/// let client = Client::builder().connect(service.in_memory()).await.unwrap();
/// let answer = client.tools().call("hello", json!({})).await.unwrap();
/// assert_eq!(answer.all_text(), "Hello!");
/// # });
/// ```
#[must_use = "a server serves nothing until it is told to"]
pub struct Server<S = ()> {
    config: Config,
    state: Arc<S>,
    offer: Offer,
    page_size: usize,
    hints: Hints,
    serving: Serving,
    keyring: Option<Keyring>,
    journals: Option<Arc<dyn JournalStore>>,
    states: Option<Arc<dyn StateStore>>,
    life: Duration,
    lease: Duration,
    abandoned_timeout: Duration,
    max_state: usize,
    clock: Clock,
}

impl Server<()> {
    /// A server of this name and version that offers nothing yet.
    pub fn new(name: &str, version: &str) -> Self {
        let mut config = Config::new(name, version);
        config.telemetry = cfg!(feature = "tracing");
        let nothing = CacheHint {
            ttl: Duration::ZERO,
            scope: CacheScope::Private,
        };
        Self {
            config,
            state: Arc::new(()),
            offer: Offer::default(),
            page_size: 100,
            hints: Hints {
                tools: nothing.clone(),
                prompts: nothing.clone(),
                resources: nothing.clone(),
                templates: nothing.clone(),
                contents: nothing,
            },
            serving: Serving {
                at_once: 64,
                grace: Duration::from_secs(5),
                observer: None,
                name: name.into(),
            },
            keyring: None,
            journals: None,
            states: None,
            life: Duration::from_secs(30 * 60),
            lease: Duration::from_secs(6),
            abandoned_timeout: Duration::from_secs(60),
            max_state: 32 * 1024,
            clock: Arc::new(SystemTime::now),
        }
    }

    /// With a state that all handlers have at hand. What was added before does
    /// without.
    pub fn state<S: Send + Sync + 'static>(self, state: S) -> Server<S> {
        Server {
            state: Arc::new(state),
            offer: self.offer,
            config: self.config,
            page_size: self.page_size,
            hints: self.hints,
            serving: self.serving,
            keyring: self.keyring,
            journals: self.journals,
            states: self.states,
            life: self.life,
            lease: self.lease,
            abandoned_timeout: self.abandoned_timeout,
            max_state: self.max_state,
            clock: self.clock,
        }
    }
}

/// Finishing it.
impl<S: Send + Sync + 'static> Server<S> {
    /// A server that is ready to serve.
    ///
    /// # Errors
    ///
    /// Where something that it offers is wrong, or two things have one name; or
    /// where its keys outlive the process and its stores do not.
    pub fn build(mut self) -> Result<Service<S>, BuildError> {
        self.offer.check()?;
        self.check_stores()?;
        self.offer.declare(&mut self.config);
        let mut offer = self.offer;
        let parts = std::mem::take(&mut offer.parts);
        let mut catalog = Catalog::default();
        for part in parts.iter() {
            (part.shelve)(&mut offer, &mut catalog)?;
        }
        let replay = Replay {
            server: self.config.identity.name.as_str().into(),
            purpose: OnceLock::new(),
            keyring: self.keyring.map(OnceLock::from).unwrap_or_default(),
            journals: self.journals.map(OnceLock::from).unwrap_or_default(),
            states: self.states.map(OnceLock::from).unwrap_or_default(),
            life: self.life,
            lease: self.lease,
            max_state: self.max_state,
            clock: self.clock,
        };
        Ok(Service {
            core: Arc::new(Core {
                config: Arc::new(self.config),
                state: Arc::clone(&self.state) as AnyState,
                parts,
                catalog: RwLock::new(Arc::new(catalog)),
                sources: offer.sources,
                extensions: offer.extensions,
                watch: Watch::new(offer.on_watch),
                replay,
                page_size: self.page_size,
                hints: self.hints,
                serving: self.serving,
                connections: Connections::default(),
                background: Arc::new(Background::new(self.abandoned_timeout)),
            }),
            state: self.state,
        })
    }

    /// Keys that outlive the process bring back states that do, too. Without the
    /// journals that belong to them, what they lead to would happen again.
    fn check_stores(&self) -> Result<(), BuildError> {
        let outlives = self.keyring.as_ref().is_some_and(Keyring::is_shared);
        let missing = match (&self.journals, &self.states) {
            (None, _) => "journal_store",
            (_, None) => "state_store",
            _ => return Ok(()),
        };
        if !outlives {
            return Ok(());
        }
        let why = format!(
            "other nodes and later runs have its secret, but not its stores: give `{missing}` \
             one that they share, or one in memory if this server is a single process"
        );
        Err(BuildError::new("keyring", "from_secret", &why))
    }

    /// Serves the program at the other end of standard input and output; see
    /// [`Service::serve_stdio`].
    ///
    /// # Errors
    ///
    /// Where the server cannot be built, or the streams are taken.
    pub async fn serve_stdio(self) -> std::io::Result<()> {
        let service = self.build().map_err(std::io::Error::other)?;
        service.serve_stdio().await
    }

    /// Serves over HTTP at this address; see [`Service::serve_http`].
    ///
    /// # Errors
    ///
    /// Where the server cannot be built, or the address cannot be bound.
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
            .field("name", &self.config.identity.name)
            .finish_non_exhaustive()
    }
}
