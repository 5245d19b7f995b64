//! The folder in which parked calls lie.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{ParkedCall, call_id};
use crate::{dirs, failure::Failure, output::closest_match};

/// How long a call waits. Few servers honour what is older.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The folder in which parked calls lie.
pub(crate) struct ParkedStore {
    folder: PathBuf,
}

impl ParkedStore {
    /// The shelf of this person.
    pub(crate) fn open() -> Result<Self, Failure> {
        let state = dirs::state_dir().ok_or_else(|| Failure::usage("there is no home folder"))?;
        let folder = state.join("parked");
        Ok(Self { folder })
    }

    /// A name that no call on the shelf has. Those that have waited too long
    /// make room.
    pub(crate) fn new_id(&self) -> String {
        let existing = self.list();
        loop {
            let id = call_id::generate();
            if existing.iter().all(|parked| parked.id != id) {
                return id;
            }
        }
    }

    /// Puts a call there, or puts it back. Nobody sees a file that is not
    /// whole, and nobody but the owner sees any.
    pub(crate) fn save(&self, parked: &ParkedCall) -> Result<(), Failure> {
        let failed = |error: io::Error| {
            let folder = self.folder.display();
            Failure::failed(format!("the call cannot be parked in {folder}: {error}"))
        };
        create_private_dir(&self.folder).map_err(failed)?;
        let temporary_path = self
            .folder
            .join(format!("{}.{}.new", parked.id, std::process::id()));
        let written = serde_json::to_vec_pretty(parked)
            .map_err(io::Error::from)
            .and_then(|text| write(&temporary_path, &text))
            .and_then(|()| fs::rename(&temporary_path, self.path(&parked.id)));
        if written.is_err() {
            // It was not needed.
            let _ = fs::remove_file(&temporary_path);
        }
        written.map_err(failed)
    }

    /// A call that lies there.
    pub(crate) fn get(&self, id: &str) -> Result<ParkedCall, Failure> {
        match self.read(id) {
            Ok(parked) => Ok(parked),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(self.not_found(id)),
            Err(error) => {
                let path = self.path(id);
                Err(Failure::usage(format!("{}: {error}", path.display())))
            }
        }
    }

    /// Takes a call away.
    pub(crate) fn remove(&self, id: &str) -> Result<(), Failure> {
        match fs::remove_file(self.path(id)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// All that lies there, the oldest first. What has waited too long goes.
    pub(crate) fn list(&self) -> Vec<ParkedCall> {
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
                Some(Ok(parked)) if parked.age() <= RETENTION => all.push(parked),
                Some(Ok(_)) => drop(fs::remove_file(&path)),
                _ => {}
            }
        }
        all.sort_by(|one, other| (one.at, &one.id).cmp(&(other.at, &other.id)));
        all
    }

    fn not_found(&self, id: &str) -> Failure {
        let failure = Failure::usage(format!("no call is parked as `{id}`"));
        let all = self.list();
        match closest_match(id, all.iter().map(|parked| parked.id.as_str())) {
            Some(suggestion) => failure.hint(format!("did you mean `{suggestion}`?")),
            None => failure.hint("`bowline resume` lists those that are"),
        }
    }

    fn read(&self, id: &str) -> io::Result<ParkedCall> {
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

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}
