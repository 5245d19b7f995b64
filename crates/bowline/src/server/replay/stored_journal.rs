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

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use super::{
    error::{invalid_state, store_failed},
    journal::{Entry, EntryOutcome, Fingerprint},
    replayer::PendingWrite,
    round::Clock,
    state::unix_millis,
};
use crate::{
    proto::{jsonrpc::ErrorObject, server::errors},
    server::{
        conversation::lifecycle::Lifecycle,
        seal::SealKeys,
        store::{
            AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal,
            StoreError,
        },
    },
    transport::BoxFuture,
};

/// How often to check whether another node has finished, if the store does not
/// notify.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
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

/// Identifies a journal, and the round of the conversation to run.
#[derive(Clone)]
pub(crate) struct JournalAccess {
    pub(crate) store: Arc<dyn JournalStore>,
    /// The generation of the store's data when the state of the round was opened.
    pub(crate) generation: Option<Arc<str>>,
    pub(crate) seal_keys: SealKeys,
    /// The purpose for sealing: entries of other servers do not open.
    pub(crate) purpose: Arc<[u8]>,
    pub(crate) id: Box<str>,
    pub(crate) account: Box<str>,
    /// The node that runs the round.
    pub(crate) holder: Box<str>,
    pub(crate) lease: Duration,
    /// A digest of everything known when the round began, including the
    /// answers. A round with a different history is a different course of
    /// events, and a conversation has only one.
    pub(crate) history_digest: Box<str>,
    /// The first position not covered by the state received.
    pub(crate) first_position: u64,
    /// How long the journal is kept: longer than the conversation may last.
    pub(crate) ttl: Duration,
    pub(crate) clock: Clock,
    /// Work that must complete even if the caller disconnects.
    pub(crate) lifecycle: Arc<Lifecycle>,
}

/// An entry of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct StoredEntry {
    #[serde(rename = "h")]
    history_digest: Box<str>,
    /// When this was written, in milliseconds of the Unix epoch, on the clock
    /// of the round.
    #[serde(rename = "c")]
    written_at: u64,
    #[serde(rename = "e")]
    events: Vec<Entry>,
    /// Steps that start.
    #[serde(rename = "b")]
    started_steps: Vec<Box<str>>,
    /// Whether the conversation has ended.
    #[serde(rename = "x")]
    ended: bool,
    /// Whether it is not the first entry of its round.
    #[serde(rename = "r", default)]
    continues_round: bool,
}

/// The action to take for a round.
pub(crate) enum OpenedRound {
    /// Run it. These events happened in it before.
    Run(StoredJournal, Vec<Entry>),
    /// The conversation has ended in it, with this response.
    Finished(Bytes),
}

