//! How the verbs call cargo.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::Failure;

/// The top folder of the repository.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_path_buf()
}

/// The cargo that started us, so that `cargo +toolchain xtask` means what it says.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    // What cargo told us about ourselves is not meant for others: build scripts
    // that look at it would run again, and all that needs them would be built
    // again.
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_about_us) {
            command.env_remove(name);
        }
    }
    command
}

fn is_about_us(name: &str) -> bool {
    name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_")
}

/// What `cargo tree` prints, one package a line.
pub fn tree(arguments: &[&str]) -> Result<String, Failure> {
    let output = cargo()
        .args(["tree", "--prefix", "none"])
        .args(arguments)
        .output()
        .map_err(|error| format!("cargo did not start: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`cargo tree` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether `cargo <subcommand>` exists on this machine.
pub fn has(subcommand: &str) -> bool {
    cargo()
        .args([subcommand, "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
