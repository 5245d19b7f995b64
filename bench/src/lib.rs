//! What a call costs the client: ours, rmcp's, and the least that is possible,
//! all against the same server.
//!
//! - `calls` measures and writes `RESULTS.md`; `cargo xtask bench` runs it.
//! - `raw_server` is the server, `allocations` counts allocations (in a process
//!   of its own, because counting them slows every one down), and `profile`
//!   makes one client do one thing many times, for a profiler to look at.

pub mod clients;
pub mod contender;
pub mod measure;
pub mod raw;
pub mod report;
pub mod server;
