//! Tasks: calls whose result is fetched later, in both dialects, on one node and on
//! several.

mod core;
mod extension;
mod options;
mod rig;
mod takeover;
