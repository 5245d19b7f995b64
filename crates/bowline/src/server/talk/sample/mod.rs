//! Asking models.
//!
//! [`Sample`] is the question, in one of three [`mode`]s: for text, for a value
//! that fits a schema, for calls of tools. [`ModelPrompt`] is what it says, and
//! [`answer`] what comes of it. [`history`] is what a conversation remembers
//! of both, and [`tokens`] what they cost.

mod answer;
mod builder;
pub(super) mod history;
mod mode;
mod prompt;
mod schema;
pub(super) mod tokens;
mod tools;

pub use answer::{Sampled, Structured, ToolCalls};
pub use builder::Sample;
pub use mode::{ForCalls, ForText, ForValue};
pub use prompt::ModelPrompt;
