//! Tokens in memory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::{TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock};
use crate::{auth::Secret, sync, transport::BoxFuture};

/// Stores tokens for the lifetime of the process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    values: Mutex<HashMap<TokenStoreKey, Secret>>,
    locks: Mutex<HashMap<TokenStoreKey, Arc<tokio::sync::Mutex<()>>>>,
}

impl MemoryStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl TokenStore for MemoryStore {
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>> {
        let stored = sync::lock(&self.0.values).get(key).cloned();
        Box::pin(async { Ok(stored) })
    }

    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        sync::lock(&self.0.values).insert(key.clone(), value.clone());
        Box::pin(async { Ok(()) })
    }

    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        sync::lock(&self.0.values).remove(key);
        Box::pin(async { Ok(()) })
    }

    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>> {
        let lock = Arc::clone(sync::lock(&self.0.locks).entry(key.clone()).or_default());
        Box::pin(async { Ok(TokenStoreLock::new(lock.lock_owned().await)) })
    }
}
