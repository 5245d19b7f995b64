//! The contract of state stores.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::task::JoinSet;

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{Expiring, values_expire},
    repeat, succeed, unique_id,
};
use crate::server::store::{ConversationKey, SealedStateStore};

/// Checks that a [`SealedStateStore`] does what conversations rely on.
///
/// 1. Every node loads what one has saved, at once, byte by byte, and any
///    number of times.
/// 2. The last save counts. Saves at the same time leave one of their states.
/// 3. The states of different conversations and callers are separate.
/// 4. A state is kept for its `ttl`, counted from the last save, and is not
///    returned afterwards.
///
/// `connect` returns one node's connection to the store. It is called more than
/// once, and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{server::store::MemorySealedStateStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let store = Arc::new(MemorySealedStateStore::new());
/// contract::sealed_state_store(async || Arc::clone(&store)).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn sealed_state_store<S: SealedStateStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let states = States(Nodes::connect(connect).await);
    states.can_be_loaded_repeatedly().await;
    states.are_replaced_by_the_last_save().await;
    states.are_kept_byte_by_byte().await;
    states.are_separate().await;
    states.are_not_lost_in_races().await;
    values_expire(states).await;
}

struct States<S: ?Sized>(Nodes<S>);

impl<S: SealedStateStore + ?Sized> States<S> {
    async fn save(&self, key: ConversationKey<'_>, state: impl Into<Bytes>) {
        let saving = self.0.first().save(key, state.into(), LONG_TTL);
        succeed("save", saving).await;
    }

    /// Loads at the other node.
    async fn load(&self, key: ConversationKey<'_>) -> Option<Bytes> {
        succeed("load", self.0.second().load(key)).await
    }

    async fn can_be_loaded_repeatedly(&self) {
        let id = unique_id();
        let key = ConversationKey::new(&id, "");
        assert_eq!(
            self.load(key).await,
            None,
            "`load` returned a state that nobody saved"
        );
        self.save(key, "state").await;
        for _ in 0..2 {
            assert_eq!(
                self.load(key).await,
                Some("state".into()),
                "a state that was saved at one node is missing at another, or after it was loaded"
            );
        }
    }

    async fn are_replaced_by_the_last_save(&self) {
        let id = unique_id();
        let key = ConversationKey::new(&id, "");
        for state in ["a longer state", "short"] {
            self.save(key, state).await;
            assert_eq!(
                self.load(key).await,
                Some(state.into()),
                "`load` did not return the state that was saved last"
            );
        }
    }

    async fn are_kept_byte_by_byte(&self) {
        let (id, account) = (format!("{}/{}", unique_id(), unique_id()), unique_id());
        let key = ConversationKey::new(&id, &account);
        let states = [
            Bytes::new(),
            Bytes::from_iter(0..=255),
            Bytes::from(vec![7; 1 << 20]),
        ];
        for state in states {
            self.save(key, state.clone()).await;
            assert!(
                self.load(key).await.as_ref() == Some(&state),
                "a state of {} bytes was altered: states are bytes, not text, and may be empty",
                state.len()
            );
        }
    }

    async fn are_separate(&self) {
        let (first, account) = (unique_id(), unique_id());
        let second = format!("{first}/{}", unique_id());
        let (third, fourth, other) = (unique_id(), unique_id(), unique_id());
        let keys = [
            ConversationKey::new(&first, &account),
            ConversationKey::new(&second, &account),
            ConversationKey::new(&third, &other),
            ConversationKey::new(&fourth, ""),
        ];
        for key in keys {
            self.save(key, key.id.to_owned()).await;
        }
        for key in keys {
            assert_eq!(
                self.load(key).await,
                Some(key.id.to_owned().into()),
                "`load` returned the state of another conversation or caller"
            );
        }
    }

    /// Writers save under their own key and under one that they share.
    async fn are_not_lost_in_races(&self) {
        repeat(async |_| {
            let shared = unique_id();
            let mut writers = JoinSet::new();
            for number in 0..WRITERS {
                let (store, shared, id) = (self.0.of_writer(number), shared.clone(), unique_id());
                writers.spawn(async move {
                    for id in [&id, &shared] {
                        let (key, state) = (ConversationKey::new(id, ""), number.to_string());
                        succeed("save", store.save(key, state.into(), LONG_TTL)).await;
                    }
                    (number, id)
                });
            }
            for (number, id) in writers.join_all().await {
                assert_eq!(
                    self.load(ConversationKey::new(&id, "")).await,
                    Some(number.to_string().into()),
                    "a state was lost while others were saved at the same time"
                );
            }
            let kept = self.load(ConversationKey::new(&shared, "")).await;
            let is_whole = |kept: Bytes| (0..WRITERS).any(|number| kept == number.to_string());
            assert!(
                kept.is_some_and(is_whole),
                "after saves under one key at the same time, the state is none of those saved"
            );
        })
        .await;
    }
}

impl<S: SealedStateStore + ?Sized> Expiring for States<S> {
    const NAME: &'static str = "a state";

    async fn put(&self, id: &str, value: &'static str, ttl: Duration) {
        let key = ConversationKey::new(id, "");
        succeed("save", self.0.first().save(key, value.into(), ttl)).await;
    }

    async fn get(&self, id: &str) -> Option<String> {
        let state = self.load(ConversationKey::new(id, "")).await?;
        Some(String::from_utf8_lossy(&state).into_owned())
    }
}
