//! Running a program that measures, and reading what it prints.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{Failure, group::Measured};

/// A program of this workspace, next to the one that runs.
pub(crate) fn sibling(name: &str) -> Result<PathBuf, Failure> {
    let here = std::env::current_exe().map_err(|error| error.to_string())?;
    let path = here.with_file_name(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    match path.is_file() {
        true => Ok(path),
        false => Err(format!(
            "{name} is not built; `cargo xtask bench` builds everything"
        )),
    }
}

/// The program of all contenders, with these arguments.
pub(crate) fn contender(arguments: &[&str]) -> Result<Command, Failure> {
    let mut command = Command::new(sibling("contenders")?);
    command.args(arguments);
    Ok(command)
}

/// Runs a program to its end, and reads the line of JSON that it prints: names
/// to numbers.
pub(crate) fn measured(mut command: Command) -> Result<Measured, Failure> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next_back().unwrap_or_default();
    let read: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line).map_err(|error| format!("{command:?}: {error}: {line:?}"))?;
    let numbers = read
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.as_f64()?)));
    Ok(numbers.collect())
}
