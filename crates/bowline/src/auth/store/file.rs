//! Tokens in files, which several processes may share.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::{
    StoreError, StoreKey, StoreLock, TokenStore,
    locks::{Locks, failure, off_thread, private},
};
use crate::{auth::Secret, transport::BoxFuture};

/// The largest file that is read.
const LARGEST: u64 = 1024 * 1024;

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
    locks: Locks,
}

impl FileStore {
    /// Keeps tokens below `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Where it cannot be made, or is open to others.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let locks = Locks::open(folder.into())?;
        Ok(Self { locks })
    }

    fn path(&self, key: &StoreKey) -> PathBuf {
        self.locks.path(key, "json")
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, StoreError>> {
        let path = self.path(key);
        Box::pin(async move { off_thread(move || read(&path), failure).await })
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (path, value) = (self.path(key), value.clone());
        Box::pin(async move { off_thread(move || replace(&path, &value), failure).await })
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), StoreError>> {
        let path = self.path(key);
        let remove = move || match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        Box::pin(async move { off_thread(remove, failure).await })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        Box::pin(self.locks.lock(key))
    }
}

fn read(path: &Path) -> io::Result<Option<Secret>> {
    let file = match private().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(Some(Secret::new(text)))
}

/// Writes beside, and renames: there is never half a file.
fn replace(path: &Path, value: &Secret) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    let beside = path.with_extension(format!("{}-{next}.new", std::process::id()));
    // One of a process that died with our number would be in the way.
    let _ = fs::remove_file(&beside);
    let written = || {
        let mut file = private().write(true).create_new(true).open(&beside)?;
        file.write_all(value.expose().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    let written = written();
    if written.is_err() {
        let _ = fs::remove_file(&beside);
        return written;
    }
    // The name must survive a loss of power, too.
    let folder = path.parent().map(File::open).transpose()?;
    folder.map_or(Ok(()), |folder| folder.sync_all())
}
