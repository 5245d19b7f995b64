//! Writes sent events to an [`EventStore`] in the background.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    byte_queue::{ByteSize, Receiver, Sender, channel},
    session_seal::SessionSeal,
    session_stores::{EventStore, StoredEvent, with_store_timeout},
};
use crate::proto::http::{SessionId, resume::EventId};

/// Writes the events of one session, in order.
pub(super) struct EventStoreWriter(Sender<StoredEvent>);

impl ByteSize for StoredEvent {
    fn byte_size(&self) -> usize {
        self.message.len()
    }
}

impl EventStoreWriter {
    /// Starts a writer for a session.
    pub(super) fn new(
        store: Arc<dyn EventStore>,
        seal: Arc<SessionSeal>,
        session: SessionId,
        ttl: Duration,
    ) -> Self {
        let (sender, events) = channel();
        tokio::spawn(write(store, seal, session, ttl, events));
        Self(sender)
    }

    /// Queues an event. If the queue is full it is dropped; a client that
    /// resumes detects the gap.
    pub(super) fn append(&self, id: EventId, is_standalone: bool, message: Bytes) {
        if self.0.is_backlogged() {
            return;
        }
        if let Some(position) = StreamPosition::parse(&id.to_string()) {
            self.0.send(StoredEvent {
                stream: position.stream,
                sequence: position.sequence,
                is_standalone,
                message,
            });
        }
    }
}

async fn write(
    store: Arc<dyn EventStore>,
    seal: Arc<SessionSeal>,
    session: SessionId,
    ttl: Duration,
    mut events: Receiver<StoredEvent>,
) {
    while let Some(mut event) = events.recv().await {
        let id = event_id(&event.stream, event.sequence);
        event.message = seal.seal_event(&session, &id, event.message);
        // A failed write is a gap for clients that resume.
        with_store_timeout(store.append(&session, event, ttl)).await;
    }
}

/// A position in a stream, with ids that are the same on every node.
pub(super) struct StreamPosition {
    pub(super) stream: String,
    pub(super) sequence: u64,
}

impl StreamPosition {
    /// Parses an event id created by us.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (stream, sequence) = id.rsplit_once('-')?;
        let sequence = u64::from_str_radix(sequence, 16).ok()?;
        Some(Self {
            stream: stream.to_owned(),
            sequence,
        })
    }

    /// Returns the id of an event in the same stream.
    pub(super) fn event_id(&self, sequence: u64) -> String {
        event_id(&self.stream, sequence)
    }
}

fn event_id(stream: &str, sequence: u64) -> String {
    format!("{stream}-{sequence:x}")
}
