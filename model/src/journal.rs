//! The journal of a conversation in the store, as `JournalStore` describes it.

use std::fmt;

use crate::node::{Holder, Node};

/// One of the answers that a client may give to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// The round needs none.
    None,
    /// One answer.
    X,
    /// Another one.
    Y,
}

/// How a step ended, as the conversation receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// There was no step.
    NoStep,
    /// It returned a value, so its effect has happened.
    Value,
    /// Nobody knows.
    Unknown,
    /// `recover` found the effect.
    Found,
    /// `recover` did not find the effect.
    NotFound,
}

/// Everything known when a round began: the code's `history_digest`. Two rounds with
/// the same course are the same round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Course {
    /// The number of the round, from 0.
    pub round: u8,
    /// The answer with which the first round began.
    pub first: Answer,
    /// How the step of the first round ended, from the second round on.
    pub outcome: Outcome,
    /// The answer with which the second round began.
    pub second: Answer,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Has the effect.
    Effect,
    /// Asks whether the effect has happened: `recover`.
    Recover,
}

/// What an entry records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// A step begins.
    Begin(Work),
    /// A step ended.
    Result(Work, Outcome),
    /// A step began before, and its outcome is unknown.
    Unknown(Work),
    /// The conversation ended. The response is stored with it.
    End(Outcome),
}

/// The most entries that a round writes before its end.
const MAX_ENTRIES: usize = 5;

/// A journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Journal {
    /// The position of the first entry kept.
    first_position: u8,
    len: u8,
    entries: [(Course, Entry); MAX_ENTRIES],
    /// Who wrote the last entry, if its writer does not know whether it did. Stands
    /// for the bytes of a sealed entry, which no other writer can produce.
    pub unconfirmed: Holder,
    /// Who holds the lease.
    pub lease: Holder,
    /// Whether the lease has expired.
    pub is_expired: bool,
}

/// What a round finds in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evaluated {
    /// Nothing, or an unfinished round. This is its last entry.
    Open(Option<Entry>),
    /// The conversation has ended in this round, with this response.
    Ended(Outcome),
    /// It continued with other answers.
    OtherCourse,
    /// Entries are missing that the state covers.
    Lost,
}

/// What differs between stores.
#[derive(Clone, Copy, Debug)]
pub struct JournalRules {
    /// Each position is written once. Otherwise the last writer wins.
    pub write_once: bool,
    /// Whether a lease excludes others, until it expires.
    pub has_leases: bool,
}

impl Default for Journal {
    fn default() -> Self {
        let unused = Course {
            round: 0,
            first: Answer::None,
            outcome: Outcome::NoStep,
            second: Answer::None,
        };
        Self {
            first_position: 0,
            len: 0,
            entries: [(unused, Entry::End(Outcome::NoStep)); MAX_ENTRIES],
            unconfirmed: Holder::None,
            lease: Holder::None,
            is_expired: false,
        }
    }
}

impl Journal {
    /// Returns the position after the last entry.
    #[must_use]
    pub fn next_position(&self) -> u8 {
        self.first_position + self.len
    }

