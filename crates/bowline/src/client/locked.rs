//! The lock on a connection, and who hears of what happened under it.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::MutexGuard,
};

use tokio::sync::oneshot;

use super::shared::{Inner, Shared};
use crate::{client::Observation, proto::client::Outcome};

/// What is shared, locked. Those whose calls end meanwhile are told when it is
/// unlocked: they would only come and wait for the lock. So are those who look
/// on, whose code is not ours and may use the connection itself.
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
    ended: Ended,
}

/// Calls that have ended, and those who wait for them. Dropping it tells them.
#[derive(Default)]
pub(super) struct Ended {
    first: Option<(oneshot::Sender<Outcome>, Outcome)>,
    others: Vec<(oneshot::Sender<Outcome>, Outcome)>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(shared: &'a Shared, inner: MutexGuard<'a, Inner>) -> Self {
        let after = After {
            shared,
            seen: Vec::new(),
            ended: Ended::default(),
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
        if self.inner.ended_calls.first.is_some() {
            self.after.ended = mem::take(&mut self.inner.ended_calls);
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

impl Ended {
    pub(super) fn push(&mut self, waiter: oneshot::Sender<Outcome>, outcome: Outcome) {
        // Most often there is one, and it takes no list to hold it.
        match &mut self.first {
            none @ None => *none = Some((waiter, outcome)),
            Some(_) => self.others.push((waiter, outcome)),
        }
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        // A caller that is gone has cancelled the call already.
        if let Some((waiter, outcome)) = self.first.take() {
            let _ = waiter.send(outcome);
            for (waiter, outcome) in self.others.drain(..) {
                let _ = waiter.send(outcome);
            }
        }
    }
}
