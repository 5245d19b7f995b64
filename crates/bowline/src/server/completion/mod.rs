//! Proposing values while they are typed.
//!
//! Arguments of [prompts](crate::server::prompt) and variables of
//! [templates](crate::server::template) may have a function that completes
//! them. [`Completions`] is what it returns, [`CompletionContext`] what it has
//! at hand; `completers` keeps them by name.

mod completers;
mod context;
mod proposals;

pub(crate) use completers::{Completers, Typed};
pub use context::CompletionContext;
pub use proposals::Completions;
