//! A small model of the nodes of a Bowline server that share conversations, tasks and
//! sessions through a store, and a checker that visits every state of it.
//!
//! The model has the names of the code: `open`, `append`, `renew` and `release` are the
//! operations of a `JournalStore`, `create`, `load`, `update`, `renew` and `claim` those
//! of a `TaskStore`. Nodes die, stop and go on, messages are lost, clients repeat
//! everything that they ever sent, and the store may forget its last writes. What really
//! happened is part of the state, so a promise is a property of states.
//!
//! - [`journal`] is a journal in the store, [`round`] a round on a node, [`world`] what
//!   has happened.
//! - [`conversation`], [`task`] and [`session`] are the three models.
//! - [`promise`] has the promises, [`table`] the assumptions, and [`models`] the sizes.
//! - [`checker`] explores a model.
//!
//! `cargo run -p bowline-model --release` prints which promise holds under which
//! assumption, and the shortest way to break each of the others. `--small` does it within
//! the bounds of the tests.

pub mod checker;
pub mod conversation;
pub mod faults;
pub mod journal;
pub mod models;
pub mod node;
pub mod promise;
pub mod round;
pub mod session;
pub mod table;
pub mod task;
pub mod world;
