//! Several links to one server.
//!
//! One connection carries many calls at once, but some servers work on one at
//! a time per connection. A [`Pool`] opens more of them as they are needed.

use std::{
    fmt,
    ops::Deref,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use crate::{
    client::{Client, Error, Health},
    proto::client::StateName,
    registry::{Many, opening},
    transport::Stopped,
};

/// Several connections to one server, opened as they are needed.
///
/// Cheap to clone; all clones are the same pool.
///
/// ```no_run
/// # async fn example() -> Result<(), bowline::Error> {
/// use bowline::{Client, pool::Pool, transport::ChildProcess};
/// use serde_json::json;
///
/// let pool = Pool::new(4, || {
///     Client::builder().connect_later(ChildProcess::new("mcp-server-search"))
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
    start: Box<dyn Fn() -> Client + Send + Sync>,
    size: usize,
    patience: Duration,
    links: Mutex<Vec<Link>>,
}

/// One connection, and how many have it in hand.
#[derive(Clone)]
struct Link {
    client: Client,
    load: Arc<AtomicUsize>,
}

/// A connection of a pool. It counts as in use until it is dropped, so take
/// one for each call rather than one for all.
pub struct PooledClient {
    link: Link,
}

impl Pool {
    /// A pool of up to `size` connections, at least one. `start` opens one
    /// more; it must neither use the pool nor wait:
    /// [`connect_later`](crate::client::ClientBuilder::connect_later) does not.
    #[must_use]
    pub fn new(size: usize, start: impl Fn() -> Client + Send + Sync + 'static) -> Self {
        Self::patient(size, opening::PATIENCE, start)
    }

    /// As [`new`](Self::new); when all connections have fallen, waits this
    /// long for one to be tried again.
    #[must_use]
    pub fn patient(
        size: usize,
        patience: Duration,
        start: impl Fn() -> Client + Send + Sync + 'static,
    ) -> Self {
        let shared = Shared {
            start: Box::new(start),
            size: size.max(1),
            patience,
            links: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The connection that is in use least. If all that are open are in use,
    /// and there may be more, another is opened meanwhile. Those that are down
    /// are passed over unless all are.
    ///
    /// # Errors
    ///
    /// Where no connection is open, and the one that was to be does not open.
    pub async fn client(&self) -> Result<PooledClient, Error> {
        let taken = self.shared.take();
        match opening::open(&taken, self.shared.patience).await {
            Ok(()) => Ok(taken),
            // Another may have come up meanwhile.
            Err(error) => self.shared.take_open().ok_or(error),
        }
    }

    /// How many connections there may be.
    #[must_use]
    pub fn size(&self) -> usize {
        self.shared.size
    }

    /// How the connections are doing that there are so far.
    #[must_use]
    pub fn health(&self) -> Vec<Health> {
        let links = self.shared.lock();
        links.iter().map(|link| link.client.health()).collect()
    }

    /// Stops all connections. New ones are opened when they are next needed.
    pub async fn stop(&self) {
        let links = std::mem::take(&mut *self.shared.lock());
        let stops = links.into_iter().map(|link| {
            let stop = async move { link.client.stop().await };
            Box::pin(stop) as _
        });
        Many::new(stops).at_once(self.shared.size).await;
    }

    /// As [`stop`](Self::stop), and waits for the servers' end, for `limit` at
    /// most, as [`Client::stop_and_wait`] does.
    pub async fn stop_and_wait(&self, limit: Duration) -> Stopped {
        let links = std::mem::take(&mut *self.shared.lock());
        let stops = links.into_iter().map(|link| {
            let stop = async move { link.client.stop_and_wait(limit).await };
            Box::pin(stop) as _
        });
        Stopped::all(Many::new(stops).at_once(self.shared.size).await)
    }
}

impl Deref for PooledClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.link.client
    }
}

impl PooledClient {
    fn new(link: &Link) -> Self {
        link.load.fetch_add(1, Ordering::Relaxed);
        Self { link: link.clone() }
    }
}

impl Drop for PooledClient {
    fn drop(&mut self) {
        self.link.load.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What can be expected of a connection, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Prospect {
    Open,
    /// On its way, for the first time or after a session.
    Coming,
    Down,
}

impl Link {
    fn prospect(&self) -> Prospect {
        let health = self.client.health();
        match health.state {
            StateName::Ready => Prospect::Open,
            _ if health.failures > 0 || health.ended => Prospect::Down,
            _ => Prospect::Coming,
        }
    }

    fn load(&self) -> usize {
        self.load.load(Ordering::Relaxed)
    }
}

impl Shared {
    /// The best connection there is, after opening one more if that is due.
    fn take(&self) -> PooledClient {
        let mut links = self.lock();
        links.retain(|link| !link.client.health().ended);
        let idle = |link: &Link| link.load() == 0 && link.prospect() != Prospect::Down;
        if links.len() < self.size && !links.iter().any(idle) {
            links.push(self.one_more());
        }
        let best = links
            .iter()
            .min_by_key(|link| (link.prospect(), link.load()));
        // There is a best one: none would have been reason to open one.
        best.map_or_else(|| PooledClient::new(&self.one_more()), PooledClient::new)
    }

    fn one_more(&self) -> Link {
        Link {
            client: (self.start)(),
            load: Arc::default(),
        }
    }

    fn take_open(&self) -> Option<PooledClient> {
        let links = self.lock();
        let open = links
            .iter()
            .filter(|link| link.prospect() == Prospect::Open);
        open.min_by_key(|link| link.load()).map(PooledClient::new)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Link>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("size", &self.shared.size)
            .field("links", &self.shared.lock().len())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for PooledClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.link.client.fmt(f)
    }
}
