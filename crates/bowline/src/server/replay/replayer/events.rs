//! The known events of a conversation, in order.

use std::collections::VecDeque;

use super::History;
use crate::server::replay::journal::{Entry, EntryOutcome};

/// The delivered and pending events of a conversation.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    delivered: Vec<Event>,
    /// In delivery order, except that events the conversation has not reached
    /// wait.
    pending: VecDeque<Event>,
    /// The ids of steps about to start, to be written to the journal.
    starting_steps: Vec<Box<str>>,
    /// Those being written.
    steps_being_written: Vec<Box<str>>,
    is_writing: bool,
    /// Whether an event was delivered that was not delivered in earlier rounds.
    has_new: bool,
}

#[derive(Debug)]
struct Event {
    entry: Entry,
    persistence: Persistence,
    /// Whether it must be written before it is delivered.
    must_persist_first: bool,
}

/// Whether an event is in the journal, or in the state received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Persistence {
    /// In the state: delivered in an earlier round.
    PreviousRound,
    /// In the journal, or among the answers received.
    Stored,
    Writing,
    Unstored,
}

/// A batch to write to the journal.
#[derive(Debug, PartialEq)]
pub(crate) struct PendingWrite {
    /// The events.
    pub(crate) events: Vec<Entry>,
    /// The steps that start.
    pub(crate) started_steps: Vec<Box<str>>,
}

impl EventQueue {
    /// Creates the queue of a new conversation.
    pub(super) fn new() -> Self {
        Self {
            has_new: true,
            ..Self::default()
        }
    }

    pub(super) fn from_history(history: History) -> Self {
        let event = |persistence| {
            move |entry| Event {
                entry,
                persistence,
                must_persist_first: false,
            }
        };
        let before = history
            .before
            .into_iter()
            .map(event(Persistence::PreviousRound));
        let answers = history.answers.into_iter().map(event(Persistence::Stored));
        let since = history.since.into_iter().map(event(Persistence::Stored));
        Self {
            pending: before.chain(answers).chain(since).collect(),
            ..Self::default()
        }
    }

    /// Notes that no earlier round has delivered anything.
    pub(super) fn mark_first_round(&mut self) {
        self.has_new = true;
    }

    pub(super) fn push(&mut self, entry: Entry, must_persist_first: bool) {
        self.pending.push_back(Event {
            entry,
            persistence: Persistence::Unstored,
            must_persist_first,
        });
    }

    /// Iterates over the events not delivered yet.
    pub(super) fn undelivered(&self) -> impl Iterator<Item = &Entry> {
        self.pending.iter().map(|event| &event.entry)
    }

    pub(super) fn outcome(&self, id: &str) -> Option<&EntryOutcome> {
        let all = self.delivered.iter().chain(&self.pending);
        let mut all = all.map(|event| &event.entry);
        all.find(|entry| *entry.id == *id).map(|it| &it.outcome)
    }

    pub(super) fn is_replaying(&self) -> bool {
        !self.has_new
    }

    /// Delivers the first event that is awaited, unless it must be written
    /// first.
    pub(super) fn deliver_next(&mut self, is_waited_for: impl Fn(&str) -> bool) -> Option<&Entry> {
        let waited_for = |event: &Event| is_waited_for(&event.entry.id);
        let at = self.pending.iter().position(waited_for)?;
        let event = self.pending.get(at)?;
        if event.must_persist_first && event.persistence != Persistence::Stored {
            return None;
        }
        let event = self.pending.remove(at)?;
        self.has_new |= event.persistence != Persistence::PreviousRound;
        self.delivered.push(event);
        self.delivered.last().map(|event| &event.entry)
    }

    /// Takes the delivered events, for the state.
    pub(super) fn take_delivered(&mut self) -> Vec<Entry> {
        let events = std::mem::take(&mut self.delivered);
        events.into_iter().map(|event| event.entry).collect()
    }
}

/// Journal writes.
impl EventQueue {
    pub(super) fn begin_step(&mut self, id: &str) {
        self.starting_steps.push(id.into());
    }

    /// Cancels a step that was about to start.
    pub(super) fn cancel_step(&mut self, id: &str) {
        self.starting_steps.retain(|known| **known != *id);
    }

    pub(super) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Returns whether something must be written, and no write is in progress.
    pub(super) fn must_write(&self) -> bool {
        let must_persist_first =
            |event: &Event| event.must_persist_first && event.persistence == Persistence::Unstored;
        !self.is_writing
            && (!self.starting_steps.is_empty() || self.pending.iter().any(must_persist_first))
    }

    /// Returns whether events were delivered that are not written: a clock
    /// reading, a timeout, an abandoned step.
    pub(super) fn has_unwritten(&self) -> bool {
        let mut all = self.delivered.iter().chain(&self.pending);
        all.any(|event| event.persistence == Persistence::Unstored)
    }

    /// Cancels all steps about to start.
    pub(super) fn cancel_starting_steps(&mut self) {
        self.starting_steps.clear();
    }

    /// Takes everything not written yet, to write it now.
    pub(super) fn take_pending(&mut self) -> PendingWrite {
        self.is_writing = true;
        self.steps_being_written = std::mem::take(&mut self.starting_steps);
        let all = self.delivered.iter_mut().chain(&mut self.pending);
        let new = all.filter(|event| event.persistence == Persistence::Unstored);
        let events = new.map(|event| {
            event.persistence = Persistence::Writing;
            event.entry.clone()
        });
        PendingWrite {
            events: events.collect(),
            started_steps: self.steps_being_written.clone(),
        }
    }

    /// Marks the current write as done. Returns the steps that may start.
    pub(super) fn mark_written(&mut self) -> Vec<Box<str>> {
        self.is_writing = false;
        for event in self.delivered.iter_mut().chain(&mut self.pending) {
            if event.persistence == Persistence::Writing {
                event.persistence = Persistence::Stored;
            }
        }
        std::mem::take(&mut self.steps_being_written)
    }
}
