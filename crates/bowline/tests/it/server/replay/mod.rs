//! Conversations on a wire that keeps no state, put to the test.

mod app;
mod detached;
mod diverge;
mod order;
mod program;
mod properties;
mod rig;
mod stores;
mod suite;
mod tools;
mod trouble;
mod unordered;
mod user;
