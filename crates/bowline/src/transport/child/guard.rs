//! Seeing to it that no child outlives us, even if we are killed.
//!
//! A signal at the parent's death would reach the child only, not what the
//! child has started, and it is tied to the thread that started it. So a small
//! process of its own waits for our end instead: it holds the other end of a
//! pipe that closes when we go, however we go, and then ends the child's whole
//! group.

use std::{io, process::Stdio};

use tokio::process::{Child, Command};

/// Waits for its input to end, then kills the group it was given. Signals that
/// a terminal sends to everybody must not end it before its time.
const SCRIPT: &str = "trap '' INT TERM HUP QUIT; read -r _; kill -s KILL -- \"-$1\"";

/// The process that waits for our end. Dropping it ends it first, so that it
/// does nothing more.
#[derive(Debug)]
pub(super) struct Guard {
    /// Killed when dropped.
    _waiting: Child,
}

impl Guard {
    /// Watches over the group that `leader` leads.
    pub(super) fn over(leader: u32) -> io::Result<Self> {
        let waiting = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "bowline-guard", &leader.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        Ok(Self { _waiting: waiting })
    }
}
