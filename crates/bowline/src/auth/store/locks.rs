//! File locks that several processes share.

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

/// How long to wait for a lock that another process holds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// The delays between attempts to acquire a lock: the first and the longest.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(50));

/// A private folder with the lock files of a store.
#[derive(Clone, Debug)]
pub(super) struct LockDir {
    dir: Arc<Path>,
}

impl LockDir {
    /// Creates the folder, if it does not exist. A folder that others can
    /// access is refused.
    pub(super) fn open(dir: PathBuf) -> Result<Self, TokenStoreError> {
        let opened = || {
            DirBuilder::new().recursive(true).mode(0o700).create(&dir)?;
            fs::metadata(&dir)
        };
        let mode = opened().map_err(store_error)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(TokenStoreError::new(
                "its folder is accessible to other users; restrict it to the owner (mode 0700)",
            ));
        }
        Ok(Self { dir: dir.into() })
    }

    /// Returns the path of a key's file with this suffix.
    pub(super) fn path(&self, key: &TokenStoreKey, suffix: &str) -> PathBuf {
        self.dir.join(format!("{}.{suffix}", key.as_str()))
    }

    /// Waits for the lock of a key. It is a kernel lock, which is released when
    /// the process ends for any reason.
    pub(super) async fn lock(
        &self,
        key: &TokenStoreKey,
    ) -> Result<TokenStoreLock, TokenStoreError> {
        let path = self.path(key, "lock");
        match tokio::time::timeout(LOCK_TIMEOUT, lock(&path)).await {
            Ok(locked) => locked.map(TokenStoreLock::new).map_err(store_error),
            Err(_) => Err(TokenStoreError::new(
                "timed out after 60s waiting for a lock that another process holds",
            )),
        }
    }
}

/// Acquires the lock. The lock file is never removed: otherwise two processes
/// could hold the lock, one on the old file and one on the new. Waiting is done
/// by polling, so a cancelled wait leaves no thread behind.
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

/// Options for files that only the owner can access; symbolic links are not
/// followed.
pub(super) fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits();
    options.mode(0o600).custom_flags(flags.cast_signed());
    options
}

/// Runs a blocking operation on the blocking pool.
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
