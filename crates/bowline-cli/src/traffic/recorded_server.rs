//! A server that responds from a recording.
//!
//! It does no I/O: it receives messages and returns what to send.

use std::collections::{HashMap, VecDeque};

use bowline::{
    model::{meta::key, method},
    proto::jsonrpc::{RequestId, code},
};
use serde_json::{Value, json, value::RawValue};

use super::{
    difference::differences,
    exchange::{Exchange, ServerMessage},
    message::{Message, Request, ResponseBody, id_text},
};

/// Maximum number of differences reported for the closest recorded request.
const MAX_DIFFERENCES: usize = 3;

/// Responds from a recording.
pub(super) struct RecordedServer {
    exchanges: Vec<Exchange>,
    /// The revision of the recording.
    revision: Option<String>,
    /// What identifies each request among those of its method.
    matching_keys: Vec<Value>,
    used: Vec<bool>,
    /// Exchanges that wait for the client, by the id of the expected response.
    pending: HashMap<RequestId, PendingPlayback>,
    question_count: u64,
    notes: Vec<String>,
}

/// A frame to send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ReplayFrame {
    /// The request it belongs to, as numbered by the caller; `None` if it
    /// belongs to no request.
    pub(super) request_number: Option<u64>,
    pub(super) frame: String,
    /// Whether it is the response.
    pub(super) is_response: bool,
}

/// The rest of an exchange that is being replayed.
struct PendingPlayback {
    request_number: u64,
    request: Request,
    steps: VecDeque<PlaybackStep>,
}

enum PlaybackStep {
    Before(ServerMessage),
    Response(ResponseBody),
    After(ServerMessage),
}

impl RecordedServer {
    pub(super) fn new(exchanges: Vec<Exchange>, revision: Option<String>) -> Self {
        Self {
            revision,
            matching_keys: exchanges
                .iter()
                .map(|it| it.request.matching_key())
                .collect(),
            used: vec![false; exchanges.len()],
            exchanges,
            pending: HashMap::new(),
            question_count: 0,
            notes: Vec::new(),
        }
    }

    /// Handles a client's message, numbered `request_number` if it is a
    /// request. Returns what to send now.
    pub(super) fn receive(&mut self, request_number: u64, message: Message) -> Vec<ReplayFrame> {
        match message {
            Message::Request(request) => self.request(request_number, request),
            Message::Response { id, body } => self.handle_response(&id, &body),
            Message::Notification { method, frame } => {
                if method == method::CANCELLED {
                    let notification: Value = serde_json::from_str(frame.get()).unwrap_or_default();
                    let id = &notification["params"]["requestId"];
                    let is_cancelled = |pending: &PendingPlayback| {
                        serde_json::to_value(&pending.request.id)
                            .is_ok_and(|request_id| request_id == *id)
                    };
                    self.pending.retain(|_, pending| !is_cancelled(pending));
                }
                Vec::new()
            }
        }
    }

    /// Returns the notes for the user since the last call.
    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    fn request(&mut self, request_number: u64, request: Request) -> Vec<ReplayFrame> {
        let Some(index) = self.find(&request) else {
            return vec![self.unmatched_response(request_number, &request)];
        };
        self.used[index] = true;
        let exchange = &self.exchanges[index];
        let is_subscription = exchange.is_subscription();
        let body = exchange.response.clone().or_else(|| {
            let no_response = || {
                error(
                    code::INTERNAL_ERROR,
                    "the recording has no response to this request",
                )
            };
            (!is_subscription).then(no_response)
        });
        let steps = exchange.before.iter().cloned().map(PlaybackStep::Before);
        let steps = steps.chain(body.map(PlaybackStep::Response));
        let steps = steps.chain(exchange.after.iter().cloned().map(PlaybackStep::After));
        let pending = PendingPlayback {
            request_number,
            request,
            steps: steps.collect(),
        };
        self.advance(pending)
    }

