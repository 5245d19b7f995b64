//! Against real servers that nobody here wrote, in both eras of the protocol.
//!
//! `cargo xtask peers` installs them; a test whose peer is missing fails. All
//! of them are child processes. With `BOWLINE_SHOW_FRAMES` set, every frame is
//! written to standard error.

mod everything;
mod everything_questions;
mod everything_tasks;
mod fastmcp_tasks;
mod filesystem;
mod folder;
mod git;
mod highlevel;
mod highlevel_questions;
mod lowlevel;
mod memory;
mod opening;
mod recovery;
mod rig;
mod rmcp_tasks;
mod sequential_thinking;
mod tap;
mod time_and_fetch;
