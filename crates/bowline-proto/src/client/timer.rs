//! Every reason to wake up, in one table with one deadline.

use std::collections::BTreeSet;

use super::CallId;
use crate::Instant;

/// A reason to wake up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The session is not open yet.
    Opening,
    /// The era probe is not answered yet.
    Probe,
    /// The backoff is over.
    Redial,
    /// The link did not confirm its end.
    CloseTimeout,
    /// Tombstones may have expired.
    SweepCancelledCalls,
    /// The subscription stream should be opened again.
    ReopenSubscriptionStream,
    /// Answers to the server may be offered to the link again.
    ResendDeferred,
    /// A call has had its time.
    Deadline(CallId),
    /// A call may be offered to the link again.
    Resend(CallId),
}

impl Timer {
    /// The timers of which there is one, with a slot each.
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
    /// The earliest of them. They change seldom, and every call asks.
    earliest: Option<Instant>,
    calls: BTreeSet<(Instant, Timer)>,
}

impl Timers {
    /// Arms a timer of which there is one, replacing an earlier deadline.
    pub(super) fn arm(&mut self, timer: Timer, at: Instant) {
        match timer.slot() {
            Some(slot) => self.set(slot, Some(at)),
            None => {
                self.calls.insert((at, timer));
            }
        }
    }

    /// Disarms a timer of which there is one.
    pub(super) fn disarm(&mut self, timer: Timer) {
        if let Some(slot) = timer.slot() {
            self.set(slot, None);
        }
    }

    fn set(&mut self, slot: usize, at: Option<Instant>) {
        self.single[slot] = at;
        self.earliest = self.single.iter().copied().flatten().min();
    }

    /// Disarms a call's timer, which stands at `at`.
    pub(super) fn disarm_at(&mut self, timer: Timer, at: Instant) {
        self.calls.remove(&(at, timer));
    }

    pub(super) fn disarm_all(&mut self) {
        *self = Self::default();
    }

    pub(super) fn is_armed(&self, timer: Timer) -> bool {
        timer.slot().is_some_and(|slot| self.single[slot].is_some())
    }

    /// When `timer`, of which there is one, will fire.
    pub(super) fn deadline_of(&self, timer: Timer) -> Option<Instant> {
        self.single[timer.slot()?]
    }

    /// The earliest deadline.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let call = self.calls.first().map(|(at, _)| *at);
        self.earliest.into_iter().chain(call).min()
    }

    /// Takes one timer that is due. Single timers go first: a state change
    /// answers the calls that it concerns with a better reason than a timeout.
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

    /// How many per-call timers are armed.
    pub(super) fn armed_call_timers(&self) -> usize {
        self.calls.len()
    }
}
