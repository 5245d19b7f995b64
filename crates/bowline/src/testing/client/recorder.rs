//! Writes a transcript from recorded frames.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard},
};

use serde::Deserialize;
use serde_json::Value;

use super::{ServerQuestion, Transcript, transcript::TranscriptEntry};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{
            InputKind, InputRequest, InputRequests, InputRequiredResult, InputResponses,
            ResultType, method,
        },
    },
    sync,
};

/// The calls that a test makes; other requests maintain the connection.
const CALLS: [&str; 3] = [
    method::TOOLS_CALL,
    method::PROMPTS_GET,
    method::RESOURCES_READ,
];

/// A transcript that is being written.
#[derive(Default)]
pub(super) struct TranscriptRecorder {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    entries: Vec<TranscriptEntry>,
    /// Pending calls, by link and id.
    calls: Vec<(usize, String)>,
    /// Open questions in the handshake era: methods by id.
    open_questions: HashMap<String, String>,
    /// Questions of past rounds, by the state to return.
    rounds: HashMap<String, InputRequests>,
    muted: bool,
}

impl TranscriptRecorder {
    /// Returns the whole transcript so far.
    pub(super) fn transcript(&self) -> Transcript {
        self.since(0)
    }

    /// Returns the transcript from a position on.
    pub(super) fn since(&self, start: usize) -> Transcript {
        let inner = self.lock();
        Transcript::new(inner.entries.get(start..).unwrap_or_default().to_vec())
    }

    /// Returns the current position.
    pub(super) fn position(&self) -> usize {
        self.lock().entries.len()
    }

    pub(super) fn clear(&self) {
        self.lock().entries.clear();
    }

    /// Stops recording while a round is only repeated.
    pub(super) fn set_muted(&self, muted: bool) {
        self.lock().muted = muted;
    }

    /// Records a frame to the server.
    pub(super) fn record_sent(&self, link: usize, frame: &[u8]) {
        if let Ok(message) = serde_json::from_slice(frame) {
            self.lock().record_sent(link, message);
        }
    }

    /// Records a frame from the server.
    pub(super) fn record_received(&self, link: usize, frame: &[u8]) {
        if let Ok(message) = serde_json::from_slice(frame) {
            self.lock().record_received(link, message);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // No code that holds the lock can panic halfway.
        sync::lock(&self.inner)
    }
}

/// A message, as far as a transcript needs it.
#[derive(Deserialize)]
struct RawMessage {
    id: Option<RawJson>,
    method: Option<String>,
    params: Option<RawJson>,
    result: Option<RawJson>,
    error: Option<ErrorObject>,
}

/// The parameters of all calls and notifications.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawParams {
    name: Option<String>,
    uri: Option<String>,
    arguments: Value,
    request_state: Option<String>,
    input_responses: Option<InputResponses>,
    level: String,
    data: Value,
    progress: Value,
    total: Value,
    message: Option<String>,
}

impl RawMessage {
    fn params(&self) -> RawParams {
        let params = self.params.as_ref().map(RawJson::decode);
        params.and_then(Result::ok).unwrap_or_default()
    }

    /// Returns the id as a string that includes its type.
    fn id(&self) -> Option<String> {
        self.id.as_ref().map(|id| id.get().to_owned())
    }
}

impl Inner {
    fn push(&mut self, entry: TranscriptEntry) {
        if !self.muted {
            self.entries.push(entry);
        }
    }

    fn record_sent(&mut self, link: usize, message: RawMessage) {
        let Some(id) = message.id() else { return };
        match &message.method {
            Some(method) if CALLS.contains(&&**method) => {
                self.calls.push((link, id));
                let params = message.params();
                match &params.request_state {
                    Some(state) => self.record_answers(state, params.input_responses.as_ref()),
                    None => self.push(call_entry(method, params)),
                }
            }
            Some(_) => {}
            None => {
                let Some(method) = self.open_questions.remove(&id) else {
                    return;
                };
                match (message.error, &message.result) {
                    (Some(error), _) => self.push(TranscriptEntry::Refused { method, error }),
                    (None, Some(answer)) => self.record_answer(method, answer),
                    (None, None) => {}
                }
            }
        }
    }

