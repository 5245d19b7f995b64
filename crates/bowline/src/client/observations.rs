//! What is seen under the lock, until it is shown to those who look on.
//!
//! They are the application's code: an observer, or a subscriber of `tracing`.
//! Whoever unlocks the connection shows them what was seen meanwhile, one
//! thread at a time, so that they see everything in order. What is seen while
//! somebody shows something waits for its turn, also if it is the code of those
//! who look on that brought it about.

use std::{mem, ops::Deref, sync::Arc, time::SystemTime};

use super::shared::Shared;
use crate::proto::client::Telemetry;

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

/// How many observations wait at most. Beyond that they are counted only.
const MAX_WAITING: usize = 8192;

/// What was seen and not shown yet.
#[derive(Default)]
pub(super) struct Observations {
    waiting: Vec<Observation>,
    /// How many there was no room for.
    lost: usize,
    /// Whether somebody is showing what was seen before.
    showing: bool,
}

impl Observations {
    pub(super) fn push(&mut self, seen: Observation) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(seen);
        } else {
            self.lost += 1;
        }
    }

    /// Takes what is to be shown, unless somebody else does so.
    pub(super) fn begin(&mut self, seen: &mut Vec<Observation>) {
        if !self.waiting.is_empty() && !self.showing {
            self.showing = true;
            self.take(seen);
        }
    }

    fn take(&mut self, seen: &mut Vec<Observation>) {
        mem::swap(&mut self.waiting, seen);
        if self.lost > 0
            && let Some(last) = seen.last()
        {
            let count = mem::take(&mut self.lost);
            let telemetry = Telemetry::ObservationsLost { count };
            seen.push(Observation {
                telemetry,
                ..last.clone()
            });
        }
    }
}

impl Shared {
    /// Shows what was taken. What was seen meanwhile is left to the driver: a
    /// caller should get back to its own work, however much there is to see.
    pub(super) fn show(&self, mut seen: Vec<Observation>) {
        loop {
            for observation in seen.drain(..) {
                self.host.observe(&observation);
            }
            let mut inner = self.lock_quietly();
            let over = inner.ended;
            let observations = &mut inner.observations;
            if observations.waiting.is_empty() {
                observations.showing = false;
                // So that the next ones find room without asking for memory.
                observations.waiting = seen;
                return;
            }
            if !over {
                observations.showing = false;
                inner.wake_driver();
                return;
            }
            // There is no driver any more.
            observations.take(&mut seen);
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
