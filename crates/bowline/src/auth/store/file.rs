//! Tokens in files, which several processes may share.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::{StoreError, StoreKey, StoreLock, TokenStore};
use crate::{auth::Secret, transport::BoxFuture};

/// How long another process may hold a lock.
const PATIENCE: Duration = Duration::from_secs(60);

/// The waits between attempts to get a lock: the first, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

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
    folder: Arc<Path>,
}

impl FileStore {
    /// Keeps tokens below `folder`, which is made if it is not there.
    ///
    /// # Errors
    ///
    /// Where it cannot be made, or is open to others.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let folder = folder.into();
        let opened = || {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(&folder)?;
            fs::metadata(&folder)
        };
        let mode = opened().map_err(failure)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(StoreError::new("its folder is open to others"));
        }
        Ok(Self {
            folder: folder.into(),
        })
    }

    fn path(&self, key: &StoreKey, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", key.as_str()))
    }
}

impl TokenStore for FileStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<Secret>, StoreError>> {
        let path = self.path(key, "json");
        Box::pin(async move { off_thread(move || read(&path)).await })
    }

    fn save<'a>(
        &'a self,
        key: &'a StoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (path, value) = (self.path(key, "json"), value.clone());
        Box::pin(async move { off_thread(move || replace(&path, &value)).await })
    }

    fn remove<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<(), StoreError>> {
        let path = self.path(key, "json");
        Box::pin(async move {
            off_thread(move || match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            })
            .await
        })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, StoreError>> {
        let path = self.path(key, "lock");
        Box::pin(async move {
            let locked = tokio::time::timeout(PATIENCE, lock(&path)).await;
            match locked {
                Ok(locked) => locked.map(StoreLock::new).map_err(failure),
                Err(_) => Err(StoreError::new("another process holds a lock for too long")),
            }
        })
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

/// The lock file stays: to remove it would let two hold the lock, the one the
/// old file's and the other the new one's. Waiting is done by asking again, so
/// that one who gives up leaves no thread behind.
async fn lock(path: &Path) -> io::Result<File> {
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let (mut wait, longest) = WAITS;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {}
            Err(error) if error == rustix::io::Errno::INTR => continue,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(wait).await;
        wait = longest.min(wait * 2);
    }
}

/// For the owner alone, and never through a link that somebody put there.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits();
    options.mode(0o600).custom_flags(flags.cast_signed());
    options
}

async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failure),
        Err(_) => Err(StoreError::new("the runtime is shutting down")),
    }
}

fn failure(error: impl Into<io::Error>) -> StoreError {
    StoreError::new(error.into().to_string())
}
