//! A session of the handshake era: what both sides remember.

use std::{collections::BTreeSet, sync::Arc};

use super::{ClientInfo, subscription_streams::MAX_SUBSCRIBED_BYTES};
use crate::{model::LogLevel, revision::Rules};

/// What was agreed on, and what the client has asked for since.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) rules: &'static Rules,
    pub(super) client: Arc<ClientInfo>,
    /// Whether the client ended the handshake. Before that it may only be
    /// pinged and sent log messages.
    pub(super) initialized: bool,
    /// From which severity on log messages are wanted.
    pub(super) log_level: LogLevel,
    /// The resources that the client watches.
    pub(super) subscribed: SubscribedUris,
    /// About how many bytes what it said of itself takes.
    pub(super) client_bytes: usize,
}

/// The resources that a client watches.
#[derive(Debug, Default)]
pub(super) struct SubscribedUris {
    uris: BTreeSet<Box<str>>,
    /// How many bytes their names have together.
    bytes: usize,
}

/// About how much a name takes besides its bytes.
const URI_OVERHEAD: usize = 64;

impl SubscribedUris {
    /// Whether one more may be watched.
    pub(super) fn has_capacity(&self, uri: &str, max: usize) -> bool {
        self.uris.len() < max && self.bytes + uri.len() <= MAX_SUBSCRIBED_BYTES
    }

    /// Adds one. Says whether it is new.
    pub(super) fn insert(&mut self, uri: Box<str>) -> bool {
        let size = uri.len();
        let inserted = self.uris.insert(uri);
        self.bytes += if inserted { size } else { 0 };
        inserted
    }

    /// Takes one out. Says whether it was there.
    pub(super) fn remove(&mut self, uri: &str) -> bool {
        let removed = self.uris.remove(uri);
        self.bytes -= if removed { uri.len() } else { 0 };
        removed
    }

    pub(super) fn contains(&self, uri: &str) -> bool {
        self.uris.contains(uri)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.uris.iter().map(|uri| &**uri)
    }

    pub(super) fn into_uris(self) -> BTreeSet<Box<str>> {
        self.uris
    }

    /// About how many bytes they take.
    pub(super) fn size_estimate(&self) -> usize {
        self.bytes + URI_OVERHEAD * self.uris.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_watched_is_counted_as_it_comes_and_goes() {
        let mut watched = SubscribedUris::default();
        assert!(watched.insert("a:1".into()) && !watched.insert("a:1".into()));
        assert_eq!(watched.size_estimate(), 3 + URI_OVERHEAD);
        assert!(watched.has_capacity("a:2", 2) && !watched.has_capacity("a:2", 1));
        assert!(!watched.has_capacity(&"x".repeat(MAX_SUBSCRIBED_BYTES), 2));
        assert!(watched.remove("a:1") && !watched.remove("a:1"));
        assert_eq!(watched.size_estimate(), 0);
    }
}
