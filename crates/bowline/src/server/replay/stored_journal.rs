//! The stored journal of a conversation, shared by all nodes.
//!
//! The node that runs a round of a conversation holds the lease of its journal.
//! Every event of the round is written there before it has any consequence: the
//! answers the conversation continued with, the start of a step, its outcome,
//! the end of the conversation. Each position is written once. So a node that
//! repeats a round finds what happened in it and continues from there, and a
//! round with other answers finds that the conversation continued without them.
//!
//! The journal holds the entries of one round only. Events of earlier rounds
//! are in the state that the client sends, along with the first journal
//! position it does not cover.

mod access;

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::Duration,
};

use bytes::Bytes;
use tokio::time::{Instant, sleep};

use super::{error::store_failed, replayer::PendingWrite, state::unix_millis};
use crate::{
    proto::{jsonrpc::ErrorObject, server::errors},
    server::store::{AppendOutcome, JournalStore, NewEntry, StoreError},
};

use access::{ENTRY, RESPONSE, RoundState, StoredEntry};
pub(crate) use access::{JournalAccess, OpenedRound};

/// The number of attempts to write an entry.
const APPEND_ATTEMPTS: u32 = 3;
/// The delay before the second attempt.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The journal of a conversation, held by the node that runs a round of it.
pub(crate) struct StoredJournal {
    access: JournalAccess,
    /// The position of the next entry.
    position: AtomicU64,
    /// Whether this round has entries, from this or an earlier attempt.
    has_entries: AtomicBool,
    /// Whether the lease must still be released.
    holds_lease: AtomicBool,
    /// The time between the last entry found and now.
    clock_delay: u64,
}

/// The outcome of recording the end.
pub(crate) enum EndOutcome {
    /// The end was written now.
    Recorded,
    /// It had ended before, with this response.
    AlreadyEnded(Bytes),
}

impl StoredJournal {
    /// Creates a journal that continues at this position. `last` is when the
    /// last entry of this round was written, if there is one.
    fn new(access: JournalAccess, position: u64, last: Option<u64>) -> Self {
        let now = unix_millis((access.clock)());
        Self {
            access,
            position: AtomicU64::new(position),
            has_entries: AtomicBool::new(last.is_some()),
            holds_lease: AtomicBool::new(true),
            clock_delay: now.saturating_sub(last.unwrap_or(now)),
        }
    }

    /// Returns the position of the next entry.
    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// Returns how far the clock of this round is behind. A resumed round
    /// continues at the time the journal ends, so nothing that was in time
    /// before is late now.
    pub(crate) fn clock_delay(&self) -> Duration {
        Duration::from_millis(self.clock_delay)
    }

    /// Returns the current time on the clock of the round, in milliseconds of
    /// the Unix epoch.
    pub(crate) fn now(&self) -> u64 {
        unix_millis((self.access.clock)()).saturating_sub(self.clock_delay)
    }

