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
    journal::{Entry, Mark, Outcome},
    refusal::{refused, store_failed},
    round::Clock,
    stage::Pending,
    state::millis,
};
use crate::{
    proto::{jsonrpc::ErrorObject, server::errors},
    server::{
        seal::Keyring,
        store::{Appended, JournalStore, Key, Lease, NewEntry, Opened, StoreError},
        talk::presence::Presence,
    },
    transport::BoxFuture,
};

/// How often to look whether another node has come to an end, where the store
/// does not tell.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often an entry is written that may not have been.
const ATTEMPTS: u32 = 3;
/// How long to wait before the second attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The journal of a conversation, in the hands of whoever plays a round of it.
pub(crate) struct Course {
    place: Place,
    /// Where the next entry belongs.
    position: AtomicU64,
    /// Whether something was written in this round, here or before.
    is_taken: AtomicBool,
    /// Whether the lease is still to be given back.
    is_held: AtomicBool,
    /// How much time passed between the last entry that was found and now.
    delay: u64,
}

/// Which journal it is, and what round of which conversation is played.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) store: Arc<dyn JournalStore>,
    pub(crate) keyring: Keyring,
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
    pub(crate) history: Box<str>,
    /// From where on the journal is news to the state that came.
    pub(crate) from: u64,
    /// How long the journal is kept: longer than the conversation may go on.
    pub(crate) ttl: Duration,
    pub(crate) clock: Clock,
    /// What must come to its end although the caller left.
    pub(crate) presence: Arc<Presence>,
}

/// An entry of the journal.
#[derive(Debug, Serialize, Deserialize)]
struct Slot {
    #[serde(rename = "h")]
    history: Box<str>,
    /// When this was written, in milliseconds of the Unix epoch, as the round
    /// counts time.
    #[serde(rename = "c")]
    at: u64,
    #[serde(rename = "e")]
    events: Vec<Entry>,
    /// Steps that begin.
    #[serde(rename = "b")]
    begun: Vec<Box<str>>,
    /// Whether the conversation has ended.
    #[serde(rename = "x")]
    ended: bool,
}

/// What there is to do about a round.
pub(crate) enum Round {
    /// Play it. This happened in it before.
    Play(Course, Vec<Entry>),
    /// It was played to the end of the conversation; this is what was answered.
    Played(Bytes),
}

impl Place {
    fn key(&self) -> Key<'_> {
        Key::new(&self.id, &self.account)
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
    pub(crate) async fn open(self, waiting: impl Fn()) -> Result<Round, ErrorObject> {
        let mut changed: Option<BoxFuture<'_, ()>> = None;
        loop {
            let opened = self.store.open(self.key(), self.from, self.lease()).await;
            let opened = opened.map_err(|error| store_failed(&error))?;
            let acquired = opened.acquired;
            match self.look(opened) {
                Ok(Found::Ended(answer)) => {
                    self.give_back(acquired).await;
                    let gone = "the conversation has ended, and its answer is no longer kept";
                    return answer.map(Round::Played).ok_or_else(|| refused(gone));
                }
                Ok(Found::Open(opened)) if acquired => {
                    drop(changed);
                    return self.take(&opened).await;
                }
                Ok(Found::Open(_)) => {}
                Err(error) => {
                    self.give_back(acquired).await;
                    return Err(error);
                }
            }
            if let Some(changed) = changed {
                tokio::select! {
                    () = changed => {}
                    () = sleep(LOOK_EVERY) => waiting(),
                }
            }
            // Before the next look, so that nothing changes unseen.
            changed = Some(self.store.changed(self.key()));
        }
    }

