//! The server side of a connection, as a state machine.
//!
//! [`Connection`] is the machine; its documentation explains how to drive it.
//! It classifies, tracks, checks and encodes messages, and knows nothing of
//! tools: the client's requests are passed to the host as an [`Event`], and the
//! host answers them.
//!
//! Modules: `inbound` splits frames into messages; `handshake` is the handshake
//! and `stateless` checks requests of the stateless era; `method_check` decides
//! which methods are available; `open_requests` holds the client's requests,
//! `calls` our calls to it, `subscription_streams` its subscription streams;
//! `respond`, `outbound` and `notifications` are the host's commands;
//! `shutdown` ends the connection.
//!
//! Items that need no connection are public for use by HTTP: [`stateless`],
//! [`errors`], [`RequestParams`], [`encode_result`] and [`discover_result`].

mod call_mode;
mod calls;
mod client_info;
mod client_info_cache;
mod config;
mod connection;
mod context;
mod core;
mod encode;
pub mod errors;
mod failure;
mod handshake;
mod inbound;
mod input;
mod listen;
mod meta_cache;
mod method_check;
mod notifications;
mod open_requests;
mod outbound;
mod output;
mod parsed_call;
mod request_head;
mod request_notifier;
mod request_params;
mod required_capability;
mod respond;
mod session;
mod shutdown;
pub mod stateless;
mod subscription_streams;
mod telemetry;

pub use call_mode::{CallMode, call_mode, check_no_task};
pub use client_info::ClientInfo;
pub use config::{CacheHint, Config, Timeouts};
pub use connection::{Connection, ConnectionStats};
pub use context::RequestContext;
pub use encode::{encode_response, encode_result};
pub use failure::{Failure, Outcome};
pub use handshake::discover_result;
pub use input::Input;
pub use notifications::ListKind;
pub use outbound::{CallOptions, ServerRequest};
pub use output::{CancelReason, Event, Output};
pub use parsed_call::ParsedCall;
pub use request_notifier::RequestNotifier;
pub use request_params::RequestParams;
pub use required_capability::required_capability;
pub use respond::Reply;
pub use telemetry::TelemetryEvent;

pub use crate::Violation;

/// The key of a client's request, under which the host answers it. A key is
/// never reused on a connection, whatever ids the client chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestKey {
    pub(crate) number: u64,
    /// The slot of the request in the table.
    slot: usize,
}

/// The id of a call to the client, unique for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);
