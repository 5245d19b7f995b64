//! A bounded map whose entries expire.
//!
//! There is no timer: each write drops a few entries that have expired, and as
//! many more as it needs room. An entry is dropped once, so that all writes
//! together cost what the entries cost, and none of them waits for a sweep of
//! everything. Nothing that is alive is ever dropped.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;

/// How many expired entries a write drops even if it has room. More than it
/// adds, so that they become fewer.
const SWEEP: usize = 4;

/// In place of any time that is longer. A point in time has an end of its own
/// on some systems, and this is before it.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

pub(super) struct Shelf {
    entries: HashMap<Arc<str>, Entry>,
    /// The keys by expiry. The number keeps equal times apart.
    expiries: BTreeMap<Expiry, Arc<str>>,
    written: u64,
    bytes: usize,
    max_entries: usize,
    max_bytes: usize,
}

type Expiry = (Instant, u64);

struct Entry {
    value: Bytes,
    expiry: Expiry,
}

/// There is no room, and nothing that may go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Shelf {
    pub(super) fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: HashMap::new(),
            expiries: BTreeMap::new(),
            written: 0,
            bytes: 0,
            max_entries,
            max_bytes,
        }
    }

    /// What is there, if it has not expired.
    pub(super) fn get(&self, key: &str, now: Instant) -> Option<Bytes> {
        let entry = self.entries.get(key)?;
        (entry.expiry.0 > now).then(|| entry.value.clone())
    }

    /// Puts a value there. If it has no room, what was there stays.
    pub(super) fn put(
        &mut self,
        key: &str,
        value: &[u8],
        now: Instant,
        ttl: Duration,
    ) -> Result<(), Full> {
        for _ in 0..SWEEP {
            self.drop_expired(now);
        }
        while !self.has_room(key, value) {
            if !self.drop_expired(now) {
                return Err(Full);
            }
        }
        let key = self.remove(key).unwrap_or_else(|| key.into());
        self.written += 1;
        let expiry = (now + ttl.min(FOREVER), self.written);
        self.bytes += key.len() + value.len();
        self.expiries.insert(expiry, Arc::clone(&key));
        // A copy: the given bytes may be a small part of a large frame, all
        // of which would stay in memory.
        let value = Bytes::copy_from_slice(value);
        self.entries.insert(key, Entry { value, expiry });
        Ok(())
    }

    fn has_room(&self, key: &str, value: &[u8]) -> bool {
        let (replaced, freed) = match self.entries.get(key) {
            Some(entry) => (1, key.len() + entry.value.len()),
            None => (0, 0),
        };
        let needed = key.len().saturating_add(value.len());
        let entries = self.entries.len() - replaced;
        let bytes = (self.bytes - freed).saturating_add(needed);
        entries < self.max_entries && bytes <= self.max_bytes
    }

    /// Drops the entry that expired first. Says whether there was one.
    fn drop_expired(&mut self, now: Instant) -> bool {
        let expired = match self.expiries.first_key_value() {
            Some(((until, _), key)) if *until <= now => Arc::clone(key),
            _ => return false,
        };
        self.remove(&expired).is_some()
    }

    pub(super) fn remove(&mut self, key: &str) -> Option<Arc<str>> {
        let (key, entry) = self.entries.remove_entry(key)?;
        self.expiries.remove(&entry.expiry);
        self.bytes -= key.len() + entry.value.len();
        Some(key)
    }
}

