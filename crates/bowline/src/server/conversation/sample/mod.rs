//! Sampling: asking the client's model.
//!
//! [`Sample`] is the request, in one of three [`mode`]s: for text, for a value
//! that matches a schema, or for tool calls. [`ModelPrompt`] is its prompt, and
//! [`sampled`] has the answers. [`history`] keeps the messages of a
//! conversation, and [`tokens`] counts their tokens.

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
