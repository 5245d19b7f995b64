//! The client side of a connection, as a state machine.
//!
//! [`Connection`] is the machine; its documentation explains how to drive it. It holds
//! ids but no channels, reports deadlines but never waits, and asks the driver for a
//! link ([`Output::Dial`]) instead of opening one.
//!
//! Modules: `state` is the transition table; `opening` probes and negotiates; while a
//! session is open, `ready` sends and `inbound` receives; `session` is the one place
//! that branches on the era, and `handshake` and `stateless` are its two sides; `rounds` drives calls that the server answers
//! with questions; `deadlines` extends the deadlines of calls while the host is being
//! asked; `subscription_streams` keeps the stream of change notifications open;
//! `task_support` finds out which tools are called as tasks, `task_calls` makes such calls,
//! and `task_poller`, a machine of its own, follows a task to its end.

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
mod failure;
mod handshake;
mod inbound;
mod input;
mod offered_revisions;
mod opening;
mod output;
mod peer_requests;
mod ready;
mod redial;
mod request;
mod request_meta;
mod rng;
mod rounds;
mod send_error;
mod server_info;
mod session;
mod state;
mod stateless;
mod subscription_streams;
mod task_calls;
mod task_poller;
mod task_support;
mod telemetry;
mod timer;
mod tool_list;
mod tool_modes;

pub use backoff::{Backoff, BackoffError};
pub use binding::SessionNumber;
pub use call_map::{CallHasher, CallMap};
pub use config::{Config, QueueFullRetry, RestartLimit, Timeouts, TransportKind};
pub use connection::{Cancellation, Connection, ConnectionStats};
pub use connection_error::{ConnectionError, ConnectionErrorKind};
pub use desired_state::ListSubscriptions;
pub use failure::{Failure, Outcome};
pub use input::Input;
pub use output::{Event, HttpVariant, Output};
pub use request::{CallOptions, CallPolicy, InputHandling, ProgressMode, Request, TaskMode};
pub use send_error::{HttpStatusError, SendError};
pub use server_info::ServerInfo;
pub use state::ConnectionState;
pub use task_calls::PreparedQuestions;
pub use task_poller::{TaskPoller, TaskStep};
pub use telemetry::{TelemetryEvent, TransitionReason};
pub use tool_modes::{SessionMetaPolicy, SessionRequirement};

pub use crate::Violation;

/// Identifies a dialled link. Each dial gets a new id, so input from an old link is
/// never attributed to the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u64);

/// Identifies a call made by the host, for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// Identifies a request from the server, to be answered with [`Connection::respond`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerRequestId(pub(crate) u64);
