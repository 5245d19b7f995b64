//! Talking with the client while it waits for an answer.
//!
//! [`Conversation`] is what an author sees: questions to the user and to
//! models, steps, branches. [`ServerContext`] is the part of it that asks
//! nothing. Below them, [`call`] is one call of a client's, and [`voice`] the
//! way back to it; [`ask`], [`step`] and the [deadlines](branch::deadline) of
//! branches are where live conversations and replayed ones part, and nowhere
//! else. [`presence`] says whether the caller is still there, and what goes on
//! without them. [`scope`] names what is asked and done, and keeps it within bounds.

mod ask;
mod branch;
pub(crate) mod call;
mod context;
mod conversation;
mod elicit;
pub(crate) mod presence;
mod roots;
mod sample;
mod scope;
pub(crate) mod step;
pub(crate) mod voice;

pub use branch::Branch;
pub use context::ServerContext;
pub use conversation::Conversation;
pub use elicit::{Elicitation, Elicited, OnDecline, Retrying, Strict, Visit};
pub use roots::RootsQuestion;
pub use sample::{
    ForCalls, ForText, ForValue, ModelPrompt, Sample, Sampled, Structured, ToolCalls,
};
pub use step::Step;
