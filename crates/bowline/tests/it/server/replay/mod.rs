//! Conversations on a wire that keeps no state, put to the test.

mod adversary;
mod app;
mod cleanup;
mod course;
mod detached;
mod disconnected;
mod diverge;
#[cfg(unix)]
mod fleet;
#[cfg(all(unix, feature = "http-client", feature = "http-server"))]
mod fleet_http;
mod forgets;
mod late;
mod limits;
#[cfg(all(unix, feature = "http-client", feature = "http-server"))]
mod long;
mod lost_data;
mod notifications;
mod once;
mod order;
mod program;
mod properties;
#[cfg(all(unix, feature = "http-client", feature = "http-server"))]
mod proxy;
mod quota;
mod recovery;
mod refused;
pub(super) mod rig;
pub(super) mod stores;
mod suite;
#[cfg(all(feature = "http-client", feature = "http-server"))]
mod suite_http;
mod tools;
mod trouble;
mod unordered;
mod user;
