//! One of several nodes of a server, for the tests: `replay_node <folder>
//! <max-state> [http]`.
//!
//! Nodes share a key, and a folder for journals, for states that are too large,
//! and for a log of what was done and by which node. With `http`, the node
//! serves over HTTP and prints its address. Its tools are `order`, all tools of
//! the test suite, and `program`, which runs the random conversation of a
//! number.

#[cfg(unix)]
mod folder_store;
#[cfg(unix)]
mod node;

/// The tools of the test suite, with a log shared by all nodes.
#[cfg(unix)]
#[path = "../../it/server/replay/tools.rs"]
#[expect(dead_code, reason = "only the tests check the results of the tools")]
mod tools;
#[cfg(unix)]
#[path = "../../it/server/replay/unordered.rs"]
mod unordered;

/// Random conversations.
#[cfg(unix)]
#[path = "../../it/server/replay/program.rs"]
#[expect(dead_code, reason = "only the tests use the rest")]
mod program;

/// Locks as the tests take them.
#[cfg(unix)]
#[path = "../../it/sync.rs"]
mod sync;

/// The dependencies of the suite's tools.
#[cfg(unix)]
mod app {
    pub(crate) use crate::node::{Folder as App, Text};
}

#[cfg(unix)]
fn main() -> std::io::Result<()> {
    node::main()
}

#[cfg(not(unix))]
fn main() {}
