//! Tokens that are forgotten at the end.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{StoreError, StoreKey, StoreLock, TokenStore};
use crate::{auth::Secret, transport::BoxFuture};

/// Keeps tokens for as long as the process lives. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<HashMap<StoreKey, Secret>>,
    locks: Mutex<HashMap<StoreKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// With nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl TokenStore for MemoryStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, StoreError>> {
        let kept = locked(&self.0.kept).get(key).cloned();
        Box::pin(async { Ok(kept) })
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        locked(&self.0.kept).insert(key.clone(), value.clone());
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), StoreError>> {
        locked(&self.0.kept).remove(key);
        Box::pin(async { Ok(()) })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        let lock = Arc::clone(locked(&self.0.locks).entry(key.clone()).or_default());
        Box::pin(async { Ok(StoreLock::new(lock.lock_owned().await)) })
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
