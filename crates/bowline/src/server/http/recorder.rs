//! Records the streams of a session for clients that resume, within the quotas
//! of the client and of all sessions.

use std::sync::Arc;

use bytes::Bytes;

use super::{event_store_writer::EventStoreWriter, quotas::ClientQuota};
use crate::proto::http::resume::{EventBuffer, EventBufferLimits, EventId, ReplayError, StreamId};

/// The recorder of one session.
pub(super) struct Recorder {
    buffer: EventBuffer,
    /// The quota it is charged to.
    quota: Arc<ClientQuota>,
    /// How many bytes of that are ours.
    recorded_bytes: usize,
    /// Writes the events to a store as well.
    store_writer: Option<EventStoreWriter>,
}

impl Recorder {
    /// Creates an empty recorder for this incarnation of a session.
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

    /// Returns whether a client can resume the stream.
    pub(super) fn is_recorded(&self, stream: StreamId) -> bool {
        self.buffer.initial_event_id(stream).is_some()
    }

    /// Records a message of a stream and returns its event id.
    pub(super) fn record(
        &mut self,
        stream: StreamId,
        is_standalone: bool,
        message: Bytes,
    ) -> Option<EventId> {
        // Clients rarely resume a stream that has ended.
        while !self.quota.may_record(message.len()) && self.buffer.evict_ended() {
            self.update_quota();
        }
        if !self.quota.may_record(message.len()) {
            // A gap would be detected, but then the rest is useless.
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

    /// Returns the events after this one.
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
