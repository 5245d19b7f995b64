//! What is known of a conversation, in its order.

use std::collections::VecDeque;

use super::History;
use crate::server::replay::journal::{Entry, EntryOutcome};

/// What a conversation was told, and what it is to be told next.
#[derive(Debug, Default)]
pub(super) struct EventQueue {
    delivered: Vec<Event>,
    /// In the order in which it is told, except that what the conversation has
    /// not come to waits.
    pending: VecDeque<Event>,
    /// Names of steps that are about to begin, to be written down.
    starting_steps: Vec<Box<str>>,
    /// Those that are being written.
    steps_being_written: Vec<Box<str>>,
    is_writing: bool,
    /// Whether the conversation was told something that it was not told in
    /// earlier rounds.
    has_new: bool,
}

#[derive(Debug)]
struct Event {
    entry: Entry,
    persistence: Persistence,
    /// Whether it must be written down before the conversation is told.
    must_persist_first: bool,
}

/// Whether something is in the journal, or in the state that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Persistence {
    /// In the state: it was told in an earlier round.
    PreviousRound,
    /// In the journal, or with the answers that came.
    Stored,
    Writing,
    Unstored,
}

/// What is to be written to the journal, in one piece.
#[derive(Debug, PartialEq)]
pub(crate) struct PendingWrite {
    /// What happened.
    pub(crate) events: Vec<Entry>,
    /// The steps that begin.
    pub(crate) started_steps: Vec<Box<str>>,
}

impl EventQueue {
    /// Of a conversation that begins.
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

    pub(super) fn push(&mut self, entry: Entry, must_persist_first: bool) {
        self.pending.push_back(Event {
            entry,
            persistence: Persistence::Unstored,
            must_persist_first,
        });
    }

    /// What the conversation was not told yet.
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

    /// Tells the first thing that is waited for, unless that must be written
    /// down before.
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

    /// What was told, for the state.
    pub(super) fn take_delivered(&mut self) -> Vec<Entry> {
        let events = std::mem::take(&mut self.delivered);
        events.into_iter().map(|event| event.entry).collect()
    }
}

/// What is written to the journal.
impl EventQueue {
    pub(super) fn begin_step(&mut self, id: &str) {
        self.starting_steps.push(id.into());
    }

    /// A step that was about to begin does not.
    pub(super) fn cancel_step(&mut self, id: &str) {
        self.starting_steps.retain(|known| **known != *id);
    }

    pub(super) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Whether something waits to be written, and nothing is being written.
    pub(super) fn must_write(&self) -> bool {
        let must_persist_first =
            |event: &Event| event.must_persist_first && event.persistence == Persistence::Unstored;
        !self.is_writing
            && (!self.starting_steps.is_empty() || self.pending.iter().any(must_persist_first))
    }

    /// Whether something was told that others would not be: a clock reading, a
    /// timeout, a step that was given up.
    pub(super) fn has_unwritten(&self) -> bool {
        let mut all = self.delivered.iter().chain(&self.pending);
        all.any(|event| event.persistence == Persistence::Unstored)
    }

    /// No step begins any more.
    pub(super) fn cancel_starting_steps(&mut self) {
        self.starting_steps.clear();
    }

    /// All that is not written yet, to be written now.
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

    /// What was taken to be written is. Gives the steps that may begin.
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
