//! The one course of a conversation, as all nodes know it.
//!
//! Whoever plays a round of a conversation has the lease of its journal. What
//! happens in the round is written there, entry by entry, before it has any
//! consequence: with which answers the conversation went on, that a step
//! begins, what came of it, that the conversation has ended. Each position of
//! the journal is written once. So whoever repeats a round finds out what
//! happened in it, and goes on from there; and whoever comes with other answers
//! finds that the conversation went on without them.
//!
//! The journal holds the entries of one round only. What happened in rounds
//! before is in the state that the client brings, with the position from which
//! on the journal is news to it.

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

/// How often to look whether another node has come to an end, where the store
/// does not tell.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// How often an entry is written that may not have been.
const APPEND_ATTEMPTS: u32 = 3;
/// How long to wait before the second attempt.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);

/// The journal of a conversation, in the hands of whoever plays a round of it.
pub(crate) struct StoredJournal {
    access: JournalAccess,
    /// Where the next entry belongs.
    position: AtomicU64,
    /// Whether something was written in this round, here or before.
    has_entries: AtomicBool,
    /// Whether the lease is still to be given back.
    holds_lease: AtomicBool,
    /// How much time passed between the last entry that was found and now.
    clock_delay: u64,
}

/// Which journal it is, and what round of which conversation is played.
#[derive(Clone)]
pub(crate) struct JournalAccess {
    pub(crate) store: Arc<dyn JournalStore>,
    pub(crate) seal_keys: SealKeys,
    /// What the seal is for: no other server's entries open.
    pub(crate) purpose: Arc<[u8]>,
    pub(crate) id: Box<str>,
    pub(crate) account: Box<str>,
    /// Who plays the round.
    pub(crate) holder: Box<str>,
    pub(crate) lease: Duration,
    /// All that was known when the round began, the answers included. Another
    /// round with another history is another course of events, and one
    /// conversation has only one.
    pub(crate) history_digest: Box<str>,
    /// From where on the journal is news to the state that came.
    pub(crate) first_position: u64,
    /// How long the journal is kept: longer than the conversation may go on.
    pub(crate) ttl: Duration,
    pub(crate) clock: Clock,
    /// What must come to its end although the caller left.
    pub(crate) lifecycle: Arc<Lifecycle>,
}

/// An entry of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct StoredEntry {
    #[serde(rename = "h")]
    history_digest: Box<str>,
    /// When this was written, in milliseconds of the Unix epoch, as the round
    /// counts time.
    #[serde(rename = "c")]
    written_at: u64,
    #[serde(rename = "e")]
    events: Vec<Entry>,
    /// Steps that begin.
    #[serde(rename = "b")]
    started_steps: Vec<Box<str>>,
    /// Whether the conversation has ended.
    #[serde(rename = "x")]
    ended: bool,
}

/// What there is to do about a round.
pub(crate) enum OpenedRound {
    /// Play it. This happened in it before.
    Run(StoredJournal, Vec<Entry>),
    /// It was played to the end of the conversation; this is what was answered.
    Finished(Bytes),
}

