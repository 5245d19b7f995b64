//! Conversations on a wire that keeps no state, put to the test.

mod app;
mod detached;
mod diverge;
#[cfg(unix)]
mod fleet;
mod limits;
mod once;
mod order;
mod program;
mod properties;
mod refused;
mod rig;
mod stores;
mod suite;
mod tools;
mod trouble;
mod unordered;
mod user;
