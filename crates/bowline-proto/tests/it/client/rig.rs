//! A connection under test: in virtual time, with everything it says kept.

use std::time::Duration;

use bowline_proto::{
    Instant,
    client::{
        CallId, CallOptions, Config, Connection, ConnectionError, ConnectionErrorKind,
        ConnectionState, Event, HttpVariant, Input, LinkId, Outcome, Output, Request, SendError,
        TelemetryEvent, TransportKind, Violation,
    },
    model::RootsCapability,
};
use bytes::Bytes;
use serde_json::{Value, json};

/// A frame that the connection sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) link: LinkId,
    pub(crate) id: Option<u64>,
    pub(crate) frame: Bytes,
    pub(crate) json: Value,
}

impl Sent {
    pub(crate) fn method(&self) -> &str {
        self.json["method"].as_str().unwrap_or_default()
    }
}

/// A connection, its clock, and what it has said so far.
pub(crate) struct Rig {
    pub(crate) connection: Connection,
    pub(crate) now: Instant,
    pub(crate) link: Option<LinkId>,
    pub(crate) dials: Vec<LinkId>,
    /// The failed attempts that each dial counted, and its transport.
    pub(crate) attempts: Vec<u32>,
    pub(crate) wirings: Vec<HttpVariant>,
    pub(crate) hangups: Vec<LinkId>,
    pub(crate) aborts: Vec<u64>,
    pub(crate) sent: Vec<Sent>,
    pub(crate) done: Vec<(CallId, Outcome)>,
    pub(crate) events: Vec<Event>,
    pub(crate) telemetry: Vec<TelemetryEvent>,
    /// When the connection wants to be woken.
    pub(crate) deadline: Option<Instant>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A connection that was not started yet.
    pub(crate) fn with(adjust: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new("rig", "0.0.0");
        adjust(&mut config);
        let mut rig = Self {
            connection: Connection::new(config, 7),
            now: Instant::ORIGIN,
            link: None,
            dials: Vec::new(),
            attempts: Vec::new(),
            wirings: Vec::new(),
            hangups: Vec::new(),
            aborts: Vec::new(),
            sent: Vec::new(),
            done: Vec::new(),
            events: Vec::new(),
            telemetry: Vec::new(),
            deadline: None,
        };
        rig.drain();
        rig
    }

    /// Started, and waiting for its first link.
    pub(crate) fn dialling() -> Self {
        Self::new().started()
    }

    pub(crate) fn started(mut self) -> Self {
        self.connection.start(self.now);
        self.drain();
        self
    }

    /// A session of the handshake era, with all that a server can offer.
    pub(crate) fn ready() -> Self {
        Self::ready_with(|_| {})
    }

