//! The interface for running a conversation: the next action when it is
//! blocked.

use std::{task::Waker, time::Duration};

use super::{Divergence, EntrySlot, Inner, PendingWrite, Replayer, RunFailure, Suspension};
use crate::server::replay::journal::{EntryOutcome, Fingerprint};

/// How long a conversation may take to reach what is expected of it, once it is
/// blocked.
const STUCK_TIMEOUT: Duration = Duration::from_secs(2);

/// The action to take when a conversation is blocked.
#[derive(Debug)]
pub(crate) enum Action {
    /// Poll it again; an event was delivered.
    Poll,
    /// Wait for running work.
    Wait,
    /// Write this to its journal, and then call [`Replayer::mark_written`].
    Write(PendingWrite),
    /// It waits for answers, and for nothing that must complete. It has been
    /// suspended with these contents.
    Suspend(Suspension),
    /// It has not reached everything expected, and if it does not within this
    /// time, it never will.
    Stuck(RunFailure, Duration),
    Fail(RunFailure),
}

impl Replayer {
    /// Sets the waker for events outside of the conversation's own future.
    pub(crate) fn set_waker(&self, runner: &Waker) {
        match &mut self.lock().runner {
            Some(known) => known.clone_from(runner),
            none => *none = Some(runner.clone()),
        }
    }

    /// Returns the next action when the conversation is blocked.
    ///
    /// If it is to be suspended, that happens here, under the same lock as the
    /// decision: a step that a task on another thread started in between would
    /// be in no journal, and happen again.
    pub(crate) fn next_action(&self) -> Action {
        let mut inner = self.lock();
        if let Some(failure) = &inner.error {
            return Action::Fail(failure.clone());
        }
        if inner.deliver_next() || inner.release_held_steps() {
            return Action::Poll;
        }
        if inner.shutdown_reason.is_some() {
            inner.events.cancel_starting_steps();
        }
        if inner.events.must_write() {
            return Action::Write(inner.events.take_pending());
        }
        if inner.is_busy() {
            return Action::Wait;
        }
        if let Some(reason) = &inner.shutdown_reason {
            return Action::Fail(reason.clone());
        }
        let next = inner.idle_action();
        if matches!(next, Action::Suspend(_)) {
            let wakers = inner.close();
            drop(inner);
            wakers.into_iter().for_each(Waker::wake);
        }
        next
    }

    /// Marks the current journal write as done.
    pub(crate) fn mark_written(&self) {
        let mut inner = self.lock();
        let mut wakers = Vec::new();
        for id in inner.events.mark_written() {
            match inner.starting_steps.remove(&id) {
                Some(waker) => {
                    inner.granted_steps.insert(id);
                    wakers.push(waker);
                }
                None => inner.abandon_step(&id, Fingerprint::for_step(&id), 0),
            }
        }
        inner.wake_runner();
        drop(inner);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Lets running work complete and starts nothing new. Then the round ends
    /// for this reason, unless the conversation has ended.
    pub(crate) fn shut_down(&self, reason: RunFailure) {
        let mut inner = self.lock();
        if inner.shutdown_reason.is_none() {
            inner.shutdown_reason = Some(reason);
            inner.wake_runner();
        }
    }

    /// Checks that the conversation reached all known events before it ended.
    pub(crate) fn check_end(&self) -> Result<(), RunFailure> {
        let inner = self.lock();
        if let Some(failure) = &inner.error {
            return Err(failure.clone());
        }
        let mut undelivered = inner.events.undelivered().map(|it| &it.id);
        match undelivered.find(|id| !inner.slots.contains_key(*id)) {
            Some(missing) => Err(Divergence::Missing(missing.clone()).into()),
            None => Ok(()),
        }
    }

    /// Delivers and starts nothing more, and releases all waiters.
    pub(crate) fn close(&self) {
        let wakers = self.lock().close();
        wakers.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Returns whether work is running that the conversation waits for, or that
    /// must complete before it is suspended.
    fn is_busy(&self) -> bool {
        self.running_steps > 0 || !self.granted_steps.is_empty() || self.events.is_writing()
    }

    /// Returns the action if everything it reached was delivered and nothing is
    /// running.
    fn idle_action(&mut self) -> Action {
        let has_new_work = !self.open_questions.is_empty() || !self.held_steps.is_empty();
        let undelivered = self.events.undelivered().next().map(|it| it.id.clone());
        match undelivered {
            None if has_new_work && self.is_journaled && self.events.has_unwritten() => {
                Action::Write(self.events.take_pending())
            }
            None if has_new_work => Action::Suspend(Suspension {
                journal: self.events.take_delivered(),
                questions: std::mem::take(&mut self.open_questions),
            }),
            Some(missing) if has_new_work => {
                let missing = Divergence::Missing(missing);
                Action::Stuck(missing.into(), self.stuck_timeout())
            }
            // Waits forever, or until steps that were abandoned before are
            // abandoned again.
            _ => match self.abandoned_steps.keys().next() {
                Some(id) => {
                    Action::Stuck(Divergence::Awaited(id.clone()).into(), self.stuck_timeout())
                }
                None => Action::Wait,
            },
        }
    }

    /// Suspends the conversation and returns the wakers of all waiters, to be
    /// woken once the lock is free.
    fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        let slots = self.slots.values_mut();
        let mut wakers: Vec<_> = slots.filter_map(EntrySlot::take_waker).collect();
        wakers.extend(self.held_steps.drain().map(|(_, waker)| waker));
        wakers.extend(self.starting_steps.drain().map(|(_, waker)| waker));
        wakers
    }

    /// Delivers the first event that is awaited. Returns whether there was one.
    fn deliver_next(&mut self) -> bool {
        let slots = &mut self.slots;
        let Some(entry) = self.events.deliver_next(|id| slots.contains_key(id)) else {
            return false;
        };
        match (slots.get_mut(&entry.id), &entry.outcome) {
            (Some(EntrySlot::Waiting(_)), EntryOutcome::Abandoned(seconds)) => {
                let elapsed = Duration::from_secs(*seconds);
                self.abandoned_steps.insert(entry.id.clone(), elapsed);
            }
            (Some(slot @ EntrySlot::Waiting(_)), outcome) => {
                let ready = EntrySlot::Ready(outcome.clone());
                // Wakes futures that poll only what was woken.
                let waker = std::mem::replace(slot, ready).into_waker();
                waker.into_iter().for_each(Waker::wake);
            }
            _ => {}
        }
        true
    }

    /// Returns how long to wait for what is expected: longer than it took to
    /// abandon it before.
    fn stuck_timeout(&self) -> Duration {
        let elapsed = self.abandoned_steps.values().max().copied();
        elapsed.unwrap_or_default().saturating_add(STUCK_TIMEOUT)
    }

    /// Lets new steps start, if nothing is expected anymore. Returns whether
    /// there were any.
    fn release_held_steps(&mut self) -> bool {
        if self.held_steps.is_empty() || self.missing_entries > 0 {
            return false;
        }
        self.held_steps.drain().for_each(|(_, waker)| waker.wake());
        true
    }
}
