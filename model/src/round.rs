//! A round of a conversation on a node, as `StoredJournal` and the replayer run it.

use std::fmt;

use crate::{
    journal::{Course, Entry, Evaluated, Journal, JournalRules, NewEntry, Outcome, Work},
    node::{Holder, Node},
    promise::Promises,
    world::World,
};

/// What the handler of a conversation does, and how its round runs.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// For each round, whether it has a step.
    pub steps: &'static [bool],
    /// Whether steps have `recover`.
    pub recovers: bool,
    /// Whether the service that `recover` asks refuses the step afterwards.
    pub honours_keys: bool,
    /// Whether the result of a step is written only after its effect.
    pub result_after_effect: bool,
    /// How journals behave.
    pub journal: JournalRules,
}

/// A round that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Round {
    /// What it began with.
    pub course: Course,
    /// The position of its next entry.
    position: u8,
    /// Whether the round has entries.
    has_entries: bool,
    /// What it does next.
    pub phase: Phase,
    /// Whether an attempt to write the next entry has failed, and may have succeeded.
    pub retries: bool,
}

/// What a round does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Append this.
    Append(Entry),
    /// Run a step whose beginning is written.
    Granted(Work),
}

/// What `JournalAccess::open` leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// Another node holds the lease.
    Waits,
    /// The conversation took another course, or entries are lost.
    Refused(Evaluated),
    /// It has ended in this round.
    Finished(Outcome),
    /// The round runs.
    Runs(Round),
    /// The round was suspended before, or needs nothing to be: its step ended like
    /// this.
    Suspended(Outcome),
}

/// What has become of a round after it wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It goes on.
    Continues,
    /// It waits for an answer. Its step ended like this.
    Suspended(Outcome),
    /// It ended the conversation.
    Ended(Outcome),
    /// Another node continued the conversation.
    Failed,
}

/// The conversation that a round works on.
pub struct Conversation<'a> {
    /// Its journal.
    pub journal: &'a mut Journal,
    /// What has happened in it.
    pub world: &'a mut World,
    /// The promises that were broken so far.
    pub broken: &'a mut Promises,
}

impl Script {
    /// Returns the first position that the state of a round does not cover.
    #[must_use]
    pub fn first_position(&self, course: Course) -> u8 {
        if course.round == 0 {
            return 0;
        }
        match (course.outcome, self.recovers) {
            (Outcome::NoStep, _) => 0,
            (Outcome::Found | Outcome::NotFound, _) | (Outcome::Unknown, true) => 4,
            (Outcome::Value, _) | (Outcome::Unknown, false) => 2,
        }
    }

    /// `JournalAccess::open`, `start_round` and the replay of what is in the journal.
    pub fn open(&self, at: &mut Conversation<'_>, node: Node, course: Course) -> Opened {
        let first_position = self.first_position(course);
        let acquired = at.journal.acquire(node, self.journal);
        let entry = match at.journal.evaluate(course, first_position) {
            Evaluated::Open(_) if !acquired => return Opened::Waits,
            Evaluated::Open(entry) => entry,
            ended => {
                if acquired {
                    at.journal.release(node);
                }
                return match ended {
                    Evaluated::Ended(outcome) => {
                        at.world.report(course, outcome, at.broken);
                        Opened::Finished(outcome)
                    }
                    refused => Opened::Refused(refused),
                };
            }
        };
        let mut round = Round {
            course,
            position: at.journal.next_position(),
            has_entries: entry.is_some(),
            phase: Phase::Granted(Work::Effect),
            retries: false,
        };
        match self.advance(at, &mut round, node, entry) {
            Progress::Suspended(outcome) => Opened::Suspended(outcome),
            _ => Opened::Runs(round),
        }
    }

    /// What follows the last entry of a round.
    fn advance(
        &self,
        at: &mut Conversation<'_>,
        round: &mut Round,
        node: Node,
        last: Option<Entry>,
    ) -> Progress {
        let number = usize::from(round.course.round);
        let next = match last {
            None if self.steps[number] => Entry::Begin(Work::Effect),
            Some(Entry::Begin(work)) => Entry::Unknown(work),
            Some(Entry::Unknown(Work::Effect)) if self.recovers => Entry::Begin(Work::Recover),
            Some(Entry::End(outcome)) => return Progress::Ended(outcome),
            delivered => {
                let outcome = match delivered {
                    None => Outcome::NoStep,
                    Some(Entry::Result(_, outcome)) => outcome,
                    _ => Outcome::Unknown,
                };
                at.world.deliver(round.course, outcome, at.broken);
                if number + 1 < self.steps.len() {
                    at.journal.release(node);
                    return Progress::Suspended(outcome);
                }
                Entry::End(outcome)
            }
        };
        round.phase = Phase::Append(next);
        Progress::Continues
    }

