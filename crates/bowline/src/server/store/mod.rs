//! Two stores that the nodes of a server may share.
//!
//! A server on a stateless wire keeps nothing between requests, with two
//! exceptions. What must happen once is claimed in a [`OnceStore`]. State that
//! is too large to travel through the client waits in a [`StateStore`].
//!
//! [`MemoryOnce`] and [`MemoryState`] serve a single process. A fleet
//! implements the traits over a database that all its nodes reach.

mod error;
mod memory;
mod once;
mod shelf;
mod state;

pub use error::StoreError;
pub use memory::{MemoryOnce, MemoryState};
pub use once::{Claim, OnceStore};
pub use state::StateStore;