    pub(crate) fn ready_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let mut rig = Self::with(adjust).started();
        rig.open_by_handshake("2025-11-25");
        rig.forget();
        rig
    }

    /// A session of the stateless era, with all that a server can offer.
    pub(crate) fn stateless() -> Self {
        Self::stateless_with(|_| {})
    }

    pub(crate) fn stateless_with(adjust: impl FnOnce(&mut Config)) -> Self {
        let mut rig = Self::with(adjust).started();
        rig.open_by_discovery();
        rig.forget();
        rig
    }

    /// Brings the dialled link up and shakes hands on it.
    pub(crate) fn open_by_handshake(&mut self, version: &str) {
        self.up();
        if self.last_sent().method() == "server/discover" {
            self.answer_error(-32601, "no such method");
        }
        assert_eq!(self.last_sent().method(), "initialize");
        self.answer(json!({
            "protocolVersion": version,
            "capabilities": server_capabilities(),
            "serverInfo": {"name": "fake", "version": "1"},
        }));
        assert_eq!(self.connection.state(), ConnectionState::Ready);
    }

    /// Brings the dialled link up and lets the probe succeed.
    pub(crate) fn open_by_discovery(&mut self) {
        self.up();
        assert_eq!(self.last_sent().method(), "server/discover");
        self.answer(discovery());
        assert_eq!(self.connection.state(), ConnectionState::Ready);
    }

    /// Forgets what was said so far.
    pub(crate) fn forget(&mut self) {
        self.hangups.clear();
        self.aborts.clear();
        self.sent.clear();
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

    pub(crate) fn current(&self) -> LinkId {
        self.link.expect("a link was dialled")
    }

    pub(crate) fn up(&mut self) {
        let link = self.current();
        self.handle(Input::Up { link });
    }

    pub(crate) fn down(&mut self) {
        let link = self.current();
        self.handle(Input::Down {
            link,
            cause: exited(),
        });
    }

    pub(crate) fn dial_failed(&mut self) {
        let link = self.current();
        let cause = ConnectionErrorKind::Unreachable("no such command".to_owned()).into();
        self.handle(Input::DialFailed { link, cause });
    }

    pub(crate) fn frame(&mut self, json: &Value) {
        self.bytes(json.to_string());
    }

    pub(crate) fn bytes(&mut self, frame: impl Into<Bytes>) {
        let link = self.current();
        self.handle(Input::Frame {
            link,
            frame: frame.into(),
        });
    }

    /// Answers the last request that was sent.
    pub(crate) fn answer(&mut self, result: Value) {
        let id = self.last_request();
        self.answer_to(id, result);
    }

    pub(crate) fn answer_to(&mut self, id: u64, result: Value) {
        let version = Value::from("2.0");
        let answer = [("jsonrpc", version), ("id", id.into()), ("result", result)];
        self.frame(&Value::from_iter(answer));
    }

    pub(crate) fn answer_error(&mut self, code: i64, message: &str) {
        let id = self.last_request();
        let error = json!({"code": code, "message": message});
        self.frame(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    pub(crate) fn refuse(&mut self, id: u64, refusal: SendError) {
        let link = self.current();
        self.handle(Input::SendFailed {
            link,
            id: Some(id),
            error: refusal,
        });
    }

    /// Refuses the last request that was sent, as a full queue would.
    pub(crate) fn busy(&mut self) {
        let last = self.last_sent().clone();
        self.refuse(last.id.expect("a request"), SendError::Busy(last.frame));
    }

    pub(crate) fn call(&mut self, method: &'static str) -> CallId {
        self.call_with(
            method,
            json!({"name": "x", "uri": "file:///x"}),
            CallOptions::default(),
        )
    }

    pub(crate) fn call_with(
        &mut self,
        method: &'static str,
        params: Value,
        options: CallOptions,
    ) -> CallId {
        let Value::Object(params) = params else {
            panic!("parameters are an object");
        };
        let request = Request::raw(method, &params).expect("JSON encodes");
        let id = self.connection.call(self.now, request, options);
        self.drain();
        id
    }

    pub(crate) fn stop(&mut self) -> bool {
        let first = self.connection.stop(self.now);
        self.drain();
        first
    }

    /// Does something to the connection and keeps what it says.
    pub(crate) fn act(&mut self, act: impl FnOnce(&mut Connection, Instant)) {
        act(&mut self.connection, self.now);
        self.drain();
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

    pub(crate) fn pass_ms(&mut self, millis: u64) {
        self.pass(Duration::from_millis(millis));
    }

    /// Lets time pass until the connection has something to do.
    pub(crate) fn wake(&mut self) {
        let deadline = self.deadline.expect("the connection waits for something");
        self.now = self.now.max(deadline);
        self.handle(Input::Tick);
    }

    pub(crate) fn drain(&mut self) {
        loop {
            match self.connection.poll_output() {
                Output::Dial {
                    link,
                    attempt,
                    http_variant: wiring,
                } => {
                    self.link = Some(link);
                    self.dials.push(link);
                    self.attempts.push(attempt);
                    self.wirings.push(wiring);
                }
                Output::Close { link } => self.hangups.push(link),
                Output::Abort { id, .. } => self.aborts.push(id),
                Output::Negotiated { .. } => {}
                Output::Send { link, id, frame } => {
                    let json = serde_json::from_slice(&frame).expect("frames are JSON");
                    self.sent.push(Sent {
                        link,
                        id,
                        frame,
                        json,
                    });
                }
                Output::CallDone { call, outcome } => self.done.push((call, outcome)),
                Output::Event(event) => self.events.push(event),
                Output::Telemetry(telemetry) => self.telemetry.push(telemetry),
                Output::Idle(deadline) => break self.deadline = deadline,
            }
        }
    }
}

/// Looking.
impl Rig {
    pub(crate) fn state(&self) -> ConnectionState {
        self.connection.state()
    }

    pub(crate) fn last_sent(&self) -> &Sent {
        self.sent.last().expect("something was sent")
    }

    /// The id of the last request that was sent.
    pub(crate) fn last_request(&self) -> u64 {
        let request = self.sent.iter().rev().find_map(|sent| sent.id);
        request.expect("a request was sent")
    }

    pub(crate) fn methods_sent(&self) -> Vec<&str> {
        self.sent.iter().map(Sent::method).collect()
    }

    /// The one outcome of a call; that there is only one is checked.
    #[track_caller]
    pub(crate) fn outcome(&self, call: CallId) -> &Outcome {
        let mut outcomes = self.done.iter().filter(|(id, _)| *id == call);
        let (_, outcome) = outcomes.next().expect("the call has ended");
        assert!(outcomes.next().is_none(), "the call ended twice");
        outcome
    }

    pub(crate) fn has_ended(&self, call: CallId) -> bool {
        self.done.iter().any(|(id, _)| *id == call)
    }

    pub(crate) fn saw_violation(&self, expected: Violation) -> bool {
        let is_expected = |seen: &TelemetryEvent| matches!(seen, TelemetryEvent::Violation { violation, .. } if *violation == expected);
        self.telemetry.iter().any(is_expected)
    }

    pub(crate) fn observed(&self, name: &str) -> usize {
        self.telemetry
            .iter()
            .filter(|seen| seen.name() == name)
            .count()
    }
}

pub(crate) fn exited() -> ConnectionError {
    ConnectionError::new(ConnectionErrorKind::Exited {
        code: Some(1),
        signal: None,
    })
    .with_detail("out of ideas")
}

/// Tells the server of changes to the roots.
pub(crate) fn telling_of_roots(config: &mut Config) {
    let mut roots = RootsCapability::default();
    roots.list_changed = Some(true);
    config.capabilities.roots = Some(roots);
}

pub(crate) fn over_http(config: &mut Config) {
    config.transport = TransportKind::Http;
}

pub(crate) fn server_capabilities() -> Value {
    json!({
        "tools": {"listChanged": true},
        "resources": {"subscribe": true, "listChanged": true},
        "prompts": {},
        "completions": {},
        "logging": {},
    })
}

pub(crate) fn discovery() -> Value {
    json!({
        "resultType": "complete",
        "supportedVersions": ["2026-07-28"],
        "capabilities": server_capabilities(),
        "ttlMs": 0,
        "cacheScope": "private",
    })
}
