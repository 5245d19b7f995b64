//! A session of the handshake era.

use std::{collections::BTreeSet, sync::Arc};

use super::{ClientInfo, subscription_streams::MAX_SUBSCRIBED_BYTES};
use crate::{model::LogLevel, revision::Rules};

/// What was negotiated, and what the client has asked for since.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) rules: &'static Rules,
    pub(super) client: Arc<ClientInfo>,
    /// Whether the client completed the handshake. Before that, the server may
    /// only send it pings and log messages.
    pub(super) initialized: bool,
    /// The minimum severity of log messages.
    pub(super) log_level: LogLevel,
    /// The resources the client is subscribed to.
    pub(super) subscribed: SubscribedUris,
    /// The approximate size of the client's description of itself, in bytes.
    pub(super) client_bytes: usize,
}

/// The resources a client is subscribed to.
#[derive(Debug, Default)]
pub(super) struct SubscribedUris {
    uris: BTreeSet<Box<str>>,
    /// The total length of the URIs in bytes.
    bytes: usize,
}

/// The approximate overhead of a URI besides its bytes.
const URI_OVERHEAD: usize = 64;

impl SubscribedUris {
    /// Returns whether one more URI fits.
    pub(super) fn has_capacity(&self, uri: &str, max: usize) -> bool {
        self.uris.len() < max && self.bytes + uri.len() <= MAX_SUBSCRIBED_BYTES
    }

    /// Adds a URI. Returns whether it is new.
    pub(super) fn insert(&mut self, uri: Box<str>) -> bool {
        let size = uri.len();
        let inserted = self.uris.insert(uri);
        self.bytes += if inserted { size } else { 0 };
        inserted
    }

    /// Removes a URI. Returns whether it was present.
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

    /// Estimates how many bytes the URIs take.
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
