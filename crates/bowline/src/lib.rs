//! The Rust toolkit for the Model Context Protocol that holds.
//!
//! This crate is where drivers, transports, the typed client and the server
//! framework live. For now it re-exports the protocol core, which is complete
//! and usable on its own: see [`proto`].

pub use bowline_proto as proto;
