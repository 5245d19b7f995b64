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
mod flight;
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
    flight::{Flight, Landing, Route},
    key::{Key, SourceId, Stale},
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
pub struct Stats {
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
            flights: HashMap::new(),
            sources: HashMap::new(),
            last_source: 0,
            stats: Stats::default(),
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
    pub fn over(&self, client: Client) -> CachedClient {
        let source = Source::new(&client);
        let id = self.shared.lock().add(source);
        CachedClient::new(client, Arc::clone(&self.shared), id)
    }

    /// What this memory has done so far, for all connections.
    #[must_use]
    pub fn stats(&self) -> Stats {
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
            state.invalidate(source, &Stale::Everything);
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
    flights: HashMap<Route, Flight>,
    sources: HashMap<SourceId, Source>,
    last_source: u64,
    stats: Stats,
}

/// Where to get something.
enum Found {
    /// Here it is.
    Kept(Value),
    /// Somebody is getting it.
    Awaited(watch::Receiver<Option<Landing>>),
    /// Nobody is; do, and tell all who wait here.
    Missing(Flight, watch::Receiver<Option<Landing>>),
}

impl State {
    fn add(&mut self, source: Source) -> SourceId {
        self.last_source += 1;
        let id = SourceId(self.last_source);
        self.sources.insert(id, source);
        id
    }

    fn remove(&mut self, source: SourceId) {
        self.invalidate(source, &Stale::Everything);
        self.sources.remove(&source);
    }

    fn find(&mut self, route: &Route) -> Found {
        self.catch_up(route.source);
        let now = Instant::now();
        let kept = self.store.get(&route.private(), now);
        let kept = kept.or_else(|| self.store.get(&route.public(), now));
        if let Some(value) = kept {
            self.count(route.source, |stats| stats.hits += 1);
            return Found::Kept(value);
        }
        if let Some(flight) = self.flights.get(route) {
            let waiting = flight.subscribe();
            self.count(route.source, |stats| stats.joined += 1);
            return Found::Awaited(waiting);
        }
        self.count(route.source, |stats| stats.misses += 1);
        let (flight, waiting) = watch::channel(None);
        let flight = Arc::new(flight);
        self.flights.insert(route.clone(), Arc::clone(&flight));
        Found::Missing(flight, waiting)
    }

    fn keep(&mut self, key: Key, value: Value, bytes: usize, ttl: Duration) {
        let source = key.source;
        let evicted = self.store.insert(key, value, bytes, Instant::now(), ttl);
        self.count(source, |stats| stats.evicted += evicted);
    }

    /// Hears what the server has told since the last time.
    fn catch_up(&mut self, source: SourceId) {
        let news = self.sources.get_mut(&source).map(Source::news);
        for stale in news.unwrap_or_default() {
            self.invalidate(source, &stale);
        }
    }

    /// Forgets what is stale, and lets nobody wait any more for an answer that
    /// would be.
    fn invalidate(&mut self, source: SourceId, stale: &Stale) {
        let gone = self.store.invalidate(source, stale);
        self.count(source, |stats| stats.invalidated += gone);
        self.flights
            .retain(|route, _| route.source != source || !stale.covers(&route.what));
    }

    fn count(&mut self, source: SourceId, count: impl Fn(&mut Stats)) {
        count(&mut self.stats);
        if let Some(source) = self.sources.get_mut(&source) {
            count(&mut source.stats);
        }
    }
}
