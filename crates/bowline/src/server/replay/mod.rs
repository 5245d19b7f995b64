//! Conversations in the stateless era.
//!
//! A question without an answer ends the call with the question as its result.
//! The client sends another request with the answer, possibly to another node,
//! and the conversation runs again from its start, until it reaches the next
//! question or its end. Earlier events are replayed in the order they happened:
//! that order is the [`journal`].
//!
//! - [`replayer`] delivers events to a conversation: it registers questions and
//!   steps, and returns what the journal has for them.
//! - [`run`] polls a conversation and returns how far it got.
//! - [`state`] is sent through the client: bound to the request, and sealed.
//! - [`stored_journal`] is the journal shared by all nodes: it makes side
//!   effects happen once, in one order, however often a round is repeated.
//! - [`round`] combines them, and [`error`] has the errors sent to clients.

pub(crate) mod error;
pub(crate) mod journal;
pub(crate) mod replayer;
pub(crate) mod round;
pub(crate) mod run;
#[cfg(test)]
mod schedule_tests;
pub(crate) mod state;
pub(crate) mod stored_journal;
#[cfg(test)]
mod tests;
