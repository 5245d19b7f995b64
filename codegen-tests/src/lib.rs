//! Generated clients, compiled: for random schemas, and for servers of others.

#![deny(warnings)]

#[cfg(test)]
mod random;
#[cfg(test)]
mod random_value;
#[cfg(test)]
mod round_trip;

include!(concat!(env!("OUT_DIR"), "/random_schemas.rs"));

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
