//! Locks that several processes share: files in a folder of the owner's.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io,
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::{StoreError, StoreKey, StoreLock};

/// How long another process may hold a lock.
const PATIENCE: Duration = Duration::from_secs(60);

/// The waits between attempts to get a lock: the first, and the longest.
const WAITS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// A folder that is its owner's alone, with the locks of a store in it.
#[derive(Clone, Debug)]
pub(super) struct Locks {
    folder: Arc<Path>,
}

impl Locks {
    /// Makes the folder, if it is not there. One that is open to others is
    /// refused.
    pub(super) fn open(folder: PathBuf) -> Result<Self, StoreError> {
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

    /// The file of a key, of a kind.
    pub(super) fn path(&self, key: &StoreKey, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}.{suffix}", key.as_str()))
    }

    /// Waits for the lock of a key. It is the kernel's, and is let go when the
    /// process that holds it ends, in whatever way.
    pub(super) async fn lock(&self, key: &StoreKey) -> Result<StoreLock, StoreError> {
        let path = self.path(key, "lock");
        match tokio::time::timeout(PATIENCE, lock(&path)).await {
            Ok(locked) => locked.map(StoreLock::new).map_err(failure),
            Err(_) => Err(StoreError::new("another process holds a lock for too long")),
        }
    }
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
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits();
    options.mode(0o600).custom_flags(flags.cast_signed());
    options
}

/// Does something that blocks where it holds up nobody.
pub(super) async fn off_thread<T, E>(
    work: impl FnOnce() -> Result<T, E> + Send + 'static,
    failure: impl FnOnce(E) -> StoreError,
) -> Result<T, StoreError>
where
    T: Send + 'static,
    E: Send + 'static,
{
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done.map_err(failure),
        Err(_) => Err(StoreError::new("the runtime is shutting down")),
    }
}

pub(super) fn failure(error: impl Into<io::Error>) -> StoreError {
    StoreError::new(error.into().to_string())
}
