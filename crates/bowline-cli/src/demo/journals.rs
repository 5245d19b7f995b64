//! Where the demo writes down what happens in conversations.
//!
//! A call that is answered later goes on in another process, which must know
//! what happened in this one. So there is a folder with a file for each entry
//! of a journal, beside the secret. Nothing is written before somebody has
//! answered something.

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
        Appended, JournalStore, Key, Lease, MemoryJournals, NewEntry, Opened, StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;

use crate::folders;

/// How long files are kept: longer than the demo's conversations may go on.
const KEPT: Duration = Duration::from_secs(60 * 60);

/// The journals of a user's demo servers; in memory where the user has no
/// folder for them.
pub(super) fn of_user() -> Arc<dyn JournalStore> {
    match folders::state() {
        Some(folder) => Arc::new(Journals(folder.join("demo-journals"))),
        None => Arc::new(MemoryJournals::new()),
    }
}

struct Journals(PathBuf);

impl Journals {
    fn entry(&self, id: &str, position: u64) -> PathBuf {
        self.0.join(format!("{id}.{position}"))
    }

    fn lease(&self, id: &str) -> PathBuf {
        self.0.join(format!("{id}.lease"))
    }

    fn read(&self, id: &str, from: u64, lease: Lease<'_>) -> io::Result<Opened> {
        fs::create_dir_all(&self.0)?;
        self.drop_old();
        let acquired = self.take_lease(id, lease)?;
        let mut opened = Opened::new(0);
        while let Some(file) = found(fs::read(self.entry(id, opened.next)))? {
            let (entry, answer) = unpack(&file)?;
            opened.answer = answer;
            if opened.next >= from {
                opened.entries.push(entry);
            }
            opened.next += 1;
        }
        opened.acquired = acquired;
        Ok(opened)
    }

    fn write(&self, id: &str, entry: &NewEntry) -> io::Result<Appended> {
        fs::create_dir_all(&self.0)?;
        let gap = entry.position > 0 && !self.entry(id, entry.position - 1).exists();
        if gap || !write_once(&self.entry(id, entry.position), &pack(entry))? {
            return Ok(Appended::Taken);
        }
        if entry.answer.is_some() {
            found(fs::remove_file(self.lease(id)))?;
        }
        Ok(Appended::Done)
    }

    /// Takes the lease unless another has it. Two who find that it has ended
    /// move it away; one of them succeeds.
    fn take_lease(&self, id: &str, lease: Lease<'_>) -> io::Result<bool> {
        let file = self.lease(id);
        let ours = format!("{} {}", lease.holder, millis() + lease.duration.as_millis());
        if write_once(&file, ours.as_bytes())? {
            return Ok(true);
        }
        let known = found(fs::read_to_string(&file))?.unwrap_or_default();
        let (holder, until) = known.split_once(' ').unwrap_or_default();
        if holder == lease.holder {
            fs::rename(whole(&file, ours.as_bytes())?, &file)?;
            return Ok(true);
        }
        if until.parse().is_ok_and(|until: u128| until > millis()) {
            return Ok(false);
        }
        let away = file.with_extension(lease.holder);
        let moved = found(fs::rename(&file, &away))?.is_some();
        found(fs::remove_file(away))?;
        Ok(moved && write_once(&file, ours.as_bytes())?)
    }

    fn has_lease(&self, id: &str, holder: &str) -> io::Result<bool> {
        let known = found(fs::read_to_string(self.lease(id)))?;
        Ok(known.is_some_and(|known| known.starts_with(holder)))
    }

    /// Drops what nobody can come back for. What cannot be dropped now can be
    /// later.
    fn drop_old(&self) {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten();
        for file in files {
            let modified = file.metadata().and_then(|it| it.modified());
            let age = modified.map(|then| then.elapsed().unwrap_or_default());
            if age.is_ok_and(|age| age > KEPT) {
                let _ = fs::remove_file(file.path());
            }
        }
    }
}

impl JournalStore for Journals {
    fn open<'a>(
        &'a self,
        key: Key<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Opened, StoreError>> {
        Box::pin(async move { self.read(key.id, from, lease).map_err(failed) })
    }

    fn append<'a>(
        &'a self,
        key: Key<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<Appended, StoreError>> {
        Box::pin(async move { self.write(key.id, &entry).map_err(failed) })
    }

    fn renew<'a>(
        &'a self,
        key: Key<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self.has_lease(key.id, lease.holder).map_err(failed)? {
                self.take_lease(key.id, lease).map_err(failed)?;
            }
            Ok(())
        })
    }

    fn release<'a>(
        &'a self,
        key: Key<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            if self.has_lease(key.id, holder).map_err(failed)? {
                found(fs::remove_file(self.lease(key.id))).map_err(failed)?;
            }
            Ok(())
        })
    }
}

/// Writes a file if there is none of that name, and as a whole. Says whether it
/// did.
fn write_once(file: &Path, bytes: &[u8]) -> io::Result<bool> {
    let new = whole(file, bytes)?;
    let linked = fs::hard_link(&new, file);
    found(fs::remove_file(new))?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// A file beside this one that nobody else writes, only for its owner to read.
fn whole(file: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
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

/// The length of the entry, the entry, and the answer if there is one.
fn pack(entry: &NewEntry) -> Vec<u8> {
    let length = (entry.value.len() as u64).to_le_bytes();
    let answer = entry.answer.as_deref().unwrap_or_default();
    [&length, &*entry.value, answer].concat()
}

fn unpack(file: &[u8]) -> io::Result<(Bytes, Option<Bytes>)> {
    let broken = || io::Error::other("an entry is not whole");
    let (length, rest) = file.split_first_chunk::<8>().ok_or_else(broken)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| broken())?;
    let (entry, answer) = rest.split_at_checked(length).ok_or_else(broken)?;
    let answer = (!answer.is_empty()).then(|| Bytes::copy_from_slice(answer));
    Ok((Bytes::copy_from_slice(entry), answer))
}

/// What is there, if it is.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Milliseconds of the Unix epoch.
fn millis() -> u128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_millis()
}

fn failed(error: io::Error) -> StoreError {
    StoreError::new("the folder of the demo's journals failed").caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_position_is_written_once_and_a_lease_is_for_one() -> Result<(), StoreError> {
        let name = format!("bowline-journals-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let (one, other) = (Journals(folder.clone()), Journals(folder.clone()));
        let (key, minute) = (Key::new("00ff", ""), Duration::from_secs(60));
        let (ours, theirs) = (Lease::new("aa", minute), Lease::new("bb", minute));
        assert!(one.open(key, 0, ours).await?.acquired);
        assert!(!other.open(key, 0, theirs).await?.acquired);
        let mut entry = NewEntry::new(0, "first", minute);
        let appended = one.append(key, entry.clone()).await?;
        assert_eq!(appended, Appended::Done);
        let appended = other.append(key, entry.clone()).await?;
        assert_eq!(appended, Appended::Taken);
        (entry.position, entry.answer) = (2, Some("answer".into()));
        let gap = one.append(key, entry.clone()).await?;
        assert_eq!(gap, Appended::Taken);
        entry.position = 1;
        one.append(key, entry).await?;
        let opened = other.open(key, 1, theirs).await?;
        assert_eq!((opened.next, opened.entries.len()), (2, 1));
        assert_eq!(opened.answer, Some("answer".into()));
        assert!(opened.acquired, "the last entry frees the lease");
        fs::remove_dir_all(folder).map_err(failed)?;
        Ok(())
    }
}
