//! What a client saw, and showing it.

use std::{ops::Deref, sync::Arc, time::SystemTime};

use super::shared::Shared;
use crate::{
    observations::{MAX_FINAL, Observed},
    proto::client::Telemetry,
};

/// Something that was seen inside a client.
///
/// It gives what was seen, as if it were that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The name of the client.
    pub client: Arc<str>,
    /// When it was seen, by the clock on the wall.
    pub at: SystemTime,
    /// What was seen.
    pub event: Telemetry,
}

impl Deref for Observation {
    type Target = Telemetry;

    fn deref(&self) -> &Telemetry {
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
            event: Telemetry::ObservationsLost { count },
        }
    }
}

impl Shared {
    /// Shows what was taken. What waits beyond that is left to the driver: a
    /// caller should get back to its own work, however much there is to see.
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
            // There is no driver any more.
            inner.observations.begin_batch(&mut batch);
        }
    }

    /// Shows something that was not seen under the lock.
    pub(crate) fn observe(&self, telemetry: Telemetry) {
        if self.host.has_observers() {
            let telemetry = self.host.observation(telemetry);
            self.lock().observations.push(telemetry);
        }
    }
}