/// Shows how full it is, and no contents.
impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf")
            .field("entries", &self.entries.len())
            .field("max_entries", &self.max_entries)
            .field("bytes", &self.bytes)
            .field("max_bytes", &self.max_bytes)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX_ENTRIES: usize = 5;
    const MAX_BYTES: usize = 60;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// What a shelf should do, done the slow way.
    #[derive(Default)]
    struct Model(BTreeMap<String, (Vec<u8>, Instant)>);

    impl Model {
        fn get(&self, key: &str, now: Instant) -> Option<Vec<u8>> {
            let (value, until) = self.0.get(key)?;
            (*until > now).then(|| value.clone())
        }

        fn put(
            &mut self,
            key: &str,
            value: &[u8],
            now: Instant,
            ttl: Duration,
        ) -> Result<(), Full> {
            self.0.retain(|_, (_, until)| *until > now);
            let mut after = self.0.clone();
            after.insert(key.to_owned(), (value.to_vec(), now + ttl));
            let size = |(key, (value, _)): (&String, &(Vec<u8>, Instant))| key.len() + value.len();
            if after.len() > MAX_ENTRIES || after.iter().map(size).sum::<usize>() > MAX_BYTES {
                return Err(Full);
            }
            self.0 = after;
            Ok(())
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Put { key: u8, len: usize, ttl: u64 },
        Wait(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..8_u8, 0..30_usize, 0..20_u64)
                .prop_map(|(key, len, ttl)| Step::Put { key, len, ttl }),
            1 => (0..15_u64).prop_map(Step::Wait),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            ..ProptestConfig::with_cases(512)
        })]

        #[test]
        fn it_does_what_a_slow_one_does(steps in prop::collection::vec(step(), 0..80)) {
            let mut shelf = Shelf::new(MAX_ENTRIES, MAX_BYTES);
            let (mut model, mut now) = (Model::default(), Instant::now());
            for (count, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Wait(ttl) => now += seconds(ttl),
                    Step::Put { key, len, ttl } => {
                        let (key, value) = (format!("key {key}"), vec![count as u8; len]);
                        let put = shelf.put(&key, &value, now, seconds(ttl));
                        prop_assert_eq!(put, model.put(&key, &value, now, seconds(ttl)));
                    }
                }
                for key in (0..8).map(|key| format!("key {key}")) {
                    let found = shelf.get(&key, now).map(|value| value.to_vec());
                    prop_assert_eq!(found, model.get(&key, now));
                }
                check_counts(&shelf)?;
            }
        }
    }

    fn check_counts(shelf: &Shelf) -> Result<(), TestCaseError> {
        let sizes = shelf
            .entries
            .iter()
            .map(|(key, entry)| key.len() + entry.value.len());
        prop_assert_eq!(shelf.bytes, sizes.sum::<usize>());
        prop_assert_eq!(shelf.entries.len(), shelf.expiries.len());
        prop_assert!(shelf.bytes <= MAX_BYTES && shelf.entries.len() <= MAX_ENTRIES);
        Ok(())
    }

    #[test]
    fn expired_entries_go_although_there_is_room() {
        let mut shelf = Shelf::new(1000, 100_000);
        let now = Instant::now();
        for key in 0..100 {
            shelf
                .put(&format!("old {key}"), b"", now, seconds(1))
                .unwrap();
        }
        let later = now + seconds(1);
        for key in 0..34 {
            shelf
                .put(&format!("new {key}"), b"", later, seconds(1))
                .unwrap();
        }
        assert_eq!(shelf.entries.len(), 34, "4 went for each that came");
    }

    #[test]
    fn one_write_does_not_sweep_everything() {
        let mut shelf = Shelf::new(1000, 100_000);
        let now = Instant::now();
        for key in 0..100 {
            shelf
                .put(&format!("old {key}"), b"", now, seconds(1))
                .unwrap();
        }
        shelf.put("new", b"", now + seconds(1), seconds(1)).unwrap();
        assert_eq!(shelf.entries.len(), 100 - SWEEP + 1);
    }

    #[test]
    fn the_longest_time_is_not_too_long() {
        let mut shelf = Shelf::new(10, 1000);
        let now = Instant::now();
        shelf.put("key", b"value", now, Duration::MAX).unwrap();
        assert!(shelf.get("key", now + FOREVER - seconds(1)).is_some());
    }
}
