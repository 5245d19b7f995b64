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
//! # Round trips
//!
//! A call of revision 2026-07-28 that asks nothing and is no task makes no round trip to
//! Redis. These make some:
//!
//! - a round of a conversation: two, and two more for each step in it; steps that run at
//!   the same time share them;
//! - a task: its record is created, read by every request about it, and updated when its
//!   state changes. Its steps are those of a conversation;
//! - a session of revisions up to 2025-11-25: one for each recorded event, after it was
//!   sent, and a few when the session is opened, changed, extended or ended;
//! - a request for a session of another node, in a cluster: two, which read the session
//!   and the address of its node;
//! - a request with a DPoP proof: one;
//! - a request with a token: one, if the node last looked for revoked tokens more than two
//!   seconds ago.
//!
//! In the background, nodes renew their leases, look for tasks to take over, and tell each
//! other about changes.
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
//! | Redis or its machine fails | `appendonly yes`, `appendfsync everysec` (the default of the AOF) | what was written in the last two seconds can be lost |
//! | Redis or its machine fails | no AOF, the append-only file (`appendonly no`) | what is not in the last snapshot is lost |
//! | Redis has lost everything | any settings | it is noticed: states from before are rejected, so nothing happens twice; tasks, sessions and used proofs are gone |
//! | Redis has lost a part: an old snapshot, or a replica that lagged behind | any settings | it is **not** noticed, and side effects of that time can happen twice |
//! | a replica takes over | `min-replicas-to-write 1` | fewer writes are lost, but replication is asynchronous: the last ones can be |
//! | Redis is full | `maxmemory-policy noeviction` | writes fail, nothing is dropped |
//! | Redis is full | another policy | data is dropped, and side effects can happen twice; [`connect`](RedisStores::connect) refuses, unless [allowed](RedisStoresBuilder::allow_eviction) |
//!
//! So use `appendonly yes` and `maxmemory-policy noeviction`, and `appendfsync always` if
//! a side effect that happens twice is worse than slower writes.
//! [`RedisStores::warnings`] lists the guarantees that the settings of this Redis do not
//! give. `WAIT` is not used: it makes losing a write in a failover less likely, and not
//! impossible.
//!
//! Loss of everything is noticed by a random *generation*, which is written with the
//! first data and is part of the seal of every state. The first operation that finds
//! another generation fails; later ones use the new one.
//!
//! # Errors
//!
//! Every operation ends within its [timeout](RedisStoresBuilder::timeout), two seconds by
//! default, with an error that says what is wrong and what to do: Redis cannot be
//! reached, is paused, out of memory, loading, or a read-only replica. Within the timeout,
//! an operation is retried where that is safe:
//!
//! - If Redis says that it did not run the operation (loading, read-only, moved to another
//!   node of Redis Cluster), it is always retried.
//! - If the connection broke, the operation may have run. It is retried if it has the same
//!   effect when it runs twice, or can tell that it has run: appending, creating, replacing
//!   and inserting a proof carry a token, which Redis keeps with what they wrote, so an
//!   operation that finds its own token has succeeded.
//! - [`claim`](bowline::server::store::TaskStore::claim) is not retried, because it could
//!   take a second task. If its answer is lost, the task waits until the lease ends.
//! - [`register`](bowline::server::http::NodeStore::register) is not retried, because the
//!   second attempt would find the node registered by the first. The server registers it
//!   again later.
//!
//! A server that cannot use its stores rejects what needs them. It never continues without
//! them.
//!
//! # Time
//!
//! Leases and expiry use the clock of Redis, never that of a node.
//!
//! # Redis Cluster and failover
//!
//! All keys of a [prefix](RedisStoresBuilder::prefix) are in one slot, so Redis Cluster
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
//! Conversations, tasks, sessions, events and changes are sealed by the server. The
//! addresses of nodes are not. Keys contain random ids and hashes: no session ids, names
//! or tokens.

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
