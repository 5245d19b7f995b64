//! A layer over a [`Client`] that remembers: lists, contents of resources and,
//! if asked to, results of tools.
//!
//! How long something is kept the server says (`ttlMs`, `cacheScope`); where
//! it does not, the [`CacheConfig`] does. It is forgotten earlier when the
//! server tells of a change, when the connection had to be opened anew, and
//! when it is [invalidated](CachedClient::invalidate). Failures are not kept,
//! nor is anything that the server answered only after asking for input.
//!
//! Whoever asks for what somebody else is already getting waits for that
//! answer instead of asking again.
//!
//! ```no_run
//! # async fn example(client: bowline::Client) -> Result<(), Box<dyn std::error::Error>> {
//! use bowline::cache::Cache;
//!
//! let notes = Cache::default().over(client);
//! let first = notes.read("note://today").await?;
//! let again = notes.read("note://today").await?;        // from memory
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
    sync::{Arc, Mutex, MutexGuard, PoisonError},
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
use crate::client::Client;

/// A bounded memory that several connections can share.
///
/// Cheap to clone; all clones are the same memory.
#[derive(Clone)]
pub struct Cache {
    shared: Arc<Shared>,
}

/// What a cache, or one connection's part of it, has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheStats {
    /// How often something was there.
    pub hits: u64,
    /// How often the server was asked.
    pub misses: u64,
    /// How often somebody waited for the answer to somebody else's question.
    pub joined: u64,
    /// How many things were forgotten because they had become stale.
    pub invalidated: u64,
    /// How many things had to make room.
    pub evicted: u64,
}

impl Default for Cache {
    /// A memory with the [default settings](CacheConfig::default).
    fn default() -> Self {
        Self::new(CacheConfig::default())
    }
}

impl Cache {
    /// An empty memory.
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

    /// The client with this memory. What one connection's server said is never
    /// given to those who ask another's.
    #[must_use]
    pub fn wrap(&self, client: Client) -> CachedClient {
        let source = Source::new(&client);
        let id = self.shared.lock().add(source);
        CachedClient::new(client, Arc::clone(&self.shared), id)
    }

    /// What this memory has done so far, for all connections.
    #[must_use]
    pub fn stats(&self) -> CacheStats {
        self.shared.lock().stats
    }

    /// How many things are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.lock().store.len()
    }

    /// Whether nothing is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes are kept, counted as they came over the wire.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.shared.lock().store.bytes()
    }

    /// Forgets what has run out. That happens by itself now and then; whoever
    /// wants the memory back at once asks for it.
    pub fn sweep(&self) {
        self.shared.lock().store.sweep(Instant::now());
    }

    /// Forgets everything.
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

/// What all handles share.
struct Shared {
    state: Mutex<State>,
    config: CacheConfig,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic halfway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct State {
    store: Store,
    in_flight: HashMap<FetchKey, InFlightFetch>,
    sources: HashMap<SourceId, Source>,
    last_source: u64,
    stats: CacheStats,
}

/// Where to get something.
enum Lookup {
    /// Here it is.
    Cached(Value),
    /// Somebody is getting it.
    InFlight(watch::Receiver<Option<FetchResult>>),
    /// Nobody is; do, and tell all who wait here.
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

    /// Hears what the server has told since the last time.
    fn apply_notifications(&mut self, source: SourceId) {
        let invalidations = self
            .sources
            .get_mut(&source)
            .map(Source::drain_invalidations);
        for invalidation in invalidations.unwrap_or_default() {
            self.invalidate(source, &invalidation);
        }
    }

    /// Forgets what is stale, and lets nobody wait any more for an answer that
    /// would be.
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
