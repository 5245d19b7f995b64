//! The directory of suspended calls.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{StoredCall, call_id};
use crate::{
    atomic_file::{self, Access},
    dirs,
    failure::Failure,
    output::closest_name,
};

/// How long suspended calls are kept. Few servers accept older ones.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The directory of suspended calls.
pub(crate) struct CallStore {
    folder: PathBuf,
}

impl CallStore {
    /// Opens the user's store.
    pub(crate) fn open() -> Result<Self, Failure> {
        let state = dirs::state_dir().ok_or_else(|| Failure::usage("home directory not found"))?;
        let folder = state.join("suspended");
        Ok(Self { folder })
    }

    /// Returns an unused name. Expired calls are removed first.
    pub(crate) fn new_id(&self) -> String {
        let existing = self.list();
        loop {
            let id = call_id::generate();
            if existing.iter().all(|stored| stored.id != id) {
                return id;
            }
        }
    }

    /// Saves a call atomically, readable by its owner only.
    pub(crate) fn save(&self, stored: &StoredCall) -> Result<(), Failure> {
        let failed = |error: io::Error| {
            let folder = self.folder.display();
            Failure::failed(format!(
                "cannot store the suspended call in {folder}: {error}"
            ))
        };
        create_private_dir(&self.folder).map_err(failed)?;
        let text = serde_json::to_vec_pretty(stored).map_err(io::Error::from);
        let written =
            text.and_then(|text| atomic_file::write(&self.path(&stored.id), &text, Access::Owner));
        written.map_err(failed)
    }

    /// Returns a stored call.
    pub(crate) fn get(&self, id: &str) -> Result<StoredCall, Failure> {
        match self.read(id) {
            Ok(stored) => Ok(stored),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.not_found(id)),
            Err(error) => {
                let path = self.path(id);
                Err(Failure::usage(format!("{}: {error}", path.display())))
            }
        }
    }

    /// Removes a call.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Failure> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Returns all stored calls, oldest first. Removes expired ones.
    pub(crate) fn list(&self) -> Vec<StoredCall> {
        let Ok(files) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let mut all = Vec::new();
        for file in files.flatten() {
            let path = file.path();
            let id = path.file_stem().and_then(|stem| stem.to_str());
            let is_json = path
                .extension()
                .is_some_and(|extension| extension == "json");
            match id.filter(|_| is_json).map(|id| self.read(id)) {
                Some(Ok(stored)) if stored.age() <= RETENTION => all.push(stored),
                Some(Ok(_)) => drop(fs::remove_file(&path)),
                _ => {}
            }
        }
        all.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        all
    }

    fn not_found(&self, id: &str) -> Failure {
        let failure = Failure::usage(format!("unknown suspended call `{id}`"));
        let all = self.list();
        match closest_name(id, all.iter().map(|stored| stored.id.as_str())) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure.hint("`bowline resume` lists suspended calls"),
        }
    }

    fn read(&self, id: &str) -> io::Result<StoredCall> {
        if !call_id::is_valid(id) {
            return Err(ErrorKind::NotFound.into());
        }
        let text = fs::read(self.path(id))?;
        serde_json::from_slice(&text).map_err(io::Error::from)
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}

#[cfg(unix)]
fn create_private_dir(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn create_private_dir(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
