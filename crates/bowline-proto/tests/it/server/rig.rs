//! A server's connection under test: in virtual time, with everything it says
//! kept.

use std::time::Duration;

use bowline_proto::{
    Instant,
    jsonrpc::{ErrorObject, RawJson},
    server::{
        CallId, CancelReason, Config, Connection, Event, Input, Outcome, Output, RequestContext,
        RequestKey, TelemetryEvent, Violation,
    },
};
use bytes::Bytes;
use serde_json::{Value, json};

/// A connection, its clock, and what it has said so far.
pub(crate) struct Rig {
    pub(crate) connection: Connection,
    pub(crate) now: Instant,
    pub(crate) sent: Vec<Value>,
    /// For each frame sent, the request it belongs to.
    pub(crate) about: Vec<Option<RequestKey>>,
    pub(crate) done: Vec<(CallId, Outcome)>,
    pub(crate) events: Vec<Event>,
    pub(crate) telemetry: Vec<TelemetryEvent>,
    pub(crate) hung_up: bool,
    pub(crate) deadline: Option<Instant>,
}

impl Rig {
    /// A server that offers everything and speaks every revision.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(adjust: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new("rig", "1.0.0");
        config.capabilities = serde_json::from_value(capabilities()).expect("capabilities");
        adjust(&mut config);
        Self {
            connection: Connection::new(config),
            now: Instant::ORIGIN,
            sent: Vec::new(),
            about: Vec::new(),
            done: Vec::new(),
            events: Vec::new(),
            telemetry: Vec::new(),
            hung_up: false,
            deadline: None,
        }
    }

    /// A session of the newest handshake revision, with a client that can do
    /// everything.
    pub(crate) fn session() -> Self {
        Self::session_in("2025-11-25")
    }

    pub(crate) fn session_in(version: &str) -> Self {
        Self::new().opened(version, &client_capabilities())
    }

    pub(crate) fn opened(mut self, version: &str, capabilities: &Value) -> Self {
        self.ask("opening", "initialize", initialize(version, capabilities));
        self.notify("notifications/initialized", json!({}));
        self.forget();
        self
    }

    /// Forgets what was said so far.
    pub(crate) fn forget(&mut self) {
        self.sent.clear();
        self.about.clear();
        self.done.clear();
        self.events.clear();
        self.telemetry.clear();
    }
}

/// Doing.
impl Rig {
    pub(crate) fn handle(&mut self, input: Input) {
        self.connection.handle(self.now, input);
        self.drain();
    }

    pub(crate) fn bytes(&mut self, frame: impl Into<Bytes>) {
        self.handle(Input::Frame(frame.into()));
    }

    pub(crate) fn frame(&mut self, frame: &Value) {
        self.bytes(frame.to_string());
    }

    /// The client sends a request.
    pub(crate) fn ask(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        let mut frame = json!({"jsonrpc": "2.0", "id": id, "method": method});
        frame["params"] = params;
        self.frame(&frame);
    }

    /// The client sends a request of the stateless era.
    pub(crate) fn ask_stateless(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let params = with_meta(params, modern_meta());
        self.ask(id, method, params);
    }

    /// The client sends a request that is handed up.
    #[track_caller]
    pub(crate) fn request(
        &mut self,
        id: impl Into<Value>,
        method: &str,
        params: Value,
    ) -> RequestKey {
        let before = self.requests().len();
        self.ask(id, method, params);
        *self.requests().get(before).expect("it was handed up")
    }

    #[track_caller]
    pub(crate) fn request_stateless(&mut self, id: impl Into<Value>, params: Value) -> RequestKey {
        self.request(id, "tools/call", with_meta(params, modern_meta()))
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        let mut frame = json!({"jsonrpc": "2.0", "method": method});
        frame["params"] = params;
        self.frame(&frame);
    }

    pub(crate) fn respond(&mut self, request: RequestKey, result: &Value) {
        let result = RawJson::encode(result).expect("JSON");
        self.connection.respond(self.now, request, result);
        self.drain();
    }

    pub(crate) fn respond_error(&mut self, request: RequestKey, code: i64) {
        let error = ErrorObject::new(code, "no");
        self.connection.respond(self.now, request, error);
        self.drain();
    }

    /// Does something to the connection and keeps what it says.
    pub(crate) fn act<T>(&mut self, act: impl FnOnce(&mut Connection, Instant) -> T) -> T {
        let value = act(&mut self.connection, self.now);
        self.drain();
        value
    }

