//! Tests with programs of others, which `cargo xtask peers` installs.

mod typescript;
