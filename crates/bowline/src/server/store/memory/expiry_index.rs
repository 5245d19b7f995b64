//! Ids by the time at which they expire.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::Instant;

/// Replaces any longer duration. On some systems, `Instant` has a limit, which
/// this stays below.
pub(super) const MAX_TTL: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The ids of items that expire, the next one first.
#[derive(Default)]
pub(super) struct ExpiryIndex {
    ids: BTreeMap<Expiry, Arc<str>>,
    /// A unique, increasing number.
    counter: u64,
}

/// When an item expires. No two items have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Expiry {
    at: Instant,
    number: u64,
}

impl Expiry {
    pub(super) fn has_passed(self, now: Instant) -> bool {
        self.at <= now
    }
}

impl ExpiryIndex {
    /// Adds an item that expires after `ttl`. The caller keeps the result, to
    /// remove it.
    pub(super) fn insert(&mut self, id: Arc<str>, now: Instant, ttl: Duration) -> Expiry {
        self.counter += 1;
        let expiry = Expiry {
            at: now + ttl.min(MAX_TTL),
            number: self.counter,
        };
        self.ids.insert(expiry, id);
        expiry
    }

    /// Lets an item expire after `ttl`, if that is later than its expiry.
    pub(super) fn extend(&mut self, expiry: &mut Expiry, now: Instant, ttl: Duration) {
        if expiry.at >= now + ttl.min(MAX_TTL) {
            return;
        }
        if let Some(id) = self.ids.remove(expiry) {
            *expiry = self.insert(id, now, ttl);
        }
    }

    pub(super) fn remove(&mut self, expiry: Expiry) {
        self.ids.remove(&expiry);
    }

    /// Returns the item that expired first, which stays in the index.
    pub(super) fn first_expired(&self, now: Instant) -> Option<Arc<str>> {
        let (expiry, id) = self.ids.first_key_value()?;
        expiry.has_passed(now).then(|| Arc::clone(id))
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }
}
