//! Completion of arguments while they are typed.
//!
//! Arguments of [prompts](crate::server::prompt) and variables of
//! [templates](crate::server::template) may have a completion function. It
//! receives a [`CompletionContext`] and returns [`Completions`].

mod completers;
mod completions;
mod context;

pub(crate) use completers::{Completers, CompletionInput};
pub use completions::Completions;
pub use context::CompletionContext;
