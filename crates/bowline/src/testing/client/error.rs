//! What goes wrong in a test with a test client.

use std::{error::Error as StdError, fmt};

use super::ServerQuestion;
use crate::{
    client,
    proto::{Reason, model::DecodeError},
};

/// Why a call came to no result that can be looked at.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestError {
    /// The server asked something for which there is no answer.
    Unanswered(ServerQuestion),
    /// The answer that the test has is not one to this question.
    InvalidAnswer {
        /// The question.
        question: ServerQuestion,
        /// What is wrong with the answer.
        reason: DecodeError,
    },
    /// The function that answers panicked.
    Panicked {
        /// The question that it was asked.
        question: ServerQuestion,
        /// What it said.
        reason: String,
    },
    /// There are answers that nobody asked for.
    UnusedAnswers {
        /// How many of the user's.
        elicit: usize,
        /// How many of the model's.
        sample: usize,
    },
    /// The result is not what the tool publishes.
    InvalidOutput {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The call asked in more rounds than clients go along with.
    TooManyRounds {
        /// How many those are.
        limit: u32,
    },
    /// The same scenario went differently, depending on the revision.
    RevisionsDiffer(String),
    /// The server refused, or did not answer.
    Client(client::Error),
}

impl TestError {
    /// The refusal of the server's, or why there is no answer.
    #[must_use]
    pub fn as_client(&self) -> Option<&client::Error> {
        match self {
            Self::Client(error) => Some(error),
            _ => None,
        }
    }

    /// What happened, where the server refused or did not answer.
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

impl fmt::Display for TestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered(question) => write!(f, "no answer is left for {question}"),
            Self::InvalidAnswer { question, reason } => {
                write!(f, "this is no answer to {question}: {reason}")
            }
            Self::Panicked { question, reason } => {
                write!(f, "the answer to {question} panicked: {reason}")
            }
            Self::UnusedAnswers { elicit, sample } => write!(
                f,
                "nobody asked for all answers; left are {elicit} of the user's and {sample} of \
                 the model's"
            ),
            Self::InvalidOutput { tool, reason } => {
                write!(f, "the result of {tool} is not what it publishes: {reason}")
            }
            Self::TooManyRounds { limit } => {
                write!(f, "there are still questions after {limit} rounds")
            }
            Self::RevisionsDiffer(difference) => {
                write!(f, "the revisions differ\n{difference}")
            }
            Self::Client(error) => error.fmt(f),
        }
    }
}

impl StdError for TestError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Client(error) => error.source(),
            _ => None,
        }
    }
}