    /// `StoredJournal::append` and what follows, if the store's reply arrives.
    pub fn append(
        &self,
        at: &mut Conversation<'_>,
        round: &mut Round,
        node: Node,
        entry: Entry,
    ) -> Progress {
        let is_written = self.write(at.journal, round, entry)
            || round.retries && self.check_last_entry(at.journal, round, node);
        round.retries = false;
        if !is_written {
            let progress = self.conflict(at, round, node, entry);
            at.journal.release(node);
            return progress;
        }
        at.journal.unconfirmed = Holder::None;
        round.position += 1;
        round.has_entries = true;
        match entry {
            Entry::Begin(work) => {
                if work == Work::Effect {
                    at.world.begin(round.course, at.broken);
                }
                round.phase = Phase::Granted(work);
                Progress::Continues
            }
            Entry::End(outcome) => {
                at.world.report(round.course, outcome, at.broken);
                Progress::Ended(outcome)
            }
            entry => self.advance(at, round, node, Some(entry)),
        }
    }

    /// The store writes an entry, if its position is free.
    fn write(&self, journal: &mut Journal, round: &Round, entry: Entry) -> bool {
        let is_end = matches!(entry, Entry::End(_));
        let new = NewEntry {
            position: round.position,
            course: round.course,
            entry,
            truncate: is_end || !round.has_entries,
        };
        journal.append(new, self.journal)
    }

    /// An entry is written, and the store's reply is lost.
    pub fn append_unconfirmed(
        &self,
        journal: &mut Journal,
        round: &mut Round,
        node: Node,
        entry: Entry,
    ) {
        if self.write(journal, round, entry) {
            journal.unconfirmed = Holder::Node(node);
        }
        round.retries = true;
    }

    /// `StoredJournal::check_last_entry`: whether an earlier attempt has succeeded.
    fn check_last_entry(&self, journal: &mut Journal, round: &Round, node: Node) -> bool {
        journal.acquire(node, self.journal)
            && journal.next_position() == round.position + 1
            && journal.unconfirmed == Holder::Node(node)
    }

    /// The position is taken. `load_recorded_end`, if this would have been the end.
    fn conflict(
        &self,
        at: &mut Conversation<'_>,
        round: &Round,
        node: Node,
        entry: Entry,
    ) -> Progress {
        if !matches!(entry, Entry::End(_)) {
            return Progress::Failed;
        }
        at.journal.acquire(node, self.journal);
        let first_position = self.first_position(round.course);
        match at.journal.evaluate(round.course, first_position) {
            Evaluated::Ended(outcome) => {
                at.world.report(round.course, outcome, at.broken);
                Progress::Ended(outcome)
            }
            _ => Progress::Failed,
        }
    }

    /// Runs a step: its effect happens, or `recover` looks for it.
    pub fn perform(&self, at: &mut Conversation<'_>, round: &mut Round, work: Work) {
        let outcome = match work {
            Work::Effect => at.world.perform(round.course, at.broken),
            Work::Recover => at.world.recover(round.course, self.honours_keys),
        };
        round.phase = Phase::Append(Entry::Result(work, outcome));
    }
}

impl fmt::Display for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waits => f.write_str("another node has the lease"),
            Self::Refused(Evaluated::Lost) => f.write_str("refused, entries are lost"),
            Self::Refused(_) => f.write_str("refused, it took another course"),
            Self::Finished(outcome) => write!(f, "has ended, {outcome}"),
            Self::Runs(round) => write!(f, "runs from position {}", round.position),
            Self::Suspended(outcome) => write!(f, "asks, after {outcome}"),
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Continues => f.write_str("written"),
            Self::Suspended(outcome) => write!(f, "written; asks, after {outcome}"),
            Self::Ended(outcome) => write!(f, "ended, {outcome}"),
            Self::Failed => f.write_str("refused, the position is taken"),
        }
    }
}
