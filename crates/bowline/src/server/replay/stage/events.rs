//! What is known of a conversation, in its order.

use std::collections::VecDeque;

use super::Script;
use crate::server::replay::journal::{Entry, Outcome};

/// What a conversation was told, and what it is to be told next.
#[derive(Debug, Default)]
pub(super) struct Events {
    told: Vec<Event>,
    /// In the order in which it is told, except that what the conversation has
    /// not come to waits.
    script: VecDeque<Event>,
    /// Names of steps that are about to begin, to be written down.
    beginning: Vec<Box<str>>,
    /// Those that are being written.
    being_written: Vec<Box<str>>,
    is_writing: bool,
    /// Whether the conversation was told something that it was not told in
    /// earlier rounds.
    is_new: bool,
}

#[derive(Debug)]
struct Event {
    entry: Entry,
    kept: Kept,
    /// Whether it must be written down before the conversation is told.
    waits: bool,
}

/// Whether something is in the journal, or in the state that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kept {
    /// In the state: it was told in an earlier round.
    Earlier,
    /// In the journal, or with the answers that came.
    Yes,
    BeingWritten,
    No,
}

/// What is to be written to the journal, in one piece.
#[derive(Debug, PartialEq)]
pub(crate) struct Pending {
    /// What happened.
    pub(crate) events: Vec<Entry>,
    /// The steps that begin.
    pub(crate) begun: Vec<Box<str>>,
}

impl Events {
    /// Of a conversation that begins.
    pub(super) fn first() -> Self {
        Self {
            is_new: true,
            ..Self::default()
        }
    }

    pub(super) fn resumed(script: Script) -> Self {
        let event = |kept| {
            move |entry| Event {
                entry,
                kept,
                waits: false,
            }
        };
        let before = script.before.into_iter().map(event(Kept::Earlier));
        let answers = script.answers.into_iter().map(event(Kept::Yes));
        let since = script.since.into_iter().map(event(Kept::Yes));
        Self {
            script: before.chain(answers).chain(since).collect(),
            ..Self::default()
        }
    }

    pub(super) fn push(&mut self, entry: Entry, waits: bool) {
        self.script.push_back(Event {
            entry,
            kept: Kept::No,
            waits,
        });
    }

    /// What the conversation was not told yet.
    pub(super) fn untold(&self) -> impl Iterator<Item = &Entry> {
        self.script.iter().map(|event| &event.entry)
    }

    pub(super) fn outcome(&self, id: &str) -> Option<&Outcome> {
        let all = self.told.iter().chain(&self.script);
        let mut all = all.map(|event| &event.entry);
        all.find(|entry| *entry.id == *id).map(|it| &it.outcome)
    }

    pub(super) fn is_replaying(&self) -> bool {
        !self.is_new
    }

    /// Tells the first thing that is waited for, unless that must be written
    /// down before.
    pub(super) fn tell(&mut self, is_waited_for: impl Fn(&str) -> bool) -> Option<&Entry> {
        let waited_for = |event: &Event| is_waited_for(&event.entry.id);
        let at = self.script.iter().position(waited_for)?;
        let event = self.script.get(at)?;
        if event.waits && event.kept != Kept::Yes {
            return None;
        }
        let event = self.script.remove(at)?;
        self.is_new |= event.kept != Kept::Earlier;
        self.told.push(event);
        self.told.last().map(|event| &event.entry)
    }

    /// What was told, for the state.
    pub(super) fn take_told(&mut self) -> Vec<Entry> {
        let told = std::mem::take(&mut self.told);
        told.into_iter().map(|event| event.entry).collect()
    }
}

/// What is written to the journal.
impl Events {
    pub(super) fn begin(&mut self, id: &str) {
        self.beginning.push(id.into());
    }

    /// A step that was about to begin does not.
    pub(super) fn call_off(&mut self, id: &str) {
        self.beginning.retain(|known| **known != *id);
    }

    pub(super) fn is_writing(&self) -> bool {
        self.is_writing
    }

    /// Whether something waits to be written, and nothing is being written.
    pub(super) fn must_write(&self) -> bool {
        let waits = |event: &Event| event.waits && event.kept == Kept::No;
        !self.is_writing && (!self.beginning.is_empty() || self.script.iter().any(waits))
    }

    /// Whether something was told that others would not be: a clock reading, a
    /// timeout, a step that was given up.
    pub(super) fn has_unwritten(&self) -> bool {
        let mut all = self.told.iter().chain(&self.script);
        all.any(|event| event.kept == Kept::No)
    }

    /// No step begins any more.
    pub(super) fn call_off_all(&mut self) {
        self.beginning.clear();
    }

    /// All that is not written yet, to be written now.
    pub(super) fn take_pending(&mut self) -> Pending {
        self.is_writing = true;
        self.being_written = std::mem::take(&mut self.beginning);
        let all = self.told.iter_mut().chain(&mut self.script);
        let new = all.filter(|event| event.kept == Kept::No);
        let events = new.map(|event| {
            event.kept = Kept::BeingWritten;
            event.entry.clone()
        });
        Pending {
            events: events.collect(),
            begun: self.being_written.clone(),
        }
    }

    /// What was taken to be written is. Gives the steps that may begin.
    pub(super) fn written(&mut self) -> Vec<Box<str>> {
        self.is_writing = false;
        for event in self.told.iter_mut().chain(&mut self.script) {
            if event.kept == Kept::BeingWritten {
                event.kept = Kept::Yes;
            }
        }
        std::mem::take(&mut self.being_written)
    }
}
