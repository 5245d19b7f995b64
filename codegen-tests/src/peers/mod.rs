//! Tests with servers of others, which `cargo xtask peers` installs.

#[cfg(has_servers)]
mod calls;
#[cfg(has_servers)]
mod source;

/// Without the servers, their clients are not tested.
#[cfg(not(has_servers))]
#[test]
fn servers_are_installed() {
    panic!("target/peers/offers.json is missing; run `cargo xtask peers`");
}
