//! The contract of stores of used proofs.

use std::{sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{Timing, with_short_ttl},
    repeat, succeed, unique_id,
};
use crate::server::auth::{ProofOutcome, UsedProof, UsedProofStore};

/// Checks that a [`UsedProofStore`] does what DPoP relies on.
///
/// 1. A proof is new once: of all nodes that insert it at the same time, exactly one is
///    told so, and every node knows it at once.
/// 2. Proofs are separate.
/// 3. A proof is remembered for its `ttl` at least.
///
/// `connect` returns one node's connection to the store. It is called more than once,
/// and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{server::auth::MemoryUsedProofStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let store = Arc::new(MemoryUsedProofStore::new());
/// contract::used_proof_store(async || Arc::clone(&store)).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn used_proof_store<S: UsedProofStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let nodes = Nodes::connect(connect).await;
    proofs_are_new_once(&nodes).await;
    one_node_wins(&nodes).await;
    with_short_ttl(async |ttl| proofs_are_kept_for_their_ttl(&nodes, ttl).await).await;
}

async fn insert<S: UsedProofStore + ?Sized>(store: &S, id: &str, ttl: Duration) -> ProofOutcome {
    let proof = UsedProof::new(id, "an_account-0", ttl);
    succeed("insert", store.insert(proof)).await
}

async fn proofs_are_new_once<S: UsedProofStore + ?Sized>(nodes: &Nodes<S>) {
    let (one, other) = (unique_id(), unique_id());
    for id in [&one, &other] {
        assert_eq!(
            insert(nodes.first(), id, LONG_TTL).await,
            ProofOutcome::New,
            "a proof that nobody used is known"
        );
        for node in [nodes.first(), nodes.second()] {
            assert_eq!(
                insert(node, id, LONG_TTL).await,
                ProofOutcome::Used,
                "a proof was accepted twice"
            );
        }
    }
}

async fn one_node_wins<S: UsedProofStore + ?Sized>(nodes: &Nodes<S>) {
    repeat(async |_| {
        let id = unique_id();
        let mut writers = JoinSet::new();
        for number in 0..WRITERS {
            let (store, id) = (nodes.of_writer(number), id.clone());
            writers.spawn(async move { insert(&*store, &id, LONG_TTL).await });
        }
        let outcomes = writers.join_all().await;
        let new = outcomes.iter().filter(|it| **it == ProofOutcome::New);
        assert_eq!(
            new.count(),
            1,
            "a proof was accepted by several nodes, or by none, at the same time"
        );
    })
    .await;
}

async fn proofs_are_kept_for_their_ttl<S: UsedProofStore + ?Sized>(
    nodes: &Nodes<S>,
    ttl: Duration,
) -> Timing {
    let id = unique_id();
    let began = Instant::now();
    insert(nodes.first(), &id, ttl).await;
    sleep_until(began + ttl * 3 / 4).await;
    let again = insert(nodes.second(), &id, ttl).await;
    if Instant::now() >= began + ttl {
        return Timing::TooSlow;
    }
    assert_eq!(
        again,
        ProofOutcome::Used,
        "a proof was forgotten before its ttl had passed"
    );
    Timing::Conclusive
}
