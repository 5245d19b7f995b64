//! The transcript of the messages between a test client and a server.

use std::fmt;

use serde_json::Value;

use super::ServerQuestion;
use crate::proto::jsonrpc::ErrorObject;

/// The messages in order: calls, questions, answers, log messages, progress,
/// and results.
///
/// The same conversation has the same transcript in the handshake and the
/// stateless era, as far as the conversation itself is the same: handlers that
/// are replayed log again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    entries: Vec<TranscriptEntry>,
}

/// An entry of a [`Transcript`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TranscriptEntry {
    /// The test called something.
    Called {
        /// The method, such as `tools/call`.
        method: String,
        /// The name of the tool or prompt, or a URI.
        name: String,
        /// The arguments; null if there are none.
        arguments: Value,
    },
    /// The server asked a question.
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
        /// The reason.
        error: ErrorObject,
    },
    /// The server sent a log message.
    Logged {
        /// The log level.
        level: String,
        /// The logged data.
        data: Value,
    },
    /// The server reported progress.
    Progressed {
        /// The progress value.
        progress: Value,
        /// The total; null if unknown.
        total: Value,
        /// The progress message; empty if there is none.
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

    /// Returns all entries, in order.
    #[must_use]
    pub fn entries(&self) -> &[TranscriptEntry] {
        &self.entries
    }

    /// Returns the questions of the server, in order.
    pub fn questions(&self) -> impl Iterator<Item = &ServerQuestion> {
        self.entries.iter().filter_map(|entry| match entry {
            TranscriptEntry::Asked(question) => Some(question),
            _ => None,
        })
    }

    /// Returns the message of each question, in order.
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

    /// Returns the logged data, in order.
    #[must_use]
    pub fn logged(&self) -> Vec<&Value> {
        let logged = self.entries.iter().filter_map(|entry| match entry {
            TranscriptEntry::Logged { data, .. } => Some(data),
            _ => None,
        });
        logged.collect()
    }

    /// Returns whether a question was asked while another was open.
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

/// One line per entry.
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
