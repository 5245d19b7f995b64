//! The record of a task in the store, as `TaskStore` describes it.

use std::fmt;

use crate::{
    journal::{Answer, Course, Outcome},
    node::{Holder, Node},
};

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// There is no such task.
    Absent,
    /// A node works on it, or should.
    Working,
    /// It waits for an answer.
    InputRequired,
    /// It has ended with the result of its conversation.
    Completed(Outcome),
    /// It has ended with an error that is not the conversation's.
    Failed,
    /// A client cancelled it.
    Cancelled,
}

impl Status {
    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_terminal(self) -> bool {
        !matches!(self, Self::Absent | Self::Working | Self::InputRequired)
    }
}

/// The record of a task.
///
/// Its version is not a number here: every other copy of a record is marked as old
/// when the record changes, which is all that a comparison of versions can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Record {
    /// Its status.
    pub status: Status,
    /// The round that it is in, from 0.
    pub round: u8,
    /// The answer with which the second round begins.
    pub answer: Answer,
    /// Who holds the lease.
    pub lease: Holder,
    /// Whether the lease has expired.
    pub is_expired: bool,
}

impl Default for Record {
    fn default() -> Self {
        Self {
            status: Status::Absent,
            round: 0,
            answer: Answer::None,
            lease: Holder::None,
            is_expired: false,
        }
    }
}

/// How a round ended: the code's `RecordedRound`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordedRound {
    /// It waits for an answer.
    Suspended,
    /// The conversation has ended.
    Ended(Outcome),
    /// It did not end, although it was repeated.
    Retryable,
}

impl Record {
    /// Returns a new task.
    #[must_use]
    pub fn created(node: Node) -> Self {
        Self {
            status: Status::Working,
            lease: Holder::Node(node),
            ..Self::default()
        }
    }

    /// Returns what the next round of the task begins with.
    #[must_use]
    pub fn course(&self) -> Course {
        Course {
            round: self.round,
            first: Answer::None,
            outcome: Outcome::NoStep,
            second: self.answer,
        }
    }

    /// Gives the lease to a node: `LeaseUpdate::Take`, or a claim.
    pub fn take_lease(&mut self, node: Node) {
        self.lease = Holder::Node(node);
        self.is_expired = false;
    }

    /// Ends the lease: `LeaseUpdate::End`.
    pub fn end_lease(&mut self) {
        self.lease = Holder::None;
        self.is_expired = false;
    }

    /// `apply` of `task/run`: the end of a round, unless the task has ended.
    pub fn apply(&mut self, recorded: RecordedRound) {
        self.end_lease();
        match recorded {
            _ if self.status.is_terminal() => {}
            RecordedRound::Ended(outcome) => self.status = Status::Completed(outcome),
            RecordedRound::Retryable => self.status = Status::Failed,
            RecordedRound::Suspended if self.status == Status::Working => {
                self.status = Status::InputRequired;
                (self.round, self.answer) = (1, Answer::None);
            }
            RecordedRound::Suspended => {}
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("does not exist"),
            Self::Working => f.write_str("is working"),
            Self::InputRequired => f.write_str("waits for an answer"),
            Self::Completed(outcome) => write!(f, "is completed, {outcome}"),
            Self::Failed => f.write_str("has failed"),
            Self::Cancelled => f.write_str("is cancelled"),
        }
    }
}

impl fmt::Display for RecordedRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Suspended => f.write_str("waits for an answer"),
            Self::Ended(outcome) => write!(f, "completed, {outcome}"),
            Self::Retryable => f.write_str("failed"),
        }
    }
}
