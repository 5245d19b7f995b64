//! Reading and writing the lock file.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
};

use bowline::lock::{Lock, LockError, LockedServer};

use super::ServerChanges;
use crate::{
    atomic_file::{self, Access},
    failure::Failure,
    output::closest_name,
};

/// The lock file in the current folder.
pub(crate) const DEFAULT_FILE: &str = "bowline.lock";

/// A lock and the file it belongs to.
#[derive(Debug)]
pub(crate) struct LockFile {
    path: PathBuf,
    pub(crate) lock: Lock,
    /// Whether the file exists.
    pub(crate) exists: bool,
}

impl LockFile {
    /// Reads a lock file. One that does not exist is empty.
    pub(crate) fn load(path: &Path) -> Result<Self, Failure> {
        let (lock, exists) = match Lock::read(path) {
            Ok(lock) => (lock, true),
            Err(LockError::Io(_, error)) if error.kind() == io::ErrorKind::NotFound => {
                (Lock::default(), false)
            }
            Err(error) => return Err(lock_failure(&error)),
        };
        Ok(Self {
            path: path.to_owned(),
            lock,
            exists,
        })
    }

    /// Reads a lock file that must exist.
    pub(crate) fn load_existing(path: &Path) -> Result<Self, Failure> {
        let file = Self::load(path)?;
        match file.exists {
            true => Ok(file),
            false => Err(
                Failure::usage(format!("{}: file not found", path.display()))
                    .hint("create it with `bowline lock SERVER`"),
            ),
        }
    }

    /// Returns a server as it was reviewed.
    pub(crate) fn server(&self, name: &str) -> Result<&LockedServer, Failure> {
        self.lock.servers.get(name).ok_or_else(|| {
            let path = self.path.display();
            let failure = Failure::usage(format!("{path} has no server `{name}`"));
            let known = self.lock.servers.keys().map(String::as_str);
            let failure = match closest_name(name, known) {
                Some(close) => failure.hint(format!("did you mean `{close}`?")),
                None => failure,
            };
            failure.hint(format!("add it with `bowline lock {name}`"))
        })
    }

    /// Returns what differs between servers and their reviewed state.
    pub(crate) fn changes(&self, current: &BTreeMap<String, LockedServer>) -> Vec<ServerChanges> {
        let nothing = LockedServer::default();
        let changes = current.iter().map(|(name, server)| {
            let reviewed = self.lock.servers.get(name);
            ServerChanges {
                server: name.clone(),
                is_new: reviewed.is_none(),
                changes: reviewed.unwrap_or(&nothing).compare(server),
            }
        });
        changes.collect()
    }

    /// Returns what a server offers now, with what was observed about it before.
    pub(crate) fn update(&self, name: &str, current: LockedServer) -> LockedServer {
        match self.lock.servers.get(name) {
            Some(known) => current.with_unchanged_from(known),
            None => current,
        }
    }

    /// Writes the file.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let failure = |error| Failure::usage(format!("{}: {error}", self.path.display()));
        atomic_file::write(&self.path, self.lock.to_json().as_bytes(), Access::Default)
            .map_err(failure)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn lock_failure(error: &LockError) -> Failure {
    Failure::usage(match error {
        LockError::Io(path, error) => format!("{}: {error}", path.display()),
        // It names the file.
        error => error.to_string(),
    })
}
