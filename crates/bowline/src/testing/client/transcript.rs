//! What was said between a test client and a server.

use std::fmt;

use serde_json::Value;

use super::ServerQuestion;
use crate::proto::jsonrpc::ErrorObject;

/// All that was said, in order: what the test called, what the server asked,
/// the answers, log messages, progress, and how it ended.
///
/// It is the same for the same conversation, live or by replay, as far as the
/// conversation itself is: handlers that run again log again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<TranscriptEntry>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TranscriptEntry {
    /// The test called something.
    Called {
        /// The method, such as `tools/call`.
        method: String,
        /// What was called: the name of a tool or prompt, a URI.
        name: String,
        /// The arguments; null where there are none.
        arguments: Value,
    },
    /// The server asked something.
    Asked(ServerQuestion),
    /// The test client answered.
    Answered {
        /// The method of the question.
        method: String,
        /// The answer.
        answer: Value,
    },
    /// The test client refused to answer.
    Refused {
        /// The method of the question.
        method: String,
        /// Why.
        error: ErrorObject,
    },
    /// The server logged something.
    Logged {
        /// How bad it is.
        level: String,
        /// What it logged.
        data: Value,
    },
    /// The server said how far it is.
    Progressed {
        /// How far.
        progress: Value,
        /// Of how much; null where that is not known.
        total: Value,
        /// What it said; empty where it said nothing.
        message: String,
    },
    /// A call ended with a result.
    Returned(Value),
    /// A call ended with an error.
    Failed(ErrorObject),
}

impl Transcript {
    pub(super) fn new(entries: Vec<TranscriptEntry>) -> Self {
        Self { entries }
    }

    /// All of it, in order.
    #[must_use]
    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// What the server asked, in order.
    pub fn questions(&self) -> impl Iterator<Item = &ServerQuestion> {
        self.entries.iter().filter_map(|entry| match entry {
            TranscriptEntry::Asked(question) => Some(question),
            _ => None,
        })
    }

    /// What the user and the model were told by each question, in order.
    ///
    /// ```
    /// # fn example(client: &bowline::testing::TestClient) {
    /// assert_eq!(client.transcript().asked(), ["Which flight?", "Book it?"]);
    /// # }
    /// ```
    #[must_use]
    pub fn asked(&self) -> Vec<&str> {
        self.questions().map(ServerQuestion::message).collect()
    }

    /// What the server logged, in order.
    #[must_use]
    pub fn logged(&self) -> Vec<&Value> {
        let logged = self.entries.iter().filter_map(|entry| match entry {
            TranscriptEntry::Logged { data, .. } => Some(data),
            _ => None,
        });
        logged.collect()
    }

    /// Whether a question was asked while another was open.
    pub(super) fn is_parallel(&self) -> bool {
        let mut open = 0;
        self.entries.iter().any(|entry| {
            match entry {
                TranscriptEntry::Asked(_) => open += 1,
                TranscriptEntry::Answered { .. } | TranscriptEntry::Refused { .. } => open -= 1,
                _ => {}
            }
            open > 1
        })
    }
}

/// One line for each entry.
impl fmt::Display for Transcript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for entry in &self.entries {
            writeln!(f, "{entry}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TranscriptEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Called {
                method,
                name,
                arguments,
            } => write!(f, "call     {method} {name} {arguments}"),
            Self::Asked(question) => write!(f, "question {question}"),
            Self::Answered { answer, .. } => write!(f, "answer   {answer}"),
            Self::Refused { error, .. } => write!(f, "refusal  {error}"),
            Self::Logged { level, data } => write!(f, "log      {level}: {data}"),
            Self::Progressed {
                progress,
                total,
                message,
            } => {
                write!(f, "progress {progress}")?;
                if !total.is_null() {
                    write!(f, " of {total}")?;
                }
                if message.is_empty() {
                    return Ok(());
                }
                write!(f, ": {message}")
            }
            Self::Returned(result) => write!(f, "result   {result}"),
            Self::Failed(error) => write!(f, "error    {error}"),
        }
    }
}
