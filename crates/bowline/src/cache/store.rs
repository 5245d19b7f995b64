//! The entries of a cache: bounded in number and size, evicted in LRU order.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::time::Instant;

use super::key::{CachedItem, Invalidation, Key, SourceId};

/// A cached value. Its type follows from its key.
pub(super) type Value = Arc<dyn Any + Send + Sync>;

/// The minimum interval between removals of expired entries.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// The entries, in the order of their last use.
pub(super) struct Store {
    entries: HashMap<Key, Entry>,
    order: BTreeMap<u64, Key>,
    uses: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
    last_sweep: Instant,
}

struct Entry {
    value: Value,
    bytes: usize,
    expires_at: Instant,
    last_use: u64,
}

impl Store {
    pub(super) fn new(max_entries: usize, max_bytes: usize, now: Instant) -> Self {
        Self {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            uses: 0,
            bytes: 0,
            max_entries,
            max_bytes,
            last_sweep: now,
        }
    }

    /// Returns the entry for a key, if it has not expired.
    pub(super) fn get(&mut self, key: &Key, now: Instant) -> Option<Value> {
        if self.entries.get(key)?.expires_at <= now {
            self.remove(key);
            return None;
        }
        self.uses += 1;
        let entry = self.entries.get_mut(key)?;
        let key = self.order.remove(&entry.last_use)?;
        entry.last_use = self.uses;
        self.order.insert(self.uses, key);
        Some(Arc::clone(&entry.value))
    }

    /// Inserts an entry. Returns how many others were evicted.
    pub(super) fn insert(
        &mut self,
        key: Key,
        value: Value,
        bytes: usize,
        now: Instant,
        ttl: Duration,
    ) -> u64 {
        self.remove(&key);
        if ttl.is_zero() || bytes > self.max_bytes || self.max_entries == 0 {
            return 0;
        }
        if now.duration_since(self.last_sweep) >= SWEEP_INTERVAL {
            self.sweep(now);
        }
        self.uses += 1;
        self.bytes += bytes;
        self.order.insert(self.uses, key.clone());
        let entry = Entry {
            value,
            bytes,
            expires_at: now + ttl,
            last_use: self.uses,
        };
        self.entries.insert(key, entry);
        self.evict()
    }

    /// Removes the stale entries of a source. Returns how many.
    pub(super) fn invalidate(&mut self, source: SourceId, invalidation: &Invalidation) -> u64 {
        self.remove_where(|key, _| key.source == source && invalidation.covers(&key.item))
    }

    /// Removes expired entries.
    pub(super) fn sweep(&mut self, now: Instant) {
        self.last_sweep = now;
        self.remove_where(|_, entry| entry.expires_at <= now);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the number of unexpired resources of a source.
    pub(super) fn resources(&self, source: SourceId, now: Instant) -> usize {
        let is_match = |(key, entry): &(&Key, &Entry)| {
            let resource = matches!(key.item, CachedItem::Contents(_));
            resource && key.source == source && entry.expires_at > now
        };
        self.entries.iter().filter(is_match).count()
    }

    fn evict(&mut self) -> u64 {
        let mut evicted = 0;
        while self.entries.len() > self.max_entries || self.bytes > self.max_bytes {
            let Some((_, key)) = self.order.pop_first() else {
                break;
            };
            if let Some(entry) = self.entries.remove(&key) {
                self.bytes -= entry.bytes;
                evicted += 1;
            }
        }
        evicted
    }

    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.last_use);
            self.bytes -= entry.bytes;
        }
    }

    fn remove_where(&mut self, should_remove: impl Fn(&Key, &Entry) -> bool) -> u64 {
        let before = self.entries.len();
        let (order, bytes) = (&mut self.order, &mut self.bytes);
        self.entries.retain(|key, entry| {
            let should_remove = should_remove(key, entry);
            if should_remove {
                order.remove(&entry.last_use);
                *bytes -= entry.bytes;
            }
            !should_remove
        });
        (before - self.entries.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{super::key::Audience, *};

    const LONG: Duration = Duration::from_secs(3600);

    struct Rig {
        store: Store,
        now: Instant,
    }

    impl Rig {
        fn new(max_entries: usize, max_bytes: usize) -> Self {
            let now = Instant::now();
            let store = Store::new(max_entries, max_bytes, now);
            Self { store, now }
        }

        fn put(&mut self, uri: &str, bytes: usize, ttl: Duration) -> u64 {
            let value = Arc::new(uri.to_owned());
            self.store.insert(key(uri), value, bytes, self.now, ttl)
        }

        fn has(&mut self, uri: &str) -> bool {
            self.store.get(&key(uri), self.now).is_some()
        }
    }

    fn key(uri: &str) -> Key {
        Key {
            source: SourceId(1),
            audience: Audience::Everyone,
            item: CachedItem::Contents(uri.into()),
        }
    }

    #[test]
    fn the_least_recently_used_makes_room() {
        let mut rig = Rig::new(2, 1000);
        rig.put("a", 1, LONG);
        rig.put("b", 1, LONG);
        assert!(rig.has("a"));
        assert_eq!(rig.put("c", 1, LONG), 1);
        assert!(rig.has("a") && rig.has("c") && !rig.has("b"));
    }

    #[test]
    fn bytes_are_bounded_too() {
        let mut rig = Rig::new(100, 10);
        rig.put("a", 4, LONG);
        rig.put("b", 4, LONG);
        assert_eq!(rig.put("c", 9, LONG), 2);
        assert_eq!((rig.store.len(), rig.store.bytes()), (1, 9));
        assert_eq!(rig.put("d", 11, LONG), 0, "never fits, so evicts nothing");
        assert!(rig.has("c") && !rig.has("d"));
    }

    #[test]
    fn what_is_replaced_is_not_counted_twice() {
        let mut rig = Rig::new(100, 10);
        rig.put("a", 6, LONG);
        rig.put("a", 7, LONG);
        assert_eq!((rig.store.len(), rig.store.bytes()), (1, 7));
    }

    #[test]
    fn what_ran_out_is_gone_and_swept() {
        let mut rig = Rig::new(100, 100);
        rig.put("a", 1, Duration::from_secs(5));
        rig.put("b", 1, Duration::from_secs(5));
        rig.now += Duration::from_secs(5);
        assert!(!rig.has("a"));
        assert_eq!(rig.store.len(), 1);
        rig.now += SWEEP_INTERVAL;
        rig.put("c", 1, LONG);
        assert_eq!((rig.store.len(), rig.store.bytes()), (1, 1));
    }

    #[test]
    fn a_source_is_invalidated_alone() {
        let mut rig = Rig::new(100, 100);
        rig.put("a", 1, LONG);
        let removed = rig.store.invalidate(SourceId(2), &Invalidation::Everything);
        assert_eq!(removed, 0);
        assert_eq!(rig.store.resources(SourceId(1), rig.now), 1);
        let removed = rig.store.invalidate(SourceId(1), &Invalidation::Everything);
        assert_eq!((removed, rig.store.bytes()), (1, 0));
    }
}
