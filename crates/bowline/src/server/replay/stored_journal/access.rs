//! Opening a stored journal: which round it continues, and what happened in it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::{
    super::{
        error::{invalid_state, store_failed},
        journal::{Entry, EntryOutcome, Fingerprint},
        replayer::PendingWrite,
        round::Clock,
    },
    StoredJournal,
};
use crate::{
    proto::jsonrpc::ErrorObject,
    server::{
        conversation::lifecycle::Lifecycle,
        seal::SealKeys,
        store::{ConversationKey, JournalStore, Lease, OpenedJournal, StoreError},
    },
    transport::BoxFuture,
};

/// How often to check whether another node has finished, if the store does not
/// notify.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

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
pub(super) struct StoredEntry {
    #[serde(rename = "h")]
    pub(super) history_digest: Box<str>,
    /// When this was written, in milliseconds of the Unix epoch, on the clock
    /// of the round.
    #[serde(rename = "c")]
    pub(super) written_at: u64,
    #[serde(rename = "e")]
    pub(super) events: Vec<Entry>,
    /// Steps that start.
    #[serde(rename = "b")]
    pub(super) started_steps: Vec<Box<str>>,
    /// Whether the conversation has ended.
    #[serde(rename = "x")]
    pub(super) ended: bool,
    /// Whether it is not the first entry of its round.
    #[serde(rename = "r", default)]
    pub(super) continues_round: bool,
}

/// The action to take for a round.
pub(crate) enum OpenedRound {
    /// Run it. These events happened in it before.
    Run(Box<StoredJournal>, Vec<Entry>),
    /// The conversation has ended in it, with this response.
    Finished(Bytes),
}

impl JournalAccess {
    pub(super) fn key(&self) -> ConversationKey<'_> {
        ConversationKey::new(&self.id, &self.account)
    }

    pub(super) fn lease(&self) -> Lease<'_> {
        Lease::new(&self.holder, self.lease)
    }

    /// Reads the entries of this round, and acquires the lease if no one else has it.
    pub(super) async fn read(&self, from: u64) -> Result<OpenedJournal, StoreError> {
        let opened = self.store.open(self.key(), from, self.lease()).await?;
        self.check_generation().map(|()| opened)
    }

    /// Returns an error if the store has lost its data since the state was opened. A node
    /// that has learned of that meanwhile, in another round, would find an empty journal,
    /// and begin steps that have happened.
    ///
    /// After an operation, this says in which data it took place: a generation does not
    /// come back.
    pub(super) fn check_generation(&self) -> Result<(), StoreError> {
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
    pub(super) fn evaluate(&self, opened: OpenedJournal) -> Result<RoundState, ErrorObject> {
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
    pub(super) fn last_of_round(
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
    pub(super) async fn start_round(
        self,
        opened: &OpenedJournal,
    ) -> Result<OpenedRound, ErrorObject> {
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
        Ok(OpenedRound::Run(Box::new(journal), events))
    }

    /// Releases the lease, if it was acquired.
    pub(super) async fn release_lease(&self, acquired: bool) {
        if acquired {
            // It expires by itself.
            let _ = self.store.release(self.key(), &self.holder).await;
        }
    }

    pub(super) fn decode_entries(
        &self,
        opened: &OpenedJournal,
    ) -> Result<Vec<StoredEntry>, ErrorObject> {
        let all = 0..opened.entries.len();
        all.map(|index| self.decode_entry(opened, index)).collect()
    }

    pub(super) fn decode_entry(
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
    pub(super) fn is_sealed(&self) -> bool {
        self.store.instance_id().is_none()
    }

    pub(super) fn seal(&self, at: u64, kind: &[u8], plain: Vec<u8>) -> Bytes {
        if !self.is_sealed() {
            return plain.into();
        }
        let purpose = self.seal_purpose(at, kind);
        self.seal_keys.seal_bytes(&purpose, &plain).into()
    }

    pub(super) fn unseal(
        &self,
        at: u64,
        kind: &[u8],
        sealed: &Bytes,
    ) -> Result<Bytes, ErrorObject> {
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
    pub(super) fn seal_purpose(&self, at: u64, kind: &[u8]) -> Vec<u8> {
        [self.id.as_bytes(), &at.to_le_bytes(), kind, &self.purpose].concat()
    }
}

/// Returns the position of an entry.
fn entry_position(opened: &OpenedJournal, index: usize) -> u64 {
    let from_end = (opened.entries.len() - index) as u64;
    opened.next_position.saturating_sub(from_end)
}

/// The state of a round.
pub(super) enum RoundState {
    /// The conversation has ended in it, with this response.
    Ended(Option<Bytes>),
    /// It is in progress, with these entries.
    Open(OpenedJournal),
}

const OTHER_ANSWERS: &str =
    "the conversation has continued from here, or before, with other answers";

// Of equal length, so neither can be taken for the other.
pub(super) const ENTRY: &[u8] = b"entry.";
pub(super) const RESPONSE: &[u8] = b"answer";

fn unreadable(why: &str) -> ErrorObject {
    invalid_state(&format!(
        "its journal cannot be read: {why}. Repeat the call without it"
    ))
}
