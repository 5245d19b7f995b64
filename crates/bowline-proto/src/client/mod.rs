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
mod cause;
mod config;
mod connection;
mod core;
mod dress;
mod handshake;
mod holding;
mod inbound;
mod input;
mod intents;
mod listening;
mod modes;
mod offers;
mod opening;
mod outcome;
mod output;
mod ready;
mod request;
mod rng;
mod rounds;
mod server;
mod serving;
mod state;
mod stateless;
mod telemetry;
mod timer;
mod tombstones;
mod tool_list;
mod wishes;

pub use backoff::{Backoff, BadBackoff};
pub use binding::SessionNumber;
pub use call_map::{CallHasher, CallMap};
pub use cause::{Cause, CauseKind};
pub use config::{BusyRetry, Config, RestartLimit, Timeouts, Wire};
pub use connection::{Cancel, Census, Connection};
pub use input::{HttpRefusal, Input, Refusal};
pub use intents::Watch;
pub use modes::{SessionMeta, SessionMode};
pub use outcome::{Failure, Outcome};
pub use output::{Event, Output, Wiring};
pub use request::{CallOptions, CallPolicy, OnInput, Progress, Request};
pub use server::Server;
pub use state::StateName;
pub use telemetry::{Telemetry, TransitionReason, Violation};

/// One dialled link. Each dial has a new one, so that what an old link still
/// says is never taken for the new one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub(crate) u64);

/// One call of the host's, for the life of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub(crate) u64);

/// One request of the server's, to be answered under this name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PeerRequest(pub(crate) u64);
