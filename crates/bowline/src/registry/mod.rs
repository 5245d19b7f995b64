//! A registry of several servers.
//!
//! A [`Registry`] holds servers by name and starts each of them when it is first used.
//! Tools of all servers can be listed together; they get qualified names, which cannot
//! collide: `server__tool`.

mod aggregate;
mod builder;
mod catalog;
mod error;
mod name;
mod server;
mod status;

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

#[doc(inline)]
pub use bowline_schema::closest_name;

use self::server::{Server, Slot};
pub use self::{
    builder::RegistryBuilder,
    catalog::{Catalog, CatalogTool},
    error::RegistryError,
    name::{NameError, qualified_name},
    status::{ConnectionSummary, ServerStatus},
};
pub use crate::client::batch::{Batch, call_many, read_many};
use crate::{
    cache::{Cache, CachedClient},
    client::Client,
    sync,
    transport::StopOutcome,
};

/// Servers by name, each of which is started when it is first used.
///
/// Cheap to clone; all clones share the same registry.
///
/// ```
/// use bowline::{Client, registry::{Registry, ConnectionSummary}, transport::ChildProcess};
///
/// let registry = Registry::new();
/// registry
///     .add("time", |_| Client::builder().connect_in_background(ChildProcess::new("mcp-server-time")))
///     .unwrap();
/// assert_eq!(registry.names(), ["time".into()]);
/// assert_eq!(registry.status()[0].summary, ConnectionSummary::Disconnected, "not used yet");
///
/// let error = registry.client("tme").unwrap_err();
/// assert_eq!(error.to_string(), "no server `tme`; did you mean `time`?");
/// ```
#[derive(Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

struct Shared {
    servers: Mutex<BTreeMap<Box<str>, Server>>,
    cache: Option<Cache>,
    connect_timeout: Duration,
}

impl Default for Registry {
    fn default() -> Self {
        Self::builder().build()
    }
}

/// Adding, using and stopping servers.
impl Registry {
    /// Creates a registry without servers and without a cache.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a builder with the default settings.
    #[must_use]
    pub fn builder() -> RegistryBuilder {
        RegistryBuilder::default()
    }

    /// Adds a server.
    ///
    /// `connect` is called with the server's name when the server is first used. It is
    /// called again when the server is used after it was [stopped](Self::stop) or its
    /// connection has ended. It may use the registry, but not this server. It must not
    /// block, so connect with
    /// [`connect_in_background`](crate::client::ClientBuilder::connect_in_background).
    ///
    /// # Errors
    ///
    /// Returns an error if the name is taken or [invalid](NameError::Invalid).
    pub fn add(
        &self,
        name: &str,
        connect: impl Fn(&str) -> Client + Send + Sync + 'static,
    ) -> Result<(), NameError> {
        name::check_server_name(name)?;
        let mut servers = self.lock();
        if servers.contains_key(name) {
            return Err(NameError::Taken(name.into()));
        }
        servers.insert(name.into(), Server::new(connect));
        Ok(())
    }

    /// Adds a server under a generated name, and returns that name.
    pub fn add_unnamed(
        &self,
        connect: impl Fn(&str) -> Client + Send + Sync + 'static,
    ) -> Box<str> {
        let mut servers = self.lock();
        let names = (1_u64..).map(|number| format!("server-{number}").into_boxed_str());
        let mut free_names = names.filter(|name| !servers.contains_key(name));
        let name = free_names.next().unwrap_or_default();
        drop(free_names);
        servers.insert(name.clone(), Server::new(connect));
        name
    }

    /// Removes a server, and returns its connection if the server had been started. Other
    /// clones of the client may still be used; the connection stops when the last one is
    /// dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown.
    pub fn remove(&self, name: &str) -> Result<Option<Client>, NameError> {
        let mut servers = self.lock();
        let Some(mut server) = servers.remove(name) else {
            return Err(NameError::unknown(name, servers.keys()));
        };
        drop(servers);
        Ok(server.take_slot().and_then(|slot| slot.close()))
    }

