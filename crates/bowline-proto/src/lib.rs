//! The Model Context Protocol without I/O: message types and state machines.
//!
//! Nothing in this crate reads a socket, a clock or a random source. Bytes, time and
//! seeds are arguments; frames, deadlines and events are results. Every behaviour,
//! including reconnection, can therefore be tested in virtual time.

// Show on docs.rs which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod auth;
pub mod client;
mod error;
pub mod http;
pub mod jsonrpc;
pub mod model;
mod outcome;
pub mod revision;
pub mod server;
pub mod task;
mod telemetry;
mod time;

pub use error::{ErrorKind, Reason};
pub use outcome::Outcome;
pub use telemetry::Violation;
pub use time::Instant;
