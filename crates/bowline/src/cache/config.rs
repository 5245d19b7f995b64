//! The limits and lifetimes of a cache.

use std::time::Duration;

use super::{fetch::Hints, key::CachedItem};

/// The limits of a [`Cache`](super::Cache), and its lifetimes for items without a
/// `ttlMs` from the server.
///
/// ```
/// use std::time::Duration;
/// use bowline::cache::CacheConfig;
///
/// let config = CacheConfig::default()
///     .resource_ttl(Duration::from_secs(30))
///     .max_bytes(8 * 1024 * 1024);
/// # let _ = config;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheConfig {
    resource_ttl: Duration,
    list_ttl: Duration,
    tool_ttl: Option<Duration>,
    max_ttl: Duration,
    pub(super) max_entries: usize,
    pub(super) max_bytes: usize,
}

impl Default for CacheConfig {
    /// 5 minutes for each resource, 1 minute for each list, no tool results; at most
    /// 4096 entries and 64 MiB in total.
    fn default() -> Self {
        Self {
            resource_ttl: Duration::from_secs(300),
            list_ttl: Duration::from_secs(60),
            tool_ttl: None,
            max_ttl: Duration::from_secs(24 * 60 * 60),
            max_entries: 4096,
            max_bytes: 64 * 1024 * 1024,
        }
    }
}

impl CacheConfig {
    /// Sets how long contents of a resource are cached unless the server specifies it.
    #[must_use]
    pub fn resource_ttl(mut self, ttl: Duration) -> Self {
        self.resource_ttl = ttl;
        self
    }

    /// Sets how long a list is cached unless the server specifies it.
    #[must_use]
    pub fn list_ttl(mut self, ttl: Duration) -> Self {
        self.list_ttl = ttl;
        self
    }

    /// Caches tool results for this long; a minute is a reasonable value.
    ///
    /// Only for servers whose tools have no side effects: a tool with a side effect
    /// runs only once, however often it is called in the meantime.
    #[must_use]
    pub fn tool_ttl(mut self, ttl: Duration) -> Self {
        self.tool_ttl = Some(ttl);
        self
    }

    /// Sets the maximum lifetime of any item, whatever the server specifies: a day by
    /// default.
    #[must_use]
    pub fn max_ttl(mut self, ttl: Duration) -> Self {
        self.max_ttl = ttl;
        self
    }

    /// Sets the maximum number of entries. The least recently used entry is evicted
    /// first.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Sets the maximum size of all entries, counted in bytes on the wire. A larger
    /// single item is not cached.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    pub(super) fn caches_tool_results(&self) -> bool {
        self.tool_ttl.is_some()
    }

    /// Returns how long to cache an item: as the server specifies, else as configured.
    pub(super) fn ttl(&self, item: &CachedItem, hints: &Hints) -> Duration {
        let hinted = hints.ttl_ms.and_then(|ttl| u64::try_from(ttl).ok());
        let configured = || match item {
            CachedItem::Contents(_) => self.resource_ttl,
            CachedItem::ToolResult { .. } => self.tool_ttl.unwrap_or_default(),
            _ => self.list_ttl,
        };
        hinted
            .map_or_else(configured, Duration::from_millis)
            .min(self.max_ttl)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_is_heard_first() {
        let config = CacheConfig::default();
        let ttl = |item: &CachedItem, ttl_ms| {
            let hints = Hints {
                ttl_ms,
                ..Hints::default()
            };
            config.ttl(item, &hints).as_secs_f64()
        };
        let note = CachedItem::Contents("note:1".into());
        assert_eq!(ttl(&note, Some(1_500)), 1.5);
        assert_eq!(ttl(&note, Some(0)), 0.0, "not at all");
        assert_eq!(ttl(&note, Some(i64::MAX)), 86_400.0, "nothing is for ever");
        assert_eq!(ttl(&note, None), 300.0);
        assert_eq!(ttl(&note, Some(-1)), 300.0, "no hint at all");
        assert_eq!(ttl(&CachedItem::Tools, None), 60.0);
    }
}
