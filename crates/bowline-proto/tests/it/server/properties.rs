//! Whatever happens, in whatever order: the promises of the machine hold.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bowline_proto::{
    Instant,
    jsonrpc::{ErrorObject, RawJson},
    model::{ElicitParams, ListRootsParams, LogLevel},
    server::{
        CallId, CallOptions, CancelReason, Config, Connection, ConnectionStats, Event, Input,
        ListKind, Output, RequestContext, RequestKey, ServerRequest,
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::rig::{capabilities, client_capabilities, initialize, modern_meta, with_meta};

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_promises_hold(version in 0..VERSIONS.len(), ops in prop::collection::vec(op(), 0..80)) {
        let mut world = World::new();
        world.run(&Op::Initialize(version));
        for op in &ops {
            world.run(op);
        }
        world.end();
    }

    #[test]
    fn the_promises_hold_without_an_opening(ops in prop::collection::vec(op(), 0..40)) {
        let mut world = World::new();
        for op in &ops {
            world.run(op);
        }
        world.end();
    }
}

const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const METHODS: [&str; 9] = [
    "tools/list",
    "tools/call",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "subscriptions/listen",
    "server/discover",
    "ping",
    "nonsense",
];
const URIS: [&str; 2] = ["file:///a", "file:///b"];

#[derive(Clone, Debug)]
enum Op {
    Initialize(usize),
    Initialized,
    Request(Ask),
    Batch(Vec<Ask>),
    /// A request with one byte changed.
    Mutated(Ask, prop::sample::Index, u8),
    /// A request that ends early.
    Truncated(Ask, prop::sample::Index),
    Garbage(Vec<u8>),
    CancelRequest(Id),
    SetLevel(usize),
    /// An answer to a call of ours, or to none.
    Answer {
        id: u64,
        error: bool,
    },
    Respond {
        which: usize,
        error: bool,
    },
    Progress {
        which: usize,
        value: i32,
    },
    Log {
        which: Option<usize>,
        level: usize,
    },
    ListChanged(usize),
    Updated(usize),
    CloseListens,
    Call {
        kind: usize,
        parent: Option<usize>,
    },
    CancelCall(usize),
    Pass(u64),
    Shutdown(u64),
    Oversize(Ask),
    Closed,
}

/// Few ids, so that they collide.
#[derive(Clone, Copy, Debug)]
enum Id {
    Number(u8),
    Text(u8),
}

#[derive(Clone, Debug)]
struct Ask {
    id: Id,
    method: usize,
    stateless: bool,
    token: bool,
    level: Option<usize>,
    uri: usize,
}

fn op() -> impl Strategy<Value = Op> {
    let which = || 0..12_usize;
    prop_oneof![
        1 => (0..VERSIONS.len()).prop_map(Op::Initialize),
        2 => Just(Op::Initialized),
        20 => ask().prop_map(Op::Request),
        2 => prop::collection::vec(ask(), 1..4).prop_map(Op::Batch),
        4 => (ask(), any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(ask, at, byte)| Op::Mutated(ask, at, byte)),
        2 => (ask(), any::<prop::sample::Index>()).prop_map(|(ask, at)| Op::Truncated(ask, at)),
        2 => prop::collection::vec(any::<u8>(), 0..30).prop_map(Op::Garbage),
        5 => id().prop_map(Op::CancelRequest),
        2 => (0..8_usize).prop_map(Op::SetLevel),
        4 => (0..8_u64, any::<bool>()).prop_map(|(id, error)| Op::Answer { id, error }),
        12 => (which(), any::<bool>()).prop_map(|(which, error)| Op::Respond { which, error }),
        8 => (which(), -5..20_i32).prop_map(|(which, value)| Op::Progress { which, value }),
        6 => (prop::option::of(which()), 0..8_usize)
            .prop_map(|(which, level)| Op::Log { which, level }),
        2 => (0..3_usize).prop_map(Op::ListChanged),
        2 => (0..URIS.len()).prop_map(Op::Updated),
        1 => Just(Op::CloseListens),
        6 => (0..3_usize, prop::option::of(which()))
            .prop_map(|(kind, parent)| Op::Call { kind, parent }),
        2 => which().prop_map(Op::CancelCall),
        4 => (0..40_000_u64).prop_map(Op::Pass),
        1 => (0..5_000_u64).prop_map(Op::Shutdown),
        1 => ask().prop_map(Op::Oversize),
        1 => Just(Op::Closed),
    ]
}

