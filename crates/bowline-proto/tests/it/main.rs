//! The integration tests of the protocol core: one binary, one module per room.

mod auth;
mod client;
mod examples;
mod http;
mod jsonrpc;
mod model;
mod revision;
mod server;
mod task;
