//! The contract of token stores.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::timeout};

use super::{Nodes, WRITERS, repeat, succeed, unique_id};
use crate::auth::{Secret, TokenStore, TokenStoreKey};

/// How long a wait for a lock is observed. A longer one shows no more.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// Checks that a [`TokenStore`] does what signing in relies on.
///
/// 1. Every connection loads what one has saved, until it is replaced or
///    removed. Keys are separate.
/// 2. The lock of a key has one holder at a time, among all connections, until
///    its guard is dropped: a value that is loaded, changed and saved under it
///    loses no change.
/// 3. The locks of different keys are independent.
///
/// `connect` returns one process's connection to the store. It is called more
/// than once, and every connection must reach the same data; see the
/// [module](crate::testing::contract). Nothing that the contract saves is left
/// behind.
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{auth::MemoryStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let store = MemoryStore::new();
/// contract::token_store(async || Arc::new(store.clone())).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn token_store<S: TokenStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let tokens = Tokens(Nodes::connect(connect).await);
    tokens.are_loaded_until_they_are_removed().await;
    tokens.are_separate().await;
    tokens.have_a_lock_each().await;
    tokens.lose_no_change_under_the_lock().await;
}

struct Tokens<S: ?Sized>(Nodes<S>);

fn key() -> TokenStoreKey {
    TokenStoreKey::tokens(
        "https://issuer.example",
        "https://mcp.example",
        &unique_id(),
    )
}

impl<S: TokenStore + ?Sized> Tokens<S> {
    async fn save(&self, key: &TokenStoreKey, value: &str) {
        let value = Secret::new(value);
        succeed("save", self.0.first().save(key, &value)).await;
    }

    /// Loads through the other connection.
    async fn load(&self, key: &TokenStoreKey) -> Option<String> {
        let value = succeed("load", self.0.second().load(key)).await;
        value.map(|value| value.expose().to_owned())
    }

    async fn remove(&self, key: &TokenStoreKey) {
        succeed("remove", self.0.first().remove(key)).await;
    }

    async fn are_loaded_until_they_are_removed(&self) {
        let key = key();
        // It is not there: nothing happens.
        self.remove(&key).await;
        assert_eq!(
            self.load(&key).await,
            None,
            "`load` returned a value that nobody saved"
        );
        for value in ["a longer value: grüße \\ \" \n", "short"] {
            self.save(&key, value).await;
            for _ in 0..2 {
                assert!(
                    self.load(&key).await.as_deref() == Some(value),
                    "`load` did not return the value that was saved last"
                );
            }
        }
        self.remove(&key).await;
        assert!(
            self.load(&key).await.is_none(),
            "a value that was removed was returned"
        );
    }

    async fn are_separate(&self) {
        let keys = [key(), key()];
        for key in &keys {
            self.save(key, key.as_str()).await;
        }
        for key in &keys {
            assert!(
                self.load(key).await.as_deref() == Some(key.as_str()),
                "`load` returned the value of another key"
            );
            self.remove(key).await;
        }
    }

    async fn have_a_lock_each(&self) {
        let (one, other) = (key(), key());
        let held = succeed("lock", self.0.first().lock(&one)).await;
        let independent = succeed("lock", self.0.second().lock(&other)).await;
        let again = timeout(LOCK_WAIT, self.0.second().lock(&one)).await;
        assert!(
            !matches!(again, Ok(Ok(_))),
            "a lock was acquired while another connection held it"
        );
        drop(held);
        succeed("lock", self.0.second().lock(&one)).await;
        drop(independent);
    }

    /// Each writer adds one to a number.
    async fn lose_no_change_under_the_lock(&self) {
        let key = key();
        self.save(&key, "0").await;
        repeat(async |round| {
            let mut writers = JoinSet::new();
            for number in 0..WRITERS {
                let (store, key) = (self.0.of_writer(number), key.clone());
                writers.spawn(async move { add_one(&*store, &key).await });
            }
            writers.join_all().await;
            let expected = (round + 1) * WRITERS;
            assert!(
                self.load(&key).await == Some(expected.to_string()),
                "a change was lost that was made under the lock of its key"
            );
        })
        .await;
        self.remove(&key).await;
    }
}

async fn add_one<S: TokenStore + ?Sized>(store: &S, key: &TokenStoreKey) {
    let _lock = succeed("lock", store.lock(key)).await;
    let value = succeed("load", store.load(key)).await;
    let number = value.and_then(|value| value.expose().parse::<usize>().ok());
    let number = number.expect("a value that was saved is missing");
    tokio::task::yield_now().await;
    let value = Secret::new((number + 1).to_string());
    succeed("save", store.save(key, &value)).await;
}
