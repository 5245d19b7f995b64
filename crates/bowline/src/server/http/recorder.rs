//! What the streams of a session brought, for clients that come back, within
//! what its client and all sessions together may keep.

use std::sync::Arc;

use bytes::Bytes;

use super::{accounts::Account, notes::Notes};
use crate::proto::http::resume::{EventId, Replay, ReplayLimits, ReplayMiss, StreamId};

/// The record of one session.
pub(super) struct Recorder {
    replay: Replay,
    /// Who keeps it, and may keep so much.
    account: Arc<Account>,
    /// How much of that is ours.
    kept: usize,
    /// Where the events are noted besides.
    notes: Option<Notes>,
}

impl Recorder {
    /// An empty record, of a life of a session that has this number.
    pub(super) fn new(
        incarnation: u64,
        limits: ReplayLimits,
        account: Arc<Account>,
        notes: Option<Notes>,
    ) -> Self {
        Self {
            replay: Replay::new(incarnation, limits),
            account,
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
        while !self.account.may_record(message.len()) && self.replay.forget_ended() {
            self.account();
        }
        if !self.account.may_record(message.len()) {
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
        self.account.recorded(self.kept, now);
        self.kept = now;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.account.recorded(self.kept, 0);
    }
}
