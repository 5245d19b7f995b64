//! What the streams of a session brought, for clients that come back, within
//! what all sessions together may keep.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bytes::Bytes;

use super::notes::Notes;
use crate::proto::http::resume::{EventId, Replay, ReplayLimits, ReplayMiss, StreamId};

/// How much all sessions together may keep, and do. Clones share it.
#[derive(Clone)]
pub(super) struct Budget {
    kept: Arc<AtomicUsize>,
    limit: usize,
}

/// The record of one session.
pub(super) struct Recorder {
    replay: Replay,
    budget: Budget,
    /// How much of the budget is ours.
    kept: usize,
    /// Where the events are noted besides.
    notes: Option<Notes>,
}

impl Budget {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kept: Arc::default(),
            limit,
        }
    }

    /// How many bytes are kept now.
    pub(super) fn kept(&self) -> usize {
        self.kept.load(Ordering::Relaxed)
    }

    fn has_room(&self, size: usize) -> bool {
        self.kept() + size <= self.limit
    }

    fn exchange(&self, before: usize, now: usize) {
        // All sessions share it, so it is not touched in vain.
        if now != before {
            let more = now.wrapping_sub(before);
            self.kept.fetch_add(more, Ordering::Relaxed);
        }
    }
}

impl Recorder {
    /// An empty record, of a life of a session that has this number.
    pub(super) fn new(
        incarnation: u64,
        limits: ReplayLimits,
        budget: Budget,
        notes: Option<Notes>,
    ) -> Self {
        Self {
            replay: Replay::new(incarnation, limits),
            budget,
            kept: 0,
            notes,
        }
    }

    pub(super) fn open(&mut self) -> Option<StreamId> {
        let opened = self.replay.open();
        self.account();
        opened
    }

    pub(super) fn prime(&self, stream: StreamId) -> Option<EventId> {
        self.replay.prime(stream)
    }

    /// Whether a client that leaves the stream can come back to it.
    pub(super) fn keeps(&self, stream: StreamId) -> bool {
        self.replay.prime(stream).is_some()
    }

    /// Keeps a message of a stream, which is the server's own or not, and gives
    /// the id under which it is kept.
    pub(super) fn record(
        &mut self,
        stream: StreamId,
        own: bool,
        message: Bytes,
    ) -> Option<EventId> {
        // Clients seldom come back to what they have heard to its end.
        while !self.budget.has_room(message.len()) && self.replay.forget_ended() {
            self.account();
        }
        if !self.budget.has_room(message.len()) {
            // A gap would be seen as one; but then the rest is of no use.
            self.forget(stream);
            return None;
        }
        let id = self.replay.record(stream, message.clone())?;
        self.account();
        if let Some(notes) = &self.notes {
            notes.note(id, own, message);
        }
        Some(id)
    }

    pub(super) fn end(&mut self, stream: StreamId) {
        self.replay.end(stream);
    }

    pub(super) fn forget(&mut self, stream: StreamId) {
        self.replay.forget(stream);
        self.account();
    }

    /// What came after an event.
    pub(super) fn after(&self, cursor: EventId) -> Result<Vec<(EventId, Bytes)>, ReplayMiss> {
        let events = self.replay.replay_after(cursor)?;
        Ok(events.map(|(id, message)| (id, message.clone())).collect())
    }

    fn account(&mut self) {
        let now = self.replay.bytes();
        self.budget.exchange(self.kept, now);
        self.kept = now;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.budget.exchange(self.kept, 0);
    }
}