    /// Returns whether the conversation has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(Self::last_of_course(self.kept()), Some(Entry::End(_)))
    }

    /// Returns the last entry that belongs to the course of the first. One of another
    /// course is void: it was late, after the store forgot.
    fn last_of_course(entries: &[(Course, Entry)]) -> Option<Entry> {
        let (first, _) = entries.first()?;
        let last = entries.iter().rev().find(|(course, _)| course == first)?;
        Some(last.1)
    }

    /// Returns whether the entries are the same.
    #[must_use]
    pub fn has_entries_of(&self, other: &Self) -> bool {
        self.first_position == other.first_position && self.kept() == other.kept()
    }

    /// Returns whether there are entries of a round, or of a later one.
    #[must_use]
    pub fn has_round(&self, round: u8) -> bool {
        self.kept().iter().any(|(course, _)| course.round >= round)
    }

    fn kept(&self) -> &[(Course, Entry)] {
        &self.entries[..usize::from(self.len)]
    }

    /// `JournalStore::open`, as far as the lease is concerned. Returns whether the
    /// caller has it.
    pub fn acquire(&mut self, node: Node, rules: JournalRules) -> bool {
        if !rules.has_leases {
            return true;
        }
        let is_other = self.lease != Holder::None && self.lease != Holder::Node(node);
        if is_other && !self.is_expired {
            return false;
        }
        self.lease = Holder::Node(node);
        self.is_expired = false;
        true
    }

    /// `JournalStore::release`.
    pub fn release(&mut self, node: Node) {
        if self.lease == Holder::Node(node) {
            self.lease = Holder::None;
            self.is_expired = false;
        }
        if self.unconfirmed == Holder::Node(node) {
            self.unconfirmed = Holder::None;
        }
    }

    /// `JournalStore::renew`. Returns whether that changed anything.
    pub fn renew(&mut self, node: Node) -> bool {
        let changes = self.lease == Holder::Node(node) && self.is_expired;
        self.is_expired &= !changes;
        changes
    }

    /// Forgets who a node was: it died. Its lease stays until it expires.
    pub fn bury(&mut self, node: Node) {
        self.lease.bury(node);
        if self.unconfirmed == Holder::Node(node) {
            self.unconfirmed = Holder::None;
        }
    }

    /// `JournalAccess::evaluate`: the state of a round that begins at a position.
    #[must_use]
    pub fn evaluate(&self, course: Course, first_position: u8) -> Evaluated {
        if self.next_position() < first_position {
            return Evaluated::Lost;
        }
        let covered = first_position.saturating_sub(self.first_position);
        let entries = &self.kept()[usize::from(covered)..];
        match Self::last_of_course(entries) {
            Some(_) if entries[0].0 != course => Evaluated::OtherCourse,
            Some(Entry::End(outcome)) => Evaluated::Ended(outcome),
            entry => Evaluated::Open(entry),
        }
    }

    /// `JournalStore::append`. Returns whether the entry was written.
    pub fn append(&mut self, new: NewEntry, rules: JournalRules) -> bool {
        let next = self.next_position();
        let is_free = new.position == next;
        // Only writers that overwrite each other can fill a journal.
        let is_full = usize::from(self.len) == MAX_ENTRIES && !new.truncate;
        if new.position > next || is_full || (rules.write_once && !is_free) {
            return false;
        }
        self.unconfirmed = Holder::None;
        if new.truncate || new.position < self.first_position {
            (self.first_position, self.len) = (new.position, 0);
        }
        let index = new.position - self.first_position;
        self.entries[usize::from(index)] = (new.course, new.entry);
        self.len = self.len.max(index + 1);
        if matches!(new.entry, Entry::End(_)) {
            // The lease ends with the conversation.
            self.lease = Holder::None;
            self.is_expired = false;
        }
        self.forget_dropped();
        true
    }

    /// Makes journals with the same entries equal.
    fn forget_dropped(&mut self) {
        let unused = Self::default().entries[0];
        self.entries[usize::from(self.len)..].fill(unused);
    }
}

/// An entry to append.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry {
    /// Its position.
    pub position: u8,
    /// The course that it belongs to.
    pub course: Course,
    /// Its contents.
    pub entry: Entry,
    /// Whether entries before it are dropped.
    pub truncate: bool,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "no answer",
            Self::X => "answer x",
            Self::Y => "answer y",
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoStep => "no step",
            Self::Value => "its value",
            Self::Unknown => "outcome unknown",
            Self::Found => "found by recover",
            Self::NotFound => "not found by recover",
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Effect => "step",
            Self::Recover => "recover",
        })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin(work) => write!(f, "{work} begins"),
            Self::Result(work, outcome) => write!(f, "{work} ended: {outcome}"),
            Self::Unknown(work) => write!(f, "outcome of {work} unknown"),
            Self::End(outcome) => write!(f, "end: {outcome}"),
        }
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.round, self.second) {
            (0, _) => write!(f, "the first state, {}", self.first),
            (_, second) if self.first == Answer::None => write!(f, "the second state, {second}"),
            (_, second) => {
                let (first, outcome) = (self.first, self.outcome);
                write!(f, "the state after {first} ({outcome}), {second}")
            }
        }
    }
}
