//! For whoever runs a conversation: what is to be done when it stands still.

use std::{task::Waker, time::Duration};

use super::{Divergence, Fault, Inner, Pending, PutOff, Slot, Stage};
use crate::server::replay::journal::{Mark, Outcome};

/// How long a conversation may take to do what is expected of it, once it can
/// go no further otherwise.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is to be done when a conversation can go no further by itself.
#[derive(Debug)]
pub(crate) enum Next {
    /// Run it again; it was told something.
    Again,
    /// Wait for what it waits for.
    Wait,
    /// Write this to its journal, and say when it is there.
    Write(Pending),
    /// It waits for answers, and for nothing that must be waited for. It has
    /// been put off, and this is what is to be kept of it.
    Suspend(PutOff),
    /// It has not done all that is expected, and if it does not within this
    /// time, it never will.
    Stuck(Fault, Duration),
    Fail(Fault),
}

impl Stage {
    /// Whom to wake when something happens outside of the conversation's own
    /// future.
    pub(crate) fn watch(&self, runner: &Waker) {
        match &mut self.lock().runner {
            Some(known) => known.clone_from(runner),
            none => *none = Some(runner.clone()),
        }
    }

    /// The conversation can go no further by itself.
    ///
    /// If it is to be put off, that happens here, under the lock that it was
    /// decided under: a step that a task on another thread began in between
    /// would be in no journal, and happen again.
    pub(crate) fn next(&self) -> Next {
        let mut inner = self.lock();
        if let Some(fault) = &inner.fault {
            return Next::Fail(fault.clone());
        }
        if inner.tell_next() || inner.release_held() {
            return Next::Again;
        }
        if inner.winding_down.is_some() {
            inner.events.call_off_all();
        }
        if inner.events.must_write() {
            return Next::Write(inner.events.take_pending());
        }
        if inner.is_busy() {
            return Next::Wait;
        }
        if let Some(reason) = &inner.winding_down {
            return Next::Fail(reason.clone());
        }
        let next = inner.stand_still();
        if matches!(next, Next::Suspend(_)) {
            let waiting = inner.close();
            drop(inner);
            waiting.into_iter().for_each(Waker::wake);
        }
        next
    }

    /// What was to be written is.
    pub(crate) fn written(&self) {
        let mut inner = self.lock();
        let mut waiting = Vec::new();
        for id in inner.events.written() {
            match inner.beginning.remove(&id) {
                Some(waker) => {
                    inner.granted.insert(id);
                    waiting.push(waker);
                }
                None => inner.give_up(&id, Mark::of_step(&id), 0),
            }
        }
        inner.wake_runner();
        drop(inner);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// What is under way comes to its end, and nothing new begins. Then the
    /// round ends for this reason, unless the conversation has.
    pub(crate) fn wind_down(&self, reason: Fault) {
        let mut inner = self.lock();
        if inner.winding_down.is_none() {
            inner.winding_down = Some(reason);
            inner.wake_runner();
        }
    }

    /// The conversation came to its end: it must have been through all that
    /// was known of it.
    pub(crate) fn check_end(&self) -> Result<(), Fault> {
        let inner = self.lock();
        if let Some(fault) = &inner.fault {
            return Err(fault.clone());
        }
        let mut untold = inner.events.untold().map(|it| &it.id);
        match untold.find(|id| !inner.slots.contains_key(*id)) {
            Some(missing) => Err(Divergence::Missing(missing.clone()).into()),
            None => Ok(()),
        }
    }

    /// Nothing is told any more, and nothing begins. Whoever still waits is let
    /// go.
    pub(crate) fn close(&self) {
        let waiting = self.lock().close();
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Inner {
    /// Whether something is under way that the conversation is told of, or that
    /// must be known before it is put off.
    fn is_busy(&self) -> bool {
        self.running > 0 || !self.granted.is_empty() || self.events.is_writing()
    }

    /// All that it came to has been told, and nothing is under way.
    fn stand_still(&mut self) -> Next {
        let anew = !self.open.is_empty() || !self.held.is_empty();
        let untold = self.events.untold().next().map(|it| it.id.clone());
        match untold {
            None if anew && self.is_journaled && self.events.has_unwritten() => {
                Next::Write(self.events.take_pending())
            }
            None if anew => Next::Suspend(PutOff {
                journal: self.events.take_told(),
                asked: std::mem::take(&mut self.open),
            }),
            Some(missing) if anew => {
                let missing = Divergence::Missing(missing);
                Next::Stuck(missing.into(), self.patience())
            }
            // There is nothing but to wait: for ever, or for what was given up
            // before to be given up again.
            _ => match self.given_up.keys().next() {
                Some(id) => Next::Stuck(Divergence::Awaited(id.clone()).into(), self.patience()),
                None => Next::Wait,
            },
        }
    }

    /// Puts the conversation off, and hands over who waits: they are to be
    /// woken once the lock is free.
    fn close(&mut self) -> Vec<Waker> {
        self.closed = true;
        let slots = self.slots.values_mut();
        let mut waiting: Vec<_> = slots.filter_map(Slot::take_waker).collect();
        waiting.extend(self.held.drain().map(|(_, waker)| waker));
        waiting.extend(self.beginning.drain().map(|(_, waker)| waker));
        waiting
    }

    /// Tells the first thing that is waited for. Says whether there was one.
    fn tell_next(&mut self) -> bool {
        let slots = &mut self.slots;
        let Some(entry) = self.events.tell(|id| slots.contains_key(id)) else {
            return false;
        };
        match (slots.get_mut(&entry.id), &entry.outcome) {
            (Some(Slot::Waiting(_)), Outcome::GivenUp(seconds)) => {
                let took = Duration::from_secs(*seconds);
                self.given_up.insert(entry.id.clone(), took);
            }
            (Some(slot @ Slot::Waiting(_)), outcome) => {
                let told = Slot::Ready(outcome.clone());
                // Futures that poll only what was woken must hear of it.
                let waker = std::mem::replace(slot, told).into_waker();
                waker.into_iter().for_each(Waker::wake);
            }
            _ => {}
        }
        true
    }

    /// How long to wait for what is expected: longer than it took to give up
    /// before.
    fn patience(&self) -> Duration {
        let took = self.given_up.values().max().copied();
        took.unwrap_or_default().saturating_add(PATIENCE)
    }

    /// Lets new steps begin, if nothing is expected any more. Says whether
    /// there were any.
    fn release_held(&mut self) -> bool {
        if self.held.is_empty() || self.missing > 0 {
            return false;
        }
        self.held.drain().for_each(|(_, waker)| waker.wake());
        true
    }
}
