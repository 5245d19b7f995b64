//! Running other programs.

use std::process::Command;

use crate::Failure;

/// Runs a command and waits until it exits. Fails if it cannot be started or
/// does not succeed; `hint` says what to do then.
pub fn run(mut command: Command, hint: &str) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{name}`: {error} ({hint})"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{name}` failed: {status} ({hint})"))
    }
}
