//! The builder for registries.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{Registry, Shared};
use crate::{cache::Cache, client::wait};

/// The settings of a registry.
#[derive(Clone, Debug)]
pub struct RegistryBuilder {
    cache: Option<Cache>,
    connect_timeout: Duration,
}

impl Default for RegistryBuilder {
    fn default() -> Self {
        Self {
            cache: None,
            connect_timeout: wait::DEFAULT_CONNECT_TIMEOUT,
        }
    }
}

impl RegistryBuilder {
    /// Caches lists and resources of all servers; see
    /// [`cached_client`](Registry::cached_client).
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets how long an operation waits for a server whose connection was lost until the
    /// next attempt to connect begins: 10 seconds by default. How long the attempt itself
    /// may take is set by
    /// [`ClientBuilder::connect_timeout`](crate::client::ClientBuilder::connect_timeout).
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Creates a registry without servers.
    #[must_use]
    pub fn build(self) -> Registry {
        let shared = Shared {
            servers: Mutex::default(),
            cache: self.cache,
            connect_timeout: self.connect_timeout,
        };
        Registry {
            shared: Arc::new(shared),
        }
    }
}
