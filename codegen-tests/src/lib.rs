//! Generated clients, compiled: for random schemas, for difficult names, and for servers
//! of others.

#![deny(warnings)]

#[cfg(all(test, has_servers))]
mod difficult_names;
#[cfg(all(test, has_servers))]
mod offers;
#[cfg(test)]
mod peers;
#[cfg(test)]
mod random;
#[cfg(test)]
mod random_value;
#[cfg(test)]
mod round_trip;

include!(concat!(env!("OUT_DIR"), "/random_schemas.rs"));
include!(concat!(env!("OUT_DIR"), "/difficult.rs"));
include!(concat!(env!("OUT_DIR"), "/guide.rs"));

/// What the tests of the generator compare with.
#[path = "../../crates/bowline-codegen/tests/golden/rust/mod.rs"]
pub mod golden;

/// The guide to typed clients, whose code must compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/typed-clients.md")]
struct Guide;

/// Clients for servers of others.
#[cfg(has_servers)]
pub mod servers {
    include!(concat!(env!("OUT_DIR"), "/servers.rs"));
}
