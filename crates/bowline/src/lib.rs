//! A toolkit for the [Model Context Protocol](https://modelcontextprotocol.io/specification)
//! (MCP): a client library and a server framework for every revision of the
//! protocol, from 2024-11-05 to 2026-07-28.
//!
//! - Every call ends exactly once, with a result or with an error that names the
//!   cause.
//! - A [`Client`] reconnects automatically and never repeats a call that may have
//!   had an effect, unless you allow it.
//! - A tool of a [`Server`] can ask the user (elicitation) or the client's model
//!   (sampling) while it runs. The same code works in every revision that has
//!   such questions, over stdio and HTTP.
//!
//! # Clients
//!
//! A [`Client`] connects to a server over a [`transport`]: a child process,
//! HTTP, or memory.
//!
#![cfg_attr(feature = "client", doc = "```no_run")]
#![cfg_attr(not(feature = "client"), doc = "```ignore")]
//! use std::time::Duration;
//!
//! use bowline::{Client, transport::ChildProcess};
//! use serde_json::json;
//!
//! # async fn example() -> Result<(), bowline::Error> {
//! let server = ChildProcess::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
//! let client = Client::builder()
//!     // The first time, npx downloads the server.
//!     .connect_timeout(Duration::from_secs(60))
//!     .connect(server)
//!     .await?;
//! let result = client.tools().call("echo", json!({"message": "hi"})).await?;
//! println!("{}", result.all_text());
//! client.stop_and_wait(Duration::from_secs(5)).await;
//! # Ok(()) }
//! ```
//!
//! [`registry`] manages several servers, [`pool`] several connections to one
//! server, [`cache`] caches lists and resources, and [`config`] reads the
//! configuration files of other programs. [`auth`] gets tokens for remote
//! servers. [`lock`] records the reviewed tools of servers, so that changes are
//! noticed, and [`typed`] is what clients generated from such a lock use.
//!
//! # Servers
//!
//! A [`Server`] is configured with tools, resources and prompts, and serves them
//! over stdio or HTTP; see [`server`].
//!
#![cfg_attr(feature = "macros", doc = "```no_run")]
#![cfg_attr(not(feature = "macros"), doc = "```ignore")]
//! use bowline::server::{Conversation, Result, Server, form::Elicit, tool};
//!
//! #[derive(Elicit)]
//! struct Seat {
//!     /// Which row?
//!     #[elicit(min = 1, max = 40)]
//!     row: u8,
//! }
//!
//! /// Books a seat on a flight
//! #[tool]
//! async fn book(flight: String, cx: Conversation) -> Result<String> {
//!     let seat = cx.elicit::<Seat>("Where would you like to sit?").required().await?;
//!     Ok(format!("{flight}, row {}", seat.row))
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     Server::new("travel", "1.0.0").tool(book::tool()).serve_stdio().await
//! }
//! ```
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `client` (default) | [`client`], [`cache`], [`config`], [`pool`], [`registry`], [`typed`], and [`transport`]s for child processes and memory |
//! | `http-client` | remote servers over HTTP, in every version of the transport |
//! | `config-toml` | reading the configuration of Codex, which is TOML |
//! | `server` | [`server`]: tools, resources and prompts, served over stdio |
//! | `http-server` | serving over HTTP, as a tower service or with a built-in server |
//! | `cluster` | `http-client` and `http-server`, with sessions that several nodes share: requests are forwarded to the node that has the session |
//! | `macros` | `server`, with `#[tool]` and `#[derive(Elicit)]` |
//! | `auth` | with `http-client`, OAuth for clients ([`auth`]); with `http-server`, token verification for servers; with either, signatures and their keys ([`jose`]) |
//! | `lock` | [`lock`]: `bowline.lock`, a file that records the reviewed tools, prompts and resources of servers, and comparison with what they offer now |
//! | `keyring` | token storage in a `keyring-core` store that the application supplies, such as the system's keyring |
//! | `tracing` | `tracing` events and spans with stable names, without payloads |
//! | `testing` | [`testing`]: scripted servers, fault injection, and contract tests for transports and stores |
//!
//! The protocol core, re-exported as [`proto`], does no I/O: it decides what to
//! send and how to react. This crate adds the I/O: transports, the typed client and
//! the server framework.
//!
//! # Guides
//!
//! The [guides](https://github.com/bowline-mcp/bowline/tree/main/docs/guides) cover
//! clients, typed clients, servers, remote servers, authorization, long work as
//! [tasks](https://github.com/bowline-mcp/bowline/blob/main/docs/guides/tasks.md),
//! testing and telemetry.
//! `cargo xtask book --open` shows them as a book.

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
#[cfg(any(feature = "client", feature = "lock", feature = "server"))]
mod canonical;
#[cfg(any(feature = "client", feature = "server"))]
mod catch_panic;
#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "client")]
pub mod config;
#[cfg(all(
    feature = "auth",
    any(feature = "http-client", feature = "http-server")
))]
mod fetch;
#[cfg(any(feature = "client", feature = "server"))]
mod form_check;
#[cfg(all(doctest, feature = "client"))]
mod guides;
#[cfg(all(
    feature = "auth",
    any(feature = "http-client", feature = "http-server")
))]
pub mod jose;
#[cfg(feature = "lock")]
pub mod lock;
#[cfg(any(feature = "client", feature = "server"))]
mod observation_queue;
#[cfg(feature = "client")]
pub mod pool;
#[cfg(feature = "client")]
pub mod registry;
#[cfg(feature = "server")]
pub mod server;
#[cfg(any(feature = "client", feature = "server"))]
mod sync;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(all(feature = "tracing", any(feature = "client", feature = "server")))]
mod tracing_events;
#[cfg(any(feature = "client", feature = "server"))]
pub mod transport;
#[cfg(feature = "client")]
pub mod typed;

#[cfg(feature = "client")]
pub use client::{Backoff, Client, Error, Timeouts};
#[cfg(feature = "server")]
pub use server::Server;
