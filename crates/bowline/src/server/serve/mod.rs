//! Serving clients over links: one machine, one link, one task for each.
//!
//! [`shared`] is what the task and the handlers share, behind one lock, and
//! [`arrivals`] the part of it that waits to be looked at;
//! [`driver`] is the task; [`connections`] are all of them, which end together
//! when [`stopping`] says so; [`mod@line`] is how a handler reaches its client;
//! [`owed`] is what a client that does not read is told later; [`pace`] says
//! which tools are done at once; [`extension`] is what a server serves that is
//! not in the protocol.

mod arrivals;
mod connections;
mod driver;
pub(crate) mod extension;
mod line;
mod observations;
mod outlet;
mod owed;
mod pace;
mod shared;
mod stopping;
#[cfg(feature = "http-server")]
mod time;
mod work;

pub(crate) use connections::Connections;
pub(crate) use line::Line;
pub use observations::Observation;
#[cfg(feature = "http-server")]
pub(crate) use outlet::Outlet;
pub(crate) use pace::Pace;
pub(crate) use shared::Shared;
#[cfg(feature = "http-server")]
pub(crate) use stopping::Stopping;
