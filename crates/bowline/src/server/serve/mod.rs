//! Serving over links: one machine, one link and one task for each client.
//!
//! [`service`] has the ways to serve.
//! [`shared`] is the state shared by the task and the handlers, behind one
//! lock ([`state_guard`]); [`request_queue`] holds its undispatched requests, which
//! a [`turn`] dispatches, and [`job_queue`] its waiting handler runs, which [`jobs`] starts.
//! [`driver`] is the task; [`connections`] are all of them, which end together
//! on [`shutdown`].
//! [`connection_channel`] is how a handler reaches its client;
//! [`pending_notices`] are sent later to a client that does not read;
//! [`latency`] determines which tools run in place; [`observations`] are
//! reported to observers.

mod connection_channel;
mod connections;
mod driver;
mod frame_sink;
mod job_queue;
mod jobs;
mod latency;
mod observations;
mod pending_notices;
mod request_queue;
mod service;
mod shared;
mod shutdown;
#[cfg(feature = "http-server")]
mod sink_connection;
mod state_guard;
mod turn;

pub(crate) use connection_channel::ConnectionChannel;
pub(crate) use connections::Connections;
#[cfg(feature = "http-server")]
pub(crate) use frame_sink::FrameSink;
pub(crate) use latency::LatencyEstimate;
pub use observations::Observation;
pub(crate) use shared::SharedConnection;
#[cfg(feature = "http-server")]
pub(crate) use shutdown::ShutdownSignal;
