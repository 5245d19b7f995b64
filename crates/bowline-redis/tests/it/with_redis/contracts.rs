//! The public contracts of stores, each with two connections.

use bowline::testing::contract;

use super::rig::Redis;

#[tokio::test]
async fn journals() {
    let redis = Redis::start();
    contract::journal_store(async || redis.stores().await.journals()).await;
}

#[tokio::test]
async fn sealed_states() {
    let redis = Redis::start();
    contract::sealed_state_store(async || redis.stores().await.sealed_states()).await;
}

#[tokio::test]
async fn tasks() {
    let redis = Redis::start();
    contract::task_store(async || redis.stores().await.tasks()).await;
}

#[tokio::test]
async fn sessions() {
    let redis = Redis::start();
    contract::session_store(async || redis.stores().await.sessions()).await;
}

#[tokio::test]
async fn events() {
    let redis = Redis::start();
    contract::event_store(async || redis.stores().await.events()).await;
}

#[tokio::test]
async fn used_proofs() {
    let redis = Redis::start();
    contract::used_proof_store(async || redis.stores().await.used_proofs()).await;
}

#[tokio::test]
async fn revoked_tokens() {
    let redis = Redis::start();
    contract::revoked_token_store(async || redis.stores().await.revoked_tokens()).await;
}

#[tokio::test]
async fn nodes() {
    let redis = Redis::start();
    contract::node_store(async || redis.stores().await.nodes()).await;
}

#[tokio::test]
async fn changes() {
    let redis = Redis::start();
    contract::change_bus(async || redis.stores().await.changes()).await;
}
