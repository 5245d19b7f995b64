//! The client side of a connection, as a state machine.
//!
//! [`Connection`] is the machine; its documentation says how to drive it. It
//! holds ids and never channels, names deadlines and never waits, and asks for
//! a link ([`Output::Dial`]) rather than open one.
//!
//! The rooms: `state` is the table of what happens in which state; `opening`
//! probes and negotiates; `ready` sends and `inbound` receives while a session
//! is open; `handshake` and `stateless` are what the two eras do differently;
//! `rounds` drives calls that the server answers with questions, `holding` gives
//! calls the host's time while it is asked; `listening` keeps the stream of
//! changes open.

mod backoff;
mod binding;
mod call_map;
mod calls;
mod cancelled_calls;
mod capability_check;
mod config;
mod connection;
mod connection_error;
mod core;
mod deadlines;
mod desired_state;
mod handshake;
mod inbound;
mod input;
mod offered_revisions;
mod opening;
mod outcome;
mod output;
mod peer_requests;
mod ready;
mod request;
mod request_meta;
mod restore;
mod rng;
mod rounds;
mod server_info;
mod state;
mod stateless;
mod subscription_streams;
mod telemetry;
mod timer;
mod tool_list;
mod tool_modes;

pub use backoff::{Backoff, BackoffError};
pub use binding::SessionNumber;
pub use call_map::{CallHasher, CallMap};
pub use config::{BusyRetry, Config, RestartLimit, Timeouts, TransportKind};
pub use connection::{Cancellation, Connection, ConnectionStats};
pub use connection_error::{ConnectionError, ConnectionErrorKind};
pub use desired_state::ListSubscriptions;
pub use input::{HttpStatusError, Input, SendError};
pub use outcome::{Failure, Outcome};
pub use output::{Event, HttpVariant, Output};
pub use request::{CallOptions, CallPolicy, InputHandling, ProgressMode, Request};
pub use server_info::ServerInfo;
pub use state::ConnectionState;
pub use telemetry::{Telemetry, TransitionReason, Violation};
pub use tool_modes::{SessionMetaPolicy, SessionRequirement};

/// One dialled link. Each dial has a new one, so that what an old link still
/// says is never taken for the new one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u64);

/// One call of the host's, for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// One request of the server's, to be answered under this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerRequestId(pub(crate) u64);
