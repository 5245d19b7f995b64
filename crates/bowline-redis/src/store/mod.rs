//! The stores, each on the shared connection.

mod events;
mod journals;
mod proofs;
mod quota;
mod revocations;
mod sealed_states;
mod sessions;
mod tasks;

pub use self::{
    events::RedisEventStore, journals::RedisJournalStore, proofs::RedisUsedProofStore,
    revocations::RedisRevokedTokenStore, sealed_states::RedisSealedStateStore,
    sessions::RedisSessionStore, tasks::RedisTaskStore,
};
