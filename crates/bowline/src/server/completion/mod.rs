//! Proposing values while they are typed.
//!
//! Arguments of [prompts](crate::server::prompt) and variables of
//! [templates](crate::server::template) may have a function that completes
//! them. [`Completions`] is what it returns, [`CompletionContext`] what it has
//! at hand; `completers` keeps them by name.

mod completers;
mod completions;
mod context;

pub(crate) use completers::{Completers, CompletionInput};
pub use completions::Completions;
pub use context::CompletionContext;
