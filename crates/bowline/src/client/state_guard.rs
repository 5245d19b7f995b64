//! The lock on a connection, and who hears of what happened under it.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::MutexGuard,
    task::Waker,
};

use super::shared::{Inner, Shared, Waiter};
use crate::{client::Observation, proto::client::Outcome};

/// What is shared, locked. Those whose calls end meanwhile, or make progress,
/// are told when it is unlocked: they would only come and wait for the lock. So
/// are those who look on, whose code is not ours and may use the connection
/// itself.
pub(crate) struct StateGuard<'a> {
    // The order matters: first it is unlocked, then they are told.
    inner: MutexGuard<'a, Inner>,
    deferred: Deferred<'a>,
}

/// What is told afterwards. Dropping it does so.
struct Deferred<'a> {
    shared: &'a Shared,
    observations: Vec<Observation>,
    // Dropped, and so told, after those who look on have been.
    completions: Completions,
}

/// Calls that have ended, and those who wait for them; and who waits for
/// progress that has come. Dropping it tells them.
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

    /// Has somebody woken for whom there is progress.
    pub(super) fn push_waker(&mut self, waker: Option<Waker>) {
        self.progress_wakers.extend(waker);
    }

    pub(super) fn push(&mut self, waiter: Waiter, outcome: Outcome) {
        // Most often there is one, and it takes no list to hold it.
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