    /// Takes the journal to end a conversation whose time is over, if nobody
    /// plays a round of it and it has not ended. `avoid` are steps after which
    /// nothing is to be done.
    pub(crate) async fn open_to_end(self, avoid: &[&str]) -> Result<Option<Course>, ErrorObject> {
        let opened = self.store.open(self.key(), self.from, self.lease()).await;
        let opened = opened.map_err(|error| store_failed(&error))?;
        if !opened.acquired {
            return Ok(None);
        }
        let slots = self.read(&opened);
        let may_end = |slots: &[Slot]| {
            let mut begun = slots.iter().flat_map(|slot| &slot.begun);
            opened.next >= self.from
                && slots.iter().all(|slot| !slot.ended)
                && !begun.any(|id| avoid.contains(&&**id))
        };
        match slots {
            Ok(slots) if may_end(&slots) => Ok(Some(Course::new(self, opened.next, None))),
            slots => {
                self.give_back(true).await;
                slots.map(|_| None)
            }
        }
    }

    /// What the journal says about this round.
    fn look(&self, opened: Opened) -> Result<Found, ErrorObject> {
        if opened.next < self.from {
            let lost = "what happened in the conversation is no longer known: make the call \
                        anew, without it";
            return Err(refused(lost));
        }
        let Some(last) = opened.entries.len().checked_sub(1) else {
            return Ok(Found::Open(opened));
        };
        // Those in between are of the same round if the last one is.
        let (first, last) = (self.slot(&opened, 0)?, self.slot(&opened, last)?);
        if first.history != self.history || last.history != self.history {
            let other = "the conversation has gone on from here, or before, with other answers";
            return Err(refused(other));
        }
        if last.ended {
            let at = opened.next.saturating_sub(1);
            let answer = opened.answer.map(|sealed| self.unseal(at, ANSWER, &sealed));
            return Ok(Found::Ended(answer.transpose()?));
        }
        Ok(Found::Open(opened))
    }

    /// Goes on where the journal ends. Steps that were begun, and whose end it
    /// does not know, are cut off: their node is dead, or too slow to be
    /// believed. That is written down, so that everybody is told the same.
    async fn take(self, opened: &Opened) -> Result<Round, ErrorObject> {
        let slots = match self.read(opened) {
            Ok(slots) => slots,
            Err(error) => {
                self.give_back(true).await;
                return Err(error);
            }
        };
        let last = slots.last().map(|last| last.at);
        let course = Course::new(self, opened.next, last);
        let mut begun = Vec::new();
        let mut events = Vec::new();
        for slot in slots {
            begun.extend(slot.begun);
            events.extend(slot.events);
        }
        begun.retain(|id| events.iter().all(|event| event.id != *id));
        let cut_off = begun.into_iter().map(|id| Entry {
            mark: Mark::of_step(&id),
            id,
            outcome: Outcome::Unknown,
        });
        let cut_off: Vec<_> = cut_off.collect();
        if !cut_off.is_empty() {
            let written = course.write(Pending {
                events: cut_off.clone(),
                begun: Vec::new(),
            });
            if let Err(error) = written.await {
                course.release().await;
                return Err(error);
            }
        }
        events.extend(cut_off);
        Ok(Round::Play(course, events))
    }

    /// Gives the lease back, if it was acquired.
    async fn give_back(&self, acquired: bool) {
        if acquired {
            // It ends by itself.
            let _ = self.store.release(self.key(), &self.holder).await;
        }
    }

    fn read(&self, opened: &Opened) -> Result<Vec<Slot>, ErrorObject> {
        let all = 0..opened.entries.len();
        all.map(|index| self.slot(opened, index)).collect()
    }

    fn slot(&self, opened: &Opened, index: usize) -> Result<Slot, ErrorObject> {
        let from_end = (opened.entries.len() - index) as u64;
        let at = opened.next.saturating_sub(from_end);
        let plain = self.unseal(at, ENTRY, &opened.entries[index])?;
        let other = "it was written by another version of this server";
        serde_json::from_slice(&plain).map_err(|_| unreadable(other))
    }

    /// Whether entries leave the process.
    fn is_sealed(&self) -> bool {
        self.store.instance().is_none()
    }

    fn seal(&self, at: u64, kind: &[u8], plain: Vec<u8>) -> Bytes {
        if !self.is_sealed() {
            return plain.into();
        }
        let purpose = self.sealed_for(at, kind);
        self.keyring.seal_bytes(&purpose, &plain).into()
    }

