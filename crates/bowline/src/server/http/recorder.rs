//! What the streams of a session brought, for clients that come back, within
//! what its client and all sessions together may keep.

use std::sync::Arc;

use bytes::Bytes;

use super::{event_store_writer::EventStoreWriter, quotas::ClientQuota};
use crate::proto::http::resume::{EventBuffer, EventBufferLimits, EventId, ReplayError, StreamId};

/// The record of one session.
pub(super) struct Recorder {
    buffer: EventBuffer,
    /// Who keeps it, and may keep so much.
    quota: Arc<ClientQuota>,
    /// How much of that is ours.
    recorded_bytes: usize,
    /// Where the events are noted besides.
    store_writer: Option<EventStoreWriter>,
}

impl Recorder {
    /// An empty record, of a life of a session that has this number.
    pub(super) fn new(
        incarnation: u64,
        limits: EventBufferLimits,
        quota: Arc<ClientQuota>,
        store_writer: Option<EventStoreWriter>,
    ) -> Self {
        Self {
            buffer: EventBuffer::new(incarnation, limits),
            quota,
            recorded_bytes: 0,
            store_writer,
        }
    }

    pub(super) fn open(&mut self) -> Option<StreamId> {
        let opened = self.buffer.open();
        self.update_quota();
        opened
    }

    pub(super) fn priming_id(&self, stream: StreamId) -> Option<EventId> {
        self.buffer.initial_event_id(stream)
    }

    /// Whether a client that leaves the stream can come back to it.
    pub(super) fn is_recorded(&self, stream: StreamId) -> bool {
        self.buffer.initial_event_id(stream).is_some()
    }

    /// Keeps a message of a stream, which is the server's own or not, and gives
    /// the id under which it is kept.
    pub(super) fn record(
        &mut self,
        stream: StreamId,
        is_standalone: bool,
        message: Bytes,
    ) -> Option<EventId> {
        // Clients seldom come back to what they have heard to its end.
        while !self.quota.may_record(message.len()) && self.buffer.evict_ended() {
            self.update_quota();
        }
        if !self.quota.may_record(message.len()) {
            // A gap would be seen as one; but then the rest is of no use.
            self.forget(stream);
            return None;
        }
        let id = self.buffer.record(stream, message.clone())?;
        self.update_quota();
        if let Some(writer) = &self.store_writer {
            writer.append(id, is_standalone, message);
        }
        Some(id)
    }

    pub(super) fn end(&mut self, stream: StreamId) {
        self.buffer.end(stream);
    }

    pub(super) fn forget(&mut self, stream: StreamId) {
        self.buffer.remove(stream);
        self.update_quota();
    }

    /// What came after an event.
    pub(super) fn events_after(
        &self,
        cursor: EventId,
    ) -> Result<Vec<(EventId, Bytes)>, ReplayError> {
        let events = self.buffer.events_after(cursor)?;
        Ok(events.map(|(id, message)| (id, message.clone())).collect())
    }

    fn update_quota(&mut self) {
        let bytes = self.buffer.buffered_bytes();
        self.quota.replace_recorded(self.recorded_bytes, bytes);
        self.recorded_bytes = bytes;
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.quota.replace_recorded(self.recorded_bytes, 0);
    }
}
