//! The journal store of the demo.
//!
//! A suspended call resumes in another process, which needs the journal of this
//! one. So there is a directory with one file per journal entry, next to the
//! secret. Nothing is written until a question has been answered.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore, NewEntry,
        OpenedJournal, StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;

use crate::dirs;

/// How long files are kept: longer than the demo's conversations may last.
const RETENTION: Duration = Duration::from_secs(60 * 60);

/// Returns the store for the user's demo servers; in memory if the user has no
/// state directory.
pub(super) fn for_user() -> Arc<dyn JournalStore> {
    match dirs::state_dir() {
        Some(folder) => Arc::new(FileJournalStore(folder.join("demo-journals"))),
        None => Arc::new(MemoryJournalStore::new()),
    }
}

struct FileJournalStore(PathBuf);

impl FileJournalStore {
    fn entry_path(&self, id: &str, position: u64) -> PathBuf {
        self.path(id, &position.to_string())
    }

    fn lease_path(&self, id: &str) -> PathBuf {
        self.path(id, "lease")
    }

    /// Returns the path of a file of this journal. Ids may contain slashes.
    fn path(&self, id: &str, suffix: &str) -> PathBuf {
        self.0.join(format!("{}.{suffix}", id.replace('/', "_")))
    }

    fn read(&self, id: &str, from: u64, lease: Lease<'_>) -> io::Result<OpenedJournal> {
        fs::create_dir_all(&self.0)?;
        self.remove_expired();
        let acquired = self.acquire_lease(id, lease)?;
        let mut opened = OpenedJournal::new(0);
        while let Some(file) = optional(fs::read(self.entry_path(id, opened.next_position)))? {
            let (entry, answer) = unpack(&file)?;
            opened.response = answer;
            if opened.next_position >= from {
                opened.entries.push(entry);
            }
            opened.next_position += 1;
        }
        opened.acquired = acquired;
        Ok(opened)
    }

    fn write(&self, id: &str, entry: &NewEntry) -> io::Result<AppendOutcome> {
        fs::create_dir_all(&self.0)?;
        let gap = entry.position > 0 && !self.entry_path(id, entry.position - 1).exists();
        if gap || !write_once(&self.entry_path(id, entry.position), &pack(entry))? {
            return Ok(AppendOutcome::Conflict);
        }
        if entry.response.is_some() {
            optional(fs::remove_file(self.lease_path(id)))?;
        }
        Ok(AppendOutcome::Appended)
    }

    /// Acquires the lease unless another process holds it. If two find it
    /// expired, both try to move it away, and one of them succeeds.
    fn acquire_lease(&self, id: &str, lease: Lease<'_>) -> io::Result<bool> {
        let file = self.lease_path(id);
        let content = format!(
            "{} {}",
            lease.holder,
            unix_millis() + lease.duration.as_millis()
        );
        if write_once(&file, content.as_bytes())? {
            return Ok(true);
        }
        let existing = optional(fs::read_to_string(&file))?.unwrap_or_default();
        let (holder, expires_at) = existing.split_once(' ').unwrap_or_default();
        if holder == lease.holder {
            fs::rename(write_temporary(&file, content.as_bytes())?, &file)?;
            return Ok(true);
        }
        if expires_at
            .parse()
            .is_ok_and(|expires_at: u128| expires_at > unix_millis())
        {
            return Ok(false);
        }
        let moved_path = file.with_extension(lease.holder);
        let moved = optional(fs::rename(&file, &moved_path))?.is_some();
        optional(fs::remove_file(moved_path))?;
        Ok(moved && write_once(&file, content.as_bytes())?)
    }

    fn holds_lease(&self, id: &str, holder: &str) -> io::Result<bool> {
        let existing = optional(fs::read_to_string(self.lease_path(id)))?;
        Ok(existing.is_some_and(|existing| existing.starts_with(holder)))
    }

    /// Removes expired files. Failures are retried later.
    fn remove_expired(&self) {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten();
        for file in files {
            let modified = file.metadata().and_then(|it| it.modified());
            let age = modified.map(|time| time.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age > RETENTION) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

impl JournalStore for FileJournalStore {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move { self.read(key.id, from, lease).map_err(store_error) })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move { self.write(key.id, &entry).map_err(store_error) })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self
                .holds_lease(key.id, lease.holder)
                .map_err(store_error)?
            {
                self.acquire_lease(key.id, lease).map_err(store_error)?;
            }
            Ok(())
        })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self.holds_lease(key.id, holder).map_err(store_error)? {
                optional(fs::remove_file(self.lease_path(key.id))).map_err(store_error)?;
            }
            Ok(())
        })
    }
}

/// Writes a file atomically if it does not exist. Returns whether it did.
fn write_once(file: &Path, bytes: &[u8]) -> io::Result<bool> {
    let new = write_temporary(file, bytes)?;
    let linked = fs::hard_link(&new, file);
    optional(fs::remove_file(new))?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes a temporary file next to this one, readable by its owner only.
fn write_temporary(file: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let (process, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let mut name = file.as_os_str().to_owned();
    name.push(format!("-new-{process}-{number}"));
    let path = PathBuf::from(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&path)?.write_all(bytes)?;
    Ok(path)
}

/// Encodes the length of the entry, the entry, and the answer, if any.
fn pack(entry: &NewEntry) -> Vec<u8> {
    let length = (entry.value.len() as u64).to_le_bytes();
    let answer = entry.response.as_deref().unwrap_or_default();
    [&length, &*entry.value, answer].concat()
}

fn unpack(file: &[u8]) -> io::Result<(Bytes, Option<Bytes>)> {
    let truncated = || io::Error::other("a journal entry is truncated");
    let (length, rest) = file.split_first_chunk::<8>().ok_or_else(truncated)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| truncated())?;
    let (entry, answer) = rest.split_at_checked(length).ok_or_else(truncated)?;
    let answer = (!answer.is_empty()).then(|| Bytes::copy_from_slice(answer));
    Ok((Bytes::copy_from_slice(entry), answer))
}

/// Maps "not found" to `None`.
fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns milliseconds since the Unix epoch.
fn unix_millis() -> u128 {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since_epoch.unwrap_or_default().as_millis()
}

fn store_error(error: io::Error) -> StoreError {
    StoreError::new("the demo's journal directory failed").with_source(error)
}

#[cfg(test)]
mod tests {
    use bowline::testing::contract;

    use super::*;

    #[tokio::test]
    async fn it_satisfies_the_contract_of_journal_stores() {
        let name = format!("bowline-journals-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        contract::journal_store(async || Arc::new(FileJournalStore(folder.clone()))).await;
        fs::remove_dir_all(folder).expect("the folder exists");
    }
}
