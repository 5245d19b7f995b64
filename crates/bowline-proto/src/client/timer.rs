//! Timers: every reason to wake up, in one table with one deadline.

use std::collections::BTreeSet;

use super::CallId;
use crate::Instant;

/// A reason to wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The session did not open in time.
    Opening,
    /// The era probe was not answered in time.
    Probe,
    /// The backoff is over.
    Redial,
    /// The link did not confirm that it closed.
    CloseTimeout,
    /// Ids of cancelled calls may have expired.
    SweepCancelledCalls,
    /// The subscription stream should be opened again.
    ReopenSubscriptionStream,
    /// Deferred responses to the server may be sent again.
    ResendDeferred,
    /// A call reached its deadline.
    Deadline(CallId),
    /// A call may be sent again.
    Resend(CallId),
}

impl Timer {
    /// The singleton timers, with one slot each.
    const SINGLE: [Self; 7] = [
        Self::Opening,
        Self::Probe,
        Self::Redial,
        Self::CloseTimeout,
        Self::SweepCancelledCalls,
        Self::ReopenSubscriptionStream,
        Self::ResendDeferred,
    ];

    fn slot(self) -> Option<usize> {
        match self {
            Self::Deadline(_) | Self::Resend(_) => None,
            _ => Self::SINGLE.iter().position(|single| *single == self),
        }
    }
}

/// The armed timers.
#[derive(Debug, Default)]
pub(super) struct Timers {
    single: [Option<Instant>; Timer::SINGLE.len()],
    /// The earliest deadline of the singleton timers. They change rarely, and every
    /// call needs it.
    earliest: Option<Instant>,
    calls: BTreeSet<(Instant, Timer)>,
}

impl Timers {
    /// Arms a timer. A singleton timer's earlier deadline is replaced.
    pub(super) fn arm(&mut self, timer: Timer, at: Instant) {
        match timer.slot() {
            Some(slot) => self.set(slot, Some(at)),
            None => {
                self.calls.insert((at, timer));
            }
        }
    }

    /// Disarms a singleton timer.
    pub(super) fn disarm(&mut self, timer: Timer) {
        if let Some(slot) = timer.slot() {
            self.set(slot, None);
        }
    }

    fn set(&mut self, slot: usize, at: Option<Instant>) {
        self.single[slot] = at;
        self.earliest = self.single.iter().copied().flatten().min();
    }

    /// Disarms a call's timer that is armed for `at`.
    pub(super) fn disarm_at(&mut self, timer: Timer, at: Instant) {
        self.calls.remove(&(at, timer));
    }

    pub(super) fn disarm_all(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_armed(&self, timer: Timer) -> bool {
        timer.slot().is_some_and(|slot| self.single[slot].is_some())
    }

    /// Returns the deadline of a singleton timer.
    pub(super) fn deadline_of(&self, timer: Timer) -> Option<Instant> {
        self.single[timer.slot()?]
    }

    /// Returns the earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let call = self.calls.first().map(|(at, _)| *at);
        self.earliest.into_iter().chain(call).min()
    }

    /// Removes and returns a timer that is due. Singleton timers come first: a state
    /// change ends the affected calls with a better reason than a timeout.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<Timer> {
        for (slot, timer) in Timer::SINGLE.into_iter().enumerate() {
            if self.single[slot].is_some_and(|at| at <= now) {
                self.set(slot, None);
                return Some(timer);
            }
        }
        let is_due = self.calls.first().is_some_and(|(at, _)| *at <= now);
        is_due
            .then(|| self.calls.pop_first())?
            .map(|(_, timer)| timer)
    }

    /// Returns how many per-call timers are armed.
    pub(super) fn armed_call_timers(&self) -> usize {
        self.calls.len()
    }
}
