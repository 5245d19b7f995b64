//! The servers the user trusts: `trusted.json` in the state directory.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use super::TrustState;
use crate::{
    atomic_file::{self, Access},
    dirs,
    failure::Failure,
    target::ConfiguredServer,
};

/// Maximum number of servers stored. The oldest are dropped first, and the user
/// is asked again.
const MAX_TRUSTED: usize = 2_000;

/// Digest of an entry and its location.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Hash, Serialize)]
pub(crate) struct Digest(String);

impl Digest {
    /// Computes the digest of an entry: its file, its name, and everything
    /// written there. References count as written, so a changed token does not
    /// cause a new question, and is not part of the digest.
    pub(crate) fn new(found: &ConfiguredServer) -> Self {
        let file = canonical_path(&found.path);
        let name = &found.entry.name;
        let text = serde_json::json!([file, name, found.entry.raw.canonical()]).to_string();
        let digest = digest(&SHA256, text.as_bytes());
        let hex = digest.as_ref().iter().map(|byte| format!("{byte:02x}"));
        Self(hex.collect())
    }
}

/// Resolves symlinks, so a file is the same however it was found.
fn canonical_path(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// The contents of the trust file.
#[derive(Debug, Default, Deserialize, Serialize)]
pub(crate) struct TrustFile {
    trusted: Vec<TrustedServer>,
}

/// A trusted server.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct TrustedServer {
    /// The file that configures it.
    pub(crate) file: PathBuf,
    pub(crate) name: String,
    digest: String,
    /// When it was trusted, in seconds since 1970.
    pub(crate) since: u64,
}

impl TrustFile {
    /// Reads the trust file; empty if it does not exist.
    pub(crate) fn read() -> Result<Self, Failure> {
        match file_path() {
            Some(path) => Self::read_from(&path),
            None => Ok(Self::default()),
        }
    }

    fn read_from(path: &Path) -> Result<Self, Failure> {
        let to_failure = |why: String| {
            Failure::usage(format!("{}: {why}", path.display()))
                .hint("it stores which project servers you trust; delete it to start over")
        };
        match fs::read_to_string(path) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| to_failure(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(to_failure(error.to_string())),
        }
    }

    /// Changes the trust file under a lock.
    pub(crate) fn update<T>(change: impl FnOnce(&mut Self) -> T) -> Result<T, Failure> {
        let path = file_path()
            .ok_or_else(|| Failure::usage("home directory not found").hint("set HOME"))?;
        let failed = |error: io::Error| Failure::usage(format!("{}: {error}", path.display()));
        let _lock = lock(&path).map_err(failed)?;
        let mut current = Self::read_from(&path)?;
        let result = change(&mut current);
        current.write(&path).map_err(failed)?;
        Ok(result)
    }

    fn write(&self, path: &Path) -> io::Result<()> {
        let text = serde_json::to_string_pretty(self)?;
        // It reveals where the user works.
        atomic_file::write(path, text.as_bytes(), Access::Owner)
    }

    pub(crate) fn trust_state(&self, found: &ConfiguredServer, digest: &Digest) -> TrustState {
        let file = canonical_path(&found.path);
        let matching = self.trusted.iter();
        let matching = matching.filter(|it| it.name == found.entry.name && it.file == file);
        let digests: Vec<&str> = matching.map(|it| it.digest.as_str()).collect();
        match digests.contains(&digest.0.as_str()) {
            true => TrustState::Trusted,
            false if digests.is_empty() => TrustState::Unknown,
            false => TrustState::Changed,
        }
    }

    /// Stores a server, replacing an earlier entry of it.
    pub(crate) fn add(&mut self, found: &ConfiguredServer, digest: &Digest) {
        let file = canonical_path(&found.path);
        let name = found.entry.name.clone();
        self.trusted.retain(|it| it.name != name || it.file != file);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        self.trusted.push(TrustedServer {
            file,
            name,
            digest: digest.0.clone(),
            since: since.unwrap_or_default().as_secs(),
        });
        let too_many = self.trusted.len().saturating_sub(MAX_TRUSTED);
        self.trusted.drain(..too_many);
    }

    /// Removes and returns the matching servers.
    pub(crate) fn remove_matching(
        &mut self,
        predicate: impl Fn(&TrustedServer) -> bool,
    ) -> Vec<TrustedServer> {
        let (removed, kept) = self.trusted.drain(..).partition(|it| predicate(it));
        self.trusted = kept;
        removed
    }

    pub(crate) fn servers(&self) -> &[TrustedServer] {
        &self.trusted
    }
}

fn file_path() -> Option<PathBuf> {
    dirs::state_dir().map(|folder| folder.join("trusted.json"))
}

/// Creates the directory, and waits for other commands that change the file.
/// The lock is a separate file, because the other one is replaced.
#[cfg(unix)]
fn lock(path: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};

    if let Some(folder) = path.parent() {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600);
    let file = options.open(path.with_extension("lock"))?;
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive)?;
    Ok(file)
}

/// Without file locks, two concurrent commands may each drop what the other
/// stored; the user is then asked again.
#[cfg(not(unix))]
fn lock(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}
