//! A cache over a [`Client`] for lists, contents of resources and, optionally, tool
//! results.
//!
//! The server determines how long an item is cached (`ttlMs`, `cacheScope`); if it does
//! not, the [`CacheConfig`] does. An item is invalidated earlier when the server
//! notifies of a change, when the connection had to be reopened, and when it is
//! [invalidated](CachedClient::invalidate) explicitly. Failures are not cached, nor are
//! results for which the server asked for input.
//!
//! Concurrent requests for the same item share one request to the server.
//!
//! ```no_run
//! # async fn example(client: bowline::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use bowline::cache::Cache;
//!
//! let notes = Cache::default().wrap(client);
//! let first = notes.read("note://today").await?;
//! let again = notes.read("note://today").await?;        // from the cache
//! notes.call_and_invalidate("sync_repository", serde_json::json!({})).await?;
//! let fresh = notes.read("note://today").await?;        // from the server
//! # drop((first, again, fresh));
//! # Ok(()) }
//! ```

mod client;
mod config;
mod fetch;
mod in_flight;
mod key;
mod source;
mod store;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

pub use self::{client::CachedClient, config::CacheConfig};
use self::{
    in_flight::{FetchKey, FetchResult, InFlightFetch},
    key::{Invalidation, Key, SourceId},
    source::Source,
    store::{Store, Value},
};
use crate::{client::Client, sync};

/// A bounded cache that several connections can share.
///
/// Cheap to clone; all clones share the same cache.
#[derive(Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

/// The statistics of a cache, or of one connection's part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// Lookups answered from the cache.
    pub hits: u64,
    /// Lookups that sent a request to the server.
    pub misses: u64,
    /// Lookups that waited for a request already in progress.
    pub joined: u64,
    /// Entries removed because they had become stale.
    pub invalidated: u64,
    /// Entries removed to make room.
    pub evicted: u64,
}

impl Default for Cache {
    /// Creates a cache with the [default settings](CacheConfig::default).
    fn default() -> Self {
        Self::new(CacheConfig::default())
    }
}

impl Cache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(config: CacheConfig) -> Self {
        let store = Store::new(config.max_entries, config.max_bytes, Instant::now());
        let state = State {
            store,
            in_flight: HashMap::new(),
            sources: HashMap::new(),
            last_source: 0,
            stats: CacheStats::default(),
        };
        Self {
            shared: Arc::new(Shared {
                state: Mutex::new(state),
                config,
            }),
        }
    }

    /// Wraps a client with this cache. Connections never share items with each other.
    #[must_use]
    pub fn wrap(&self, client: Client) -> CachedClient {
        let source = Source::new(&client);
        let id = self.shared.lock().add(source);
        CachedClient::new(client, Arc::clone(&self.shared), id)
    }

    /// Returns the statistics of all connections.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.shared.lock().stats
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().store.len()
    }

    /// Returns whether the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the size of all entries, counted in bytes on the wire.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.lock().store.bytes()
    }

    /// Removes expired entries. This happens automatically from time to time; call it
    /// to free the memory immediately.
    pub fn sweep(&self) {
        self.shared.lock().store.sweep(Instant::now());
    }

    /// Removes all entries.
    pub fn clear(&self) {
        let mut state = self.shared.lock();
        let sources: Vec<SourceId> = state.sources.keys().copied().collect();
        for source in sources {
            state.invalidate(source, &Invalidation::Everything);
        }
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache")
            .field("entries", &self.len())
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}

/// State shared by all handles.
struct Shared {
    state: Mutex<State>,
    config: CacheConfig,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code panics while holding the lock with inconsistent state.
        sync::lock(&self.state)
    }
}

struct State {
    store: Store,
    in_flight: HashMap<FetchKey, InFlightFetch>,
    sources: HashMap<SourceId, Source>,
    last_source: u64,
    stats: CacheStats,
}

/// The result of a lookup.
enum Lookup {
    /// The item is cached.
    Cached(Value),
    /// A request for it is in progress.
    InFlight(watch::Receiver<Option<FetchResult>>),
    /// The caller must fetch it and send the result to all waiters.
    Miss(InFlightFetch, watch::Receiver<Option<FetchResult>>),
}

impl State {
    fn add(&mut self, source: Source) -> SourceId {
        self.last_source += 1;
        let id = SourceId(self.last_source);
        self.sources.insert(id, source);
        id
    }

    fn remove(&mut self, source: SourceId) {
        self.invalidate(source, &Invalidation::Everything);
        self.sources.remove(&source);
    }

    fn look_up(&mut self, fetch_key: &FetchKey) -> Lookup {
        self.apply_notifications(fetch_key.source);
        let now = Instant::now();
        let cached = self.store.get(&fetch_key.private(), now);
        let cached = cached.or_else(|| self.store.get(&fetch_key.public(), now));
        if let Some(value) = cached {
            self.count(fetch_key.source, |stats| stats.hits += 1);
            return Lookup::Cached(value);
        }
        if let Some(sender) = self.in_flight.get(fetch_key) {
            let receiver = sender.subscribe();
            self.count(fetch_key.source, |stats| stats.joined += 1);
            return Lookup::InFlight(receiver);
        }
        self.count(fetch_key.source, |stats| stats.misses += 1);
        let (sender, receiver) = watch::channel(None);
        let sender = Arc::new(sender);
        self.in_flight
            .insert(fetch_key.clone(), Arc::clone(&sender));
        Lookup::Miss(sender, receiver)
    }

    fn insert(&mut self, key: Key, value: Value, bytes: usize, ttl: Duration) {
        let source = key.source;
        let evicted = self.store.insert(key, value, bytes, Instant::now(), ttl);
        self.count(source, |stats| stats.evicted += evicted);
    }

    /// Applies the notifications received since the last lookup.
    fn apply_notifications(&mut self, source: SourceId) {
        let invalidations = self
            .sources
            .get_mut(&source)
            .map(Source::drain_invalidations);
        for invalidation in invalidations.unwrap_or_default() {
            self.invalidate(source, &invalidation);
        }
    }

    /// Removes stale entries, and detaches requests in progress whose results would be
    /// stale.
    fn invalidate(&mut self, source: SourceId, invalidation: &Invalidation) {
        let removed = self.store.invalidate(source, invalidation);
        self.count(source, |stats| stats.invalidated += removed);
        self.in_flight.retain(|fetch_key, _| {
            fetch_key.source != source || !invalidation.covers(&fetch_key.item)
        });
    }

    fn count(&mut self, source: SourceId, update: impl Fn(&mut CacheStats)) {
        update(&mut self.stats);
        if let Some(source) = self.sources.get_mut(&source) {
            update(&mut source.stats);
        }
    }
}
