//! Token stores that break their contract.

use std::sync::Arc;

use bowline::{
    auth::{MemoryStore, Secret, TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock},
    testing::contract,
    transport::BoxFuture,
};

use super::{check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    LosesWrites,
    RemovesNothing,
    LocksNothing,
    LocksPerConnection,
    LocksAllKeys,
    NeverUnlocks,
}

#[test]
fn each_fault_is_rejected_with_its_sentence() {
    let sentences = [
        (
            Fault::LosesWrites,
            "`load` did not return the value that was saved last",
        ),
        (
            Fault::RemovesNothing,
            "a value that was removed was returned",
        ),
        (
            Fault::LocksNothing,
            "a lock was acquired while another connection held it",
        ),
        (
            Fault::LocksPerConnection,
            "a lock was acquired while another connection held it",
        ),
        (Fault::LocksAllKeys, "`lock` did not return within 30s"),
        (Fault::NeverUnlocks, "`lock` did not return within 30s"),
    ];
    check(&sentences, |fault| {
        let (store, lock) = (MemoryStore::new(), Arc::default());
        let connect = async || {
            Arc::new(Tokens {
                fault,
                store: store.clone(),
                own_locks: MemoryStore::new(),
                lock: Arc::clone(&lock),
            })
        };
        violation(|| contract::token_store(connect))
    });
}

struct Tokens {
    fault: Option<Fault>,
    store: MemoryStore,
    own_locks: MemoryStore,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl TokenStore for Tokens {
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>> {
        self.store.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        match self.fault {
            Some(Fault::LosesWrites) => Box::pin(async { Ok(()) }),
            _ => self.store.save(key, value),
        }
    }

    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        match self.fault {
            Some(Fault::RemovesNothing) => Box::pin(async { Ok(()) }),
            _ => self.store.remove(key),
        }
    }

    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>> {
        match self.fault {
            Some(Fault::LocksNothing) => Box::pin(async { Ok(TokenStoreLock::new(())) }),
            Some(Fault::LocksPerConnection) => self.own_locks.lock(key),
            Some(Fault::LocksAllKeys) => {
                let lock = Arc::clone(&self.lock);
                Box::pin(async move { Ok(TokenStoreLock::new(lock.lock_owned().await)) })
            }
            Some(Fault::NeverUnlocks) => Box::pin(async move {
                std::mem::forget(self.store.lock(key).await?);
                Ok(TokenStoreLock::new(()))
            }),
            _ => self.store.lock(key),
        }
    }
}