impl JournalAccess {
    fn key(&self) -> ConversationKey<'_> {
        ConversationKey::new(&self.id, &self.account)
    }

    fn lease(&self) -> Lease<'_> {
        Lease::new(&self.holder, self.lease)
    }

    /// Takes the journal, once nobody else plays a round of the conversation.
    /// `waiting` is told now and then that somebody does.
    ///
    /// # Errors
    ///
    /// Where the store failed, or the conversation took another course.
    pub(crate) async fn open(self, on_wait: impl Fn()) -> Result<OpenedRound, ErrorObject> {
        let mut changed: Option<BoxFuture<'_, ()>> = None;
        loop {
            let opened = self
                .store
                .open(self.key(), self.first_position, self.lease())
                .await;
            let opened = opened.map_err(|error| store_failed(&error))?;
            let acquired = opened.acquired;
            match self.evaluate(opened) {
                Ok(RoundState::Ended(answer)) => {
                    self.release_lease(acquired).await;
                    let gone = "the conversation has ended, and its answer is no longer kept";
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
            // Before the next look, so that nothing changes unseen.
            changed = Some(self.store.wait_for_change(self.key()));
        }
    }

    /// Takes the journal to end a conversation whose time is over, if nobody
    /// plays a round of it and it has not ended. `avoid` are steps after which
    /// nothing is to be done.
    pub(crate) async fn open_expired(
        self,
        forbidden_steps: &[&str],
    ) -> Result<Option<StoredJournal>, ErrorObject> {
        let opened = self
            .store
            .open(self.key(), self.first_position, self.lease())
            .await;
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

    /// What the journal says about this round.
    fn evaluate(&self, opened: OpenedJournal) -> Result<RoundState, ErrorObject> {
        if opened.next_position < self.first_position {
            let lost = "what happened in the conversation is no longer known: make the call \
                        anew, without it";
            return Err(invalid_state(lost));
        }
        let Some(last) = opened.entries.len().checked_sub(1) else {
            return Ok(RoundState::Open(opened));
        };
        // Those in between are of the same round if the last one is.
        let (first, last) = (
            self.decode_entry(&opened, 0)?,
            self.decode_entry(&opened, last)?,
        );
        if first.history_digest != self.history_digest || last.history_digest != self.history_digest
        {
            let other = "the conversation has gone on from here, or before, with other answers";
            return Err(invalid_state(other));
        }
        if last.ended {
            let at = opened.next_position.saturating_sub(1);
            let answer = opened
                .response
                .map(|sealed| self.unseal(at, RESPONSE, &sealed));
            return Ok(RoundState::Ended(answer.transpose()?));
        }
        Ok(RoundState::Open(opened))
    }

    /// Goes on where the journal ends. Steps that were begun, and whose end it
    /// does not know, are cut off: their node is dead, or too slow to be
    /// believed. That is written down, so that everybody is told the same.
    async fn start_round(self, opened: &OpenedJournal) -> Result<OpenedRound, ErrorObject> {
        let stored_entries = match self.decode_entries(opened) {
            Ok(stored_entries) => stored_entries,
            Err(error) => {
                self.release_lease(true).await;
                return Err(error);
            }
        };
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

    /// Gives the lease back, if it was acquired.
    async fn release_lease(&self, acquired: bool) {
        if acquired {
            // It ends by itself.
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
        let from_end = (opened.entries.len() - index) as u64;
        let at = opened.next_position.saturating_sub(from_end);
        let plain = self.unseal(at, ENTRY, &opened.entries[index])?;
        let other = "it was written by another version of this server";
        serde_json::from_slice(&plain).map_err(|_| unreadable(other))
    }

    /// Whether entries leave the process.
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

    /// Binds what is sealed to its place: the ids have one length, and so have
    /// positions.
    fn seal_purpose(&self, at: u64, kind: &[u8]) -> Vec<u8> {
        [self.id.as_bytes(), &at.to_le_bytes(), kind, &self.purpose].concat()
    }
}

/// How a conversation came to its end.
pub(crate) enum EndOutcome {
    /// By what was written now.
    Recorded,
    /// It had ended before, with this answer.
    AlreadyEnded(Bytes),
}

/// What the journal says about a round.
enum RoundState {
    /// It was played to the end of the conversation, with this answer.
    Ended(Option<Bytes>),
    /// So far it came.
    Open(OpenedJournal),
}

// Of one length, so that none can be taken for the other.
const ENTRY: &[u8] = b"entry.";
const RESPONSE: &[u8] = b"answer";

impl StoredJournal {
    /// A journal that goes on at this position, and whose last entry of this
    /// round was written then, if there is one.
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

    /// Where the next entry belongs.
    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// How far the clock of this round is behind. Who goes on with a round has
    /// the time at which the journal ends, so that nothing is too late now that
    /// was in time before.
    pub(crate) fn clock_delay(&self) -> Duration {
        Duration::from_millis(self.clock_delay)
    }

    /// What time it is, in milliseconds of the Unix epoch, as the round counts
    /// time.
    pub(crate) fn now(&self) -> u64 {
        unix_millis((self.access.clock)()).saturating_sub(self.clock_delay)
    }

    /// Writes down what happened and what begins. From then on the conversation
    /// has taken this course.
    ///
    /// # Errors
    ///
    /// Where nobody knows whether it was written, or somebody else went on with
    /// the conversation.
    pub(crate) async fn write(&self, pending: PendingWrite) -> Result<(), ErrorObject> {
        let _busy = self.access.lifecycle.begin_work();
        let (since, starts_steps) = (Instant::now(), !pending.started_steps.is_empty());
        let stored_entry = self.encode_entry(pending, false);
        let mut appended = self.append(&stored_entry, None).await;
        // Meanwhile somebody may have taken us for dead, and what was to begin
        // for something whose end nobody knows.
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

    /// Whether the entry at this position is the last one, and this one if one
    /// is given, and the lease is still ours.
    async fn check_last_entry(
        &self,
        at: u64,
        value: Option<&Bytes>,
    ) -> Result<AppendOutcome, StoreError> {
        let access = &self.access;
        let opened = access.store.open(access.key(), at, access.lease()).await?;
        let is_ours = value.is_none_or(|value| opened.entries.first() == Some(value));
        Ok(
            match opened.acquired && opened.next_position == at + 1 && is_ours {
                true => AppendOutcome::Appended,
                false => AppendOutcome::Conflict,
            },
        )
    }

    /// Writes down that the conversation ended with this answer, and that these
    /// steps begin after its end.
    ///
    /// # Errors
    ///
    /// Where that is not known, or it may have taken another course.
    pub(crate) async fn record_end(
        &self,
        answer: &[u8],
        started_steps: Vec<Box<str>>,
    ) -> Result<EndOutcome, ErrorObject> {
        let _busy = self.access.lifecycle.begin_work();
        let events = Vec::new();
        let stored_entry = self.encode_entry(
            PendingWrite {
                events,
                started_steps,
            },
            true,
        );
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

    /// Somebody else wrote the last entry. If that is the end of the same
    /// round, its answer is as good as ours, and was first.
    async fn load_recorded_end(&self) -> Result<Bytes, ErrorObject> {
        let access = &self.access;
        let opened = access
            .store
            .open(access.key(), access.first_position, access.lease());
        let opened = opened.await.map_err(|error| store_failed(&error))?;
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
        }
    }

    async fn append(
        &self,
        stored_entry: &StoredEntry,
        answer: Option<&[u8]>,
    ) -> Result<AppendOutcome, StoreError> {
        let (access, at) = (&self.access, self.position());
        let plain = serde_json::to_vec(stored_entry)
            .map_err(|error| StoreError::new("an entry cannot be written").with_source(error))?;
        let mut entry = NewEntry::new(at, access.seal(at, ENTRY, plain), access.ttl);
        // Those before it are in the state that came, or nobody needs them.
        entry.truncate = answer.is_some() || !self.has_entries.load(Ordering::Relaxed);
        entry.response = answer.map(|answer| access.seal(at, RESPONSE, answer.to_vec()));
        let appended = self.try_append(&entry).await?;
        if appended == AppendOutcome::Appended {
            self.position.store(at + 1, Ordering::Relaxed);
            self.has_entries.store(true, Ordering::Relaxed);
        }
        Ok(appended)
    }

    /// Appends an entry, again if that failed. Who finds the position taken
    /// then may have taken it without having heard of it.
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
                ended => return ended,
            }
            attempt += 1;
            delay *= 2;
        }
    }

    /// Keeps the lease for as long as this is polled.
    pub(crate) async fn renew_lease(&self) -> std::convert::Infallible {
        let access = &self.access;
        loop {
            sleep(access.lease / 3).await;
            // If it cannot be renewed now, perhaps next time; the positions
            // decide.
            let _ = access.store.renew(access.key(), access.lease()).await;
        }
    }

    /// The round may be played again.
    pub(crate) async fn release(&self) {
        let _busy = self.access.lifecycle.begin_work();
        if self.holds_lease.swap(false, Ordering::Relaxed) {
            self.access.release_lease(true).await;
        }
    }
}

/// A round that is cut off may be played again.
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
        "its journal cannot be read: {why}. Make the call anew, without it"
    ))
}
