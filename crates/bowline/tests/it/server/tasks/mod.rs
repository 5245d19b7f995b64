//! Tasks: calls whose result is fetched later, in both dialects, on one node and on
//! several.

mod core;
mod creation;
mod extension;
mod faults;
mod fencing;
mod options;
mod rig;
mod takeover;