fn id() -> impl Strategy<Value = Id> {
    (0..5_u8, any::<bool>()).prop_map(|(id, text)| if text { Id::Text(id) } else { Id::Number(id) })
}

fn ask() -> impl Strategy<Value = Ask> {
    let level = prop::option::of(0..8_usize);
    let parts = (
        id(),
        0..METHODS.len(),
        any::<bool>(),
        any::<bool>(),
        level,
        0..URIS.len(),
    );
    parts.prop_map(|(id, method, stateless, token, level, uri)| Ask {
        id,
        method,
        stateless,
        token,
        level,
        uri,
    })
}

impl Id {
    fn json(self) -> Value {
        match self {
            Self::Number(id) => json!(id),
            Self::Text(id) => json!(id.to_string()),
        }
    }
}

impl Ask {
    fn json(&self) -> Value {
        let uri = URIS[self.uri];
        let mut params = json!({
            "name": "x",
            "uri": uri,
            "notifications": {"toolsListChanged": true, "resourceSubscriptions": [uri]},
        });
        if self.stateless {
            params = with_meta(params, modern_meta());
            if let Some(level) = self.level {
                let level = LogLevel::ALL[level].as_str();
                params["_meta"]["io.modelcontextprotocol/logLevel"] = json!(level);
            }
        }
        if self.token {
            params["_meta"]["progressToken"] = self.id.json();
        }
        let (id, method) = (self.id.json(), METHODS[self.method]);
        json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    }
}

/// What is known of a request that was handed up.
struct Seen {
    id: Value,
    context: RequestContext,
    answers: usize,
    cancelled: Option<CancelReason>,
    progress: Option<f64>,
}

impl Seen {
    fn is_open(&self) -> bool {
        self.answers == 0 && self.cancelled.is_none()
    }
}

/// A connection, and what must be true of it.
struct World {
    connection: Connection,
    now: Instant,
    deadline: Option<Instant>,
    seen: BTreeMap<RequestKey, Seen>,
    calls: BTreeMap<CallId, usize>,
    wire_calls: BTreeSet<u64>,
    level: usize,
    closed: bool,
}

impl World {
    fn new() -> Self {
        let mut config = Config::new("world", "1");
        config.capabilities = serde_json::from_value(capabilities()).expect("capabilities");
        config.max_requests = 6;
        config.max_subscription_streams = 2;
        config.max_calls = 4;
        Self {
            connection: Connection::new(config),
            now: Instant::ORIGIN,
            deadline: None,
            seen: BTreeMap::new(),
            calls: BTreeMap::new(),
            wire_calls: BTreeSet::new(),
            level: 1,
            closed: false,
        }
    }

