//! The integration tests of the facade: one binary, one module per room.
//!
//! Those over memory run in paused time. Those on real processes wait for
//! events, never for a time.

#[cfg(all(feature = "auth", feature = "http-client"))]
mod auth;
mod cache;
#[cfg(feature = "testing")]
mod client;
#[cfg(all(feature = "testing", unix))]
mod clients;
mod config;
#[cfg(feature = "testing")]
mod contract;
#[cfg(unix)]
mod examples;
mod fake;
#[cfg(feature = "http-client")]
mod http_client;
#[cfg(all(feature = "http-server", feature = "macros"))]
mod http_server;
mod interop;
mod pool;
#[cfg(all(feature = "testing", unix))]
mod process;
mod registry;
#[cfg(all(feature = "macros", feature = "testing"))]
mod server;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod server_auth;
mod soak;
#[cfg(all(feature = "server", feature = "testing", unix))]
mod stdio;
mod stream;
mod sync;
#[cfg(feature = "testing")]
mod testing;
