//! The Model Context Protocol, without I/O.
//!
//! Nothing in this crate reads a socket, a clock or a random source. Bytes,
//! time and seeds are arguments; frames, deadlines and events are results. So
//! every behaviour, reconnection included, is tested in virtual time.

// Shows on docs.rs which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod auth;
pub mod client;
mod error;
pub mod http;
pub mod jsonrpc;
pub mod model;
pub mod revision;
pub mod server;
mod telemetry;
mod time;

pub use error::{ErrorKind, Reason};
pub use time::Instant;
