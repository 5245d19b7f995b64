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

/// The largest file that is read.
const MAX_FILE: u64 = 1024 * 1024;

/// Keeps tokens in a folder of its own, one file for each.
///
/// The folder and its files are the owner's alone, and a folder that others can
/// get into is refused. Files are replaced, not written over, so that a reader
/// finds the old text or the new. A lock is the kernel's: it is let go when the
/// process that holds it ends, in whatever way.
///
/// Tokens stand in the files as they are. Whoever reads the user's files has
/// them.
#[derive(Clone, Debug)]
pub struct FileStore {
    locks: LockDir,
}

impl FileStore {
    /// Keeps tokens below `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Where it cannot be made, or is open to others.
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

/// Writes beside, and renames: there is never half a file.
fn write_atomically(path: &Path, value: &Secret) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let temp_path = path.with_extension(format!("{}-{next}.new", std::process::id()));
    // One of a process that died with our number would be in the way.
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
    // The name must survive a loss of power, too.
    let dir = path.parent().map(File::open).transpose()?;
    dir.map_or(Ok(()), |dir| dir.sync_all())
}
