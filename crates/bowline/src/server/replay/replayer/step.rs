//! The start and end of steps.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::time::Instant;

use super::{EntrySlot, Inner, Replayer};
use crate::server::replay::journal::{Entry, EntryOutcome, Fingerprint};

impl Replayer {
    /// Starts a new step. It must end, or be dropped, before the conversation
    /// is suspended. `None` if that has happened: a separate task came too
    /// late, and its side effect would happen again when the conversation is
    /// resumed.
    ///
    /// A conversation that repeats its path does nothing new before it has
    /// reached everything expected. So the step waits for that: off the path,
    /// nothing may have a side effect. Then it waits until its start is written
    /// to the journal, if there is one.
    pub(crate) fn begin_step<'a>(&'a self, id: &'a str, fingerprint: Fingerprint) -> StepStart<'a> {
        StepStart {
            replayer: self,
            id,
            fingerprint,
        }
    }
}

/// A step that is about to start.
pub(crate) struct StepStart<'a> {
    replayer: &'a Replayer,
    id: &'a str,
    fingerprint: Fingerprint,
}

impl<'a> Future for StepStart<'a> {
    type Output = Option<RunningStep<'a>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<RunningStep<'a>>> {
        let mut inner = self.replayer.lock();
        if inner.closed {
            return Poll::Ready(None);
        }
        if !inner.granted_steps.remove(self.id) && !inner.may_begin(self.id, cx) {
            return Poll::Pending;
        }
        inner.running_steps += 1;
        Poll::Ready(Some(RunningStep {
            replayer: self.replayer,
            id: self.id,
            fingerprint: self.fingerprint,
            since: Instant::now(),
            ended: false,
        }))
    }
}

impl Inner {
    /// Returns whether a step that is not in the journal may start. If not,
    /// registers it to start later.
    fn may_begin(&mut self, id: &str, cx: &Context<'_>) -> bool {
        if self.error.is_some() {
            // All of this is dropped soon, and until then nothing may happen.
            return false;
        }
        if self.missing_entries > 0 {
            let known = self.held_steps.insert(id.into(), cx.waker().clone());
            if known.is_none() {
                self.wake_runner();
            }
            return false;
        }
        if self.shutdown_reason.is_some() {
            return false;
        }
        if self.is_journaled {
            let known = self.starting_steps.insert(id.into(), cx.waker().clone());
            if known.is_none() {
                self.events.begin_step(id);
                self.wake_runner();
            }
            return false;
        }
        true
    }

    /// Records that the step started, here or according to the journal, and
    /// that its outcome is unknown. It may have had its side effect, so it must
    /// not be started again.
    pub(super) fn abandon_step(&mut self, id: &str, fingerprint: Fingerprint, seconds: u64) {
        let outcome = EntryOutcome::Abandoned(seconds);
        self.slots.insert(id.into(), EntrySlot::Closed);
        let id = id.into();
        if !self.closed {
            self.record_event(
                Entry {
                    id,
                    fingerprint,
                    outcome,
                },
                false,
            );
        }
    }
}

impl Drop for StepStart<'_> {
    fn drop(&mut self) {
        let mut inner = self.replayer.lock();
        inner.held_steps.remove(self.id);
        inner.starting_steps.remove(self.id);
        inner.events.cancel_step(self.id);
        if inner.granted_steps.remove(self.id) {
            inner.abandon_step(self.id, self.fingerprint, 0);
        }
    }
}

/// A running step.
pub(crate) struct RunningStep<'a> {
    replayer: &'a Replayer,
    id: &'a str,
    fingerprint: Fingerprint,
    since: Instant,
    ended: bool,
}

impl RunningStep<'_> {
    pub(crate) fn end(mut self, outcome: EntryOutcome) {
        self.ended = true;
        let (id, fingerprint) = (self.id.into(), self.fingerprint);
        self.replayer.lock().record_event(
            Entry {
                id,
                fingerprint,
                outcome,
            },
            true,
        );
    }
}

impl Drop for RunningStep<'_> {
    fn drop(&mut self) {
        let mut inner = self.replayer.lock();
        inner.running_steps -= 1;
        if !self.ended {
            let seconds = self.since.elapsed().as_secs() + 1;
            inner.abandon_step(self.id, self.fingerprint, seconds);
        }
        inner.wake_runner();
    }
}
