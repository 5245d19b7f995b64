//! Reading and writing the lock file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use bowline::lock::{Lock, LockError, LockedServer};

use crate::{failure::Failure, output::closest_name};

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
            Err(error) => return Err(lock_failure(path, &error)),
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

    /// Writes the file, in one step, so nobody reads half of it.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let mut temporary = self.path.clone().into_os_string();
        temporary.push(".tmp");
        let temporary = PathBuf::from(temporary);
        fs::write(&temporary, self.lock.to_json())
            .and_then(|()| fs::rename(&temporary, &self.path))
            .map_err(|error| {
                let _ = fs::remove_file(&temporary);
                Failure::usage(format!("{}: {error}", self.path.display()))
            })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn lock_failure(path: &Path, error: &LockError) -> Failure {
    let path = path.display();
    match error {
        LockError::Io(_, error) => Failure::usage(format!("{path}: {error}")),
        error => Failure::usage(format!("{path}: {error}")),
    }
}
