//! A server that answers as another one did: from a recording.
//!
//! It does no I/O: it is given messages and says what to send.

use std::collections::{HashMap, VecDeque};

use bowline::proto::{
    jsonrpc::{RequestId, code},
    model::{meta::key, method},
};
use serde_json::{Value, json, value::RawValue};

use super::{
    difference::differences,
    exchange::{Exchange, Step},
    message::{Answer, Message, Request, id_text},
};

/// How many places at which a request differs from the nearest are named.
const SHOWN: usize = 3;

/// Answers from a recording.
pub(super) struct Player {
    exchanges: Vec<Exchange>,
    /// What tells each request from others of its method.
    essences: Vec<Value>,
    played: Vec<bool>,
    /// The scripts that wait for the client, by the id that it is to name.
    waiting: HashMap<RequestId, Script>,
    questions: u64,
    remarks: Vec<String>,
}

/// Something to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// The request that it belongs to, as the caller numbered it; none where it
    /// belongs to no request.
    pub(super) to: Option<u64>,
    pub(super) frame: String,
    /// Whether it is the answer.
    pub(super) ends: bool,
}

/// What is still to be said because of a request.
struct Script {
    to: u64,
    request: Request,
    cues: VecDeque<Cue>,
}

enum Cue {
    Before(Step),
    Answer(Answer),
    After(Step),
}

impl Player {
    pub(super) fn new(exchanges: Vec<Exchange>) -> Self {
        Self {
            essences: exchanges.iter().map(|it| it.request.essence()).collect(),
            played: vec![false; exchanges.len()],
            exchanges,
            waiting: HashMap::new(),
            questions: 0,
            remarks: Vec::new(),
        }
    }

    /// Takes a message of the client's, which the caller calls `to` if it is a
    /// request. Says what to send now.
    pub(super) fn receive(&mut self, to: u64, message: Message) -> Vec<Said> {
        match message {
            Message::Request(request) => self.request(to, request),
            Message::Answer { id, answer } => self.answered(&id, &answer),
            Message::Notification { method, frame } => {
                if method == method::CANCELLED {
                    let told: Value = serde_json::from_str(frame.get()).unwrap_or_default();
                    let id = &told["params"]["requestId"];
                    let is_its = |script: &Script| {
                        serde_json::to_value(&script.request.id).is_ok_and(|its| its == *id)
                    };
                    self.waiting.retain(|_, script| !is_its(script));
                }
                Vec::new()
            }
        }
    }

    /// What is worth telling the user since this was asked last.
    pub(super) fn remarks(&mut self) -> Vec<String> {
        std::mem::take(&mut self.remarks)
    }

    fn request(&mut self, to: u64, request: Request) -> Vec<Said> {
        let Some(at) = self.find(&request) else {
            return vec![self.unmatched(to, &request)];
        };
        self.played[at] = true;
        let exchange = &self.exchanges[at];
        let listens = exchange.listens();
        let answer = exchange.answer.clone().or_else(|| {
            let lost = || error(code::INTERNAL_ERROR, "the recording has no answer to this");
            (!listens).then(lost)
        });
        let cues = exchange.before.iter().cloned().map(Cue::Before);
        let cues = cues.chain(answer.map(Cue::Answer));
        let cues = cues.chain(exchange.after.iter().cloned().map(Cue::After));
        let script = Script {
            to,
            request,
            cues: cues.collect(),
        };
        self.go_on(script)
    }

    /// Says what comes next, until the client has to say something.
    fn go_on(&mut self, mut script: Script) -> Vec<Said> {
        let mut said = Vec::new();
        while let Some(cue) = script.cues.pop_front() {
            let (step, to) = match cue {
                Cue::Answer(answer) => {
                    said.push(Said {
                        to: Some(script.to),
                        frame: answer.frame(&script.request.id),
                        ends: true,
                    });
                    continue;
                }
                Cue::Before(step) => (step, Some(script.to)),
                Cue::After(step) => (step, None),
            };
            let (frame, wait) = match step {
                Step::Tell(frame) => match retold(&frame, &script.request) {
                    Some(frame) => (frame, None),
                    None => continue,
                },
                Step::Ask { request, .. } => {
                    self.questions += 1;
                    let id = RequestId::from(format!("replay-{}", self.questions));
                    (asked(&request, &id), Some(id))
                }
            };
            let ends = false;
            said.push(Said { to, frame, ends });
            if let Some(id) = wait {
                self.waiting.insert(id, script);
                break;
            }
        }
        said
    }

