//! What is seen under the lock, until it is shown to those who look on.
//!
//! They are the author's code, or a subscriber of `tracing`. Whoever unlocks
//! the connection shows them what was seen meanwhile, one thread at a time, so
//! that they see everything in order. What is seen while somebody shows
//! something waits for its turn, also if it is the code of those who look on
//! that brought it about.

use std::{
    mem,
    ops::{Deref, DerefMut},
    sync::MutexGuard,
};

use super::shared::{Inner, Shared};
use crate::proto::server::Telemetry;

/// How many observations wait at most. What there is no room for is left out.
const MAX_WAITING: usize = 8192;

/// What was seen and not shown yet.
#[derive(Default)]
pub(super) struct Observations {
    waiting: Vec<Telemetry>,
    /// Whether somebody is showing what was seen before.
    showing: bool,
}

impl Observations {
    pub(super) fn push(&mut self, seen: Telemetry) {
        if self.waiting.len() < MAX_WAITING {
            self.waiting.push(seen);
        }
    }

    /// Takes what is to be shown, unless somebody else does so.
    fn begin(&mut self) -> Vec<Telemetry> {
        if self.showing || self.waiting.is_empty() {
            return Vec::new();
        }
        self.showing = true;
        mem::take(&mut self.waiting)
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
    seen: Vec<Telemetry>,
}

impl<'a> Locked<'a> {
    pub(super) fn new(shared: &'a Shared, inner: MutexGuard<'a, Inner>) -> Self {
        let seen = Vec::new();
        Self {
            inner,
            show: Show { shared, seen },
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
        self.show.seen = self.inner.observations.begin();
    }
}

impl Drop for Show<'_> {
    fn drop(&mut self) {
        while !self.seen.is_empty() {
            for seen in self.seen.drain(..) {
                self.shared.observe(&seen);
            }
            let mut inner = self.shared.lock_quietly();
            inner.observations.showing = false;
            self.seen = inner.observations.begin();
        }
    }
}
