//! One server of a registry: how it is started, and its connection.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock},
    time::SystemTime,
};

use super::ServerStatus;
use crate::{
    cache::{Cache, CachedClient},
    client::Client,
    proto::client::ConnectionError,
    sync,
};

type ConnectFn = dyn Fn(&str) -> Client + Send + Sync;

/// A server of the registry.
pub(super) struct Server {
    connect: Arc<ConnectFn>,
    slot: Option<Arc<Slot>>,
    /// Why and when the connection before the current one was last lost.
    last_error: Option<(ConnectionError, SystemTime)>,
}

/// The slot of one connection, which is filled once, by the first caller.
///
/// The registry is not locked while that happens: the function that starts a client is
/// application code and may use the registry.
pub(super) struct Slot {
    connect: Arc<ConnectFn>,
    client: OnceLock<Client>,
    cached: OnceLock<CachedClient>,
    /// Whether the slot was removed from the registry. Locked while a client is
    /// started, so a client is only started in a slot that is in the registry.
    is_closed: Mutex<bool>,
}

impl Server {
    pub(super) fn new(connect: impl Fn(&str) -> Client + Send + Sync + 'static) -> Self {
        Self {
            connect: Arc::new(connect),
            slot: None,
            last_error: None,
        }
    }

    /// Returns the slot of the current connection, or a new one if that has ended.
    pub(super) fn slot(&mut self) -> Arc<Slot> {
        if self.slot.as_ref().is_some_and(|slot| slot.has_ended()) {
            self.take_slot();
        }
        let connect = &self.connect;
        let slot = self.slot.get_or_insert_with(|| {
            Arc::new(Slot {
                connect: Arc::clone(connect),
                client: OnceLock::new(),
                cached: OnceLock::new(),
                is_closed: Mutex::default(),
            })
        });
        Arc::clone(slot)
    }

    /// Removes the current slot, which the caller must [close](Slot::close).
    pub(super) fn take_slot(&mut self) -> Option<Arc<Slot>> {
        let slot = self.slot.take()?;
        let last_error = slot
            .client()
            .and_then(|client| client.health().last_error());
        self.last_error = last_error.or_else(|| self.last_error.take());
        Some(slot)
    }

    pub(super) fn status(&self, name: &str) -> ServerStatus {
        let slot = self.slot.as_ref();
        let health = slot.and_then(|slot| slot.client()).map(Client::health);
        let cached = slot.and_then(|slot| slot.cached.get());
        let cached = cached.map_or(0, CachedClient::cached_resources);
        ServerStatus::new(name.into(), health, self.last_error.clone(), cached)
    }
}

impl Slot {
    /// Returns the connection, if it was started.
    pub(super) fn client(&self) -> Option<&Client> {
        self.client.get()
    }

    /// Returns the connection, starting it if necessary. `None` if the slot was removed
    /// from the registry, because nothing would stop the connection.
    pub(super) fn start(&self, name: &str) -> Option<Client> {
        let is_closed = self.lock_closed();
        let client = || self.client.get_or_init(|| (self.connect)(name)).clone();
        (!*is_closed).then(client)
    }

    /// Returns the connection with a cache, starting it if necessary. `None` as for
    /// [`start`](Self::start).
    pub(super) fn cached(&self, name: &str, cache: Option<&Cache>) -> Option<CachedClient> {
        let client = self.start(name)?;
        let wrap = || cache.cloned().unwrap_or_default().wrap(client);
        Some(self.cached.get_or_init(wrap).clone())
    }

    /// Prevents further starts, and returns the connection if it was started; waits for
    /// a start in progress. The registry must not be locked, because the function that
    /// starts a client may use it.
    pub(super) fn close(&self) -> Option<Client> {
        *self.lock_closed() = true;
        self.client().cloned()
    }

    fn lock_closed(&self) -> MutexGuard<'_, bool> {
        // The function that starts a client may panic, and has then started none.
        sync::lock(&self.is_closed)
    }

    fn has_ended(&self) -> bool {
        self.client().is_some_and(|client| client.health().ended)
    }
}
