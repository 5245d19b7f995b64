//! Calling cargo.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Failure;

/// The root folder of the repository.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// A command that runs the cargo that started xtask, so `cargo +toolchain xtask`
/// uses that toolchain throughout.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // These variables describe the xtask package. Build scripts that depend on
    // them would run again, and everything that depends on these scripts would
    // be rebuilt.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(describes_package) {
            command.env_remove(name);
        }
    }
    if !has_incremental_builds() {
        command.env("CARGO_INCREMENTAL", "0");
    }
    command
}

/// Returns whether someone has built the product incrementally. If not, as in a
/// fresh clone, a build without it takes a fifth less.
fn has_incremental_builds() -> bool {
    let Ok(entries) = fs::read_dir(root().join("target/debug/incremental")) else {
        return false;
    };
    let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.any(|name| name.starts_with("bowline"))
}

fn describes_package(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// The output of `cargo tree`, with one package per line.
pub fn tree(arguments: &[&str]) -> Result<String, Failure> {
    let output = cargo()
        .args(["tree", "--prefix", "none"])
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`cargo tree` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether `cargo <subcommand>` is installed.
pub fn has_subcommand(subcommand: &str) -> bool {
    cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