    fn answered(&mut self, id: &RequestId, answer: &Answer) -> Vec<Said> {
        let Some(script) = self.waiting.remove(id) else {
            return Vec::new();
        };
        if let Answer::Error(_) = answer {
            let label = script.request.label();
            let remark = format!("{label}: the client did not answer; the rest is as recorded");
            self.remarks.push(remark);
        }
        self.go_on(script)
    }

    /// The exchange to play: the first one that fits and was not played, or
    /// else the last one that fits.
    fn find(&self, request: &Request) -> Option<usize> {
        let essence = request.essence();
        let fits = |&at: &usize| {
            self.exchanges[at].request.method == request.method && self.essences[at] == essence
        };
        let fitting: Vec<usize> = (0..self.exchanges.len()).filter(fits).collect();
        let fresh = fitting.iter().find(|&&at| !self.played[at]);
        fresh.or(fitting.last()).copied()
    }

    fn unmatched(&mut self, to: u64, request: &Request) -> Said {
        let answer = match request.method.as_str() {
            // Whether anybody is there needs no recording.
            method::PING => Answer::Result("{}".to_owned()),
            _ => self.refusal(request),
        };
        Said {
            to: Some(to),
            frame: answer.frame(&request.id),
            ends: true,
        }
    }

    fn refusal(&mut self, request: &Request) -> Answer {
        let essence = request.essence();
        let of_method = |at: &usize| self.exchanges[*at].request.method == request.method;
        let candidates = (0..self.exchanges.len()).filter(of_method);
        let found = candidates.map(|at| differences(&self.essences[at], &essence));
        let Some(nearest) = found.min_by_key(Vec::len) else {
            let message = format!("the recording has no {}", request.method);
            // Clients ask for what only some revisions have, to find out.
            if request.method != method::DISCOVER {
                let has = self.methods().join(", ");
                self.remarks.push(format!("{message}; it has {has}"));
            }
            return error(code::METHOD_NOT_FOUND, &message);
        };
        let places = nearest.iter().take(SHOWN).map(|it| {
            let shown = |value: &Option<Value>| {
                let value = value.as_ref().map(Value::to_string);
                value.unwrap_or_else(|| "nothing".to_owned())
            };
            let place = if it.path.is_empty() { "params" } else { &it.path };
            format!("{place} was {}, is {}", shown(&it.was), shown(&it.is))
        });
        let places = places.collect::<Vec<_>>().join("; ");
        let label = request.label();
        let message = format!("nothing in the recording fits {label}; in the nearest, {places}");
        self.remarks.push(message.clone());
        error(code::INVALID_PARAMS, &message)
    }

    fn methods(&self) -> Vec<&str> {
        let mut methods: Vec<&str> = Vec::new();
        for exchange in &self.exchanges {
            if !methods.contains(&exchange.request.method.as_str()) {
                methods.push(&exchange.request.method);
            }
        }
        methods
    }
}

fn error(code: i64, message: &str) -> Answer {
    Answer::Error(json!({"code": code, "message": message}).to_string())
}

/// A question of the server's, asked again under another id.
fn asked(request: &Request, id: &RequestId) -> String {
    let (id, method) = (id_text(id), Value::from(request.method.as_str()));
    let params = match request.raw.as_str() {
        "" => String::new(),
        raw => format!(r#","params":{raw}"#),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}{params}}}"#)
}

/// A notification, told again: with the names that this client gave to its
/// request. None where it did not ask for that.
fn retold(frame: &RawValue, request: &Request) -> Option<String> {
    let mut told: Value = serde_json::from_str(frame.get()).unwrap_or_default();
    let params = &mut told["params"];
    let mut changed = false;
    if let Some(token) = params.get_mut("progressToken") {
        *token = request.progress_token()?.clone();
        changed = true;
    }
    let meta = params.get_mut("_meta");
    if let Some(stream) = meta.and_then(|meta| meta.get_mut(key::SUBSCRIPTION_ID)) {
        *stream = serde_json::to_value(&request.id).ok()?;
        changed = true;
    }
    Some(if changed {
        told.to_string()
    } else {
        frame.get().to_owned()
    })
}
