//! What a client saw, and showing it.

use std::{ops::Deref, sync::Arc, time::SystemTime};

use super::shared::Shared;
use crate::{
    observations::{MAX_AT_END, Observed},
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
    pub telemetry: Telemetry,
}

impl Deref for Observation {
    type Target = Telemetry;

    fn deref(&self) -> &Telemetry {
        &self.telemetry
    }
}

impl Observed for Observation {
    fn cut(&mut self) -> usize {
        self.telemetry.cut()
    }

    fn lost(&self, count: usize) -> Self {
        Self {
            client: Arc::clone(&self.client),
            at: self.at,
            telemetry: Telemetry::ObservationsLost { count },
        }
    }
}

impl Shared {
    /// Shows what was taken. What waits beyond that is left to the driver: a
    /// caller should get back to its own work, however much there is to see.
    pub(super) fn show(&self, mut turn: Vec<Observation>) {
        let mut shown = 0;
        while !turn.is_empty() && shown < MAX_AT_END {
            for observation in turn.drain(..) {
                self.host.observe(&observation);
                shown += 1;
            }
            let mut inner = self.lock_quietly();
            if !inner.observations.end(&mut turn) {
                return;
            }
            if !inner.ended {
                inner.wake_driver();
                return;
            }
            // There is no driver any more.
            inner.observations.begin(&mut turn);
        }
    }

    /// Shows something that was not seen under the lock.
    pub(crate) fn observe(&self, seen: Telemetry) {
        if self.host.has_observers() {
            let seen = self.host.observation(seen);
            self.lock().observations.push(seen);
        }
    }
}
