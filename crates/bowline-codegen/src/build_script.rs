//! Generation in build scripts.

use std::{env, fs, path::PathBuf};

use bowline::lock::Lock;

use crate::{error::GenerateError, rust};

/// Generates Rust in a build script, from a lock that is checked in.
///
/// In `build.rs`:
///
/// ```no_run
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     bowline_codegen::Builder::new("bowline.lock").write()?;
///     Ok(())
/// }
/// ```
///
/// In the crate, which then has a module for each server of the lock:
///
/// ```ignore
/// include!(concat!(env!("OUT_DIR"), "/servers.rs"));
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    lock: PathBuf,
    servers: Vec<String>,
    file: String,
}

impl Builder {
    /// Generates modules for all servers of a lock. The path is relative to the
    /// package.
    #[must_use]
    pub fn new(lock: impl Into<PathBuf>) -> Self {
        Self {
            lock: lock.into(),
            servers: Vec::new(),
            file: "servers.rs".to_owned(),
        }
    }

    /// Generates a module for this server, and no longer for all. May be called more
    /// than once.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.servers.push(name.into());
        self
    }

    /// Sets the name of the file in `OUT_DIR`: `servers.rs` by default.
    #[must_use]
    pub fn file(mut self, name: impl Into<String>) -> Self {
        self.file = name.into();
        self
    }

    /// Writes the file, and tells Cargo to run the build script again when the lock
    /// changes.
    ///
    /// # Errors
    ///
    /// Returns an error if the lock cannot be read or lacks a server, if two names
    /// become the same identifier, or if the file cannot be written.
    #[expect(
        clippy::print_stdout,
        reason = "build scripts talk to Cargo on standard output"
    )]
    pub fn write(&self) -> Result<(), GenerateError> {
        let variable =
            |name: &'static str| env::var_os(name).ok_or(GenerateError::NotInBuildScript(name));
        let lock_path = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join(&self.lock);
        let out_path = PathBuf::from(variable("OUT_DIR")?).join(&self.file);
        println!("cargo::rerun-if-changed={}", lock_path.display());
        let lock = select(Lock::read(&lock_path)?, &self.servers)?;
        let text = rust::generate_one(&lock)?;
        fs::write(&out_path, text).map_err(|error| GenerateError::Write(out_path, error))
    }
}

/// Returns the lock with these servers only; with all if there are none.
fn select(mut lock: Lock, servers: &[String]) -> Result<Lock, GenerateError> {
    for name in servers {
        if !lock.servers.contains_key(name) {
            return Err(GenerateError::UnknownServer {
                name: name.clone(),
                known: lock.servers.keys().cloned().collect(),
            });
        }
    }
    if !servers.is_empty() {
        lock.servers.retain(|name, _| servers.contains(name));
    }
    Ok(lock)
}
