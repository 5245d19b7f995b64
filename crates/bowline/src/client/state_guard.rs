//! The lock on a connection, and the wake-ups it defers.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::MutexGuard,
    task::Waker,
};

use super::shared::{Inner, Shared, Waiter};
use crate::{client::Observation, proto::client::Outcome};

/// The locked shared state. Callers whose calls end or make progress in the meantime
/// are woken after it is unlocked, because they would only wait for the lock. So are
/// observers, which are foreign code and may use the connection itself.
pub(crate) struct StateGuard<'a> {
    // The field order matters: unlock first, then deliver.
    inner: MutexGuard<'a, Inner>,
    deferred: Deferred<'a>,
}

/// Work deferred until after the unlock. It runs on drop.
struct Deferred<'a> {
    shared: &'a Shared,
    observations: Vec<Observation>,
    // Dropped, and so delivered, after the observations.
    completions: Completions,
}

/// Calls that have ended, with their waiters, and the wakers for progress reports.
/// Dropping it wakes them.
#[derive(Default)]
pub(super) struct Completions {
    first: Option<(Waiter, Outcome)>,
    others: Vec<(Waiter, Outcome)>,
    progress_wakers: Vec<Waker>,
}

impl<'a> StateGuard<'a> {
    pub(super) fn new(shared: &'a Shared, inner: MutexGuard<'a, Inner>) -> Self {
        let deferred = Deferred {
            shared,
            observations: Vec::new(),
            completions: Completions::default(),
        };
        Self { inner, deferred }
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
        if !self.inner.completions.is_empty() {
            self.deferred.completions = mem::take(&mut self.inner.completions);
        }
        self.inner
            .observations
            .begin_batch(&mut self.deferred.observations);
    }
}

impl Drop for Deferred<'_> {
    fn drop(&mut self) {
        if !self.observations.is_empty() {
            self.shared
                .deliver_observations(mem::take(&mut self.observations));
        }
    }
}

impl Completions {
    fn is_empty(&self) -> bool {
        self.first.is_none() && self.progress_wakers.is_empty()
    }

    /// Adds the waker of a progress receiver.
    pub(super) fn push_waker(&mut self, waker: Option<Waker>) {
        self.progress_wakers.extend(waker);
    }

    pub(super) fn push(&mut self, waiter: Waiter, outcome: Outcome) {
        // There is usually just one, which needs no allocation.
        match &mut self.first {
            none @ None => *none = Some((waiter, outcome)),
            Some(_) => self.others.push((waiter, outcome)),
        }
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        for waker in self.progress_wakers.drain(..) {
            waker.wake();
        }
        if let Some((waiter, outcome)) = self.first.take() {
            waiter.complete(outcome);
            for (waiter, outcome) in self.others.drain(..) {
                waiter.complete(outcome);
            }
        }
    }
}
