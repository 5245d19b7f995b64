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
    /// The revision that they are in.
    revision: Option<String>,
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
    pub(super) fn new(exchanges: Vec<Exchange>, revision: Option<String>) -> Self {
        Self {
            revision,
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
            let mut message = format!("the recording has no {}", request.method);
            if let (method::INITIALIZE, Some(revision)) = (&*request.method, &self.revision) {
                message.push_str(&format!("; it is of revision {revision}"));
            }
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
            let place = if it.path.is_empty() {
                "params"
            } else {
                &it.path
            };
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

#[cfg(test)]
mod tests {
    use super::{
        super::{
            exchange,
            recording::{Recorded, Recording},
        },
        *,
    };

    /// A player of a recording in which `>` is sent and `<` received.
    fn player(lines: &[(char, Value)]) -> Player {
        let recorded = |(direction, message): &(char, Value)| Recorded {
            link: 1,
            sent: *direction == '>',
            message: serde_json::value::to_raw_value(message).expect("it is JSON"),
        };
        let recording = Recording {
            server: "it".to_owned(),
            revision: Some("then".to_owned()),
            messages: lines.iter().map(recorded).collect(),
        };
        Player::new(exchange::sort(&recording), recording.revision)
    }

    fn call(id: u64, argument: &str) -> Value {
        let params = json!({"name": "echo", "arguments": {"message": argument}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }

    fn answer(id: u64, text: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "result": text})
    }

    /// What is said to a message, as JSON, with whom it is said to.
    fn say(player: &mut Player, to: u64, message: &Value) -> Vec<(Option<u64>, Value)> {
        let messages = Message::all(&message.to_string());
        let said = messages
            .into_iter()
            .flat_map(|message| player.receive(to, message));
        let read = |said: Said| {
            let frame = serde_json::from_str(&said.frame).expect("it is JSON");
            (said.to, frame)
        };
        said.map(read).collect()
    }

    #[test]
    fn requests_that_are_alike_are_answered_in_order() {
        let mut player = player(&[
            ('>', call(1, "hi")),
            ('<', answer(1, "one")),
            ('>', call(2, "ho")),
            ('>', call(3, "hi")),
            ('<', answer(3, "two")),
            ('<', answer(2, "other")),
        ]);
        for (id, text) in [(10, "one"), (11, "two"), (12, "two")] {
            let said = say(&mut player, id, &call(id, "hi"));
            assert_eq!(said, [(Some(id), answer(id, text))]);
        }
        let said = say(&mut player, 13, &call(13, "ho"));
        assert_eq!(said, [(Some(13), answer(13, "other"))]);
        assert_eq!(player.remarks(), [] as [&str; 0]);
    }

    #[test]
    fn what_names_one_attempt_does_not_matter() {
        let with = |id: u64, state: &str, token: u64| {
            let mut message = call(id, "hi");
            message["params"]["requestState"] = json!(state);
            message["params"]["_meta"] = json!({"progressToken": token});
            message
        };
        let progress = |token: u64| {
            let params = json!({"progressToken": token, "progress": 1});
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        };
        let mut player = player(&[
            ('>', with(1, "a", 5)),
            ('<', progress(5)),
            ('<', answer(1, "done")),
        ]);
        let said = say(&mut player, 7, &with(9, "b", 6));
        assert_eq!(said, [(Some(7), progress(6)), (Some(7), answer(9, "done"))]);
        let said = say(&mut player, 8, &call(10, "hi"));
        assert_eq!(
            said,
            [(Some(8), answer(10, "done"))],
            "nobody wants progress"
        );
    }

    #[test]
    fn the_servers_questions_are_asked_before_the_answer() {
        let ask = |id: &str| json!({"jsonrpc": "2.0", "id": id, "method": "roots/list"});
        let reply = |id: &str| json!({"jsonrpc": "2.0", "id": id, "result": {"roots": []}});
        let mut player = player(&[
            ('>', call(1, "hi")),
            ('<', ask("s1")),
            ('>', reply("s1")),
            ('<', answer(1, "done")),
        ]);
        let said = say(&mut player, 3, &call(4, "hi"));
        assert_eq!(said, [(Some(3), ask("replay-1"))]);
        assert_eq!(say(&mut player, 0, &reply("other")), []);
        let said = say(&mut player, 0, &reply("replay-1"));
        assert_eq!(said, [(Some(3), answer(4, "done"))]);
        assert_eq!(say(&mut player, 0, &reply("replay-1")), []);
    }

    #[test]
    fn streams_of_changes_stay_open_under_their_new_name() {
        let listen = |id: u64| json!({"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {}});
        let changed = |id: u64| {
            let params = json!({"_meta": {key::SUBSCRIPTION_ID: id}});
            json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": params})
        };
        let mut player = player(&[
            ('>', listen(1)),
            ('>', call(2, "hi")),
            ('<', changed(1)),
            ('<', answer(2, "done")),
        ]);
        let said = say(&mut player, 1, &listen(8));
        assert_eq!(said, [(Some(1), changed(8))], "and no answer");
        let said = say(&mut player, 2, &call(9, "hi"));
        assert_eq!(said, [(Some(2), answer(9, "done"))]);
    }

    #[track_caller]
    fn check_refusal(player: &mut Player, message: &Value, expected: &str) {
        let said = say(player, 1, message);
        assert_eq!(said[0].1["error"]["message"], expected);
    }

    #[test]
    fn what_does_not_fit_is_compared_with_the_nearest() {
        let mut player = player(&[
            ('>', call(1, "hi")),
            ('<', answer(1, "one")),
            ('>', call(2, "lost")),
        ]);
        check_refusal(
            &mut player,
            &call(5, "hey"),
            "nothing in the recording fits tools/call echo; \
             in the nearest, arguments.message was \"hi\", is \"hey\"",
        );
        check_refusal(
            &mut player,
            &json!({"jsonrpc": "2.0", "id": 6, "method": "prompts/list"}),
            "the recording has no prompts/list",
        );
        check_refusal(
            &mut player,
            &json!({"jsonrpc": "2.0", "id": 7, "method": "initialize"}),
            "the recording has no initialize; it is of revision then",
        );
        check_refusal(
            &mut player,
            &call(8, "lost"),
            "the recording has no answer to this",
        );
        let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
        let said = say(&mut player, 1, &ping);
        assert_eq!(said[0].1["result"], json!({}));
        assert_eq!(player.remarks().len(), 3, "a lost answer is the server's");
    }
}
