//! The contract of stores of revoked tokens.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{EXPIRY_GRACE, Timing, poll_until, with_short_ttl},
    succeed, unique_id,
};
use crate::server::auth::RevokedTokenStore;

/// Checks that a [`RevokedTokenStore`] does what servers rely on.
///
/// 1. Every node learns of each revoked token, at once and exactly once if it continues
///    at the position it was given.
/// 2. Tokens that are revoked at the same time are all learned.
/// 3. A token stays revoked for its `ttl`, and not longer.
///
/// `connect` returns one node's connection to the store. It is called more than once,
/// and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{server::auth::MemoryRevokedTokenStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let store = Arc::new(MemoryRevokedTokenStore::new());
/// contract::revoked_token_store(async || Arc::clone(&store)).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn revoked_token_store<S: RevokedTokenStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let tokens = Tokens(Nodes::connect(connect).await);
    tokens.are_learned_once().await;
    tokens.are_learned_in_pages().await;
    tokens.are_not_lost_in_races().await;
    with_short_ttl(async |ttl| tokens.expire_after(ttl).await).await;
}

struct Tokens<S: ?Sized>(Nodes<S>);

impl<S: RevokedTokenStore + ?Sized> Tokens<S> {
    async fn revoke(&self, token: &str, ttl: Duration) {
        succeed("revoke", self.0.first().revoke(token, ttl)).await;
    }

    /// Reads what is new at the other node, page by page, and moves the position.
    async fn read(&self, position: &mut u64) -> BTreeMap<String, Duration> {
        let mut all = BTreeMap::new();
        loop {
            let page = succeed("revoked_after", self.0.second().revoked_after(*position)).await;
            assert!(
                page.position >= *position,
                "the position went back from {position} to {}",
                page.position
            );
            assert!(
                !page.has_more || page.position > *position,
                "there is more, but the position stays at {position}"
            );
            *position = page.position;
            all.extend(page.tokens);
            if !page.has_more {
                return all;
            }
        }
    }

    async fn are_learned_once(&self) {
        let mut position = 0;
        self.read(&mut position).await;
        let (one, other) = (unique_id(), unique_id());
        for token in [&one, &other] {
            self.revoke(token, LONG_TTL).await;
            let new = self.read(&mut position).await;
            assert!(
                new.contains_key(token),
                "a token that was revoked at one node is missing at another"
            );
            let again = self.read(&mut position).await;
            assert!(
                !again.contains_key(token),
                "a token was returned again although the position is after it"
            );
        }
        let all = self.read(&mut 0).await;
        assert!(
            all.contains_key(&one) && all.contains_key(&other),
            "a node that starts does not learn of earlier tokens"
        );
        // Known already, which changes nothing.
        self.revoke(&one, Duration::from_secs(1)).await;
        let left = self.read(&mut 0).await.remove(&one);
        assert!(
            left.is_some_and(|left| left > LONG_TTL / 4),
            "a token is valid again sooner because it was revoked again"
        );
    }

    async fn are_learned_in_pages(&self) {
        let mut position = 0;
        self.read(&mut position).await;
        let tokens: Vec<String> = (0..1100).map(|_| unique_id()).collect();
        for token in &tokens {
            self.revoke(token, LONG_TTL).await;
        }
        let new = self.read(&mut position).await;
        let missing = tokens.iter().filter(|token| !new.contains_key(*token));
        assert_eq!(missing.count(), 0, "of many tokens, some are missing");
    }

    async fn are_not_lost_in_races(&self) {
        let mut position = 0;
        self.read(&mut position).await;
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let store = self.0.of_writer(number);
            writers.spawn(async move {
                let tokens: Vec<String> = (0..16).map(|_| unique_id()).collect();
                for token in &tokens {
                    succeed("revoke", store.revoke(token, LONG_TTL)).await;
                }
                tokens
            });
        }
        let mut new = BTreeMap::new();
        // Read while they are written: a token must not be skipped.
        while !writers.is_empty() {
            new.extend(self.read(&mut position).await);
            if let Some(written) = writers.try_join_next() {
                new.extend(self.read(&mut position).await);
                let written = written.expect("the writer does not panic");
                let missing = written.iter().filter(|token| !new.contains_key(*token));
                assert_eq!(
                    missing.count(),
                    0,
                    "tokens were skipped while others were revoked at the same time"
                );
            }
            tokio::task::yield_now().await;
        }
    }

    async fn expire_after(&self, ttl: Duration) -> Timing {
        let token = unique_id();
        let began = Instant::now();
        self.revoke(&token, ttl).await;
        sleep_until(began + ttl * 3 / 4).await;
        let found = self.read(&mut 0).await;
        if Instant::now() >= began + ttl {
            return Timing::TooSlow;
        }
        assert!(
            found.contains_key(&token),
            "a token was valid again before its ttl had passed"
        );
        let is_gone = poll_until(async || !self.read(&mut 0).await.contains_key(&token)).await;
        assert!(
            is_gone,
            "a token was still revoked {EXPIRY_GRACE:?} after its ttl had passed"
        );
        Timing::Conclusive
    }
}
