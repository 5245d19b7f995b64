//! What travels through the client: sealed, bound to the request, and short
//! of life.

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

/// A conversation that is put off.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SuspendedState {
    #[serde(rename = "t")]
    pub(crate) info: ConversationInfo,
    #[serde(rename = "j")]
    pub(crate) journal: Vec<Entry>,
    /// From where on the journal in the store has more.
    #[serde(rename = "p")]
    pub(crate) position: u64,
    #[serde(rename = "a")]
    questions: Vec<StoredQuestion>,
}

/// Which conversation it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConversationInfo {
    /// A name that no other conversation has.
    #[serde(rename = "n")]
    pub(crate) nonce: Box<str>,
    /// The request and the caller that it belongs to.
    #[serde(rename = "b")]
    pub(crate) binding: Box<str>,
    /// When it began, in milliseconds of the Unix epoch.
    #[serde(rename = "s")]
    pub(crate) started_at: u64,
    /// Until when it may go on, likewise.
    #[serde(rename = "e")]
    pub(crate) expires_at: u64,
}

/// A question that was sent and has no answer yet.
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

    /// The answers that came to what was asked. Others are ignored; questions
    /// without an answer will be asked again.
    ///
    /// # Errors
    ///
    /// Where something is not an answer to its question.
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

    /// How long it may still go on.
    pub(crate) fn time_left(&self, now: SystemTime) -> Option<Duration> {
        let left = self.expires_at.checked_sub(unix_millis(now))?;
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// How long it had been going on then, in milliseconds of the Unix epoch.
    pub(crate) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.started_at))
    }
}

/// What a conversation belongs to: who asks, and for what.
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

/// Whom something is kept for, in short; nothing where nobody knows.
pub(crate) fn account(principal: Option<&str>) -> Box<str> {
    let short = |principal: &str| hex(&digest([principal.as_bytes()])[..16]);
    principal.map(short).unwrap_or_default().into()
}

/// Whether this could be the answer to a question of its kind.
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

/// A moment, in milliseconds of the Unix epoch.
pub(crate) fn unix_millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    duration_millis(since.unwrap_or_default())
}

pub(crate) fn duration_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