    fn run(&mut self, op: &Op) {
        let now = self.now;
        match op {
            Op::Initialize(version) => {
                let params = initialize(VERSIONS[*version], &client_capabilities());
                let frame = json!({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": params});
                self.input(&frame);
            }
            Op::Initialized => {
                self.input(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
            }
            Op::Request(ask) => self.input(&ask.json()),
            Op::Batch(asks) => self.input(&asks.iter().map(Ask::json).collect()),
            Op::Mutated(ask, at, byte) => {
                let mut frame = ask.json().to_string().into_bytes();
                let at = at.index(frame.len());
                frame[at] = *byte;
                self.handle(Input::Frame(frame.into()));
            }
            Op::Truncated(ask, at) => {
                let mut frame = ask.json().to_string().into_bytes();
                frame.truncate(at.index(frame.len()));
                self.handle(Input::Frame(frame.into()));
            }
            Op::Garbage(bytes) => self.handle(Input::Frame(bytes.clone().into())),
            Op::CancelRequest(id) => {
                let params = json!({"requestId": id.json()});
                self.input(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
            }
            Op::SetLevel(level) => self.set_level(*level),
            Op::Answer { id, error: false } => {
                self.input(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
            }
            Op::Answer { id, error: true } => {
                let error = json!({"code": -1, "message": "no"});
                self.input(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            Op::Pass(millis) => self.pass(Duration::from_millis(*millis)),
            Op::Shutdown(millis) => {
                self.connection
                    .shutdown(now, Duration::from_millis(*millis));
                self.drain();
            }
            Op::Oversize(ask) => {
                let prefix = ask.json().to_string().into_bytes().into();
                self.handle(Input::OversizedFrame {
                    size: 1 << 30,
                    prefix,
                });
            }
            Op::Closed => self.handle(Input::Closed),
            host => self.host(host),
        }
    }

    /// What the host does.
    fn host(&mut self, op: &Op) {
        let now = self.now;
        match op {
            Op::Respond { which, error } => {
                let Some(request) = self.pick(*which) else {
                    return;
                };
                let answer = if *error {
                    Err(ErrorObject::new(-32602, "no"))
                } else {
                    Ok(RawJson::encode(&json!({})).expect("JSON"))
                };
                self.connection.respond(now, request, answer);
            }
            Op::Progress { which, value } => {
                if let Some(request) = self.pick(*which) {
                    self.connection.progress(request, *value, None, None);
                }
            }
            Op::Log { which, level } => {
                let request = which.and_then(|which| self.pick(which));
                let data = RawJson::encode("words").expect("JSON");
                let level = &LogLevel::ALL[*level];
                self.connection.log(request, level, None, data);
            }
            Op::ListChanged(kind) => {
                let kinds = [ListKind::Tools, ListKind::Prompts, ListKind::Resources];
                self.connection.list_changed(kinds[*kind]);
            }
            Op::Updated(uri) => {
                self.connection.resource_updated(URIS[*uri]);
            }
            Op::CloseListens => self.connection.close_subscription_streams(now),
            Op::Call { kind, parent } => {
                let question = match kind {
                    0 => ServerRequest::Ping,
                    1 => ElicitParams::new("Which?").into(),
                    _ => ListRootsParams::default().into(),
                };
                let parent = parent.and_then(|parent| self.pick(parent));
                let options = CallOptions {
                    parent,
                    ..CallOptions::default()
                };
                let call = self.connection.call(now, question, &options);
                assert!(self.calls.insert(call, 0).is_none(), "a name is not reused");
            }
            Op::CancelCall(which) => {
                let call = self.calls.keys().nth(which % self.calls.len().max(1));
                if let Some(call) = call {
                    self.connection.cancel(now, *call);
                }
            }
            other => panic!("{other:?} is not the host's"),
        }
        self.drain();
    }

    fn set_level(&mut self, level: usize) {
        let params = json!({"level": LogLevel::ALL[level].as_str()});
        let frame = json!({"jsonrpc": "2.0", "id": "level", "method": "logging/setLevel", "params": params});
        if !self.closed && self.connection.session().is_some() {
            self.level = level;
        }
        self.input(&frame);
    }

    /// Some request that was handed up, over or not.
    fn pick(&self, which: usize) -> Option<RequestKey> {
        let count = self.seen.len();
        self.seen
            .keys()
            .nth(count.checked_sub(1 + which % count.max(1))?)
            .copied()
    }

    fn input(&mut self, frame: &Value) {
        self.handle(Input::Frame(frame.to_string().into()));
    }

    fn handle(&mut self, input: Input) {
        self.connection.handle(self.now, input);
        self.drain();
    }

    fn pass(&mut self, wait: Duration) {
        let until = self.now + wait;
        while let Some(deadline) = self.deadline.filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.handle(Input::Tick);
            let later = self.deadline.is_none_or(|next| deadline < next);
            assert!(later, "a deadline that was kept is gone");
        }
        self.now = until;
        self.handle(Input::Tick);
    }

    fn end(&mut self) {
        self.handle(Input::Closed);
        assert!(self.closed);
        assert_eq!(self.connection.stats(), ConnectionStats::default());
        assert_eq!(self.deadline, None);
        for (request, seen) in &self.seen {
            match &seen.cancelled {
                None => assert_eq!(seen.answers, 1, "{request:?} was answered"),
                Some(CancelReason::Shutdown) => assert_eq!(seen.answers, 1, "and told"),
                Some(_) => assert_eq!(seen.answers, 0, "{request:?} was cancelled"),
            }
        }
        assert!(self.calls.values().all(|ends| *ends == 1), "calls end once");
    }
}

/// Checking what the connection says.
impl World {
    fn drain(&mut self) {
        loop {
            match self.connection.poll_output() {
                Output::Idle(deadline) => break self.deadline = deadline,
                Output::CallDone { call, .. } => {
                    let ends = self.calls.entry(call).or_default();
                    *ends += 1;
                    assert_eq!(*ends, 1, "a call ends once");
                }
                _ if self.closed => panic!("something follows the end"),
                Output::Send {
                    request: about,
                    frame,
                    ..
                } => {
                    let frame = serde_json::from_slice(&frame).expect("frames are JSON");
                    self.sent(about, &frame);
                }
                Output::Event(event) => self.event(event),
                Output::Telemetry(_) | Output::Close => {}
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Request {
                request,
                id,
                context,
                ..
            } => {
                let seen = Seen {
                    id: serde_json::to_value(id).expect("an id"),
                    context: *context,
                    answers: 0,
                    cancelled: None,
                    progress: None,
                };
                let before = self.seen.insert(request, seen);
                assert!(before.is_none(), "a name is not reused");
            }
            Event::Cancelled { request, reason } => {
                let seen = self.seen.get_mut(&request).expect("a known request");
                assert!(seen.cancelled.is_none(), "cancelled once");
                assert!(seen.answers == 0 || reason == CancelReason::Shutdown);
                seen.cancelled = Some(reason);
            }
            Event::Closed => self.closed = true,
            Event::SessionOpened { .. }
            | Event::Initialized
            | Event::Notification { .. }
            | Event::SubscriptionChanged { .. } => {}
        }
    }

    fn sent(&mut self, about: Option<RequestKey>, frame: &Value) {
        match frame["method"].as_str() {
            None => self.answered(about, frame),
            Some("notifications/progress") => {
                let seen = self.open(about.expect("progress is about something"));
                let value = frame["params"]["progress"].as_f64().expect("a number");
                assert!(
                    seen.progress.is_none_or(|last| last < value),
                    "only upwards"
                );
                assert!(seen.context.progress_token.is_some());
                seen.progress = Some(value);
            }
            Some("notifications/message") => self.logged(about, frame),
            Some("ping" | "elicitation/create" | "roots/list") => {
                let id = frame["id"].as_u64().expect("our ids are numbers");
                assert!(self.wire_calls.insert(id), "an id is not reused");
            }
            Some(_) => assert!(frame.get("id").is_none(), "no other requests: {frame}"),
        }
    }

    fn answered(&mut self, about: Option<RequestKey>, frame: &Value) {
        let id = &frame["id"];
        if let Some(request) = about {
            let seen = self.open(request);
            assert_eq!(&seen.id, id);
            seen.answers += 1;
            return;
        }
        let mut open = self.seen.values().filter(|seen| seen.is_open());
        let stolen = open.any(|seen| &seen.id == id);
        assert!(!stolen, "the answer of another request: {frame}");
    }

    fn logged(&mut self, about: Option<RequestKey>, frame: &Value) {
        let level = frame["params"]["level"].as_str().expect("a level");
        let level = LogLevel::from(level);
        let mut least = LogLevel::ALL[self.level].clone();
        if let Some(request) = about {
            let seen = self.open(request);
            if seen.context.rules.era == bowline_proto::revision::Era::Stateless {
                least = seen.context.log_level.clone().expect("it asked");
            }
        }
        assert!(level >= least, "{level:?} is below {least:?}");
    }

    #[track_caller]
    fn open(&mut self, request: RequestKey) -> &mut Seen {
        let seen = self.seen.get_mut(&request).expect("a known request");
        assert!(
            seen.is_open(),
            "nothing is sent about a request that is over"
        );
        seen
    }
}