impl JournalAccess {
    fn key(&self) -> ConversationKey<'_> {
        ConversationKey::new(&self.id, &self.account)
    }

    fn lease(&self) -> Lease<'_> {
        Lease::new(&self.holder, self.lease)
    }

    /// Reads the entries of this round, and acquires the lease if no one else has it.
    async fn read(&self, from: u64) -> Result<OpenedJournal, StoreError> {
        let opened = self.store.open(self.key(), from, self.lease()).await?;
        self.check_generation().map(|()| opened)
    }

    /// Returns an error if the store has lost its data since the state was opened. A node
    /// that has learned of that meanwhile, in another round, would find an empty journal,
    /// and begin steps that have happened.
    ///
    /// After an operation, this says in which data it took place: a generation does not
    /// come back.
    fn check_generation(&self) -> Result<(), StoreError> {
        match self.store.generation() == self.generation {
            true => Ok(()),
            false => Err(StoreError::new(
                "it has lost its data since the conversation began",
            )),
        }
    }

    /// Opens the journal once no other node runs a round of the conversation.
    /// `on_wait` is called from time to time while one does.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed or the conversation took another
    /// course.
    pub(crate) async fn open(self, on_wait: impl Fn()) -> Result<OpenedRound, ErrorObject> {
        let mut changed: Option<BoxFuture<'_, ()>> = None;
        loop {
            let opened = self.read(self.first_position).await;
            let opened = opened.map_err(|error| store_failed(&error))?;
            let acquired = opened.acquired;
            match self.evaluate(opened) {
                Ok(RoundState::Ended(answer)) => {
                    self.release_lease(acquired).await;
                    let gone = "the conversation has ended and its response is no longer stored";
                    return answer
                        .map(OpenedRound::Finished)
                        .ok_or_else(|| invalid_state(gone));
                }
                Ok(RoundState::Open(opened)) if acquired => {
                    drop(changed);
                    return self.start_round(&opened).await;
                }
                Ok(RoundState::Open(_)) => {}
                Err(error) => {
                    self.release_lease(acquired).await;
                    return Err(error);
                }
            }
            if let Some(changed) = changed {
                tokio::select! {
                    () = changed => {}
                    () = sleep(POLL_INTERVAL) => on_wait(),
                }
            }
            // Before the next check, so no change is missed.
            changed = Some(self.store.wait_for_change(self.key()));
        }
    }

    /// Opens the journal to end an expired conversation, if no node runs a
    /// round of it and it has not ended. Returns `None` also if one of
    /// `forbidden_steps` was started, after which nothing is to be done.
    pub(crate) async fn open_expired(
        self,
        forbidden_steps: &[&str],
    ) -> Result<Option<StoredJournal>, ErrorObject> {
        let opened = self.read(self.first_position).await;
        let opened = opened.map_err(|error| store_failed(&error))?;
        if !opened.acquired {
            return Ok(None);
        }
        let stored_entries = self.decode_entries(&opened);
        let may_end = |stored_entries: &[StoredEntry]| {
            let mut started_steps = stored_entries
                .iter()
                .flat_map(|stored_entry| &stored_entry.started_steps);
            opened.next_position >= self.first_position
                && stored_entries
                    .iter()
                    .all(|stored_entry| !stored_entry.ended)
                && !started_steps.any(|id| forbidden_steps.contains(&&**id))
        };
        match stored_entries {
            Ok(stored_entries) if may_end(&stored_entries) => {
                Ok(Some(StoredJournal::new(self, opened.next_position, None)))
            }
            stored_entries => {
                self.release_lease(true).await;
                stored_entries.map(|_| None)
            }
        }
    }

    /// Returns the state of this round according to the journal.
    fn evaluate(&self, opened: OpenedJournal) -> Result<RoundState, ErrorObject> {
        if opened.next_position < self.first_position {
            let lost = "the journal of the conversation was lost: repeat the call \
                        without it";
            return Err(invalid_state(lost));
        }
        if opened.entries.is_empty() {
            return Ok(RoundState::Open(opened));
        }
        let first = self.decode_entry(&opened, 0)?;
        if first.history_digest != self.history_digest {
            return Err(invalid_state(OTHER_ANSWERS));
        }
        let Some((index, last)) = self.last_of_round(&opened, first)? else {
            return Err(invalid_state(OTHER_ANSWERS));
        };
        if last.ended {
            let at = entry_position(&opened, index);
            let answer = opened
                .response
                .map(|sealed| self.unseal(at, RESPONSE, &sealed));
            return Ok(RoundState::Ended(answer.transpose()?));
        }
        Ok(RoundState::Open(opened))
    }

    /// Returns the last entry of this round, or `None` if another round has begun since.
    ///
    /// An entry of another course that begins nothing is void: its writer began before the
    /// store forgot something, or it would have found the entries before its own.
    fn last_of_round(
        &self,
        opened: &OpenedJournal,
        first: StoredEntry,
    ) -> Result<Option<(usize, StoredEntry)>, ErrorObject> {
        for index in (1..opened.entries.len()).rev() {
            let stored_entry = self.decode_entry(opened, index)?;
            if stored_entry.history_digest == self.history_digest {
                return Ok(Some((index, stored_entry)));
            }
            if !stored_entry.continues_round || stored_entry.ended {
                return Ok(None);
            }
        }
        Ok(Some((0, first)))
    }

    /// Continues at the end of the journal. Steps that were started, and whose
    /// outcome it does not contain, are marked as unknown: their node is dead,
    /// or too slow to be trusted. This is written to the journal, so every node
    /// reports the same.
    async fn start_round(self, opened: &OpenedJournal) -> Result<OpenedRound, ErrorObject> {
        let mut stored_entries = match self.decode_entries(opened) {
            Ok(stored_entries) => stored_entries,
            Err(error) => {
                self.release_lease(true).await;
                return Err(error);
            }
        };
        stored_entries.retain(|it| it.history_digest == self.history_digest);
        let last = stored_entries.last().map(|last| last.written_at);
        let journal = StoredJournal::new(self, opened.next_position, last);
        let mut started_steps = Vec::new();
        let mut events = Vec::new();
        for stored_entry in stored_entries {
            started_steps.extend(stored_entry.started_steps);
            events.extend(stored_entry.events);
        }
        started_steps.retain(|id| events.iter().all(|event| event.id != *id));
        let interrupted = started_steps.into_iter().map(|id| Entry {
            fingerprint: Fingerprint::for_step(&id),
            id,
            outcome: EntryOutcome::Unknown,
        });
        let interrupted: Vec<_> = interrupted.collect();
        if !interrupted.is_empty() {
            let written = journal.write(PendingWrite {
                events: interrupted.clone(),
                started_steps: Vec::new(),
            });
            if let Err(error) = written.await {
                journal.release().await;
                return Err(error);
            }
        }
        events.extend(interrupted);
        Ok(OpenedRound::Run(journal, events))
    }

    /// Releases the lease, if it was acquired.
    async fn release_lease(&self, acquired: bool) {
        if acquired {
            // It expires by itself.
            let _ = self.store.release(self.key(), &self.holder).await;
        }
    }

    fn decode_entries(&self, opened: &OpenedJournal) -> Result<Vec<StoredEntry>, ErrorObject> {
        let all = 0..opened.entries.len();
        all.map(|index| self.decode_entry(opened, index)).collect()
    }

    fn decode_entry(
        &self,
        opened: &OpenedJournal,
        index: usize,
    ) -> Result<StoredEntry, ErrorObject> {
        let at = entry_position(opened, index);
        let plain = self.unseal(at, ENTRY, &opened.entries[index])?;
        let other = "it was written by another version of this server";
        serde_json::from_slice(&plain).map_err(|_| unreadable(other))
    }

    /// Returns whether entries leave the process.
    fn is_sealed(&self) -> bool {
        self.store.instance_id().is_none()
    }

    fn seal(&self, at: u64, kind: &[u8], plain: Vec<u8>) -> Bytes {
        if !self.is_sealed() {
            return plain.into();
        }
        let purpose = self.seal_purpose(at, kind);
        self.seal_keys.seal_bytes(&purpose, &plain).into()
    }

    fn unseal(&self, at: u64, kind: &[u8], sealed: &Bytes) -> Result<Bytes, ErrorObject> {
        if !self.is_sealed() {
            return Ok(sealed.clone());
        }
        let purpose = self.seal_purpose(at, kind);
        let opened = self.seal_keys.open_bytes(&purpose, sealed);
        opened
            .map(Bytes::from)
            .map_err(|fault| unreadable(&fault.to_string()))
    }

    /// Returns a purpose that binds a sealed value to its position: ids have a
    /// fixed length, and so have positions.
    fn seal_purpose(&self, at: u64, kind: &[u8]) -> Vec<u8> {
        [self.id.as_bytes(), &at.to_le_bytes(), kind, &self.purpose].concat()
    }
}

/// Returns the position of an entry.
fn entry_position(opened: &OpenedJournal, index: usize) -> u64 {
    let from_end = (opened.entries.len() - index) as u64;
    opened.next_position.saturating_sub(from_end)
}

/// The outcome of recording the end.
pub(crate) enum EndOutcome {
    /// The end was written now.
    Recorded,
    /// It had ended before, with this response.
    AlreadyEnded(Bytes),
}

/// The state of a round.
enum RoundState {
    /// The conversation has ended in it, with this response.
    Ended(Option<Bytes>),
    /// It is in progress, with these entries.
    Open(OpenedJournal),
}

const OTHER_ANSWERS: &str =
    "the conversation has continued from here, or before, with other answers";

// Of equal length, so neither can be taken for the other.
const ENTRY: &[u8] = b"entry.";
const RESPONSE: &[u8] = b"answer";

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

fn unreadable(why: &str) -> ErrorObject {
    invalid_state(&format!(
        "its journal cannot be read: {why}. Repeat the call without it"
    ))
}
