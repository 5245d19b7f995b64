//! Conversations on a wire that keeps no state, put to the test.

mod app;
mod detached;
mod diverge;
#[cfg(unix)]
mod fleet;
#[cfg(all(unix, feature = "http-client", feature = "http-server"))]
mod fleet_http;
mod limits;
mod once;
mod order;
mod program;
mod properties;
#[cfg(all(unix, feature = "http-client", feature = "http-server"))]
mod proxy;
mod refused;
mod rig;
mod stores;
mod suite;
#[cfg(all(feature = "http-client", feature = "http-server"))]
mod suite_http;
mod tools;
mod trouble;
mod unordered;
mod user;
