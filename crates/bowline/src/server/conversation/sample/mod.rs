//! Asking models.
//!
//! [`Sample`] is the question, in one of three [`mode`]s: for text, for a value
//! that fits a schema, for calls of tools. [`ModelPrompt`] is what it says, and
//! [`answer`] what comes of it. [`history`] is what a conversation remembers
//! of both, and [`tokens`] what they cost.

mod builder;
pub(super) mod history;
mod mode;
mod prompt;
mod sampled;
mod schema;
pub(super) mod tokens;
mod tools;

pub use builder::Sample;
pub use mode::{SampleText, SampleToolCalls, SampleValue};
pub use prompt::ModelPrompt;
pub use sampled::{Sampled, StructuredSample, ToolCalls};
