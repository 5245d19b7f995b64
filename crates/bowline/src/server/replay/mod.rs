//! Conversations on a wire that keeps no state.
//!
//! A question that has no answer yet ends the call with the question as its
//! result. The client comes back with the answer, perhaps to another node, and
//! the conversation runs again from its start, until it reaches the next
//! question or its end. What happened before is told to it again, in the order
//! in which it happened: that order is the [`journal`].
//!
//! - [`stage`] is what a conversation runs on: it takes questions and steps in,
//!   and hands out what the journal has for them.
//! - [`perform`] polls a conversation, and says how far it came.
//! - [`state`] is what travels through the client: bound to the request, sealed.
//! - [`course`] is the journal that all nodes share: it lets effects happen
//!   once, and in one course, however often a round is repeated.
//! - [`round`] puts them together, and [`refusal`] is what clients are told
//!   where that cannot be done.

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
