//! In-memory states.

use std::{collections::HashMap, fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::time::Instant;

use super::{
    super::{ConversationKey, SealedStateStore, StoreError},
    MAX_SWEPT_PER_WRITE, MIB,
    expiry_index::{Expiry, ExpiryIndex},
    quota::{Amount, Quota, StoreFull},
};
use crate::{
    sync::{Mutex, lock},
    transport::BoxFuture,
};

/// A [`SealedStateStore`] for a server with a single process.
///
/// It is bounded: by default 4096 states of 128 MiB in total. One account may
/// use an eighth of that; callers without a principal share one account, which
/// may use half. Expired states make room; if there are none, new states are
/// rejected. A restart loses everything.
pub struct MemorySealedStateStore(Mutex<States>);

impl MemorySealedStateStore {
    /// Creates a store with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(4096, 128 * MIB)
    }

    /// Creates a store with limits on the number of states, and the bytes of
    /// ids and states.
    #[must_use]
    pub fn with_limits(max_entries: usize, max_bytes: usize) -> Self {
        Self(Mutex::new(States::new(max_entries, max_bytes)))
    }
}

impl SealedStateStore for MemorySealedStateStore {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let now = Instant::now();
            let saved = lock(&self.0).put(key, &state, now, ttl);
            saved.map_err(StoreError::from)
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move { Ok(lock(&self.0).get(key.id, Instant::now())) })
    }
}

/// A bounded map whose entries expire. Unexpired entries are never dropped.
struct States {
    entries: HashMap<Arc<str>, Entry>,
    expiries: ExpiryIndex,
    quota: Quota,
}

struct Entry {
    account: Box<str>,
    value: Bytes,
    expiry: Expiry,
}

impl States {
    fn new(max_entries: usize, max_bytes: usize) -> Self {
        Self {
            entries: HashMap::new(),
            expiries: ExpiryIndex::default(),
            quota: Quota::new(max_entries, max_bytes),
        }
    }

    /// Returns the value, if it has not expired.
    fn get(&self, id: &str, now: Instant) -> Option<Bytes> {
        let entry = self.entries.get(id)?;
        (!entry.expiry.has_passed(now)).then(|| entry.value.clone())
    }

    /// Inserts a value. If it does not fit, the previous one stays.
    fn put(
        &mut self,
        key: ConversationKey<'_>,
        value: &[u8],
        now: Instant,
        ttl: Duration,
    ) -> Result<(), StoreFull> {
        for _ in 0..MAX_SWEPT_PER_WRITE {
            self.drop_expired(now);
        }
        let size = |value: &[u8]| Amount::one(key.id.len() + value.len());
        let new = size(value);
        loop {
            let old = self.entries.get(key.id);
            let old = old.map_or(Amount::NONE, |old| size(&old.value));
            match self.quota.check(key.account, old, new) {
                Ok(()) => break,
                Err(_) if self.drop_expired(now) => {}
                Err(exceeded) => return Err(exceeded),
            }
        }
        let id = self.remove(key.id).unwrap_or_else(|| key.id.into());
        let expiry = self.expiries.insert(Arc::clone(&id), now, ttl);
        self.quota.replace(key.account, Amount::NONE, new);
        let entry = Entry {
            account: key.account.into(),
            // Copied: the bytes may be a small slice of a large frame, which
            // would stay in memory.
            value: Bytes::copy_from_slice(value),
            expiry,
        };
        self.entries.insert(id, entry);
        Ok(())
    }

    /// Drops the entry that expired first. Returns whether there was one.
    fn drop_expired(&mut self, now: Instant) -> bool {
        let expired = self.expiries.first_expired(now);
        expired.is_some_and(|id| self.remove(&id).is_some())
    }

    fn remove(&mut self, id: &str) -> Option<Arc<str>> {
        let (id, entry) = self.entries.remove_entry(id)?;
        self.expiries.remove(entry.expiry);
        let size = Amount::one(id.len() + entry.value.len());
        self.quota.replace(&entry.account, size, Amount::NONE);
        Some(id)
    }
}

