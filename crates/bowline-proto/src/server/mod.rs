//! The server side of a connection, as a state machine.
//!
//! [`Connection`] is the machine; its documentation says how to drive it. It
//! classifies, tracks, gates and encodes, and knows no tools: what a client asks
//! is handed up as an [`Event`], and answered by whoever knows.
//!
//! The rooms: `inbound` takes frames apart; `opening` is the handshake and
//! `stateless` what a request of the other era must bring; `gate` says which
//! methods there are; `requests` holds what the client asks, `calls` what we ask
//! it, `listens` its streams of changes; `answering`, `asking` and `notices` are
//! what the host does with them; `closing` is the end.
//!
//! What needs no connection stands beside the machine, for HTTP: [`stateless`],
//! [`errors`], [`PlainCall`], [`encode_result`] and [`discovery`].

mod answering;
mod asking;
mod calls;
mod client;
mod closing;
mod config;
mod connection;
mod context;
mod core;
mod encode;
pub mod errors;
mod gate;
mod head;
mod inbound;
mod input;
mod last_meta;
mod listening;
mod listens;
mod needs;
mod notices;
mod opening;
mod outcome;
mod output;
mod plain_call;
mod requests;
mod session;
pub mod stateless;
mod telemetry;
mod telling;

pub use answering::Reply;
pub use asking::{CallOptions, Question};
pub use client::Client;
pub use config::{CacheHint, Config, Timeouts};
pub use connection::{Census, Connection};
pub use context::RequestContext;
pub use encode::{encode_response, encode_result};
pub use input::Input;
pub use needs::needed_capability;
pub use notices::Kind;
pub use opening::discovery;
pub use outcome::{Failure, Outcome};
pub use output::{Event, Output, Withdrawal};
pub use plain_call::PlainCall;
pub use telemetry::{Telemetry, Violation};
pub use telling::Telling;

/// One request of the client's, to be answered under this name. A name is never
/// used twice on a connection, whatever ids the client chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Incoming {
    pub(crate) number: u64,
    /// Where it is kept.
    place: usize,
}

/// One call of ours to the client, for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);
