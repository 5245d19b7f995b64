//! Two stores that the nodes of a server may share.
//!
//! A server on a stateless wire keeps nothing between requests, with two
//! exceptions. What has happened in a conversation since its state was last
//! handed out is written to a [`JournalStore`], so that nothing happens twice.
//! State that is too large to travel through the client waits in a
//! [`StateStore`].
//!
//! [`MemoryJournals`] and [`MemoryState`] serve a single process. A fleet
//! implements the traits over a database that all its nodes reach.
//!
//! # Keys and values
//!
//! Every operation names a [`Key`]. Its `id` is made of the characters `0-9`,
//! `a-f` and `/`, and has at most 65 of them. Its `account` is 32 characters of
//! `0-9` and `a-f`, or empty; it says on whose behalf something is kept, so
//! that a store can bound what one caller may hold.
//!
//! Values are sealed with the server's
//! [`Keyring`](crate::server::seal::Keyring): a store holds nothing that it
//! could read, and what it alters is refused. Only a store that [says](JournalStore::instance)
//! that it is gone with the process is given them as they are. They are bytes, not text. A value
//! has some hundred bytes, and whatever steps return, or answers hold, on top.

mod error;
mod journal;
mod key;
mod memory;
mod state;

pub use error::StoreError;
pub use journal::{AppendOutcome, JournalStore, Lease, NewEntry, OpenedJournal};
pub use key::ConversationKey;
pub use memory::{MemoryJournalStore, MemoryStateStore};
pub use state::StateStore;