    /// Writes events and starting steps. From then on the conversation has
    /// taken this course.
    ///
    /// # Errors
    ///
    /// Returns an error if it is unknown whether they were written, or if
    /// another node continued the conversation.
    pub(crate) async fn write(&self, pending: PendingWrite) -> Result<(), ErrorObject> {
        let _busy = self.access.lifecycle.begin_work();
        let (since, starts_steps) = (Instant::now(), !pending.started_steps.is_empty());
        let stored_entry = self.encode_entry(pending, false);
        let mut appended = self.append(&stored_entry, None).await;
        // Meanwhile another node may have considered us dead and marked the
        // outcome of the starting steps as unknown.
        let is_late = since.elapsed() >= self.access.lease / 3;
        if starts_steps && is_late && matches!(appended, Ok(AppendOutcome::Appended)) {
            appended = self.check_last_entry(self.position() - 1, None).await;
        }
        match appended {
            Ok(AppendOutcome::Appended) => Ok(()),
            Ok(AppendOutcome::Conflict) => Err(already_continued()),
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Returns whether the entry at this position is the last one, equals the
    /// given one if any, and the lease is still ours.
    async fn check_last_entry(
        &self,
        at: u64,
        value: Option<&Bytes>,
    ) -> Result<AppendOutcome, StoreError> {
        let access = &self.access;
        let opened = access.read(at).await?;
        let is_ours = value.is_none_or(|value| opened.entries.first() == Some(value));
        Ok(
            match opened.acquired && opened.next_position == at + 1 && is_ours {
                true => AppendOutcome::Appended,
                false => AppendOutcome::Conflict,
            },
        )
    }

    /// Records that the conversation ended with this response, and that these
    /// steps start after its end.
    ///
    /// # Errors
    ///
    /// Returns an error if it is unknown whether that was written, or if the
    /// conversation may have taken another course.
    pub(crate) async fn record_end(
        &self,
        answer: &[u8],
        started_steps: Vec<Box<str>>,
    ) -> Result<EndOutcome, ErrorObject> {
        let _busy = self.access.lifecycle.begin_work();
        let pending = PendingWrite {
            events: Vec::new(),
            started_steps,
        };
        let stored_entry = self.encode_entry(pending, true);
        match self.append(&stored_entry, Some(answer)).await {
            Ok(AppendOutcome::Appended) => {
                self.holds_lease.store(false, Ordering::Relaxed);
                Ok(EndOutcome::Recorded)
            }
            Ok(AppendOutcome::Conflict) => {
                self.load_recorded_end().await.map(EndOutcome::AlreadyEnded)
            }
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Loads the last entry, which another node wrote. If it is the end of the
    /// same round, its response is equally valid and was first.
    async fn load_recorded_end(&self) -> Result<Bytes, ErrorObject> {
        let access = &self.access;
        let opened = access.read(access.first_position).await;
        let opened = opened.map_err(|error| store_failed(&error))?;
        match access.evaluate(opened)? {
            RoundState::Ended(Some(answer)) => Ok(answer),
            _ => Err(already_continued()),
        }
    }

    fn encode_entry(&self, pending: PendingWrite, ended: bool) -> StoredEntry {
        StoredEntry {
            history_digest: self.access.history_digest.clone(),
            written_at: self.now(),
            events: pending.events,
            started_steps: pending.started_steps,
            ended,
            continues_round: self.has_entries.load(Ordering::Relaxed),
        }
    }

    async fn append(
        &self,
        stored_entry: &StoredEntry,
        answer: Option<&[u8]>,
    ) -> Result<AppendOutcome, StoreError> {
        let (access, at) = (&self.access, self.position());
        let plain = serde_json::to_vec(stored_entry).map_err(|error| {
            StoreError::new("a journal entry cannot be serialized").with_source(error)
        })?;
        let mut entry = NewEntry::new(at, access.seal(at, ENTRY, plain), access.ttl);
        // Earlier entries are in the state received, or no longer needed.
        entry.truncate = answer.is_some() || !self.has_entries.load(Ordering::Relaxed);
        entry.response = answer.map(|answer| access.seal(at, RESPONSE, answer.to_vec()));
        let appended = self.try_append(&entry).await?;
        if appended == AppendOutcome::Appended {
            self.position.store(at + 1, Ordering::Relaxed);
            self.has_entries.store(true, Ordering::Relaxed);
        }
        Ok(appended)
    }

    /// Appends an entry, with retries after errors. If the position is taken
    /// then, an earlier attempt may have succeeded.
    async fn try_append(&self, entry: &NewEntry) -> Result<AppendOutcome, StoreError> {
        let (access, mut delay) = (&self.access, FIRST_RETRY_DELAY);
        let mut attempt = 1;
        loop {
            match access.store.append(access.key(), entry.clone()).await {
                Ok(AppendOutcome::Conflict) if attempt > 1 => {
                    return self
                        .check_last_entry(entry.position, Some(&entry.value))
                        .await;
                }
                Err(_) if attempt < APPEND_ATTEMPTS => sleep(delay).await,
                ended => {
                    access.check_generation()?;
                    return ended;
                }
            }
            attempt += 1;
            delay *= 2;
        }
    }

    /// Renews the lease as long as this is polled.
    pub(crate) async fn renew_lease(&self) -> std::convert::Infallible {
        let access = &self.access;
        loop {
            sleep(access.lease / 3).await;
            // If it cannot be renewed now, perhaps next time; the positions
            // decide.
            let _ = access.store.renew(access.key(), access.lease()).await;
        }
    }

    /// Releases the lease, so the round can run again.
    pub(crate) async fn release(&self) {
        let _busy = self.access.lifecycle.begin_work();
        if self.holds_lease.swap(false, Ordering::Relaxed) {
            self.access.release_lease(true).await;
        }
    }
}

/// Releases the lease of an interrupted round, so it can run again.
impl Drop for StoredJournal {
    fn drop(&mut self) {
        if !*self.holds_lease.get_mut() {
            return;
        }
        let access = self.access.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { access.release_lease(true).await });
        }
    }
}

fn already_continued() -> ErrorObject {
    errors::internal_error("This round was taken over by another node: repeat the request")
}