    /// Records the answers of a round, in the order of its questions.
    fn record_answers(&mut self, state: &str, answers: Option<&InputResponses>) {
        let questions = self.rounds.get(state).cloned().unwrap_or_default();
        for (key, question) in questions.iter() {
            if let Some(answer) = answers.and_then(|answers| answers.get(key)) {
                self.record_answer(question.method().to_owned(), answer);
            }
        }
    }

    fn record_answer(&mut self, method: String, answer: &RawJson) {
        let answer = without_protocol_fields(answer);
        self.push(TranscriptEntry::Answered { method, answer });
    }

    fn record_received(&mut self, link: usize, message: RawMessage) {
        match (message.method.as_deref(), message.id()) {
            (Some(method::MESSAGE), _) => {
                let RawParams { level, data, .. } = message.params();
                self.push(TranscriptEntry::Logged { level, data });
            }
            (Some(method::PROGRESS), _) => {
                let params = message.params();
                self.push(TranscriptEntry::Progressed {
                    progress: params.progress,
                    total: params.total,
                    message: params.message.unwrap_or_default(),
                });
            }
            (Some(method), Some(id)) => {
                if let Some(question) = parse_question(method, message.params.as_ref()) {
                    self.open_questions.insert(id, method.to_owned());
                    self.push(TranscriptEntry::Asked(ServerQuestion::new(question)));
                }
            }
            (None, Some(id)) => {
                let call = (link, id);
                if let Some(at) = self.calls.iter().position(|open| *open == call) {
                    self.calls.swap_remove(at);
                    self.record_end(message);
                }
            }
            (_, None) => {}
        }
    }

    fn record_end(&mut self, message: RawMessage) {
        let result = match (message.error, message.result) {
            (Some(error), _) => return self.push(TranscriptEntry::Failed(error)),
            (None, Some(result)) => result,
            (None, None) => return,
        };
        let input_required = result
            .decode::<InputRequiredResult>()
            .ok()
            .filter(|input_required| {
                let kind = input_required.result_type.as_ref();
                kind.is_some_and(|kind| *kind == ResultType::InputRequired)
            });
        let Some(input_required) = input_required else {
            return self.push(TranscriptEntry::Returned(without_protocol_fields(&result)));
        };
        let questions = input_required.input_requests.unwrap_or_default();
        for (_, question) in questions.iter() {
            self.push(TranscriptEntry::Asked(ServerQuestion::new(
                question.clone(),
            )));
        }
        if let Some(state) = input_required.request_state {
            self.rounds.insert(state, questions);
        }
    }
}

/// Parses a question that arrived as a request. Returns `None` for other
/// requests.
fn parse_question(method: &str, params: Option<&RawJson>) -> Option<InputRequest> {
    let kind = match method {
        method::ELICITATION_CREATE => InputKind::Elicit(params?.decode().ok()?),
        method::SAMPLING_CREATE_MESSAGE => InputKind::CreateMessage(params?.decode().ok()?),
        method::ROOTS_LIST => InputKind::ListRoots(None),
        _ => return None,
    };
    Some(kind.into())
}

fn call_entry(method: &str, params: RawParams) -> TranscriptEntry {
    TranscriptEntry::Called {
        method: method.to_owned(),
        name: params.name.or(params.uri).unwrap_or_default(),
        arguments: params.arguments,
    }
}

/// Returns a result without its protocol fields.
fn without_protocol_fields(result: &RawJson) -> Value {
    let mut result: Value = result.decode().unwrap_or_default();
    if let Some(members) = result.as_object_mut() {
        for member in ["_meta", "resultType", "ttlMs", "cacheScope"] {
            members.remove(member);
        }
    }
    result
}
