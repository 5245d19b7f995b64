//! Serving clients over links: one machine, one link, one task for each.
//!
//! [`shared`] is what the task and the handlers share, behind one lock, and
//! [`arrivals`] the part of it that waits to be looked at;
//! [`driver`] is the task; [`connections`] are all of them, which end together
//! when [`shutdown`] says so; [`connection_channel`] is how a handler reaches its client;
//! [`pending_notices`] is what a client that does not read is told later; [`latency`]
//! says which tools are run in place.

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
mod shared;
mod shutdown;
#[cfg(feature = "http-server")]
mod sink_connection;

pub(crate) use connection_channel::ConnectionChannel;
pub(crate) use connections::Connections;
#[cfg(feature = "http-server")]
pub(crate) use frame_sink::FrameSink;
pub(crate) use latency::LatencyEstimate;
pub use observations::Observation;
pub(crate) use shared::SharedConnection;
#[cfg(feature = "http-server")]
pub(crate) use shutdown::ShutdownSignal;
