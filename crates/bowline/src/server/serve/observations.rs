//! Telemetry observations of a server.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, MutexGuard},
    time::SystemTime,
};

use super::shared::{Inner, SharedConnection};
use crate::{
    observation_queue::{MAX_FINAL, Observed},
    proto::server::TelemetryEvent,
};

/// A telemetry event of a server, with its context.
///
/// Dereferences to the event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The name of the server.
    pub server: Arc<str>,
    /// The number of the connection in this process: of the link, the HTTP
    /// session or the stream of changes.
    pub connection: u64,
    /// The wall-clock time of the event.
    pub at: SystemTime,
    /// The event.
    pub event: TelemetryEvent,
}

impl Deref for Observation {
    type Target = TelemetryEvent;

    fn deref(&self) -> &TelemetryEvent {
        &self.event
    }
}

impl Observed for Observation {
    fn truncate(&mut self) -> usize {
        self.event.truncate_strings()
    }

    fn lost_marker(&self, count: usize) -> Self {
        Self {
            server: Arc::clone(&self.server),
            event: TelemetryEvent::ObservationsLost { count },
            ..*self
        }
    }
}

/// The locked shared state. Observers are called when it is unlocked.
pub(super) struct Locked<'a> {
    // The order matters: it is unlocked first, then observers are called.
    inner: MutexGuard<'a, Inner>,
    deliver: DeliverOnDrop<'a>,
}

struct DeliverOnDrop<'a> {
    shared: &'a SharedConnection,
    batch: Vec<Observation>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(shared: &'a SharedConnection, inner: MutexGuard<'a, Inner>) -> Self {
        let batch = Vec::new();
        Self {
            inner,
            deliver: DeliverOnDrop { shared, batch },
        }
    }
}

impl Deref for Locked<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        self.inner.observations.begin_batch(&mut self.deliver.batch);
    }
}

impl Drop for DeliverOnDrop<'_> {
    fn drop(&mut self) {
        let mut delivered = 0;
        while !self.batch.is_empty() && delivered < MAX_FINAL {
            for observation in self.batch.drain(..) {
                self.shared.observe(&observation);
                delivered += 1;
            }
            let mut inner = self.shared.lock_unobserved();
            if !inner.observations.end_batch(&mut self.batch) {
                return;
            }
            // The rest is left to the driver: a handler should return to its
            // own work, however many observations there are.
            if let Some(driver) = inner.driver_waker.as_ref().filter(|_| !inner.ended) {
                driver.wake_by_ref();
                return;
            }
            inner.observations.begin_batch(&mut self.batch);
        }
    }
}
