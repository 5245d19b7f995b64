//! Ids of requests that were given up, so that a late answer is recognised.

use std::{collections::BTreeMap, time::Duration};

use crate::Instant;

/// What is known of an id that is not live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum UnmatchedResponse {
    /// We gave this request up and its answer is merely late.
    Late,
    /// We know nothing of it.
    Unknown,
}

/// The ids given up recently. Bounded in time and in number.
#[derive(Debug)]
pub(super) struct CancelledCalls {
    expiry: BTreeMap<u64, Instant>,
    ttl: Duration,
    max_entries: usize,
}

impl CancelledCalls {
    pub(super) fn new(ttl: Duration, max_entries: usize) -> Self {
        Self {
            expiry: BTreeMap::new(),
            ttl,
            max_entries,
        }
    }

    pub(super) fn insert(&mut self, now: Instant, id: u64) {
        self.expiry.insert(id, now + self.ttl);
        if self.expiry.len() > self.max_entries {
            // The smallest id is the oldest request: the least likely to be
            // answered still.
            self.expiry.pop_first();
        }
    }

    /// Expiry is checked here too, not only by the sweep.
    pub(super) fn classify(&self, now: Instant, id: u64) -> UnmatchedResponse {
        match self.expiry.get(&id) {
            Some(expiry) if now < *expiry => UnmatchedResponse::Late,
            Some(_) | None => UnmatchedResponse::Unknown,
        }
    }

    /// Forgets what has expired; says how many.
    pub(super) fn sweep(&mut self, now: Instant) -> usize {
        let before = self.expiry.len();
        self.expiry.retain(|_, expiry| now < *expiry);
        before - self.expiry.len()
    }

    /// Forgets everything: nothing can be late any more.
    pub(super) fn clear(&mut self) {
        self.expiry.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.expiry.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.expiry.is_empty()
    }
}
