//! Contracts for transports and stores, as checks that any implementation can
//! run.
//!
//! | you wrote | run |
//! |---|---|
//! | a [`Transport`](crate::transport::Transport) | [`transport()`] |
//! | a `JournalStore` | `journal_store` |
//! | a `SealedStateStore` | `sealed_state_store` |
//! | a `TaskStore` | `task_store` |
//! | a `SessionStore` | `session_store` |
//! | an `EventStore` | `event_store` |
//! | a `NodeStore` | `node_store` |
//! | a `ChangeBus` | `change_bus` |
//! | a `TokenStore` | `token_store` |
//! | a `UsedProofStore` | `used_proof_store` |
//! | a `RevokedTokenStore` | `revoked_token_store` |
//!
//! The contracts of stores need the feature of the trait: `server`,
//! `http-server`, `cluster`, or `auth` with `http-client` or `http-server`.
//!
//! A contract is called from a test. It panics if a check fails, with a
//! sentence that says what was violated.
//!
//! # Stores
//!
//! The contract of a store takes a function that connects to the store under
//! test, as each node of a server does. It is called more than once, and every
//! connection must reach the same data. For a store in memory, return clones of
//! one [`Arc`](std::sync::Arc).
//!
//! Keys are random, so the store need not be empty, and several tests can share
//! one database. What a contract writes expires, at the latest after an hour.
//!
//! A contract makes no assumption about how fast a store is. Expiry is checked
//! with a time to live of one second and by polling, and with a longer one if
//! the store is too slow for that. An operation that does not return within 30
//! seconds has failed.
//!
//! Waiting uses tokio's clock. Pause it (`start_paused = true`) only for stores
//! in memory that use the same clock. A remote store has its own.

#[cfg(any(feature = "server", all(feature = "auth", feature = "http-client")))]
mod stores;
mod transport;

#[cfg(feature = "cluster")]
pub use stores::node_store;
#[cfg(all(feature = "auth", feature = "http-client"))]
pub use stores::token_store;
#[cfg(feature = "server")]
pub use stores::{change_bus, journal_store, sealed_state_store, task_store};
#[cfg(feature = "http-server")]
pub use stores::{event_store, session_store};
#[cfg(all(feature = "auth", feature = "http-server"))]
pub use stores::{revoked_token_store, used_proof_store};
pub use transport::{
    Peer, PeerListener, StreamPeer, backpressure_hands_back_and_drains, close_ends_the_peer,
    drop_ends_the_peer, frames_arrive_whole_and_in_order, large_frames_arrive,
    links_are_independent, many_small_frames_arrive, oversize_is_reported, peer_close_is_reported,
    transport, transport_describes_itself,
};
