//! Completion of arguments while they are typed.
//!
//! Arguments of [prompts](crate::server::prompt) and variables of
//! [templates](crate::server::template) may have a completion function. It
//! returns [`Completions`] and receives a [`CompletionContext`]; `completers`
//! keeps these functions by name.

mod completers;
mod completions;
mod context;

pub(crate) use completers::{Completers, CompletionInput};
pub use completions::Completions;
pub use context::CompletionContext;
