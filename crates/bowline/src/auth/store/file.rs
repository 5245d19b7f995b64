//! Tokens in files, which several processes may share.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    TokenStore, TokenStoreError, TokenStoreKey, TokenStoreLock,
    locks::{LockDir, private_options, run_blocking, store_error},
};
use crate::{auth::Secret, transport::BoxFuture};

/// Maximum size of a file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Stores tokens in its own folder, one file each.
///
/// The folder and its files are accessible to the owner only, and a folder that
/// others can access is refused. Files are replaced, not overwritten, so a
/// reader finds either the old or the new contents. Locks are kernel locks:
/// they are released when the process ends for any reason.
///
/// The files are not encrypted. Anyone who can read the user's files has the
/// tokens.
#[derive(Clone, Debug)]
pub struct FileStore {
    locks: LockDir,
}

impl FileStore {
    /// Opens a store in the folder `dir`, which is created if it does not
    /// exist.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be created, or is accessible to others.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self, TokenStoreError> {
        let locks = LockDir::open(dir.into())?;
        Ok(Self { locks })
    }

    fn path(&self, key: &TokenStoreKey) -> PathBuf {
        self.locks.path(key, "json")
    }
}

impl TokenStore for FileStore {
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>> {
        let path = self.path(key);
        Box::pin(async move { run_blocking(move || read(&path), store_error).await })
    }

    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        let (path, value) = (self.path(key), value.clone());
        Box::pin(
            async move { run_blocking(move || write_atomically(&path, &value), store_error).await },
        )
    }

    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        let path = self.path(key);
        let remove = move || match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        Box::pin(async move { run_blocking(remove, store_error).await })
    }

    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>> {
        Box::pin(self.locks.lock(key))
    }
}

fn read(path: &Path) -> io::Result<Option<Secret>> {
    let file = match private_options().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut contents = String::new();
    file.take(MAX_FILE).read_to_string(&mut contents)?;
    Ok(Some(Secret::new(contents)))
}

/// Writes a temporary file and renames it, so a file is never incomplete.
fn write_atomically(path: &Path, value: &Secret) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let temp_path = path.with_extension(format!("{}-{next}.new", std::process::id()));
    // Remove the leftover of a dead process with the same process id.
    let _ = fs::remove_file(&temp_path);
    let written = || {
        let mut file = private_options()
            .write(true)
            .create_new(true)
            .open(&temp_path)?;
        file.write_all(value.expose().as_bytes())?;
        file.sync_all()?;
        fs::rename(&temp_path, path)
    };
    let written = written();
    if written.is_err() {
        let _ = fs::remove_file(&temp_path);
        return written;
    }
    // The rename must survive a power loss, too.
    let dir = path.parent().map(File::open).transpose()?;
    dir.map_or(Ok(()), |dir| dir.sync_all())
}
