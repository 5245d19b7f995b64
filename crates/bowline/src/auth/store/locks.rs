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

use super::{TokenStoreError, TokenStoreKey, TokenStoreLock};

/// How long another process may hold a lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The waits between attempts to get a lock: the first, and the longest.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// A folder that is its owner's alone, with the locks of a store in it.
#[derive(Clone, Debug)]
pub(super) struct LockDir {
    dir: Arc<Path>,
}

impl LockDir {
    /// Makes the folder, if it is not there. One that is open to others is
    /// refused.
    pub(super) fn open(dir: PathBuf) -> Result<Self, TokenStoreError> {
        let opened = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
            fs::metadata(&dir)
        };
        let mode = opened().map_err(store_error)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(TokenStoreError::new("its folder is open to others"));
        }
        Ok(Self { dir: dir.into() })
    }

    /// The file of a key, of a kind.
    pub(super) fn path(&self, key: &TokenStoreKey, suffix: &str) -> PathBuf {
        self.dir.join(format!("{}.{suffix}", key.as_str()))
    }

    /// Waits for the lock of a key. It is the kernel's, and is let go when the
    /// process that holds it ends, in whatever way.
    pub(super) async fn lock(
        &self,
        key: &TokenStoreKey,
    ) -> Result<TokenStoreLock, TokenStoreError> {
        let path = self.path(key, "lock");
        match tokio::time::timeout(LOCK_TIMEOUT, lock(&path)).await {
            Ok(locked) => locked.map(TokenStoreLock::new).map_err(store_error),
            Err(_) => Err(TokenStoreError::new(
                "another process holds a lock for too long",
            )),
        }
    }
}

/// The lock file stays: to remove it would let two hold the lock, the one the
/// old file's and the other the new one's. Waiting is done by asking again, so
/// that one who gives up leaves no thread behind.
async fn lock(path: &Path) -> io::Result<File> {
    let file = private_options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let (mut delay, max_delay) = RETRY_DELAYS;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {}
            Err(error) if error == rustix::io::Errno::INTR => continue,
            Err(error) => return Err(error.into()),
        }
        tokio::time::sleep(delay).await;
        delay = max_delay.min(delay * 2);
    }
}

/// For the owner alone, and never through a link that somebody put there.
pub(super) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits();
    options.mode(0o600).custom_flags(flags.cast_signed());
    options
}

/// Does something that blocks where it holds up nobody.
pub(super) async fn run_blocking<T, E>(
    operation: impl FnOnce() -> Result<T, E> + Send + 'static,
    to_error: impl FnOnce(E) -> TokenStoreError,
) -> Result<T, TokenStoreError>
where
    T: Send + 'static,
    E: Send + 'static,
{
    match tokio::task::spawn_blocking(operation).await {
        Ok(result) => result.map_err(to_error),
        Err(_) => Err(TokenStoreError::new("the runtime is shutting down")),
    }
}

pub(super) fn store_error(error: impl Into<io::Error>) -> TokenStoreError {
    TokenStoreError::new(error.into().to_string())
}
