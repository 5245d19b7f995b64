//! A node's copy of the revoked tokens.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    rejection::AuthRejection,
    revoked_tokens::{MemoryRevokedTokenStore, RevokedTokenStore},
};
use crate::{jose::digest, server::store::StoreError, sync};

/// How old the copy may be before the next request renews it.
const REFRESH_INTERVAL: Duration = Duration::from_secs(2);
/// How old it may be if it cannot be renewed. Beyond that, no token is accepted.
const MAX_AGE: Duration = Duration::from_secs(30);
/// How long a renewal may take.
const REFRESH_TIMEOUT: Duration = Duration::from_secs(10);

/// Knows which tokens are revoked.
#[derive(Default)]
pub(super) struct RevocationList {
    /// Without one, no token was ever revoked.
    store: OnceLock<Arc<dyn RevokedTokenStore>>,
    copy: Mutex<Copy>,
    /// Held while the copy is renewed.
    refreshing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Copy {
    until_by_token: HashMap<String, Instant>,
    position: u64,
    refreshed_at: Option<Instant>,
    /// When the last attempt to renew it failed.
    failed_at: Option<Instant>,
}

impl Copy {
    fn is_older_than(&self, age: Duration) -> bool {
        self.refreshed_at.is_none_or(|at| at.elapsed() > age)
    }

    /// Returns whether to renew it now: not again right after a failure.
    fn is_due(&self) -> bool {
        let has_failed = self
            .failed_at
            .is_some_and(|at| at.elapsed() < REFRESH_INTERVAL);
        self.is_older_than(REFRESH_INTERVAL) && !has_failed
    }
}

impl RevocationList {
    /// Sets the store, unless it has one.
    pub(super) fn set_store(&self, store: Arc<dyn RevokedTokenStore>) {
        let _ = self.store.set(store);
    }

    /// Revokes a token everywhere.
    pub(super) async fn revoke(&self, token: &str, ttl: Duration) -> Result<(), StoreError> {
        let memory = || -> Arc<dyn RevokedTokenStore> { Arc::new(MemoryRevokedTokenStore::new()) };
        let store = self.store.get_or_init(memory);
        store.revoke(&digest(token.as_bytes()), ttl).await?;
        let _refreshing = self.refreshing.lock().await;
        self.refresh(&**store).await
    }

    /// Checks that a token is not revoked.
    pub(super) async fn check(&self, token: &str) -> Result<(), AuthRejection> {
        let Some(store) = self.store.get() else {
            return Ok(());
        };
        if sync::lock(&self.copy).is_due() {
            self.renew(&**store).await;
        }
        let copy = sync::lock(&self.copy);
        if copy.is_older_than(MAX_AGE) {
            return Err(AuthRejection::Unavailable);
        }
        let until = copy.until_by_token.get(&digest(token.as_bytes()));
        match until.is_some_and(|until| *until > Instant::now()) {
            true => Err(AuthRejection::InvalidToken("the token was revoked")),
            false => Ok(()),
        }
    }

    /// Renews the copy, unless someone else does and it is recent enough meanwhile.
    async fn renew(&self, store: &dyn RevokedTokenStore) {
        let is_usable = !sync::lock(&self.copy).is_older_than(MAX_AGE);
        let _refreshing = match self.refreshing.try_lock() {
            Ok(held) => held,
            Err(_) if is_usable => return,
            Err(_) => self.refreshing.lock().await,
        };
        if sync::lock(&self.copy).is_due() {
            // If it fails, the age of the copy decides.
            let _ = self.refresh(store).await;
        }
    }

    async fn refresh(&self, store: &dyn RevokedTokenStore) -> Result<(), StoreError> {
        let began = Instant::now();
        let refreshed = tokio::time::timeout(REFRESH_TIMEOUT, self.load(store)).await;
        let late = || StoreError::new("the store of revoked tokens did not answer");
        let refreshed = refreshed.unwrap_or_else(|_| Err(late()));
        let mut copy = sync::lock(&self.copy);
        match &refreshed {
            Ok(()) => copy.refreshed_at = Some(began),
            Err(_) => copy.failed_at = Some(Instant::now()),
        }
        refreshed
    }

    async fn load(&self, store: &dyn RevokedTokenStore) -> Result<(), StoreError> {
        loop {
            let position = sync::lock(&self.copy).position;
            let found = store.revoked_after(position).await?;
            let mut copy = sync::lock(&self.copy);
            let now = Instant::now();
            if !found.tokens.is_empty() {
                copy.until_by_token.retain(|_, until| *until > now);
            }
            for (token, left) in found.tokens {
                copy.until_by_token.insert(token, now + left);
            }
            // A store that repeats itself must not keep us here.
            let has_more = found.has_more && found.position > copy.position;
            copy.position = copy.position.max(found.position);
            if !has_more {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{server::auth::RevokedTokens, transport::BoxFuture};

    const HOUR: Duration = Duration::from_secs(3600);

    fn node(store: &Arc<MemoryRevokedTokenStore>) -> RevocationList {
        let list = RevocationList::default();
        list.set_store(Arc::clone(store) as Arc<dyn RevokedTokenStore>);
        list
    }

    #[tokio::test(start_paused = true)]
    async fn a_revoked_token_is_rejected_at_once_here_and_soon_elsewhere() {
        let store = Arc::new(MemoryRevokedTokenStore::new());
        let (here, there) = (node(&store), node(&store));
        there.check("token").await.expect("it is not revoked");
        here.revoke("token", HOUR).await.expect("there is room");
        let revoked = Err(AuthRejection::InvalidToken("the token was revoked"));
        assert_eq!(here.check("token").await, revoked);
        tokio::time::advance(REFRESH_INTERVAL + Duration::from_millis(1)).await;
        assert_eq!(there.check("token").await, revoked);
        assert_eq!(there.check("other").await, Ok(()));
        tokio::time::advance(HOUR).await;
        assert_eq!(
            there.check("token").await,
            Ok(()),
            "it has expired meanwhile"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn many_tokens_are_learned_in_pages() {
        let store = Arc::new(MemoryRevokedTokenStore::new());
        for number in 0..2500 {
            let token = digest(number.to_string().as_bytes());
            store.revoke(&token, HOUR).await.expect("there is room");
        }
        let there = node(&store);
        for number in [0, 999, 1000, 2499] {
            let checked = there.check(&number.to_string()).await;
            assert!(checked.is_err(), "{number}");
        }
    }

    struct Broken;

    impl RevokedTokenStore for Broken {
        fn revoke<'a>(&'a self, _: &'a str, _: Duration) -> BoxFuture<'a, Result<(), StoreError>> {
            Box::pin(async { Err(StoreError::new("broken")) })
        }

        fn revoked_after(&self, _: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
            Box::pin(async { Err(StoreError::new("broken")) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_store_that_fails_lets_nobody_in() {
        let list = RevocationList::default();
        list.set_store(Arc::new(Broken));
        assert_eq!(list.check("token").await, Err(AuthRejection::Unavailable));
        list.revoke("token", HOUR).await.expect_err("it is broken");
    }
}