    fn unseal(&self, at: u64, kind: &[u8], sealed: &Bytes) -> Result<Bytes, ErrorObject> {
        if !self.is_sealed() {
            return Ok(sealed.clone());
        }
        let purpose = self.sealed_for(at, kind);
        let opened = self.keyring.open_bytes(&purpose, sealed);
        opened
            .map(Bytes::from)
            .map_err(|fault| unreadable(&fault.to_string()))
    }

    /// Binds what is sealed to its place: the ids have one length, and so have
    /// positions.
    fn sealed_for(&self, at: u64, kind: &[u8]) -> Vec<u8> {
        [self.id.as_bytes(), &at.to_le_bytes(), kind, &self.purpose].concat()
    }
}

/// How a conversation came to its end.
pub(crate) enum End {
    /// By what was written now.
    Ours,
    /// It had ended before, with this answer.
    Before(Bytes),
}

/// What the journal says about a round.
enum Found {
    /// It was played to the end of the conversation, with this answer.
    Ended(Option<Bytes>),
    /// So far it came.
    Open(Opened),
}

// Of one length, so that none can be taken for the other.
const ENTRY: &[u8] = b"entry.";
const ANSWER: &[u8] = b"answer";

impl Course {
    /// A journal that goes on at this position, and whose last entry of this
    /// round was written then, if there is one.
    fn new(place: Place, position: u64, last: Option<u64>) -> Self {
        let now = millis((place.clock)());
        Self {
            place,
            position: AtomicU64::new(position),
            is_taken: AtomicBool::new(last.is_some()),
            is_held: AtomicBool::new(true),
            delay: now.saturating_sub(last.unwrap_or(now)),
        }
    }

    /// Where the next entry belongs.
    pub(crate) fn position(&self) -> u64 {
        self.position.load(Ordering::Relaxed)
    }

    /// How far the clock of this round is behind. Who goes on with a round has
    /// the time at which the journal ends, so that nothing is too late now that
    /// was in time before.
    pub(crate) fn delay(&self) -> Duration {
        Duration::from_millis(self.delay)
    }

    /// What time it is, in milliseconds of the Unix epoch, as the round counts
    /// time.
    pub(crate) fn now(&self) -> u64 {
        millis((self.place.clock)()).saturating_sub(self.delay)
    }