    /// Lets time pass, waking the connection exactly when it asked for it.
    pub(crate) fn pass(&mut self, wait: Duration) {
        let until = self.now + wait;
        while let Some(deadline) = self.deadline.filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.handle(Input::Tick);
        }
        self.now = until;
    }

    pub(crate) fn drain(&mut self) {
        loop {
            match self.connection.poll_output() {
                Output::Send {
                    request: about,
                    frame,
                    ..
                } => {
                    assert!(!frame.contains(&b'\n'), "a frame is one line");
                    self.sent
                        .push(serde_json::from_slice(&frame).expect("frames are JSON"));
                    self.about.push(about);
                }
                Output::CallDone { call, outcome } => self.done.push((call, outcome)),
                Output::Event(event) => self.events.push(event),
                Output::Telemetry(telemetry) => self.telemetry.push(telemetry),
                Output::Close => self.hung_up = true,
                Output::Idle(deadline) => break self.deadline = deadline,
            }
        }
    }
}

/// Looking.
impl Rig {
    #[track_caller]
    pub(crate) fn last(&self) -> &Value {
        self.sent.last().expect("something was sent")
    }

    /// The code of the last frame, which is an error under this id.
    #[track_caller]
    pub(crate) fn refused(&self, id: impl Into<Value>) -> i64 {
        let last = self.last();
        assert_eq!(last["id"], id.into(), "{last}");
        last["error"]["code"].as_i64().expect("an error")
    }

    /// The last frame, which is a result under this id.
    #[track_caller]
    pub(crate) fn result(&self, id: impl Into<Value>) -> &Value {
        let last = self.last();
        assert_eq!(last["id"], id.into(), "{last}");
        last.get("result").expect("a result")
    }

    pub(crate) fn methods_sent(&self) -> Vec<&str> {
        let methods = self.sent.iter().map(|frame| frame["method"].as_str());
        methods.map(Option::unwrap_or_default).collect()
    }

    /// The requests that were handed up.
    pub(crate) fn requests(&self) -> Vec<RequestKey> {
        let requests = self.events.iter().filter_map(|event| match event {
            Event::Request { request, .. } => Some(*request),
            _ => None,
        });
        requests.collect()
    }

    /// The context of the last request that was handed up.
    #[track_caller]
    pub(crate) fn context(&self) -> &RequestContext {
        let mut contexts = self.events.iter().rev().filter_map(|event| match event {
            Event::Request { context, .. } => Some(&**context),
            _ => None,
        });
        contexts.next().expect("a request was handed up")
    }

    /// The requests that were withdrawn, in order.
    pub(crate) fn cancelled(&self) -> Vec<(RequestKey, CancelReason)> {
        let cancelled = self.events.iter().filter_map(|event| match event {
            Event::Cancelled { request, reason } => Some((*request, reason.clone())),
            _ => None,
        });
        cancelled.collect()
    }

    pub(crate) fn was_closed(&self) -> bool {
        self.events
            .iter()
            .any(|event| matches!(event, Event::Closed))
    }

    pub(crate) fn saw(&self, expected: Violation) -> bool {
        let is_it = |seen: &TelemetryEvent| matches!(seen, TelemetryEvent::Violation { violation, .. } if *violation == expected);
        self.telemetry.iter().any(is_it)
    }

    pub(crate) fn observed(&self, name: &str) -> usize {
        let named = self.telemetry.iter().filter(|seen| seen.name() == name);
        named.count()
    }

    /// The one outcome of a call; that there is only one is checked.
    #[track_caller]
    pub(crate) fn outcome(&self, call: CallId) -> &Outcome {
        let mut outcomes = self.done.iter().filter(|(id, _)| *id == call);
        let (_, outcome) = outcomes.next().expect("the call has ended");
        assert!(outcomes.next().is_none(), "the call ended twice");
        outcome
    }
}

pub(crate) fn capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {"listChanged": true},
        "completions": {},
        "logging": {},
    })
}

pub(crate) fn client_capabilities() -> Value {
    json!({
        "roots": {},
        "sampling": {"tools": {}},
        "elicitation": {"form": {}, "url": {}},
    })
}

pub(crate) fn initialize(version: &str, capabilities: &Value) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": capabilities,
        "clientInfo": {"name": "tester", "version": "0"},
    })
}

/// What every stateless request carries.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": client_capabilities(),
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "0"},
    })
}

/// The params with these members in their `_meta`.
pub(crate) fn with_meta(mut params: Value, meta: Value) -> Value {
    let Value::Object(members) = meta else {
        panic!("an object");
    };
    for (key, value) in members {
        params["_meta"][key] = value;
    }
    params
}