    /// Returns the names of all servers, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<Box<str>> {
        self.lock().keys().cloned().collect()
    }

    /// Returns the status of all servers, sorted by name, without starting any.
    #[must_use]
    pub fn status(&self) -> Vec<ServerStatus> {
        let servers = self.lock();
        let servers = servers.iter();
        servers.map(|(name, server)| server.status(name)).collect()
    }

    /// Returns the connection to a server, starting it if it is not running. The
    /// session may not be open yet; see [`start`](Self::start).
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown.
    pub fn client(&self, name: &str) -> Result<Client, NameError> {
        loop {
            // If it was stopped in the meantime, it is started again.
            if let Some(client) = self.slot(name)?.start(name) {
                return Ok(client);
            }
        }
    }

    /// Returns the connection to a server with the registry's cache, or with a cache of
    /// its own if the registry has none. Starts the server if it is not running, and
    /// waits for it when a request has to be sent.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown.
    pub fn cached_client(&self, name: &str) -> Result<CachedClient, NameError> {
        loop {
            let cached = self.slot(name)?.cached(name, self.shared.cache.as_ref());
            if let Some(cached) = cached {
                return Ok(cached.wait_for_connection(self.shared.connect_timeout));
            }
        }
    }

    /// Starts a server if it is not running, and waits until its session is open.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown or an attempt to connect to it fails.
    pub async fn start(&self, name: &str) -> Result<Client, RegistryError> {
        let client = self.client(name)?;
        match crate::client::wait::wait_connected(&client, self.shared.connect_timeout).await {
            Ok(()) => Ok(client),
            Err(error) => Err(RegistryError::unavailable(name, error)),
        }
    }

    /// Stops a server. It is started again the next time it is used.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown.
    pub async fn stop(&self, name: &str) -> Result<(), NameError> {
        if let Some(client) = self.take_client(name)? {
            client.stop().await;
        }
        Ok(())
    }

    /// Stops a server and waits for it to exit, for at most `limit`, as
    /// [`Client::stop_and_wait`] does.
    ///
    /// # Errors
    ///
    /// Returns an error if the server is unknown.
    pub async fn stop_and_wait(
        &self,
        name: &str,
        limit: Duration,
    ) -> Result<StopOutcome, NameError> {
        match self.take_client(name)? {
            Some(client) => Ok(client.stop_and_wait(limit).await),
            None => Ok(StopOutcome::Graceful),
        }
    }

    /// Stops all servers concurrently.
    pub async fn stop_all(&self) {
        let clients = self.take_all_clients();
        let count = clients.len();
        let stops = clients
            .into_iter()
            .map(|client| Box::pin(async move { client.stop().await }) as _);
        Batch::new(stops).max_concurrent(count).await;
    }

    /// Stops all servers concurrently and waits for them to exit, for at most `limit`,
    /// as [`Client::stop_and_wait`] does.
    pub async fn stop_all_and_wait(&self, limit: Duration) -> StopOutcome {
        let clients = self.take_all_clients();
        let count = clients.len();
        let stops = clients
            .into_iter()
            .map(|client| Box::pin(async move { client.stop_and_wait(limit).await }) as _);
        StopOutcome::combine(Batch::new(stops).max_concurrent(count).await)
    }
}

impl Registry {
    /// Removes a server's connection, if there is one.
    fn take_client(&self, name: &str) -> Result<Option<Client>, NameError> {
        let mut servers = self.lock();
        let slot = match servers.get_mut(name) {
            Some(server) => server.take_slot(),
            None => return Err(NameError::unknown(name, servers.keys())),
        };
        drop(servers);
        Ok(slot.and_then(|slot| slot.close()))
    }

    fn take_all_clients(&self) -> Vec<Client> {
        let mut servers = self.lock();
        let slots: Vec<_> = servers.values_mut().filter_map(Server::take_slot).collect();
        drop(servers);
        slots.iter().filter_map(|slot| slot.close()).collect()
    }

    /// Returns the slot of a server's current or next connection.
    fn slot(&self, name: &str) -> Result<Arc<Slot>, NameError> {
        let mut servers = self.lock();
        match servers.get_mut(name) {
            Some(server) => Ok(server.slot()),
            None => Err(NameError::unknown(name, servers.keys())),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Box<str>, Server>> {
        let servers = &self.shared.servers;
        sync::lock(servers)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::transport::Memory;

    /// Somebody is about to start a server when it is stopped.
    #[tokio::test]
    async fn what_was_stopped_is_not_started_behind_the_back_of_the_registry() {
        let registry = Registry::new();
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let connect = move |_: &str| {
            count.fetch_add(1, Ordering::Relaxed);
            Client::builder().connect_in_background(Memory::new().0)
        };
        registry.add("a", connect).expect("the name is free");
        let slot = registry.slot("a").expect("it is there");
        registry.stop("a").await.expect("it is there");
        assert!(slot.start("a").is_none(), "nobody would stop it");
        assert_eq!(started.load(Ordering::Relaxed), 0);
        registry.client("a").expect("it is there");
        assert_eq!(started.load(Ordering::Relaxed), 1);
    }
}
