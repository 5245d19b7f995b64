//! Generated clients, compiled: for random schemas, and for servers of others.

#![deny(warnings)]

#[cfg(all(test, has_servers))]
mod calls;
#[cfg(all(test, has_servers))]
mod offers;
#[cfg(test)]
mod random;
#[cfg(test)]
mod random_value;
#[cfg(test)]
mod round_trip;
#[cfg(all(test, has_servers))]
mod source;

include!(concat!(env!("OUT_DIR"), "/random_schemas.rs"));
include!(concat!(env!("OUT_DIR"), "/guide.rs"));

/// The guide to typed clients, whose code must compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guides/typed-clients.md")]
struct Guide;

/// Clients for servers of others.
#[cfg(has_servers)]
pub mod servers {
    include!(concat!(env!("OUT_DIR"), "/servers.rs"));
}

/// Without the servers, their clients are not tested.
#[cfg(all(test, not(has_servers)))]
#[test]
fn servers_are_installed() {
    panic!("target/peers/offers.json is missing; run `cargo xtask peers`");
}
