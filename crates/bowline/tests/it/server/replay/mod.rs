//! Conversations on a wire that keeps no state, put to the test.

mod app;
mod detached;
mod order;
mod rig;
