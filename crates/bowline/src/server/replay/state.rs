//! The state sent through the client: sealed, bound to the request, and
//! short-lived.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{
    journal::{Entry, EntryOutcome, Fingerprint, digest, hex},
    replayer::OpenQuestion,
};
use crate::{
    canonical::canonicalize,
    proto::{
        jsonrpc::{ErrorObject, RawJson, code},
        model::{
            CreateMessageResult, ElicitResult, InputKind, InputRequest, InputResponses,
            ListRootsResult, ResultObject,
        },
    },
};

/// A suspended conversation.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SuspendedState {
    #[serde(rename = "t")]
    pub(crate) info: ConversationInfo,
    #[serde(rename = "j")]
    pub(crate) journal: Vec<Entry>,
    /// The first position of the stored journal not covered by this state.
    #[serde(rename = "p")]
    pub(crate) position: u64,
    #[serde(rename = "a")]
    questions: Vec<StoredQuestion>,
}

/// Identifies a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConversationInfo {
    /// Unique for each conversation.
    #[serde(rename = "n")]
    pub(crate) nonce: Box<str>,
    /// A digest of its request and caller.
    #[serde(rename = "b")]
    pub(crate) binding: Box<str>,
    /// When it started, in milliseconds of the Unix epoch.
    #[serde(rename = "s")]
    pub(crate) started_at: u64,
    /// When it expires, in milliseconds of the Unix epoch.
    #[serde(rename = "e")]
    pub(crate) expires_at: u64,
}

/// A question that was sent and is not answered yet.
#[derive(Debug, Serialize, Deserialize)]
struct StoredQuestion {
    #[serde(rename = "i")]
    id: Box<str>,
    #[serde(rename = "m")]
    fingerprint: Fingerprint,
    #[serde(rename = "k")]
    kind: QuestionKind,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum QuestionKind {
    #[serde(rename = "e")]
    Elicit,
    #[serde(rename = "s")]
    Sample,
    #[serde(rename = "r")]
    Roots,
    #[serde(rename = "x")]
    Other,
}

impl SuspendedState {
    pub(crate) fn new(
        info: ConversationInfo,
        journal: Vec<Entry>,
        position: u64,
        questions: &[OpenQuestion],
    ) -> Self {
        let questions = questions.iter().map(|questions| StoredQuestion {
            id: questions.id.clone(),
            fingerprint: questions.fingerprint,
            kind: QuestionKind::from_input(&questions.question.kind),
        });
        Self {
            info,
            journal,
            position,
            questions: questions.collect(),
        }
    }

    /// Returns whether the conversation has not begun: there was no round yet.
    pub(crate) fn is_unstarted(&self) -> bool {
        self.position == 0 && self.journal.is_empty() && self.questions.is_empty()
    }

    /// Returns the answers to the questions asked. Others are ignored;
    /// unanswered questions will be asked again.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is not a valid answer to its question.
    pub(crate) fn answers(&self, responses: &InputResponses) -> Result<Vec<Entry>, ErrorObject> {
        let mut answers = Vec::new();
        for question in &self.questions {
            if let Some(answer) = responses.get(&question.id) {
                question.kind.check(&question.id, answer)?;
                answers.push(Entry {
                    id: question.id.clone(),
                    fingerprint: question.fingerprint,
                    outcome: EntryOutcome::Value(answer.clone()),
                });
            }
        }
        Ok(answers)
    }
}

impl ConversationInfo {
    pub(crate) fn new(
        binding: Box<str>,
        nonce: Box<str>,
        started: SystemTime,
        timeout: Duration,
    ) -> Self {
        let started_at = unix_millis(started);
        Self {
            nonce,
            binding,
            started_at,
            expires_at: started_at.saturating_add(duration_millis(timeout)),
        }
    }

    /// Returns how long it may continue.
    pub(crate) fn time_left(&self, now: SystemTime) -> Option<Duration> {
        let left = self.expires_at.checked_sub(unix_millis(now))?;
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// Returns its age at a time in milliseconds of the Unix epoch.
    pub(crate) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.started_at))
    }
}

/// Returns a digest of the caller and the request a conversation belongs to.
pub(crate) fn binding(
    principal: Option<&str>,
    method: &str,
    name: &str,
    arguments: Option<&[u8]>,
) -> Box<str> {
    let known: &[u8] = if principal.is_some() { b"known" } else { b"" };
    let digest = digest([
        known,
        principal.unwrap_or_default().as_bytes(),
        method.as_bytes(),
        name.as_bytes(),
        &canonicalize(arguments.unwrap_or(b"{}")),
    ]);
    hex(&digest[..16]).into()
}

/// Returns a digest of the principal, or an empty string if unknown.
pub(crate) fn account(principal: Option<&str>) -> Box<str> {
    let short = |principal: &str| hex(&digest([principal.as_bytes()])[..16]);
    principal.map(short).unwrap_or_default().into()
}

/// Returns whether this is a valid answer to this kind of question.
pub(crate) fn is_valid_answer(question: &InputRequest, answer: &RawJson) -> bool {
    QuestionKind::from_input(&question.kind)
        .check("", answer)
        .is_ok()
}

impl QuestionKind {
    fn from_input(kind: &InputKind) -> Self {
        match kind {
            InputKind::Elicit(_) => Self::Elicit,
            InputKind::CreateMessage(_) => Self::Sample,
            InputKind::ListRoots(_) => Self::Roots,
            _ => Self::Other,
        }
    }

    fn check(self, id: &str, answer: &RawJson) -> Result<(), ErrorObject> {
        let json = answer.get().as_bytes();
        let checked = match self {
            Self::Elicit => ElicitResult::decode(json).map(drop),
            Self::Sample => CreateMessageResult::decode(json).map(drop),
            Self::Roots => ListRootsResult::decode(json).map(drop),
            Self::Other => Ok(()),
        };
        checked.map_err(|fault| {
            let message = format!("Invalid params: inputResponses[{id:?}]: {fault}");
            ErrorObject::new(code::INVALID_PARAMS, message)
        })
    }
}

/// Converts a time to milliseconds of the Unix epoch.
pub(crate) fn unix_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    duration_millis(since.unwrap_or_default())
}

pub(crate) fn duration_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
