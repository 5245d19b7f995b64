//! Observes the opening of a session: which requests were sent, and how long
//! the responses took.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use serde::Deserialize;

use crate::{
    locks,
    traffic::{TrafficEvent, TrafficObserver},
};

/// Records the opening.
#[derive(Clone, Default)]
pub(super) struct OpeningObserver(Arc<Mutex<OpeningLog>>);

#[derive(Default)]
struct OpeningLog {
    /// How long the last dial took.
    dial_time: Option<Duration>,
    requests: Vec<ObservedRequest>,
}

/// A request sent while opening.
#[derive(Clone, Debug)]
pub(super) struct ObservedRequest {
    id: u64,
    sent_at: Instant,
    pub(super) method: String,
    /// How long the response took, and whether it was an error.
    pub(super) response: Option<(Duration, bool)>,
}

/// The members of a message that matter here.
#[derive(Deserialize)]
struct MessageSummary<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<std::borrow::Cow<'a, str>>,
    error: Option<serde::de::IgnoredAny>,
}

impl OpeningObserver {
    /// Returns how long it took to establish a link.
    pub(super) fn dial_time(&self) -> Option<Duration> {
        self.lock().dial_time
    }

    /// Returns the first request of this method.
    pub(super) fn request(&self, method: &str) -> Option<ObservedRequest> {
        let log = self.lock();
        let mut requests = log.requests.iter();
        requests.find(|observed| observed.method == method).cloned()
    }

    fn record_sent(&self, frame: &[u8]) {
        let Ok(MessageSummary {
            id: Some(id),
            method: Some(method),
            ..
        }) = parse_summary(frame)
        else {
            return;
        };
        self.lock().requests.push(ObservedRequest {
            id,
            sent_at: Instant::now(),
            method: method.into_owned(),
            response: None,
        });
    }

    fn record_received(&self, frame: &[u8]) {
        let Ok(MessageSummary {
            id: Some(id),
            method: None,
            error,
        }) = parse_summary(frame)
        else {
            return;
        };
        self.record_response(id, error.is_some());
    }

    fn record_response(&self, id: u64, is_error: bool) {
        let mut log = self.lock();
        let observed = log.requests.iter_mut().find(|observed| observed.id == id);
        if let Some(observed) = observed {
            let elapsed = observed.sent_at.elapsed();
            observed.response.get_or_insert((elapsed, is_error));
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpeningLog> {
        locks::lock(&self.0)
    }
}

impl TrafficObserver for OpeningObserver {
    fn observe(&self, _link: u32, event: &TrafficEvent<'_>) {
        match event {
            TrafficEvent::Up {
                dial_time: elapsed, ..
            } => self.lock().dial_time = Some(*elapsed),
            TrafficEvent::Sent(frame) => self.record_sent(frame),
            TrafficEvent::Received(frame) => self.record_received(frame),
            // An HTTP status instead of a response counts as one.
            TrafficEvent::Refused { id: Some(id), .. } => self.record_response(*id, true),
            _ => {}
        }
    }
}

fn parse_summary(frame: &[u8]) -> serde_json::Result<MessageSummary<'_>> {
    serde_json::from_slice(frame)
}
