//! No sequence of commands, inputs and frames makes a client connection panic,
//! loop, end a call twice or not at all, or hold on to anything in the end.
//!
//! The input is read as a list of operations. Frames are templates that fit
//! what was asked last, spoilt by the input, or bytes of the input as they are.
//!
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none client` from `crates/bowline-proto`.

#![no_main]

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bowline_proto::{
    Instant,
    client::{
        CallId, CallOptions, CallPolicy, Cancellation, Config, Connection, ConnectionError,
        ConnectionErrorKind, ConnectionStats, Event, HttpStatusError, Input, InputHandling, LinkId,
        ListSubscriptions, Output, PeerRequestId, ProgressMode, Request, SendError, TaskMode,
        Timeouts, TransportKind,
    },
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::{InputResponses, LogLevel},
    revision::{Era, Revision},
};
use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|data: &[u8]| {
    let mut data = Data(data);
    let mut world = World::new(&mut data);
    while !data.0.is_empty() {
        world.step(&mut data);
    }
    world.end();
});

/// What servers say, with `@` for the id of a request of ours.
const TEMPLATES: [&str; 24] = [
    r#"{"jsonrpc":"2.0","id":@,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{}},"ttlMs":0,"cacheScope":"private"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"complete","supportedVersions":["2025-11-25"],"capabilities":{},"ttlMs":0,"cacheScope":"private"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"prompts":{},"logging":{}},"serverInfo":{"name":"f","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"protocolVersion":"1999-12-31","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"error":{"code":-32601,"message":"no"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28","2025-06-18"],"requested":"x"}}}"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"input_required","requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"input_required","requestState":"s","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}},"b":{"method":"roots/list"}}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"input_required","inputRequests":{"b":{"method":"roots/list"}}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"resultType":"odd"}}"#,
    r#"{"jsonrpc":"2.0","id":@,"result":{"tools":[{"name":"x","inputSchema":{"type":"object"},"mode":"stateless"}],"nextCursor":"n"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":@,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":@}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["u:0","u:1"]},"_meta":{"io.modelcontextprotocol/subscriptionId":@}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u:0","_meta":{"io.modelcontextprotocol/subscriptionId":@}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":@,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#,
    r#"{"jsonrpc":"2.0","id":@,"method":"initialize","params":{}}"#,
    r#"[{"jsonrpc":"2.0","id":@,"result":{}},{"jsonrpc":"2.0","method":"notifications/x"}]"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":@}}"#,
];

/// The input, from the front.
struct Data<'a>(&'a [u8]);

impl<'a> Data<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn bytes(&mut self) -> &'a [u8] {
        let length = usize::from(self.byte()).min(self.0.len());
        let (bytes, rest) = self.0.split_at(length);
        self.0 = rest;
        bytes
    }

    fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    /// One of `all`, if there is any.
    fn choose<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        let choice = usize::from(self.byte());
        // The latest ones are the interesting ones.
        let back = choice % all.len().max(1);
        all.len().checked_sub(back + 1).map(|at| all[at])
    }
}

struct World {
    machine: Connection,
    now: Instant,
    deadline: Option<Instant>,
    /// The link that was dialled last, and whether it is up; none if it is
    /// gone.
    live: Option<(LinkId, bool)>,
    links: Vec<LinkId>,
    /// Requests of ours, in the order in which they were sent.
    sent: Vec<u64>,
    frames: BTreeMap<u64, Bytes>,
    busy: BTreeSet<u64>,
    /// All calls, and whether they have ended.
    calls: BTreeMap<CallId, bool>,
    asked: Vec<CallId>,
    peer_requests: Vec<PeerRequestId>,
    linger: Duration,
}

fn config(data: &mut Data<'_>) -> Config {
    let mut config = Config::new("fuzz", "0");
    let flags = data.byte();
    if flags & 1 != 0 {
        config.transport = TransportKind::Http;
    }
    if flags & 2 != 0 {
        config.timeouts = Timeouts::interactive();
    }
    if flags & 4 != 0 {
        let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        config.capabilities = serde_json::from_value(capabilities).expect("capabilities");
    }
    config.strict = flags & 8 != 0;
    config.telemetry = flags & 16 != 0;
    let keep: fn(&Revision) -> bool = match flags >> 6 {
        1 => |revision| revision.era() == Era::Handshake,
        2 => |revision| revision.era() == Era::Stateless,
        _ => |_| true,
    };
    config.revisions.retain(keep);
    config.max_frame_size = 4096;
    config.max_input_rounds = 3;
    config.max_cancelled_calls = 8;
    config.max_server_requests = 3;
    config.max_connect_attempts = (flags & 32 != 0).then_some(5);
    config
}

impl World {
    fn new(data: &mut Data<'_>) -> Self {
        let config = config(data);
        let linger = config.close_timeout;
        let mut world = Self {
            machine: Connection::new(config, u64::from(data.byte())),
            now: Instant::ORIGIN,
            deadline: None,
            live: None,
            links: Vec::new(),
            sent: Vec::new(),
            frames: BTreeMap::new(),
            busy: BTreeSet::new(),
            calls: BTreeMap::new(),
            asked: Vec::new(),
            peer_requests: Vec::new(),
            linger,
        };
        world.machine.start(world.now);
        world.drain();
        world
    }

    fn step(&mut self, data: &mut Data<'_>) {
        match data.byte() % 24 {
            0 | 1 => self.wake(),
            2 => self.pass(Duration::from_millis(u64::from(data.byte()) * 8)),
            3 | 4 => self.up(),
            5 => self.down(),
            6..=11 => {
                let frame = self.template(data);
                self.frame(frame);
            }
            12 => {
                let frame = Bytes::copy_from_slice(data.bytes());
                self.frame(frame);
            }
            13 => self.refused(data),
            14 => self.odd_input(data),
            15 | 16 => self.call(data),
            17 => self.wish(data),
            18 => {
                let (tools, prompts) = (data.flag(), data.flag());
                let watch = ListSubscriptions {
                    tools,
                    prompts,
                    ..ListSubscriptions::default()
                };
                self.machine.set_list_subscriptions(self.now, watch);
            }
            19 => self.cancel(data),
            20 => self.provide(data),
            21 => self.respond(data),
            22 => {
                let draft = OutgoingMessage::without_params("notifications/roots/list_changed");
                self.machine.notify(self.now, draft);
            }
            _ => {
                if data.byte() == 255 {
                    self.machine.stop(self.now);
                }
            }
        }
        self.drain();
    }
}

/// The link.
impl World {
    fn up(&mut self) {
        if let Some((link, up)) = &mut self.live {
            *up = true;
            self.machine.handle(self.now, Input::Up { link: *link });
        }
    }

    fn down(&mut self) {
        if let Some((link, up)) = self.live.take() {
            let cause = cause();
            let input = if up {
                Input::Down { link, cause }
            } else {
                Input::DialFailed { link, cause }
            };
            self.machine.handle(self.now, input);
        }
    }

    fn frame(&mut self, frame: Bytes) {
        if let Some((link, _)) = self.live {
            self.machine.handle(self.now, Input::Frame { link, frame });
        }
    }

    /// A message that fits, or nearly.
    fn template(&mut self, data: &mut Data<'_>) -> Bytes {
        let template = TEMPLATES[usize::from(data.byte()) % TEMPLATES.len()];
        let id = data.choose(&self.sent).unwrap_or(1);
        let mut frame = template.replace('@', &id.to_string()).into_bytes();
        for _ in 0..data.byte() / 86 {
            let at = usize::from(data.byte()) * 3 % frame.len().max(1);
            match (data.byte() % 4, frame.get_mut(at)) {
                (0, Some(byte)) => *byte = data.byte(),
                (1, Some(_)) => {
                    frame.remove(at);
                }
                (2, Some(_)) => frame.insert(at, data.byte()),
                (_, Some(_)) => frame.truncate(at),
                (_, None) => {}
            }
        }
        frame.into()
    }

    fn refused(&mut self, data: &mut Data<'_>) {
        let Some((link, _)) = self.live else {
            return;
        };
        let id = data.choose(&self.sent);
        let refusal = match data.byte() % 4 {
            0 => {
                let frame = id.and_then(|id| self.frames.get(&id)).cloned();
                self.busy.extend(id);
                SendError::Busy(frame.unwrap_or_default())
            }
            1 => SendError::Failed(cause()),
            2 => SendError::NoResponse(cause()),
            _ => SendError::Status(HttpStatusError {
                status: [400, 401, 404, 405, 429, 503][usize::from(data.byte()) % 6],
                body: Bytes::copy_from_slice(data.bytes()),
                retry_after: None,
            }),
        };
        let id = id.filter(|_| data.byte() != 255);
        self.machine.handle(
            self.now,
            Input::SendFailed {
                link,
                id,
                error: refusal,
            },
        );
    }

    /// What drivers should not do, and things from links that are gone.
    fn odd_input(&mut self, data: &mut Data<'_>) {
        let Some(link) = data.choose(&self.links) else {
            return;
        };
        let live = self.live.is_some_and(|(live, _)| live == link);
        let input = match data.byte() % 4 {
            0 => Input::OversizedFrame {
                link,
                size: 5000,
                prefix: self.template(data),
            },
            1 if !live => Input::Up { link },
            2 if !live => Input::Down {
                link,
                cause: cause(),
            },
            _ => Input::Frame {
                link,
                frame: vec![b' '; 4097].into(),
            },
        };
        self.machine.handle(self.now, input);
    }
}

/// The host.
impl World {
    fn options(data: &mut Data<'_>) -> CallOptions {
        let flags = data.byte();
        CallOptions {
            session: None,
            elapsed: Duration::from_millis(u64::from(flags)),
            timeout: (flags & 1 != 0).then(|| Duration::from_millis(u64::from(data.byte()) * 16)),
            policy: if flags & 2 != 0 {
                CallPolicy::WaitForConnection
            } else {
                CallPolicy::FailFast
            },
            progress: match flags & 12 {
                4 => ProgressMode::Report,
                8 => ProgressMode::ExtendDeadline {
                    max: Duration::from_secs(u64::from(data.byte())),
                },
                _ => ProgressMode::Off,
            },
            retry_on_disconnect: flags & 16 != 0,
            input_handling: if flags & 32 != 0 {
                InputHandling::ReturnToCaller
            } else {
                InputHandling::AskHost
            },
            check_capabilities: flags & 64 == 0,
            mode: None,
            task: match flags & 128 {
                0 => TaskMode::Refuse,
                _ => TaskMode::Request { ttl: None },
            },
        }
    }

    fn call(&mut self, data: &mut Data<'_>) {
        let methods = [
            "tools/call",
            "tools/list",
            "resources/read",
            "prompts/get",
            "ping",
            "example/do",
        ];
        let method = methods[usize::from(data.byte()) % methods.len()];
        let padding = if data.byte() == 255 { 5000 } else { 1 };
        let params = json!({"name": "x", "uri": "u:0", "padding": "x".repeat(padding)});
        let request = Request::raw(method, &params).expect("an object");
        let options = Self::options(data);
        let id = self.machine.call(self.now, request, options);
        self.calls.insert(id, false);
    }

    fn wish(&mut self, data: &mut Data<'_>) {
        let uri = format!("u:{}", data.byte() % 3);
        let (which, options) = (data.byte() % 3, Self::options(data));
        let id = match which {
            0 => self.machine.unsubscribe(self.now, &uri, options),
            1 => self
                .machine
                .set_log_level(self.now, LogLevel::Error, options),
            _ => self.machine.subscribe(self.now, &uri, options),
        };
        self.calls.insert(id, false);
    }

    fn cancel(&mut self, data: &mut Data<'_>) {
        let calls: Vec<_> = self.calls.keys().copied().collect();
        if let Some(id) = data.choose(&calls) {
            self.machine.cancel(self.now, id, Cancellation::Dropped);
        }
    }

    fn provide(&mut self, data: &mut Data<'_>) {
        if let Some(id) = data.choose(&self.asked) {
            let mut answers = InputResponses::default();
            answers.insert("a".to_owned(), raw(&json!({"action": "decline"})));
            let answers = data.flag().then_some(answers);
            self.machine.provide_input(self.now, id, answers);
        }
    }

    fn respond(&mut self, data: &mut Data<'_>) {
        if let Some(request) = data.choose(&self.peer_requests) {
            let answer = if data.flag() {
                Ok(raw(&json!({})))
            } else {
                Err(ErrorObject::new(-1, "no"))
            };
            self.machine.respond(self.now, request, answer);
        }
    }
}

/// The clock, and what the machine says.
impl World {
    fn pass(&mut self, wait: Duration) {
        let until = self.now + wait;
        while self.deadline.is_some_and(|deadline| deadline <= until) {
            self.wake();
        }
        self.now = until;
    }

    fn wake(&mut self) {
        if let Some(deadline) = self.deadline {
            self.now = self.now.max(deadline);
            self.machine.handle(self.now, Input::Tick);
            self.drain();
            let later = self.deadline.is_none_or(|deadline| deadline > self.now);
            assert!(later, "a wake-up that changes nothing");
        }
    }

    fn drain(&mut self) {
        loop {
            match self.machine.poll_output() {
                Output::Dial { link, .. } => {
                    assert!(self.live.is_none(), "a dial while a link is live");
                    self.live = Some((link, false));
                    self.links.push(link);
                }
                Output::Close { link } => {
                    let live = self.live.take().map(|(live, _)| live);
                    assert_eq!(live, Some(link), "a hangup of no link");
                }
                Output::Send { link, id, frame } => {
                    assert_eq!(self.live, Some((link, true)), "a send on no link");
                    self.sent_frame(id, frame);
                }
                Output::CallDone { call, .. } => {
                    let ended = self.calls.insert(call, true);
                    assert_eq!(ended, Some(false), "{call:?} ended twice, or never began");
                }
                Output::Event(Event::InputRequired { call, .. }) => self.asked.push(call),
                Output::Event(Event::Request { request, .. }) => self.peer_requests.push(request),
                Output::Idle(deadline) => break self.deadline = deadline,
                _ => {}
            }
        }
        let open = self.machine.stats().calls;
        assert!(
            open == 0 || self.deadline.is_some(),
            "a call without a deadline"
        );
    }

    fn sent_frame(&mut self, id: Option<u64>, frame: Bytes) {
        let Some(id) = id else {
            return;
        };
        if self.busy.remove(&id) && self.frames.contains_key(&id) {
            return;
        }
        let json: Value = serde_json::from_slice(&frame).expect("requests are JSON");
        assert_eq!(json["id"].as_u64(), Some(id));
        assert!(self.sent.last().is_none_or(|last| *last < id), "ids grow");
        self.sent.push(id);
        self.frames.insert(id, frame);
    }

    fn end(mut self) {
        self.machine.stop(self.now);
        self.drain();
        assert!(
            self.calls.values().all(|ended| *ended),
            "a call never ended"
        );
        self.pass(self.linger);
        assert!(self.machine.has_ended());
        assert_eq!(self.machine.stats(), ConnectionStats::default());
        assert_eq!(self.deadline, None);
    }
}

fn cause() -> ConnectionError {
    ConnectionErrorKind::Eof.into()
}

fn raw(json: &Value) -> RawJson {
    RawJson::encode(json).expect("JSON")
}
