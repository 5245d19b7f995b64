//! How steps begin and end.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::time::Instant;

use super::{EntrySlot, Inner, Replayer};
use crate::server::replay::journal::{Entry, EntryOutcome, Fingerprint};

impl Replayer {
    /// Begins a new step. It must end, or be dropped, before the conversation
    /// is put off. `None` if that has happened: a task of its own came too
    /// late, and what it did now would be done again when the conversation goes
    /// on.
    ///
    /// A conversation that takes the same path again does nothing new before
    /// it has come to all that is expected of it. So the step waits for that:
    /// off the path, nothing may have an effect. Then it waits until the
    /// journal, where there is one, says that it begins.
    pub(crate) fn begin_step<'a>(&'a self, id: &'a str, fingerprint: Fingerprint) -> StepStart<'a> {
        StepStart {
            replayer: self,
            id,
            fingerprint,
        }
    }
}

/// A step that is to begin.
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
    /// Whether a step may begin that the journal does not know. If not, it is
    /// noted that it wants to.
    fn may_begin(&mut self, id: &str, cx: &Context<'_>) -> bool {
        if self.error.is_some() {
            // Soon all of this is dropped, and until then nothing may happen.
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

    /// The step began, or the journal says so, and nobody knows what came of
    /// it. It may have had its effect, so it must not be begun again.
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

/// A step under way.
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
