//! The errors of a test client.

use std::{error::Error as StdError, fmt};

use super::ServerQuestion;
use crate::{
    client::{self, write_causes},
    proto::{Reason, model::DecodeError},
};

/// Why a call has no usable result.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestError {
    /// The server asked a question for which no answer is left.
    Unanswered(ServerQuestion),
    /// The prepared answer is not valid for this question.
    InvalidAnswer {
        /// The question.
        question: ServerQuestion,
        /// The problem with the answer.
        reason: DecodeError,
    },
    /// The function that computes answers panicked.
    Panicked {
        /// The question it was called with.
        question: ServerQuestion,
        /// The panic message.
        reason: String,
    },
    /// Some queued answers were not used.
    UnusedAnswers {
        /// Number of the user's answers.
        elicit: usize,
        /// Number of the model's answers.
        sample: usize,
    },
    /// The result does not match the tool's output schema.
    InvalidOutput {
        /// The tool.
        tool: String,
        /// The mismatch.
        reason: String,
    },
    /// The call asked questions in more rounds than clients allow.
    TooManyRounds {
        /// The maximum number of rounds.
        limit: u32,
    },
    /// The same scenario differs between revisions.
    RevisionsDiffer(String),
    /// The server refused, or did not respond.
    Client(client::Error),
}

impl TestError {
    /// Returns the client error, if the server refused or did not respond.
    #[must_use]
    pub fn as_client(&self) -> Option<&client::Error> {
        match self {
            Self::Client(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the reason of the client error, if the server refused or did not
    /// respond.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.as_client().map(client::Error::reason)
    }
}

impl From<client::Error> for TestError {
    fn from(error: client::Error) -> Self {
        Self::Client(error)
    }
}

/// With `{:#}`, followed by the causes.
impl fmt::Display for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(question) => write!(f, "no answer is left for {question}"),
            Self::InvalidAnswer { question, .. } => write!(f, "invalid answer to {question}"),
            Self::Panicked { question, reason } => {
                write!(f, "the answer to {question} panicked: {reason}")
            }
            Self::UnusedAnswers { elicit, sample } => write!(
                f,
                "not all queued answers were used: {elicit} of the user and {sample} of the model \
                 are left"
            ),
            Self::InvalidOutput { tool, reason } => {
                write!(
                    f,
                    "the result of {tool} does not match its output schema: {reason}"
                )
            }
            Self::TooManyRounds { limit } => {
                write!(f, "the server still asks questions after {limit} rounds")
            }
            Self::RevisionsDiffer(difference) => {
                write!(f, "the revisions differ\n{difference}")
            }
            // It writes its causes itself.
            Self::Client(error) => return error.fmt(f),
        }?;
        write_causes(self, f)
    }
}

impl StdError for TestError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::InvalidAnswer { reason, .. } => Some(reason),
            Self::Client(error) => error.source(),
            _ => None,
        }
    }
}
