//! Stores of revoked tokens.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

use crate::{server::store::StoreError, sync, transport::BoxFuture};

/// The maximum number of tokens in memory.
const MAX_TOKENS: usize = 100_000;
/// The maximum number of tokens returned at once.
const PAGE: usize = 1000;

/// Stores tokens that were revoked before they expire, in the order in which they were
/// revoked.
///
/// Every node keeps a copy, and asks every few seconds for what is new. So requests need
/// no call to the store, and a revoked token is rejected everywhere within seconds. If
/// the store does not answer for half a minute, requests are answered with 503.
///
/// # Expiry
///
/// A token is kept for its `ttl`, and must not be dropped earlier. A store that is full
/// returns an error.
pub trait RevokedTokenStore: Send + Sync + 'static {
    /// Adds a token: a digest, in base64 with the URL alphabet.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The token may or may not be
    /// revoked.
    fn revoke<'a>(&'a self, token: &'a str, ttl: Duration)
    -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns tokens that were revoked after this position, oldest first; all of them
    /// for 0. Positions increase, also if the store lost its data.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn revoked_after(&self, position: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>>;
}

impl<S: RevokedTokenStore + ?Sized> RevokedTokenStore for Arc<S> {
    fn revoke<'a>(
        &'a self,
        token: &'a str,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::revoke(self, token, ttl)
    }

    fn revoked_after(&self, position: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
        S::revoked_after(self, position)
    }
}

/// Tokens that were revoked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevokedTokens {
    /// Their digests, and how long they remain revoked.
    pub tokens: Vec<(String, Duration)>,
    /// The position after which the next call continues.
    pub position: u64,
    /// Whether there may be more.
    pub has_more: bool,
}

impl RevokedTokens {
    /// Creates a list of tokens up to this position.
    #[must_use]
    pub fn new(tokens: Vec<(String, Duration)>, position: u64, has_more: bool) -> Self {
        Self {
            tokens,
            position,
            has_more,
        }
    }
}

/// A [`RevokedTokenStore`] for a server with a single process. It holds 100,000 tokens. A
/// restart loses them.
#[derive(Default)]
pub struct MemoryRevokedTokenStore(Mutex<Tokens>);

impl MemoryRevokedTokenStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

#[derive(Default)]
struct Tokens {
    by_position: BTreeMap<u64, (String, Instant)>,
    positions: HashMap<String, u64>,
    last: u64,
}

impl Tokens {
    fn revoke(&mut self, token: &str, ttl: Duration, now: Instant) -> Result<(), StoreError> {
        let until = now + ttl;
        if let Some(position) = self.positions.get(token) {
            let is_longer = |(_, known): &(String, Instant)| *known >= until;
            if self.by_position.get(position).is_some_and(is_longer) {
                return Ok(());
            }
            self.by_position.remove(position);
        } else if self.positions.len() >= MAX_TOKENS {
            self.remove_expired(now);
            if self.positions.len() >= MAX_TOKENS {
                return Err(StoreError::new("too many tokens are revoked"));
            }
        }
        self.last += 1;
        self.by_position
            .insert(self.last, (token.to_owned(), until));
        self.positions.insert(token.to_owned(), self.last);
        Ok(())
    }

    fn remove_expired(&mut self, now: Instant) {
        let positions = &mut self.positions;
        self.by_position.retain(|_, (token, until)| {
            let is_kept = *until > now;
            if !is_kept {
                positions.remove(token);
            }
            is_kept
        });
    }

    fn after(&self, position: u64, now: Instant) -> RevokedTokens {
        let mut found = RevokedTokens::new(Vec::new(), position, false);
        let newer = self.by_position.range(position.saturating_add(1)..);
        for (at, (position, (token, until))) in newer.enumerate() {
            if at == PAGE {
                found.has_more = true;
                break;
            }
            found.position = *position;
            let left = until.saturating_duration_since(now);
            if !left.is_zero() {
                found.tokens.push((token.clone(), left));
            }
        }
        found
    }
}

impl RevokedTokenStore for MemoryRevokedTokenStore {
    fn revoke<'a>(
        &'a self,
        token: &'a str,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move { sync::lock(&self.0).revoke(token, ttl, Instant::now()) })
    }

    fn revoked_after(&self, position: u64) -> BoxFuture<'_, Result<RevokedTokens, StoreError>> {
        Box::pin(async move { Ok(sync::lock(&self.0).after(position, Instant::now())) })
    }
}

impl fmt::Debug for MemoryRevokedTokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tokens = sync::lock(&self.0).positions.len();
        f.debug_struct("MemoryRevokedTokenStore")
            .field("tokens", &tokens)
            .finish()
    }
}
