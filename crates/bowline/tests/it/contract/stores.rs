//! Our stores satisfy the contracts of stores.

#[cfg(unix)]
#[path = "../../programs/replay_node/folder_store.rs"]
mod folder_store;

use std::sync::Arc;

use bowline::{
    server::store::{
        JournalStore, MemoryJournalStore, MemorySealedStateStore, MemoryTaskStore,
        SealedStateStore, TaskStore,
    },
    testing::contract,
};

#[tokio::test(start_paused = true)]
async fn journals_in_memory() {
    let store = Arc::new(MemoryJournalStore::new());
    contract::journal_store(async || Arc::clone(&store)).await;
}

#[tokio::test(start_paused = true)]
async fn states_in_memory() {
    let store = Arc::new(MemorySealedStateStore::new());
    contract::sealed_state_store(async || Arc::clone(&store)).await;
}

/// With a clock that runs, and writers that really run at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn stores_in_memory_that_several_threads_use() {
    let journals: Arc<dyn JournalStore> = Arc::new(MemoryJournalStore::new());
    let states: Arc<dyn SealedStateStore> = Arc::new(MemorySealedStateStore::new());
    let tasks: Arc<dyn TaskStore> = Arc::new(MemoryTaskStore::new());
    tokio::join!(
        contract::journal_store(async || Arc::clone(&journals)),
        contract::sealed_state_store(async || Arc::clone(&states)),
        contract::task_store(async || Arc::clone(&tasks)),
    );
}

/// Behind `Arc`, which implements the traits for what it holds.
#[tokio::test(start_paused = true)]
async fn shared_stores() {
    let journals = Arc::new(MemoryJournalStore::new());
    contract::journal_store(async || Arc::new(Arc::clone(&journals))).await;
    let states = Arc::new(MemorySealedStateStore::new());
    contract::sealed_state_store(async || Arc::new(Arc::clone(&states))).await;
}

#[cfg(all(feature = "http-server", feature = "macros"))]
#[tokio::test(start_paused = true)]
async fn the_database_of_the_http_tests() {
    let database = Arc::new(crate::http_server::stores::Database::default());
    contract::session_store(async || Arc::clone(&database)).await;
    contract::event_store(async || Arc::clone(&database)).await;
}

#[cfg(feature = "cluster")]
#[tokio::test(start_paused = true)]
async fn nodes_in_memory() {
    let store = Arc::new(bowline::server::http::MemoryNodeStore::default());
    contract::node_store(async || Arc::clone(&store)).await;
}

#[tokio::test]
async fn changes_in_memory() {
    let bus = bowline::server::changes::MemoryChangeBus::default();
    contract::change_bus(async || Arc::new(bus.clone())).await;
}

/// The store that the nodes of `replay_node` share, with the system's clock.
#[cfg(unix)]
#[tokio::test]
async fn journals_and_states_in_a_folder() {
    let folder = std::env::temp_dir().join(format!("bowline-stores-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let connect = async || Arc::new(folder_store::FolderStore::new(&folder));
    tokio::join!(
        contract::journal_store(connect),
        contract::sealed_state_store(connect)
    );
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

#[cfg(all(feature = "auth", feature = "http-server"))]
#[tokio::test(start_paused = true)]
async fn used_proofs_and_revoked_tokens_in_memory() {
    let proofs = Arc::new(bowline::server::auth::MemoryUsedProofStore::new());
    contract::used_proof_store(async || Arc::clone(&proofs)).await;
    let tokens = Arc::new(bowline::server::auth::MemoryRevokedTokenStore::new());
    contract::revoked_token_store(async || Arc::clone(&tokens)).await;
}

#[cfg(all(feature = "auth", feature = "http-client"))]
#[tokio::test(start_paused = true)]
async fn tokens_in_memory() {
    let store = bowline::auth::MemoryStore::new();
    contract::token_store(async || Arc::new(store.clone())).await;
}

#[cfg(all(feature = "auth", feature = "http-client", unix))]
#[tokio::test]
async fn tokens_in_files() {
    let folder = std::env::temp_dir().join(format!("bowline-contract-{}", std::process::id()));
    let open = async || Arc::new(bowline::auth::FileStore::open(&folder).expect("a folder"));
    contract::token_store(open).await;
    std::fs::remove_dir_all(&folder).expect("it is ours");
}
