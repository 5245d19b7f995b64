//! Observations of a client, and their delivery.

use std::{ops::Deref, sync::Arc, time::SystemTime};

use super::shared::Shared;
use crate::{
    observation_queue::{MAX_FINAL, Observed},
    proto::client::TelemetryEvent,
};

/// A telemetry event of a client.
///
/// It dereferences to the event.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The name of the client.
    pub client: Arc<str>,
    /// When it happened, in wall-clock time.
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
            client: Arc::clone(&self.client),
            at: self.at,
            event: TelemetryEvent::ObservationsLost { count },
        }
    }
}

impl Shared {
    /// Delivers a batch. Anything still queued is left to the driver so that a caller
    /// gets back to its own work.
    pub(super) fn deliver_observations(&self, mut batch: Vec<Observation>) {
        let mut delivered = 0;
        while !batch.is_empty() && delivered < MAX_FINAL {
            for observation in batch.drain(..) {
                self.host.observe(&observation);
                delivered += 1;
            }
            let mut inner = self.lock_inner();
            if !inner.observations.end_batch(&mut batch) {
                return;
            }
            if !inner.ended {
                inner.wake_driver();
                return;
            }
            // The driver has ended.
            inner.observations.begin_batch(&mut batch);
        }
    }

    /// Delivers an observation that was not made under the lock.
    pub(crate) fn observe(&self, telemetry: TelemetryEvent) {
        if self.host.has_observers() {
            let telemetry = self.host.observation(telemetry);
            self.lock().observations.push(telemetry);
        }
    }
}
