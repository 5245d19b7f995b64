//! Stores of Bowline's servers in Redis (6.2 or newer) or Valkey, for servers with
//! several nodes.
//!
//! ```no_run
//! # async fn example(secret: &[u8]) -> Result<(), Box<dyn std::error::Error>> {
//! use bowline::server::{Server, seal::SealKeys};
//! use bowline_redis::RedisStores;
//!
//! let stores = RedisStores::connect("redis://redis.example:6379").await?;
//! Server::new("travel", "1.0.0")
//!     // The same on all nodes: what is stored is sealed with it.
//!     .seal_keys(SealKeys::from_secret(secret)?)
//!     .stores(stores)
//!     .serve_http("0.0.0.0:8000")
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! A call that asks nothing makes no round trip to Redis. A round of a conversation
//! makes two, and each step in it two more; steps that run at the same time share them.
//! A request with a DPoP proof makes one. Everything else is rare.
//!
//! # What is promised, under which settings
//!
//! Nothing happens twice as long as Redis loses nothing that it confirmed. Whether it
//! does depends on its settings:
//!
//! | If | with | then |
//! |---|---|---|
//! | a node of the server dies | any settings | nothing is lost; another node goes on after the lease |
//! | Redis or its machine fails | `appendonly yes`, `appendfsync always` | nothing is lost |
//! | Redis or its machine fails | `appendonly yes`, `appendfsync everysec` (the default with a log) | what was written in the last two seconds can be lost |
//! | Redis or its machine fails | no log (`appendonly no`) | what is not in the last snapshot is lost |
//! | Redis has lost everything | any settings | it is noticed: states from before are rejected, so nothing happens twice; tasks, sessions and used proofs are gone |
//! | Redis has lost a part: an old snapshot, or a replica that lagged behind | any settings | it is **not** noticed, and side effects of that time can happen twice |
//! | a replica takes over | `min-replicas-to-write 1` | fewer writes are lost, but replication is asynchronous: the last ones can be |
//! | Redis is full | `maxmemory-policy noeviction` | writes fail, nothing is dropped |
//! | Redis is full | another policy | data is dropped, and side effects can happen twice; [`connect`](RedisStores::connect) refuses, unless [allowed](RedisStoresBuilder::allow_eviction) |
//!
//! So use `appendonly yes` and `maxmemory-policy noeviction`, and `appendfsync always` if
//! a side effect that happens twice is worse than slower writes.
//! [`RedisStores::warnings`] lists what a server does not promise. `WAIT` is not used: it
//! makes losing a write in a failover less likely, and not impossible.
//!
//! Loss of everything is noticed by a random *generation*, which is written with the
//! first data and is part of the seal of every state. Operations that find another one
//! fail once, and work after that.
//!
//! # Errors
//!
//! Every operation ends within its [timeout](RedisStoresBuilder::timeout), two seconds by
//! default, with an error that says what is wrong and what to do: Redis cannot be
//! reached, is paused, out of memory, loading, or a read-only replica. Until then it is
//! tried again where that is safe:
//!
//! - if Redis says that it did not run it (loading, read-only, moved to another node of a
//!   cluster): always;
//! - if the connection broke, so it may have run: all operations but
//!   [`claim`](bowline::server::store::TaskStore::claim). Appending, creating and
//!   replacing carry a token, which Redis keeps with what they wrote, so an operation
//!   that finds its own token has succeeded. Inserting a proof does the same. Opening,
//!   renewing, releasing, saving and removing have the same effect if they run twice;
//! - `claim` is not: it could take a second task. If its answer is lost, the task waits
//!   until the lease ends.
//!
//! A server that cannot use its stores rejects what needs them. It never goes on without.
//!
//! # Time
//!
//! Leases and expiry use the clock of Redis, never that of a node.
//!
//! # Clusters and failover
//!
//! All keys of a [prefix](RedisStoresBuilder::prefix) are in one slot, so a cluster
//! keeps them on one node, and the stores follow them there. Several servers with
//! different prefixes spread over the nodes; one server does not. After a failover the
//! host name is resolved again. Sentinel is not supported: use a host name, or a proxy,
//! that leads to the primary.
//!
//! # Permissions
//!
//! A user needs: `~{prefix}:* &{prefix}:* +@read +@write +@pubsub +@connection +eval
//! +evalsha +time +info`. Without `info`, connecting fails.
//!
//! # Secrets
//!
//! Values are sealed by the server. Keys contain random ids and hashes: no session ids,
//! names or tokens.

mod builder;
mod connection;
mod error;
mod inspection;
mod keys;
mod limits;
mod notices;
mod script;
mod store;
mod stores;

pub use self::{
    builder::RedisStoresBuilder,
    error::ConnectError,
    limits::{Limit, StoreLimits},
    store::{
        RedisChangeBus, RedisEventStore, RedisJournalStore, RedisNodeStore, RedisRevokedTokenStore,
        RedisSealedStateStore, RedisSessionStore, RedisTaskStore, RedisUsedProofStore,
    },
    stores::RedisStores,
};

/// The guide to several nodes, whose code must compile.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/many-nodes.md")]
struct ManyNodes;
