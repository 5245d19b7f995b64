//! One server of many: how it is started, and what runs of it.

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::SystemTime,
};

use super::ServerStatus;
use crate::{
    cache::{Cache, CachedClient},
    client::Client,
    proto::client::ConnectionError,
};

type ConnectFn = dyn Fn(&str) -> Client + Send + Sync;

/// A server that the registry knows.
pub(super) struct Server {
    connect: Arc<ConnectFn>,
    slot: Option<Arc<Slot>>,
    /// Why the connection before the present one fell last, and when.
    last_error: Option<(ConnectionError, SystemTime)>,
}

/// The place of one connection, which is filled once, by whoever comes first.
///
/// The registry is not locked while that happens: what starts a client is the
/// application's, and may want to look into the registry.
pub(super) struct Slot {
    connect: Arc<ConnectFn>,
    client: OnceLock<Client>,
    cached: OnceLock<CachedClient>,
    /// Whether it was taken out of the registry. Locked while a client is
    /// started: it is in the registry then, or is not started.
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

    /// The place of the present connection; a new one if that has ended.
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

    /// Takes the present connection out, which is then to be
    /// [closed](Slot::close).
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
    /// The connection, if it was started.
    pub(super) fn client(&self) -> Option<&Client> {
        self.client.get()
    }

    /// The connection, which is started if it is not there. `None` where the
    /// registry has let go of this place: nobody would stop what is started.
    pub(super) fn start(&self, name: &str) -> Option<Client> {
        let is_closed = self.lock_closed();
        let client = || self.client.get_or_init(|| (self.connect)(name)).clone();
        (!*is_closed).then(client)
    }

    /// The connection with a cache, started if it is not there. `None` as for
    /// [`start`](Self::start).
    pub(super) fn cached(&self, name: &str, cache: Option<&Cache>) -> Option<CachedClient> {
        let client = self.start(name)?;
        let wrap = || cache.cloned().unwrap_or_default().wrap(client);
        Some(self.cached.get_or_init(wrap).clone())
    }

    /// Lets nobody start it any more. Gives the connection, if it was started;
    /// where that is just happening, waits for it. The registry must not be
    /// locked: what starts a client may look into it.
    pub(super) fn close(&self) -> Option<Client> {
        *self.lock_closed() = true;
        self.client().cloned()
    }

    fn lock_closed(&self) -> MutexGuard<'_, bool> {
        // What starts a client may panic, and has not started one then.
        self.is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn has_ended(&self) -> bool {
        self.client().is_some_and(|client| client.health().ended)
    }
}
