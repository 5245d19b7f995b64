//! Journals and states in a folder, which the nodes of a test share.
//!
//! Every entry is a file that is linked into place once it is complete, so of
//! all processes that write one position, one succeeds. Nothing is removed.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, SystemTime},
};

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal,
        SealedStateStore, StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;

/// A store in a folder.
#[derive(Clone)]
pub(crate) struct FolderStore(PathBuf);

impl FolderStore {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Keys begin with random characters: one folder for each two of them.
    fn file(&self, kind: &str, key: &str) -> PathBuf {
        let name: String = key.chars().map(plain).collect();
        let some: String = name.chars().take(2).collect();
        self.0.join(some).join(format!("{kind}-{name}"))
    }

    /// Writes a file that is not visible before it is complete.
    fn write_temporary(&self, value: &[u8]) -> io::Result<PathBuf> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = self.0.join(format!("new-{}-{number}", std::process::id()));
        fs::write(&path, value)?;
        Ok(path)
    }

    /// Writes a file if it does not exist. Returns whether it did.
    fn write_once(&self, file: &Path, value: &[u8]) -> io::Result<bool> {
        let new = self.write_temporary(value)?;
        create_parent(file)?;
        let linked = fs::hard_link(&new, file);
        fs::remove_file(new)?;
        match linked {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn put_file(&self, kind: &str, key: &str, value: &[u8]) -> io::Result<()> {
        let file = self.file(kind, key);
        create_parent(&file)?;
        fs::rename(self.write_temporary(value)?, file)
    }
}

/// Creates the parent folder of a file.
fn create_parent(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), fs::create_dir_all)
}

fn plain(character: char) -> char {
    match character {
        '/' => '_',
        other => other,
    }
}

fn store_error(error: io::Error) -> StoreError {
    StoreError::new("the folder store failed").with_source(error)
}

/// Every entry is a file, including its response if it has one, so both
/// exist or neither.
impl FolderStore {
    fn entry(&self, id: &str, position: u64) -> PathBuf {
        self.file("entry", &format!("{id}-{position}"))
    }

    fn read(&self, id: &str, from: u64, lease: Lease<'_>) -> io::Result<OpenedJournal> {
        let acquired = self.take_lease(id, lease)?;
        let known = from == 0 || self.entry(id, from - 1).exists();
        let mut opened = OpenedJournal::new(if known { from } else { 0 });
        while let Some(file) = optional(fs::read(self.entry(id, opened.next_position)))? {
            let (entry, response) = unpack(file.into())?;
            if opened.next_position >= from {
                opened.entries.push(entry);
            }
            opened.response = response;
            opened.next_position += 1;
        }
        opened.acquired = acquired;
        Ok(opened)
    }

    fn write(&self, id: &str, entry: &NewEntry) -> io::Result<AppendOutcome> {
        let gap = entry.position > 0 && !self.entry(id, entry.position - 1).exists();
        if gap || !self.write_once(&self.entry(id, entry.position), &pack(entry))? {
            return Ok(AppendOutcome::Conflict);
        }
        if entry.response.is_some() {
            optional(fs::remove_file(self.file("lease", id)))?;
        }
        Ok(AppendOutcome::Appended)
    }

    /// Takes the lease unless another holder has it. Two nodes that find it
    /// expired both try to move it away; one of them succeeds.
    fn take_lease(&self, id: &str, lease: Lease<'_>) -> io::Result<bool> {
        let file = self.file("lease", id);
        let until = unix_millis() + lease.duration.as_millis();
        let ours = format!("{} {until}", lease.holder);
        if self.write_once(&file, ours.as_bytes())? {
            return Ok(true);
        }
        let known = optional(fs::read_to_string(&file))?.unwrap_or_default();
        let (holder, until) = known.split_once(' ').unwrap_or_default();
        if holder == lease.holder {
            fs::rename(self.write_temporary(ours.as_bytes())?, &file)?;
            return Ok(true);
        }
        if until.parse().is_ok_and(|until: u128| until > unix_millis()) {
            return Ok(false);
        }
        let away = self.write_temporary(b"")?;
        Ok(optional(fs::rename(&file, away))?.is_some()
            && self.write_once(&file, ours.as_bytes())?)
    }
}

/// The length of the entry, the entry, and the response.
fn pack(entry: &NewEntry) -> Vec<u8> {
    let length = (entry.value.len() as u64).to_le_bytes();
    let response = entry.response.as_deref().unwrap_or_default();
    [&length, &*entry.value, response].concat()
}

fn unpack(mut file: Bytes) -> io::Result<(Bytes, Option<Bytes>)> {
    let cut = || io::Error::other("an entry is truncated");
    let (length, rest) = file.split_first_chunk().ok_or_else(cut)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(io::Error::other)?;
    if rest.len() < length {
        return Err(cut());
    }
    let mut entry = file.split_off(8);
    let response = entry.split_off(length);
    Ok((entry, (!response.is_empty()).then_some(response)))
}

/// Returns milliseconds of the Unix epoch.
fn unix_millis() -> u128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_millis()
}

/// Maps "not found" to `None`.
fn optional<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl JournalStore for FolderStore {
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
            let known = optional(fs::read_to_string(self.file("lease", key.id)));
            let known = known.map_err(store_error)?;
            if known.is_some_and(|known| known.starts_with(lease.holder)) {
                self.take_lease(key.id, lease).map_err(store_error)?;
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
            let file = self.file("lease", key.id);
            let known = optional(fs::read_to_string(&file)).map_err(store_error)?;
            if known.is_some_and(|known| known.starts_with(holder)) {
                optional(fs::remove_file(file)).map_err(store_error)?;
            }
            Ok(())
        })
    }
}

impl SealedStateStore for FolderStore {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let expires_at = (unix_millis() + ttl.as_millis()).to_le_bytes();
            let file = [&expires_at, &*state].concat();
            self.put_file("state", key.id, &file).map_err(store_error)
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move {
            let file = optional(fs::read(self.file("state", key.id))).map_err(store_error)?;
            let Some((expires_at, state)) = file.as_ref().and_then(|it| it.split_first_chunk())
            else {
                return Ok(None);
            };
            let is_valid = u128::from_le_bytes(*expires_at) > unix_millis();
            Ok(is_valid.then(|| Bytes::copy_from_slice(state)))
        })
    }
}
