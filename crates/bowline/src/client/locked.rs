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
pub(crate) struct Locked<'a> {
    // The order matters: first it is unlocked, then they are told.
    inner: MutexGuard<'a, Inner>,
    after: After<'a>,
}

/// What is told afterwards. Dropping it does so.
struct After<'a> {
    shared: &'a Shared,
    seen: Vec<Observation>,
    // Dropped, and so told, after those who look on have been.
    told: Told,
}

/// Calls that have ended, and those who wait for them; and who waits for
/// progress that has come. Dropping it tells them.
#[derive(Default)]
pub(super) struct Told {
    first: Option<(Waiter, Outcome)>,
    others: Vec<(Waiter, Outcome)>,
    progress: Vec<Waker>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(shared: &'a Shared, inner: MutexGuard<'a, Inner>) -> Self {
        let after = After {
            shared,
            seen: Vec::new(),
            told: Told::default(),
        };
        Self { inner, after }
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
        if !self.inner.told.is_empty() {
            self.after.told = mem::take(&mut self.inner.told);
        }
        self.inner.observations.begin(&mut self.after.seen);
    }
}

impl Drop for After<'_> {
    fn drop(&mut self) {
        if !self.seen.is_empty() {
            self.shared.show(mem::take(&mut self.seen));
        }
    }
}

impl Told {
    fn is_empty(&self) -> bool {
        self.first.is_none() && self.progress.is_empty()
    }

    /// Has somebody woken for whom there is progress.
    pub(super) fn wake(&mut self, listener: Option<Waker>) {
        self.progress.extend(listener);
    }

    pub(super) fn push(&mut self, waiter: Waiter, outcome: Outcome) {
        // Most often there is one, and it takes no list to hold it.
        match &mut self.first {
            none @ None => *none = Some((waiter, outcome)),
            Some(_) => self.others.push((waiter, outcome)),
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        for listener in self.progress.drain(..) {
            listener.wake();
        }
        if let Some((waiter, outcome)) = self.first.take() {
            waiter.end(outcome);
            for (waiter, outcome) in self.others.drain(..) {
                waiter.end(outcome);
            }
        }
    }
}
