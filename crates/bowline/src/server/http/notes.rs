//! Noting elsewhere what was sent, without making anybody wait for it.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    pipe::{Receiver, Sender, Weigh, pipe},
    store::{EventStore, StoredEvent, answer_of},
};
use crate::proto::http::{SessionId, resume::EventId};

/// Where the events of one session are noted, in their order.
pub(super) struct Notes(Sender<StoredEvent>);

impl Weigh for StoredEvent {
    fn weight(&self) -> usize {
        self.message.len()
    }
}

impl Notes {
    /// Begins to note the events of a session.
    pub(super) fn new(store: Arc<dyn EventStore>, session: SessionId, ttl: Duration) -> Self {
        let (sender, events) = pipe();
        tokio::spawn(write(store, session, ttl, events));
        Self(sender)
    }

    /// Notes an event. One for which there is no time is left out; whoever
    /// comes back will notice.
    pub(super) fn note(&self, id: EventId, own: bool, message: Bytes) {
        if self.0.is_behind() {
            return;
        }
        if let Some(place) = Place::of(&id.to_string()) {
            self.0.send(StoredEvent {
                stream: place.stream,
                sequence: place.sequence,
                own,
                message,
            });
        }
    }
}

async fn write(
    store: Arc<dyn EventStore>,
    session: SessionId,
    ttl: Duration,
    mut events: Receiver<StoredEvent>,
) {
    while let Some(event) = events.recv().await {
        // What is not noted is missed by those who come back.
        answer_of(store.append(&session, event, ttl)).await;
    }
}

/// A place in a stream, by names that are the same everywhere.
pub(super) struct Place {
    pub(super) stream: String,
    pub(super) sequence: u64,
}

impl Place {
    /// Reads the id of an event of ours.
    pub(super) fn of(id: &str) -> Option<Self> {
        let (stream, sequence) = id.rsplit_once('-')?;
        let sequence = u64::from_str_radix(sequence, 16).ok()?;
        Some(Self {
            stream: stream.to_owned(),
            sequence,
        })
    }

    /// The id of an event in the same stream.
    pub(super) fn id(&self, sequence: u64) -> String {
        format!("{}-{sequence:x}", self.stream)
    }
}