    /// Writes down what happened and what begins. From then on the conversation
    /// has taken this course.
    ///
    /// # Errors
    ///
    /// Where nobody knows whether it was written, or somebody else went on with
    /// the conversation.
    pub(crate) async fn write(&self, pending: Pending) -> Result<(), ErrorObject> {
        let _busy = self.place.presence.busy();
        let (since, begins) = (Instant::now(), !pending.begun.is_empty());
        let slot = self.slot(pending, false);
        let mut appended = self.append(&slot, None).await;
        // Meanwhile somebody may have taken us for dead, and what was to begin
        // for something whose end nobody knows.
        let is_late = since.elapsed() >= self.place.lease / 3;
        if begins && is_late && matches!(appended, Ok(Appended::Done)) {
            appended = self.is_last(self.position() - 1, None).await;
        }
        match appended {
            Ok(Appended::Done) => Ok(()),
            Ok(Appended::Taken) => Err(went_on()),
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Whether the entry at this position is the last one, and this one if one
    /// is given, and the lease is still ours.
    async fn is_last(&self, at: u64, value: Option<&Bytes>) -> Result<Appended, StoreError> {
        let place = &self.place;
        let opened = place.store.open(place.key(), at, place.lease()).await?;
        let is_ours = value.is_none_or(|value| opened.entries.first() == Some(value));
        Ok(match opened.acquired && opened.next == at + 1 && is_ours {
            true => Appended::Done,
            false => Appended::Taken,
        })
    }

    /// Writes down that the conversation ended with this answer, and that these
    /// steps begin after its end.
    ///
    /// # Errors
    ///
    /// Where that is not known, or it may have taken another course.
    pub(crate) async fn end(
        &self,
        answer: &[u8],
        begun: Vec<Box<str>>,
    ) -> Result<End, ErrorObject> {
        let _busy = self.place.presence.busy();
        let events = Vec::new();
        let slot = self.slot(Pending { events, begun }, true);
        match self.append(&slot, Some(answer)).await {
            Ok(Appended::Done) => {
                self.is_held.store(false, Ordering::Relaxed);
                Ok(End::Ours)
            }
            Ok(Appended::Taken) => self.ended_elsewhere().await.map(End::Before),
            Err(error) => Err(store_failed(&error)),
        }
    }

    /// Somebody else wrote the last entry. If that is the end of the same
    /// round, its answer is as good as ours, and was first.
    async fn ended_elsewhere(&self) -> Result<Bytes, ErrorObject> {
        let place = &self.place;
        let opened = place.store.open(place.key(), place.from, place.lease());
        let opened = opened.await.map_err(|error| store_failed(&error))?;
        match place.look(opened)? {
            Found::Ended(Some(answer)) => Ok(answer),
            _ => Err(went_on()),
        }
    }

    fn slot(&self, pending: Pending, ended: bool) -> Slot {
        Slot {
            history: self.place.history.clone(),
            at: self.now(),
            events: pending.events,
            begun: pending.begun,
            ended,
        }
    }

    async fn append(&self, slot: &Slot, answer: Option<&[u8]>) -> Result<Appended, StoreError> {
        let (place, at) = (&self.place, self.position());
        let plain = serde_json::to_vec(slot)
            .map_err(|error| StoreError::new("an entry cannot be written").caused_by(error))?;
        let mut entry = NewEntry::new(at, place.seal(at, ENTRY, plain), place.ttl);
        // Those before it are in the state that came, or nobody needs them.
        entry.truncate = answer.is_some() || !self.is_taken.load(Ordering::Relaxed);
        entry.answer = answer.map(|answer| place.seal(at, ANSWER, answer.to_vec()));
        let appended = self.try_append(&entry).await?;
        if appended == Appended::Done {
            self.position.store(at + 1, Ordering::Relaxed);
            self.is_taken.store(true, Ordering::Relaxed);
        }
        Ok(appended)
    }

    /// Appends an entry, again if that failed. Who finds the position taken
    /// then may have taken it without having heard of it.
    async fn try_append(&self, entry: &NewEntry) -> Result<Appended, StoreError> {
        let (place, mut pause) = (&self.place, FIRST_PAUSE);
        let mut attempt = 1;
        loop {
            match place.store.append(place.key(), entry.clone()).await {
                Ok(Appended::Taken) if attempt > 1 => {
                    return self.is_last(entry.position, Some(&entry.value)).await;
                }
                Err(_) if attempt < ATTEMPTS => sleep(pause).await,
                ended => return ended,
            }
            attempt += 1;
            pause *= 2;
        }
    }

    /// Keeps the lease for as long as this is polled.
    pub(crate) async fn keep_lease(&self) -> std::convert::Infallible {
        let place = &self.place;
        loop {
            sleep(place.lease / 3).await;
            // If it cannot be renewed now, perhaps next time; the positions
            // decide.
            let _ = place.store.renew(place.key(), place.lease()).await;
        }
    }

    /// The round may be played again.
    pub(crate) async fn release(&self) {
        let _busy = self.place.presence.busy();
        if self.is_held.swap(false, Ordering::Relaxed) {
            self.place.give_back(true).await;
        }
    }
}

/// A round that is cut off may be played again.
impl Drop for Course {
    fn drop(&mut self) {
        if !*self.is_held.get_mut() {
            return;
        }
        let place = self.place.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { place.give_back(true).await });
        }
    }
}

fn went_on() -> ErrorObject {
    errors::internal("This round was taken over by another node: repeat the request")
}

fn unreadable(why: &str) -> ErrorObject {
    refused(&format!(
        "its journal cannot be read: {why}. Make the call anew, without it"
    ))
}
