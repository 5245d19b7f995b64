//! The stores, each on the shared connection.

mod changes;
mod events;
mod journals;
mod nodes;
mod proofs;
mod quota;
mod revocations;
mod sealed_states;
mod sessions;
mod tasks;

pub use self::{
    changes::RedisChangeBus, events::RedisEventStore, journals::RedisJournalStore,
    nodes::RedisNodeStore, proofs::RedisUsedProofStore, revocations::RedisRevokedTokenStore,
    sealed_states::RedisSealedStateStore, sessions::RedisSessionStore, tasks::RedisTaskStore,
};
