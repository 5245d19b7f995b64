//! Stores of used DPoP proofs, so that no proof is accepted twice.

use std::{
    collections::{BTreeSet, HashMap},
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

use crate::{server::store::StoreError, sync, transport::BoxFuture};

/// The maximum number of proofs remembered. Beyond that, proofs are rejected: a
/// forgotten proof could be replayed.
const MAX_USED_PROOFS: usize = 100_000;
/// One principal may use one in this many of the free places. Its share shrinks
/// as they fill, so principals with less always find room.
const PRINCIPAL_SHARE_DIVISOR: usize = 8;

/// Remembers used DPoP proofs until they are too old to be used again.
///
/// A proof is accepted once. Nodes that a client may reach must share the store, or it
/// is accepted once by each of them. Every request with a proof calls it once; requests
/// with bearer tokens do not.
///
/// # Full stores
///
/// A store that is full returns an error, and requests are answered with 503. It must
/// never drop a proof early. One account must not be able to fill it.
pub trait UsedProofStore: Send + Sync + 'static {
    /// Remembers a proof. Of all nodes that insert one proof, exactly one gets
    /// [`ProofOutcome::New`].
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. Then the request is rejected.
    fn insert<'a>(
        &'a self,
        proof: UsedProof<'a>,
    ) -> BoxFuture<'a, Result<ProofOutcome, StoreError>>;
}

impl<S: UsedProofStore + ?Sized> UsedProofStore for Arc<S> {
    fn insert<'a>(
        &'a self,
        proof: UsedProof<'a>,
    ) -> BoxFuture<'a, Result<ProofOutcome, StoreError>> {
        S::insert(self, proof)
    }
}

/// A proof that is being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedProof<'a> {
    /// A digest that identifies it: characters of base64 with the URL alphabet.
    pub id: &'a str,
    /// A digest of the principal that used it.
    pub account: &'a str,
    /// How long it must be remembered.
    pub ttl: Duration,
}

impl<'a> UsedProof<'a> {
    /// Creates a proof, for tests of stores.
    #[must_use]
    pub fn new(id: &'a str, account: &'a str, ttl: Duration) -> Self {
        Self { id, account, ttl }
    }
}

/// Whether a proof was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofOutcome {
    /// It was not, and is remembered now.
    New,
    /// It was.
    Used,
}

/// A [`UsedProofStore`] for a server with a single process. It remembers 100,000 proofs;
/// one account may use an eighth of the free places.
#[derive(Default)]
pub struct MemoryUsedProofStore(Mutex<UsedProofs>);

impl MemoryUsedProofStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl UsedProofStore for MemoryUsedProofStore {
    fn insert<'a>(
        &'a self,
        proof: UsedProof<'a>,
    ) -> BoxFuture<'a, Result<ProofOutcome, StoreError>> {
        Box::pin(async move { sync::lock(&self.0).insert(proof) })
    }
}

impl fmt::Debug for MemoryUsedProofStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let proofs = sync::lock(&self.0).by_id.len();
        f.debug_struct("MemoryUsedProofStore")
            .field("proofs", &proofs)
            .finish()
    }
}

#[derive(Default)]
struct UsedProofs {
    /// Their accounts, by id.
    by_id: HashMap<Arc<str>, Arc<str>>,
    /// The same proofs, ordered by the time they can be forgotten.
    by_expiry: BTreeSet<(Instant, Arc<str>)>,
    /// The number of proofs per account.
    count_by_account: HashMap<Arc<str>, usize>,
}

impl UsedProofs {
    fn insert(&mut self, proof: UsedProof<'_>) -> Result<ProofOutcome, StoreError> {
        let now = Instant::now();
        self.remove_expired(now);
        if self.by_id.contains_key(proof.id) {
            return Ok(ProofOutcome::Used);
        }
        let known = self.count_by_account.get_key_value(proof.account);
        let (account, count) = match known {
            Some((account, count)) => (Arc::clone(account), *count),
            None => (proof.account.into(), 0),
        };
        if count >= (MAX_USED_PROOFS - self.by_id.len()) / PRINCIPAL_SHARE_DIVISOR {
            return Err(StoreError::new(
                "too many DPoP proofs are remembered for this caller: wait a minute",
            ));
        }
        let id: Arc<str> = proof.id.into();
        *self
            .count_by_account
            .entry(Arc::clone(&account))
            .or_default() += 1;
        self.by_expiry.insert((now + proof.ttl, Arc::clone(&id)));
        self.by_id.insert(id, account);
        Ok(ProofOutcome::New)
    }

    /// Removes proofs that are too old to be used again.
    fn remove_expired(&mut self, now: Instant) {
        while let Some((end, _)) = self.by_expiry.first()
            && *end < now
        {
            let Some((_, id)) = self.by_expiry.pop_first() else {
                return;
            };
            let Some(account) = self.by_id.remove(&id) else {
                continue;
            };
            if let Some(count) = self.count_by_account.get_mut(&account) {
                *count -= 1;
                if *count == 0 {
                    self.count_by_account.remove(&account);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(60);

    fn insert(used: &mut UsedProofs, id: usize, account: &str) -> Option<ProofOutcome> {
        let id = id.to_string();
        used.insert(UsedProof::new(&id, account, TTL)).ok()
    }

    #[tokio::test(start_paused = true)]
    async fn no_proof_is_forgotten_while_it_could_be_used_again() {
        let mut used = UsedProofs::default();
        let kept = fill(&mut used, "one", 0);
        assert_eq!(insert(&mut used, MAX_USED_PROOFS, "one"), None);
        for id in 0..kept {
            assert_eq!(insert(&mut used, id, "one"), Some(ProofOutcome::Used));
        }
        tokio::time::advance(TTL + Duration::from_secs(1)).await;
        let later = insert(&mut used, MAX_USED_PROOFS, "one");
        assert_eq!(later, Some(ProofOutcome::New), "the others are too old");
        assert_eq!((used.by_id.len(), used.count_by_account.len()), (1, 1));
    }

    /// Takes as many places as possible and returns how many.
    fn fill(used: &mut UsedProofs, account: &str, from: usize) -> usize {
        let ids = from..from + MAX_USED_PROOFS;
        let taken = ids.take_while(|id| insert(used, *id, account).is_some());
        taken.count()
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_takes_the_room_of_others() {
        let mut used = UsedProofs::default();
        for account in 0..20 {
            fill(&mut used, &account.to_string(), account * MAX_USED_PROOFS);
        }
        assert!(used.by_id.len() <= MAX_USED_PROOFS);
        for id in 0..1000 {
            let id = 20 * MAX_USED_PROOFS + id;
            let outcome = insert(&mut used, id, "another");
            assert_eq!(outcome, Some(ProofOutcome::New), "there is room for others");
        }
    }
}
