//! The secret that lets a conversation resume in another process.
//!
//! In the stateless era, a tool that asks hands its sealed state to the client.
//! An answer given later, from another process, goes to another server, which
//! must know the secret. So it is stored in a file; but only once a question is
//! asked, so plain calls write nothing.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::OnceLock,
};

use bowline::server::seal::SealKeys;

use crate::dirs;

const LENGTH: usize = 32;

/// The secret of the user's demo servers.
pub(super) struct Secret {
    bytes: [u8; LENGTH],
    file: Option<PathBuf>,
    /// Whether it was stored, or why not.
    persisted: OnceLock<Result<(), String>>,
}

impl Secret {
    /// Loads the stored secret, or creates a new one.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no randomness.
    pub(super) fn for_user() -> io::Result<Self> {
        Self::load(dirs::state_dir().map(|folder| folder.join("demo.key")))
    }

    fn load(file: Option<PathBuf>) -> io::Result<Self> {
        let read = file.as_ref().and_then(|file| fs::read(file).ok());
        let persisted = read.and_then(|bytes| <[u8; LENGTH]>::try_from(bytes).ok());
        let (bytes, persisted) = match persisted {
            Some(bytes) => (bytes, OnceLock::from(Ok(()))),
            None => (random_bytes()?, OnceLock::new()),
        };
        Ok(Self {
            bytes,
            file,
            persisted,
        })
    }

    /// Derives the keys.
    pub(super) fn seal_keys(&self) -> SealKeys {
        // The length is always valid.
        SealKeys::from_secret(&self.bytes).unwrap_or_else(|_| SealKeys::random())
    }

    /// Stores it for other processes. Must be called before a question is
    /// asked.
    ///
    /// # Errors
    ///
    /// Returns the reason if it cannot be stored; then a conversation can only
    /// resume in this process.
    pub(super) fn persist(&self) -> Result<(), &str> {
        let persisted = self.persisted.get_or_init(|| {
            let Some(file) = &self.file else {
                return Err("no state directory to store the key in".to_owned());
            };
            write(file, &self.bytes).map_err(|error| format!("{}: {error}", file.display()))
        });
        persisted.as_ref().map(|&()| ()).map_err(String::as_str)
    }
}

fn random_bytes() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Writes a file that only its owner may read, unless it exists.
fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)?.write_all(bytes)
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secret")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}
