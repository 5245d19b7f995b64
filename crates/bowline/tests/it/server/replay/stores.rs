//! Stores that watch, fail and fill up.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bowline::{
    server::store::{Claim, MemoryOnce, MemoryState, OnceStore, StateStore, StoreError},
    transport::BoxFuture,
};
use bytes::Bytes;

/// Stores in memory that can be told to fail, and remember what they saw.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    once: MemoryOnce,
    states: MemoryState,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// How many more accesses fail, to keys with this in them.
    failing: Option<(&'static str, usize)>,
    /// The keys that were claimed, and for how long.
    claims: Vec<(String, Duration)>,
    saved: usize,
}

impl Stores {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Lets the next accesses fail, to keys with this in them.
    pub(crate) fn fail(&self, what: &'static str, times: usize) {
        self.see(|seen| seen.failing = Some((what, times)));
    }

    /// The claims that were made, and for how long.
    pub(crate) fn claims(&self) -> Vec<(String, Duration)> {
        self.see(|seen| seen.claims.clone())
    }

    /// How many states were saved.
    pub(crate) fn saved(&self) -> usize {
        self.see(|seen| seen.saved)
    }

    fn see<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, key: &str) -> Result<(), StoreError> {
        self.see(|seen| match &mut seen.failing {
            Some((what, times)) if *times > 0 && key.contains(*what) => {
                *times -= 1;
                Err(StoreError::new("out of order"))
            }
            _ => Ok(()),
        })
    }
}

impl OnceStore for Stores {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        Box::pin(async move {
            self.see(|seen| seen.claims.push((key.to_owned(), ttl)));
            self.check(&format!("claim {key}"))?;
            self.once.claim(key, value, ttl).await
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check(&format!("put {key}"))?;
            self.once.put(key, value, ttl).await
        })
    }

    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check(&format!("release {key}"))?;
            self.once.release(key).await
        })
    }
}

impl StateStore for Stores {
    fn save<'a>(
        &'a self,
        handle: &'a str,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check("save")?;
            self.see(|seen| seen.saved += 1);
            self.states.save(handle, state, ttl).await
        })
    }

    fn load<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move {
            self.check("load")?;
            self.states.load(handle).await
        })
    }
}
