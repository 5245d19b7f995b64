//! What goes wrong in a test with a test client.

use std::{error::Error as StdError, fmt};

use super::Question;
use crate::{
    client,
    proto::{Reason, model::DecodeError},
};

/// Why a call came to no result that can be looked at.
#[derive(Debug)]
#[non_exhaustive]
pub enum TestError {
    /// The server asked something for which there is no answer.
    Unanswered(Question),
    /// The answer that the test has is not one to this question.
    WrongAnswer {
        /// The question.
        question: Question,
        /// What is wrong with the answer.
        why: DecodeError,
    },
    /// The function that answers panicked.
    Panicked {
        /// The question that it was asked.
        question: Question,
        /// What it said.
        why: String,
    },
    /// There are answers that nobody asked for.
    LeftOver {
        /// How many of the user's.
        elicit: usize,
        /// How many of the model's.
        sample: usize,
    },
    /// The result is not what the tool publishes.
    WrongOutput {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        why: String,
    },
    /// The call asked in more rounds than clients go along with.
    TooManyRounds {
        /// How many those are.
        limit: u32,
    },
    /// The same scenario went differently, depending on the revision.
    Different(String),
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
            Self::WrongAnswer { question, why } => {
                write!(f, "this is no answer to {question}: {why}")
            }
            Self::Panicked { question, why } => {
                write!(f, "the answer to {question} panicked: {why}")
            }
            Self::LeftOver { elicit, sample } => write!(
                f,
                "nobody asked for all answers; left are {elicit} of the user's and {sample} of \
                 the model's"
            ),
            Self::WrongOutput { tool, why } => {
                write!(f, "the result of {tool} is not what it publishes: {why}")
            }
            Self::TooManyRounds { limit } => {
                write!(f, "there are still questions after {limit} rounds")
            }
            Self::Different(difference) => {
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
