//! A pool of connections to one server.
//!
//! One connection carries many concurrent calls, but some servers process one call at a
//! time per connection. A [`Pool`] opens more connections as needed.

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    client::{Client, Error, Health, batch::Batch, wait},
    proto::client::ConnectionState,
    sync,
    transport::StopOutcome,
};

/// A pool of connections to one server, opened as needed.
///
/// Cheap to clone; all clones share the same pool.
///
/// ```no_run
/// # async fn example() -> Result<(), bowline::Error> {
/// use bowline::{Client, pool::Pool, transport::ChildProcess};
/// use serde_json::json;
///
/// let pool = Pool::new(4, || {
///     Client::builder().connect_in_background(ChildProcess::new("mcp-server-search"))
/// });
/// let found = pool.client().await?.tools().call("search", json!({ "for": "knots" })).await?;
/// # drop(found);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    connect: Box<dyn Fn() -> Client + Send + Sync>,
    max_size: usize,
    connect_timeout: Duration,
    connections: Mutex<Vec<PooledConnection>>,
}

/// One connection and its number of users.
#[derive(Clone)]
struct PooledConnection {
    client: Client,
    load: Arc<AtomicUsize>,
}

/// A connection of a pool. It counts as in use until it is dropped, so take one for
/// each call rather than one for all calls.
pub struct PooledClient {
    connection: PooledConnection,
}

impl Pool {
    /// Creates a pool of up to `size` connections, at least one. `connect` opens a
    /// connection; it must not use the pool and must not block:
    /// [`connect_in_background`](crate::client::ClientBuilder::connect_in_background)
    /// does not.
    #[must_use]
    pub fn new(size: usize, connect: impl Fn() -> Client + Send + Sync + 'static) -> Self {
        Self::with_connect_timeout(size, wait::DEFAULT_CONNECT_TIMEOUT, connect)
    }

    /// As [`new`](Self::new), with the time to wait for the next attempt to connect
    /// when all connections are down.
    #[must_use]
    pub fn with_connect_timeout(
        size: usize,
        connect_timeout: Duration,
        connect: impl Fn() -> Client + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            connect: Box::new(connect),
            max_size: size.max(1),
            connect_timeout,
            connections: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// Returns the least used connection. If all open connections are in use and the
    /// pool is not full, another one is opened in the background. Connections that are
    /// down are skipped unless all are.
    ///
    /// # Errors
    ///
    /// Returns an error if no connection is open and the one being opened fails.
    pub async fn client(&self) -> Result<PooledClient, Error> {
        let pooled = self.shared.checkout();
        match wait::wait_connected(&pooled, self.shared.connect_timeout).await {
            Ok(()) => Ok(pooled),
            // Another connection may have opened in the meantime.
            Err(error) => self.shared.checkout_open().ok_or(error),
        }
    }

    /// Returns the maximum number of connections.
    #[must_use]
    pub fn max_size(&self) -> usize {
        self.shared.max_size
    }

    /// Returns the health of all connections opened so far.
    #[must_use]
    pub fn health(&self) -> Vec<Health> {
        let connections = self.shared.lock();
        connections
            .iter()
            .map(|connection| connection.client.health())
            .collect()
    }

    /// Stops all connections. New ones are opened when they are next needed.
    pub async fn stop(&self) {
        let connections = std::mem::take(&mut *self.shared.lock());
        let stops = connections.into_iter().map(|connection| {
            let stop = async move { connection.client.stop().await };
            Box::pin(stop) as _
        });
        Batch::new(stops).max_concurrent(self.shared.max_size).await;
    }

    /// As [`stop`](Self::stop), and waits for the servers to exit, for at most `limit`,
    /// as [`Client::stop_and_wait`] does.
    pub async fn stop_and_wait(&self, limit: Duration) -> StopOutcome {
        let connections = std::mem::take(&mut *self.shared.lock());
        let stops = connections.into_iter().map(|connection| {
            let stop = async move { connection.client.stop_and_wait(limit).await };
            Box::pin(stop) as _
        });
        StopOutcome::combine(Batch::new(stops).max_concurrent(self.shared.max_size).await)
    }
}

impl Deref for PooledClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.connection.client
    }
}

impl PooledClient {
    fn new(connection: &PooledConnection) -> Self {
        connection.load.fetch_add(1, Ordering::Relaxed);
        Self {
            connection: connection.clone(),
        }
    }
}

impl Drop for PooledClient {
    fn drop(&mut self) {
        self.connection.load.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The readiness of a connection, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Readiness {
    Open,
    /// Connecting, for the first time or after a session.
    Connecting,
    Down,
}

impl PooledConnection {
    fn readiness(&self) -> Readiness {
        let health = self.client.health();
        match health.state {
            ConnectionState::Ready => Readiness::Open,
            _ if health.consecutive_failures > 0 || health.ended => Readiness::Down,
            _ => Readiness::Connecting,
        }
    }

    fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// Returns the best connection, after opening another one if needed.
    fn checkout(&self) -> PooledClient {
        let mut connections = self.lock();
        connections.retain(|connection| !connection.client.health().ended);
        let idle = |connection: &PooledConnection| {
            connection.load() == 0 && connection.readiness() != Readiness::Down
        };
        if connections.len() < self.max_size && !connections.iter().any(idle) {
            connections.push(self.open_connection());
        }
        let best = connections
            .iter()
            .min_by_key(|connection| (connection.readiness(), connection.load()));
        // There is always a best one: an empty pool opens a connection first.
        best.map_or_else(
            || PooledClient::new(&self.open_connection()),
            PooledClient::new,
        )
    }

    fn open_connection(&self) -> PooledConnection {
        PooledConnection {
            client: (self.connect)(),
            load: Arc::default(),
        }
    }

    fn checkout_open(&self) -> Option<PooledClient> {
        let connections = self.lock();
        let open = connections
            .iter()
            .filter(|connection| connection.readiness() == Readiness::Open);
        open.min_by_key(|connection| connection.load())
            .map(PooledClient::new)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<PooledConnection>> {
        sync::lock(&self.connections)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("max_size", &self.shared.max_size)
            .field("connections", &self.shared.lock().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PooledClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.client.fmt(f)
    }
}
