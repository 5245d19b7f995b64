//! Servers as clients see them that nobody here wrote.
//!
//! `peers/clients` has a driver for each SDK, and its README says what they
//! take and give. `cargo xtask peers` installs the SDKs; a test whose peer is
//! missing fails.

mod drivers;
mod rig;
#[cfg(feature = "macros")]
mod tasks;
#[cfg(feature = "macros")]
mod travel;
