//! The lock on a connection, and the observations that it defers.

use std::{
    ops::{Deref, DerefMut},
    sync::MutexGuard,
};

use super::{
    observations::Observation,
    shared::{Inner, SharedConnection},
};
use crate::observation_queue::MAX_FINAL;

/// The locked shared state. Observers are called when it is unlocked.
pub(super) struct StateGuard<'a> {
    // The order matters: it is unlocked first, then observers are called.
    inner: MutexGuard<'a, Inner>,
    deliver: DeliverOnDrop<'a>,
}

struct DeliverOnDrop<'a> {
    shared: &'a SharedConnection,
    batch: Vec<Observation>,
}

impl<'a> StateGuard<'a> {
    pub(super) fn new(shared: &'a SharedConnection, inner: MutexGuard<'a, Inner>) -> Self {
        let batch = Vec::new();
        Self {
            inner,
            deliver: DeliverOnDrop { shared, batch },
        }
    }
}

impl Deref for StateGuard<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

impl Drop for StateGuard<'_> {
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
            let mut inner = self.shared.lock_inner();
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