    /// Returns the next frames, up to where the client must respond.
    fn advance(&mut self, mut pending: PendingPlayback) -> Vec<ReplayFrame> {
        let mut frames = Vec::new();
        while let Some(next) = pending.steps.pop_front() {
            let (step, request_number) = match next {
                PlaybackStep::Response(body) => {
                    frames.push(ReplayFrame {
                        request_number: Some(pending.request_number),
                        frame: body.frame(&pending.request.id),
                        is_response: true,
                    });
                    continue;
                }
                PlaybackStep::Before(step) => (step, Some(pending.request_number)),
                PlaybackStep::After(step) => (step, None),
            };
            let (frame, question_id) = match step {
                ServerMessage::Notification(frame) => {
                    match notification_frame(&frame, &pending.request) {
                        Some(frame) => (frame, None),
                        None => continue,
                    }
                }
                ServerMessage::Request { request, .. } => {
                    self.question_count += 1;
                    let id = RequestId::from(format!("replay-{}", self.question_count));
                    (question_frame(&request, &id), Some(id))
                }
            };
            let is_response = false;
            frames.push(ReplayFrame {
                request_number,
                frame,
                is_response,
            });
            if let Some(id) = question_id {
                self.pending.insert(id, pending);
                break;
            }
        }
        frames
    }

    fn handle_response(&mut self, id: &RequestId, body: &ResponseBody) -> Vec<ReplayFrame> {
        let Some(pending) = self.pending.remove(id) else {
            return Vec::new();
        };
        if let ResponseBody::Error(_) = body {
            let label = pending.request.label();
            let note = format!("{label}: the client did not respond; continuing as recorded");
            self.notes.push(note);
        }
        self.advance(pending)
    }

    /// Returns the exchange to replay: the first match not replayed yet, or
    /// else the last match.
    fn find(&self, request: &Request) -> Option<usize> {
        let matching_key = request.matching_key();
        let is_match = |&index: &usize| {
            self.exchanges[index].request.method == request.method
                && self.matching_keys[index] == matching_key
        };
        let matching: Vec<usize> = (0..self.exchanges.len()).filter(is_match).collect();
        let unused = matching.iter().find(|&&index| !self.used[index]);
        unused.or(matching.last()).copied()
    }

    fn unmatched_response(&mut self, request_number: u64, request: &Request) -> ReplayFrame {
        let body = match request.method.as_str() {
            // A ping needs no recording.
            method::PING => ResponseBody::Result("{}".to_owned()),
            _ => self.mismatch_error(request),
        };
        ReplayFrame {
            request_number: Some(request_number),
            frame: body.frame(&request.id),
            is_response: true,
        }
    }

    fn mismatch_error(&mut self, request: &Request) -> ResponseBody {
        let matching_key = request.matching_key();
        let of_method = |index: &usize| self.exchanges[*index].request.method == request.method;
        let candidates = (0..self.exchanges.len()).filter(of_method);
        let found = candidates.map(|index| differences(&self.matching_keys[index], &matching_key));
        let Some(closest) = found.min_by_key(Vec::len) else {
            let mut message = format!("the recording has no {}", request.method);
            if let (method::INITIALIZE, Some(revision)) = (&*request.method, &self.revision) {
                message.push_str(&format!("; its revision is {revision}"));
            }
            // Clients send methods of some revisions only to detect the era.
            if request.method != method::DISCOVER {
                let available = self.methods().join(", ");
                self.notes.push(format!("{message}; it has {available}"));
            }
            return error(code::METHOD_NOT_FOUND, &message);
        };
        let descriptions = closest.iter().take(MAX_DIFFERENCES).map(|it| {
            let format_value = |value: &Option<Value>| {
                let value = value.as_ref().map(Value::to_string);
                value.unwrap_or_else(|| "nothing".to_owned())
            };
            let path = if it.path.is_empty() {
                "params"
            } else {
                &it.path
            };
            format!(
                "{path} was {}, now is {}",
                format_value(&it.recorded),
                format_value(&it.actual)
            )
        });
        let descriptions = descriptions.collect::<Vec<_>>().join("; ");
        let label = request.label();
        let message =
            format!("no recorded request matches {label}; in the closest one, {descriptions}");
        self.notes.push(message.clone());
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

fn error(code: i64, message: &str) -> ResponseBody {
    ResponseBody::Error(json!({"code": code, "message": message}).to_string())
}

/// Builds a server request with another id.
fn question_frame(request: &Request, id: &RequestId) -> String {
    let (id, method) = (id_text(id), Value::from(request.method.as_str()));
    let params = match request.raw_params.as_str() {
        "" => String::new(),
        raw => format!(r#","params":{raw}"#),
    };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method}{params}}}"#)
}