impl Default for MemorySealedStateStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the usage, not the contents.
impl fmt::Debug for MemorySealedStateStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = lock(&self.0);
        f.debug_tuple("MemorySealedStateStore")
            .field(&states.quota)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{super::expiry_index::MAX_TTL, *};

    // The limit for callers without a principal: half of the total.
    const MAX_ENTRIES: usize = 5;
    const MAX_BYTES: usize = 60;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// The reference model of `States`, simple and slow.
    #[derive(Default)]
    struct Model(BTreeMap<String, (Vec<u8>, Instant)>);

    impl Model {
        fn get(&self, key: &str, now: Instant) -> Option<Vec<u8>> {
            let (value, expires_at) = self.0.get(key)?;
            (*expires_at > now).then(|| value.clone())
        }

        fn put(
            &mut self,
            key: &str,
            value: &[u8],
            now: Instant,
            ttl: Duration,
        ) -> Result<(), StoreFull> {
            self.0.retain(|_, (_, expires_at)| *expires_at > now);
            let mut after = self.0.clone();
            after.insert(key.to_owned(), (value.to_vec(), now + ttl));
            let size = |(key, (value, _)): (&String, &(Vec<u8>, Instant))| key.len() + value.len();
            if after.len() > MAX_ENTRIES || after.iter().map(size).sum::<usize>() > MAX_BYTES {
                return Err(StoreFull::Account);
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
            let mut states = States::new(2 * MAX_ENTRIES, 2 * MAX_BYTES);
            let (mut model, mut now) = (Model::default(), Instant::now());
            for (count, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Wait(ttl) => now += seconds(ttl),
                    Step::Put { key, len, ttl } => {
                        let (key, value) = (format!("key {key}"), vec![count as u8; len]);
                        let put = states.put(ConversationKey::new(&key, ""), &value, now, seconds(ttl));
                        prop_assert_eq!(put, model.put(&key, &value, now, seconds(ttl)));
                    }
                }
                for key in (0..8).map(|key| format!("key {key}")) {
                    let found = states.get(&key, now).map(|value| value.to_vec());
                    prop_assert_eq!(found, model.get(&key, now));
                }
                check_counts(&states)?;
            }
        }
    }

    fn check_counts(states: &States) -> Result<(), TestCaseError> {
        let sizes = states
            .entries
            .iter()
            .map(|(key, entry)| key.len() + entry.value.len());
        prop_assert_eq!(states.quota.used().bytes, sizes.sum::<usize>());
        prop_assert_eq!(states.quota.used().entries, states.entries.len());
        prop_assert_eq!(states.entries.len(), states.expiries.len());
        prop_assert!(states.quota.used().bytes <= MAX_BYTES);
        prop_assert!(states.entries.len() <= MAX_ENTRIES);
        Ok(())
    }

    #[test]
    fn expired_entries_go_although_there_is_room() {
        let mut states = States::new(1000, 100_000);
        let now = Instant::now();
        for key in 0..100 {
            states
                .put(
                    ConversationKey::new(&format!("old {key}"), ""),
                    b"",
                    now,
                    seconds(1),
                )
                .unwrap();
        }
        let later = now + seconds(1);
        for key in 0..34 {
            states
                .put(
                    ConversationKey::new(&format!("new {key}"), ""),
                    b"",
                    later,
                    seconds(1),
                )
                .unwrap();
        }
        assert_eq!(states.entries.len(), 34, "4 went for each that came");
    }

    #[test]
    fn one_write_does_not_sweep_everything() {
        let mut states = States::new(1000, 100_000);
        let now = Instant::now();
        for key in 0..100 {
            states
                .put(
                    ConversationKey::new(&format!("old {key}"), ""),
                    b"",
                    now,
                    seconds(1),
                )
                .unwrap();
        }
        let later = now + seconds(1);
        states
            .put(ConversationKey::new("new", ""), b"", later, seconds(1))
            .unwrap();
        assert_eq!(states.entries.len(), 100 - MAX_SWEPT_PER_WRITE + 1);
    }

    #[test]
    fn the_longest_time_is_not_too_long() {
        let mut states = States::new(10, 1000);
        let now = Instant::now();
        states
            .put(
                ConversationKey::new("key", ""),
                b"value",
                now,
                Duration::MAX,
            )
            .unwrap();
        assert!(states.get("key", now + MAX_TTL - seconds(1)).is_some());
    }
}
