//! Both stores in the memory of one process.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::Instant;

use super::{
    Claim, OnceStore, StateStore, StoreError,
    shelf::{Full, Shelf},
};
use crate::transport::BoxFuture;

const MIB: usize = 1024 * 1024;

/// A [`OnceStore`] for a server that is a single process.
///
/// It is bounded: 65,536 entries of 64 MiB in all, unless set otherwise. What
/// has expired makes room; when nothing has, claims are refused. A restart
/// forgets everything.
pub struct MemoryOnce(Mutex<Shelf>);

impl MemoryOnce {
    /// A store of the usual size.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(65_536, 64 * MIB)
    }

    /// A store for this many entries, and this many bytes of keys and values.
    #[must_use]
    pub fn with_limits(max_entries: usize, max_bytes: usize) -> Self {
        Self(Mutex::new(Shelf::new(max_entries, max_bytes)))
    }
}

impl OnceStore for MemoryOnce {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move {
            let now = Instant::now();
            let mut shelf = lock(&self.0);
            if let Some(earlier) = shelf.get(key, now) {
                return Ok(Claim::Earlier(earlier));
            }
            shelf.put(key, &value, now, ttl).map_err(full)?;
            Ok(Claim::First)
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let now = Instant::now();
            lock(&self.0).put(key, &value, now, ttl).map_err(full)
        })
    }

    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            lock(&self.0).remove(key);
            Ok(())
        })
    }
}

/// A [`StateStore`] for a server that is a single process.
///
/// It is bounded: 4096 states of 128 MiB in all, unless set otherwise. What
/// has expired makes room; when nothing has, states are refused. A restart
/// forgets everything.
pub struct MemoryState(Mutex<Shelf>);

impl MemoryState {
    /// A store of the usual size.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(4096, 128 * MIB)
    }

    /// A store for this many states, and this many bytes of handles and states.
    #[must_use]
    pub fn with_limits(max_entries: usize, max_bytes: usize) -> Self {
        Self(Mutex::new(Shelf::new(max_entries, max_bytes)))
    }
}

impl StateStore for MemoryState {
    fn save<'a>(
        &'a self,
        handle: &'a str,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let now = Instant::now();
            lock(&self.0).put(handle, &state, now, ttl).map_err(full)
        })
    }

    fn load<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move { Ok(lock(&self.0).get(handle, Instant::now())) })
    }
}

impl Default for MemoryOnce {
    fn default() -> Self {
        Self::new()
    }
}

impl Default for MemoryState {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryOnce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryOnce").field(&lock(&self.0)).finish()
    }
}

impl fmt::Debug for MemoryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MemoryState").field(&lock(&self.0)).finish()
    }
}

fn lock(shelf: &Mutex<Shelf>) -> MutexGuard<'_, Shelf> {
    // Nothing that holds the lock can panic halfway.
    shelf.lock().unwrap_or_else(PoisonError::into_inner)
}

fn full(Full: Full) -> StoreError {
    StoreError::new("the store in memory is full of what has not expired")
}
