//! Stores that the nodes of a server may share.
//!
//! In revision 2026-07-28 a server keeps nothing between requests, with three
//! exceptions:
//!
//! - What happens in a conversation after its sealed state was sent to the client is
//!   written to a [`JournalStore`], so nothing happens twice. So is what happens in a
//!   task, in every revision.
//! - Sealed state that is too large to send to the client is saved in a
//!   [`SealedStateStore`].
//! - Tasks are kept in a [`TaskStore`], in every revision.
//!
//! [`MemoryJournalStore`], [`MemorySealedStateStore`] and [`MemoryTaskStore`] serve a
//! single process. For multiple nodes, use the crate `bowline-redis`, or implement the
//! traits with a database that all nodes reach, and check them with
//! `bowline::testing::contract`. [`Stores`] holds one of each.
//!
//! # Keys and values
//!
//! Every operation takes a [`ConversationKey`]. Its `id` consists of the
//! characters `0-9`, `a-f` and `/`, at most 65 of them. Its `account` is 32
//! characters of `0-9` and `a-f`, or empty; it identifies the caller, so a
//! store can limit each caller's share.
//!
//! Values are sealed with the server's
//! [`SealKeys`](crate::server::seal::SealKeys): a store cannot read them, and
//! altered values are rejected. Only a store with an
//! [`instance_id`](JournalStore::instance_id), whose contents are lost with the
//! process, receives them unsealed. They are bytes, not text. A value has a few
//! hundred bytes plus the results of steps or the response.

mod error;
mod journal;
mod key;
mod memory;
mod state;
mod stores;
mod task;

pub use error::StoreError;
pub use journal::{AppendOutcome, JournalStore, Lease, NewEntry, OpenedJournal};
pub use key::ConversationKey;
pub use memory::{MemoryJournalStore, MemorySealedStateStore, MemoryTaskStore};
pub use state::SealedStateStore;
pub use stores::Stores;
pub use task::{
    ClaimedTask, CreateOutcome, LeaseUpdate, NewTask, StoredTask, TaskStore, TaskUpdate,
    UpdateOutcome,
};
