//! The Rust toolkit for the Model Context Protocol that holds.
//!
//! This crate is where drivers, transports, the typed client and the server
//! framework live. The protocol core, which decides everything and does no
//! I/O, is re-exported as [`proto`].

// Shows on docs.rs which feature an item needs.
#![cfg_attr(docsrs, feature(doc_cfg))]

pub use bowline_proto as proto;
pub use bowline_proto::{
    ErrorKind, Reason,
    jsonrpc::{ErrorObject, RawJson, code as error_code},
    model::{self, LogLevel},
    revision::Revision,
};

#[cfg(all(feature = "auth", feature = "http-client"))]
pub mod auth;
#[cfg(feature = "client")]
pub mod cache;
#[cfg(any(feature = "client", feature = "server"))]
mod canonical;
#[cfg(any(feature = "client", feature = "server"))]
mod catch_panic;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(all(doctest, feature = "client"))]
mod guides;
#[cfg(all(
    feature = "auth",
    any(feature = "http-client", feature = "http-server")
))]
pub mod jose;
#[cfg(any(feature = "client", feature = "server"))]
mod observations;
#[cfg(feature = "client")]
pub mod pool;
#[cfg(feature = "client")]
pub mod registry;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "server")]
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(all(feature = "tracing", any(feature = "client", feature = "server")))]
mod trace;
#[cfg(any(feature = "client", feature = "server"))]
pub mod transport;

#[cfg(feature = "client")]
pub use client::{Backoff, Client, Error, Timeouts};
#[cfg(feature = "server")]
pub use server::Server;
