//! What a server saw, and showing it.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, MutexGuard},
    time::SystemTime,
};

use super::shared::{Inner, Shared};
use crate::{
    observations::{MAX_AT_END, Observed},
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
    fn cut(&mut self) -> usize {
        self.telemetry.cut()
    }

    fn lost(&self, count: usize) -> Self {
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
    show: Show<'a>,
}

struct Show<'a> {
    shared: &'a Shared,
    turn: Vec<Observation>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(shared: &'a Shared, inner: MutexGuard<'a, Inner>) -> Self {
        let turn = Vec::new();
        Self {
            inner,
            show: Show { shared, turn },
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
        self.inner.observations.begin(&mut self.show.turn);
    }
}

impl Drop for Show<'_> {
    fn drop(&mut self) {
        let mut shown = 0;
        while !self.turn.is_empty() && shown < MAX_AT_END {
            for seen in self.turn.drain(..) {
                self.shared.observe(&seen);
                shown += 1;
            }
            let mut inner = self.shared.lock_quietly();
            if !inner.observations.end(&mut self.turn) {
                return;
            }
            // The rest is left to whoever drives the connection: a handler
            // should get back to its own work, however much there is to see.
            if let Some(driver) = inner.driver.as_ref().filter(|_| !inner.ended) {
                driver.wake_by_ref();
                return;
            }
            inner.observations.begin(&mut self.turn);
        }
    }
}
