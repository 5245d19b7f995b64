//! What travels through the client: sealed, bound to the request, and short
//! of life.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{
    journal::{Entry, Mark, Outcome, digest, hex},
    stage::Asked,
};
use crate::{
    canonical::canonical,
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
pub(crate) struct State {
    #[serde(rename = "t")]
    pub(crate) thread: Thread,
    #[serde(rename = "j")]
    pub(crate) journal: Vec<Entry>,
    /// From where on the journal in the store has more.
    #[serde(rename = "p")]
    pub(crate) position: u64,
    #[serde(rename = "a")]
    asked: Vec<Open>,
}

/// Which conversation it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thread {
    /// A name that no other conversation has.
    #[serde(rename = "n")]
    pub(crate) nonce: Box<str>,
    /// The request and the caller that it belongs to.
    #[serde(rename = "b")]
    pub(crate) binding: Box<str>,
    /// When it began, in milliseconds of the Unix epoch.
    #[serde(rename = "s")]
    pub(crate) started: u64,
    /// Until when it may go on, likewise.
    #[serde(rename = "e")]
    pub(crate) expires: u64,
}

/// A question that was sent and has no answer yet.
#[derive(Debug, Serialize, Deserialize)]
struct Open {
    #[serde(rename = "i")]
    id: Box<str>,
    #[serde(rename = "m")]
    mark: Mark,
    #[serde(rename = "k")]
    kind: Kind,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Kind {
    #[serde(rename = "e")]
    Elicit,
    #[serde(rename = "s")]
    Sample,
    #[serde(rename = "r")]
    Roots,
    #[serde(rename = "x")]
    Other,
}

impl State {
    pub(crate) fn new(thread: Thread, journal: Vec<Entry>, position: u64, asked: &[Asked]) -> Self {
        let asked = asked.iter().map(|asked| Open {
            id: asked.id.clone(),
            mark: asked.mark,
            kind: Kind::of(&asked.question.kind),
        });
        Self {
            thread,
            journal,
            position,
            asked: asked.collect(),
        }
    }

    /// The answers that came to what was asked. Others are ignored; questions
    /// without an answer will be asked again.
    ///
    /// # Errors
    ///
    /// Where something is not an answer to its question.
    pub(crate) fn answers(&self, came: &InputResponses) -> Result<Vec<Entry>, ErrorObject> {
        let mut answers = Vec::new();
        for open in &self.asked {
            if let Some(answer) = came.get(&open.id) {
                open.kind.check(&open.id, answer)?;
                answers.push(Entry {
                    id: open.id.clone(),
                    mark: open.mark,
                    outcome: Outcome::Value(answer.clone()),
                });
            }
        }
        Ok(answers)
    }
}

impl Thread {
    pub(crate) fn new(
        binding: Box<str>,
        nonce: Box<str>,
        started: SystemTime,
        life: Duration,
    ) -> Self {
        let started = millis(started);
        Self {
            nonce,
            binding,
            started,
            expires: started.saturating_add(whole_millis(life)),
        }
    }

    /// How long it may still go on.
    pub(crate) fn left(&self, now: SystemTime) -> Option<Duration> {
        let left = self.expires.checked_sub(millis(now))?;
        (left > 0).then(|| Duration::from_millis(left))
    }

    /// How long it had been going on then, in milliseconds of the Unix epoch.
    pub(crate) fn age(&self, then: u64) -> Duration {
        Duration::from_millis(then.saturating_sub(self.started))
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
        &canonical(arguments.unwrap_or(b"{}")),
    ]);
    hex(&digest[..16]).into()
}

/// Whom something is kept for, in short; nothing where nobody knows.
pub(crate) fn account(principal: Option<&str>) -> Box<str> {
    let short = |principal: &str| hex(&digest([principal.as_bytes()])[..16]);
    principal.map(short).unwrap_or_default().into()
}

/// Whether this could be the answer to a question of its kind.
pub(crate) fn is_answer(question: &InputRequest, answer: &RawJson) -> bool {
    Kind::of(&question.kind).check("", answer).is_ok()
}

impl Kind {
    fn of(kind: &InputKind) -> Self {
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
pub(crate) fn millis(moment: SystemTime) -> u64 {
    let since = moment.duration_since(SystemTime::UNIX_EPOCH);
    whole_millis(since.unwrap_or_default())
}

pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
