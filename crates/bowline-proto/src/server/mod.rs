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
//! [`errors`], [`ParsedCall`], [`encode_result`] and [`discovery`].

mod calls;
mod client_info;
mod config;
mod connection;
mod context;
mod core;
mod encode;
pub mod errors;
mod handshake;
mod inbound;
mod input;
mod listen;
mod meta_cache;
mod method_check;
mod notifications;
mod open_requests;
mod outbound;
mod outcome;
mod output;
mod parsed_call;
mod request_head;
mod request_notifier;
mod required_capability;
mod respond;
mod session;
mod shutdown;
pub mod stateless;
mod subscription_streams;
mod telemetry;

pub use client_info::ClientInfo;
pub use config::{CacheHint, Config, Timeouts};
pub use connection::{Connection, ConnectionStats};
pub use context::RequestContext;
pub use encode::{encode_response, encode_result};
pub use handshake::discover_result;
pub use input::Input;
pub use notifications::ListKind;
pub use outbound::{CallOptions, ServerRequest};
pub use outcome::{Failure, Outcome};
pub use output::{CancelReason, Event, Output};
pub use parsed_call::ParsedCall;
pub use request_notifier::RequestNotifier;
pub use required_capability::required_capability;
pub use respond::Reply;
pub use telemetry::{Telemetry, Violation};

/// One request of the client's, to be answered under this name. A name is never
/// used twice on a connection, whatever ids the client chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    pub(crate) number: u64,
    /// Where it is kept.
    slot: usize,
}

/// One call of ours to the client, for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);
