//! What a server saw, and showing it.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, MutexGuard},
    time::SystemTime,
};

use super::shared::{Inner, SharedConnection};
use crate::{
    observations::{MAX_FINAL, Observed},
    proto::server::Telemetry,
};

/// Something that was seen inside a server.
///
/// It gives what was seen, as if it were that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The name of the server.
    pub server: Arc<str>,
    /// The number of the connection, in this process: of the link, of the
    /// session over HTTP, or of the stream of changes.
    pub connection: u64,
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
    fn truncate(&mut self) -> usize {
        self.telemetry.truncate_strings()
    }

    fn lost_marker(&self, count: usize) -> Self {
        Self {
            server: Arc::clone(&self.server),
            telemetry: Telemetry::ObservationsLost { count },
            ..*self
        }
    }
}

/// What is shared, locked. Those who look on are shown what happened when it is
/// unlocked.
pub(super) struct Locked<'a> {
    // The order matters: first it is unlocked, then they are shown.
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
            // The rest is left to whoever drives the connection: a handler
            // should get back to its own work, however much there is to see.
            if let Some(driver) = inner.driver_waker.as_ref().filter(|_| !inner.ended) {
                driver.wake_by_ref();
                return;
            }
            inner.observations.begin_batch(&mut self.batch);
        }
    }
}