/// Builds a notification with this client's tokens. `None` if the client did
/// not ask for it.
fn notification_frame(frame: &RawValue, request: &Request) -> Option<String> {
    let mut notification: Value = serde_json::from_str(frame.get()).unwrap_or_default();
    let params = &mut notification["params"];
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
        notification.to_string()
    } else {
        frame.get().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            exchange,
            recording::{RecordedMessage, Recording},
        },
        *,
    };

    /// Returns a server for a recording in which `>` is sent and `<` received.
    fn player(lines: &[(char, Value)]) -> RecordedServer {
        let recorded = |(direction, message): &(char, Value)| RecordedMessage {
            link: 1,
            sent: *direction == '>',
            message: serde_json::value::to_raw_value(message).expect("it is JSON"),
        };
        let recording = Recording {
            server: "it".to_owned(),
            revision: Some("then".to_owned()),
            messages: lines.iter().map(recorded).collect(),
        };
        RecordedServer::new(exchange::group_exchanges(&recording), recording.revision)
    }

    fn call(id: u64, argument: &str) -> Value {
        let params = json!({"name": "echo", "arguments": {"message": argument}});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
    }

    fn answer(id: u64, text: &str) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "result": text})
    }

    /// Returns the response to a message as JSON, with the request it belongs
    /// to.
    fn deliver(
        player: &mut RecordedServer,
        request_number: u64,
        message: &Value,
    ) -> Vec<(Option<u64>, Value)> {
        let messages = Message::parse_all(&message.to_string());
        let frames = messages
            .into_iter()
            .flat_map(|message| player.receive(request_number, message));
        let read = |frames: ReplayFrame| {
            let frame = serde_json::from_str(&frames.frame).expect("it is JSON");
            (frames.request_number, frame)
        };
        frames.map(read).collect()
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
            let frames = deliver(&mut player, id, &call(id, "hi"));
            assert_eq!(frames, [(Some(id), answer(id, text))]);
        }
        let frames = deliver(&mut player, 13, &call(13, "ho"));
        assert_eq!(frames, [(Some(13), answer(13, "other"))]);
        assert_eq!(player.take_notes(), [] as [&str; 0]);
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
        let frames = deliver(&mut player, 7, &with(9, "b", 6));
        assert_eq!(
            frames,
            [(Some(7), progress(6)), (Some(7), answer(9, "done"))]
        );
        let frames = deliver(&mut player, 8, &call(10, "hi"));
        assert_eq!(
            frames,
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
        let frames = deliver(&mut player, 3, &call(4, "hi"));
        assert_eq!(frames, [(Some(3), ask("replay-1"))]);
        assert_eq!(deliver(&mut player, 0, &reply("other")), []);
        let frames = deliver(&mut player, 0, &reply("replay-1"));
        assert_eq!(frames, [(Some(3), answer(4, "done"))]);
        assert_eq!(deliver(&mut player, 0, &reply("replay-1")), []);
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
        let frames = deliver(&mut player, 1, &listen(8));
        assert_eq!(frames, [(Some(1), changed(8))], "and no answer");
        let frames = deliver(&mut player, 2, &call(9, "hi"));
        assert_eq!(frames, [(Some(2), answer(9, "done"))]);
    }

    #[track_caller]
    fn check_refusal(player: &mut RecordedServer, message: &Value, expected: &str) {
        let frames = deliver(player, 1, message);
        assert_eq!(frames[0].1["error"]["message"], expected);
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
            "no recorded request matches tools/call echo; in the closest one, \
             arguments.message was \"hi\", now is \"hey\"",
        );
        check_refusal(
            &mut player,
            &json!({"jsonrpc": "2.0", "id": 6, "method": "prompts/list"}),
            "the recording has no prompts/list",
        );
        check_refusal(
            &mut player,
            &json!({"jsonrpc": "2.0", "id": 7, "method": "initialize"}),
            "the recording has no initialize; its revision is then",
        );
        check_refusal(
            &mut player,
            &call(8, "lost"),
            "the recording has no response to this request",
        );
        let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"});
        let frames = deliver(&mut player, 1, &ping);
        assert_eq!(frames[0].1["result"], json!({}));
        assert_eq!(
            player.take_notes().len(),
            3,
            "a lost answer is the server's"
        );
    }
}
