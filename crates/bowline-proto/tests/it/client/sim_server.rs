//! A fake server of either era, well-behaved or not.

use std::collections::{BTreeMap, BTreeSet};

use bowline_proto::{Instant, client::LinkId};
use serde_json::{Value, json};

use super::{
    rig::server_capabilities,
    sim_op::{Act, AskKind, Manner, ServerDoes, Speaks, Turn},
    sim_rng::Chance,
    sim_words::{
        About, Emission, Question, What, initialized, refuse_initialize, refuse_probe, request,
    },
};

/// The limit on frames in a simulated world.
pub(crate) const MAX_FRAME: usize = 4096;
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

pub(crate) struct Server {
    pub(crate) speaks: Speaks,
    pub(crate) manner: Manner,
    pub(crate) muted: bool,
    pub(crate) honours_less: bool,
    http: bool,
    /// HTTP: forgets every session as soon as it is open.
    pub(crate) forgetful: bool,
    /// What counts as late for an answer to the probe, in milliseconds.
    late: u64,
    pub(crate) now: Instant,
    sessions: BTreeMap<LinkId, Session>,
    scripts: BTreeMap<u64, Script>,
    serial: u64,
}

struct Session {
    opened: Instant,
    stateless: bool,
    /// HTTP: the session that the client thinks it has is unknown here.
    forgotten: bool,
    resources: BTreeSet<String>,
    streams: BTreeMap<u64, BTreeSet<String>>,
    /// Exchanges that the client let go of, perhaps before they arrived.
    aborted: BTreeSet<u64>,
    /// Open requests: the id, and the nonce of the call.
    open: BTreeMap<u64, u64>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            opened: Instant::ORIGIN,
            stateless: false,
            forgotten: false,
            resources: BTreeSet::new(),
            streams: BTreeMap::new(),
            aborted: BTreeSet::new(),
            open: BTreeMap::new(),
        }
    }
}

struct Script {
    turns: Vec<Turn>,
    next: usize,
}

impl Server {
    pub(crate) fn new(speaks: Speaks, http: bool, interactive: bool) -> Self {
        Self {
            speaks,
            manner: Manner::Proper,
            muted: false,
            honours_less: false,
            http,
            forgetful: false,
            now: Instant::ORIGIN,
            late: if interactive { 1_000 } else { 5_000 },
            sessions: BTreeMap::new(),
            scripts: BTreeMap::new(),
            serial: 0,
        }
    }

    /// Behaves from now on, but for quirks that a client must live with.
    pub(crate) fn heal(&mut self) {
        let bearable = match self.manner {
            Manner::PingsFirst => true,
            Manner::SlowStart => self.speaks != Speaks::Stateless || !self.http,
            Manner::SilentProbe | Manner::NamelessProbe | Manner::NonsenseProbe => {
                self.speaks == Speaks::Handshake
            }
            // Over HTTP a lost link is no evidence, so that such a server is
            // never understood.
            Manner::DiesOnProbe => self.speaks == Speaks::Handshake && !self.http,
            _ => false,
        };
        if !bearable {
            self.manner = Manner::Proper;
        }
        self.forgetful = false;
        self.muted = false;
        self.honours_less = false;
    }

    pub(crate) fn script(&mut self, nonce: u64, turns: Vec<Turn>) {
        self.scripts.insert(nonce, Script { turns, next: 0 });
    }

    pub(crate) fn opened(&mut self, link: LinkId) {
        let session = Session {
            opened: self.now,
            ..Session::default()
        };
        self.sessions.insert(link, session);
    }

    pub(crate) fn closed(&mut self, link: LinkId) {
        self.sessions.remove(&link);
    }

    /// HTTP: the client let go of an exchange.
    pub(crate) fn aborted(&mut self, link: LinkId, id: u64) {
        if let Some(session) = self.sessions.get_mut(&link) {
            session.streams.remove(&id);
            session.aborted.insert(id);
        }
    }

    /// The resources whose changes the server would announce on this link.
    pub(crate) fn in_force(&self, link: LinkId) -> BTreeSet<String> {
        let Some(session) = self.sessions.get(&link) else {
            return BTreeSet::new();
        };
        let streams = session.streams.values().flatten();
        streams.chain(&session.resources).cloned().collect()
    }

    /// Takes a frame in; says what follows.
    pub(crate) fn receive(
        &mut self,
        link: LinkId,
        frame: &Value,
        chance: &mut Chance,
    ) -> Vec<Emission> {
        let Some(session) = self.sessions.get_mut(&link) else {
            return Vec::new();
        };
        let id = frame["id"].as_u64();
        let method = frame["method"].as_str().unwrap_or_default();
        if method == "notifications/cancelled" {
            let wire = frame["params"]["requestId"].as_u64().unwrap_or_default();
            session.streams.remove(&wire);
            return Vec::new();
        }
        if session.forgotten && !method.is_empty() {
            return vec![Emission::status(id, 404, String::new())];
        }
        let gone = |id: &u64| session.aborted.contains(id);
        let Some(id) = id.filter(|id| !method.is_empty() && !self.muted && !gone(id)) else {
            return Vec::new();
        };
        let params = &frame["params"];
        match method {
            "server/discover" => self.discover(link, id, chance),
            "initialize" => self.initialize(link, id, chance),
            "resources/subscribe" | "resources/unsubscribe" => {
                let uri = params["uri"].as_str().unwrap_or_default().to_owned();
                if method == "resources/subscribe" {
                    session.resources.insert(uri);
                } else {
                    session.resources.remove(&uri);
                }
                vec![Emission::result(id, &json!({}))]
            }
            "logging/setLevel" => vec![Emission::result(id, &json!({}))],
            "subscriptions/listen" => self.listen(link, id, params),
            _ => self.call(link, id, params, chance),
        }
    }

    /// Does something of its own accord.
    pub(crate) fn act(
        &mut self,
        link: LinkId,
        does: ServerDoes,
        chance: &mut Chance,
    ) -> Vec<Emission> {
        match does {
            ServerDoes::Notify { count } => (0..count).map(|_| self.notification(link)).collect(),
            ServerDoes::Request { kind, id } => vec![Emission::frame(0, &request(kind, id))],
            ServerDoes::CancelRequest { id } => {
                // Where there are streams, this may well end one; but nobody
                // ends a stream before it is asked for.
                let session = self.sessions.get_mut(&link);
                let stateless = session.as_ref().is_some_and(|session| session.stateless);
                let ended = session.and_then(|session| session.streams.remove(&id.into()));
                let unused = stateless && ended.is_none();
                let id = u64::from(id) + if unused { 100_000 } else { 0 };
                let params = json!({"requestId": id});
                vec![Emission {
                    sturdy: ended.is_some(),
                    ..Emission::frame(
                        0,
                        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
                    )
                }]
            }
            ServerDoes::EndStreams { error } => self.end_streams(link, error, chance),
            ServerDoes::Stray { id } => {
                let wire = u64::from(id);
                // Small ids may well be in use: an answer is an answer.
                vec![self.answer(wire + 100_000, 0, false)]
            }
            ServerDoes::Close => vec![Emission::close()],
            ServerDoes::Restart { speaks } => {
                self.speaks = speaks;
                vec![Emission::close()]
            }
            mood => {
                self.turn_to(link, mood);
                Vec::new()
            }
        }
    }

    /// Changes its mood, silently.
    fn turn_to(&mut self, link: LinkId, mood: ServerDoes) {
        match mood {
            ServerDoes::Mute { on } => self.muted = on,
            ServerDoes::Forgetful { on } => self.forgetful = on && self.http,
            ServerDoes::Open(manner) => self.manner = manner,
            ServerDoes::HonourLess { on } => self.honours_less = on,
            ServerDoes::ForgetSession => {
                let session = self.sessions.get_mut(&link);
                if let Some(session) = session.filter(|session| self.http && !session.stateless) {
                    session.forgotten = true;
                    session.resources.clear();
                }
            }
            _ => {}
        }
    }
}

/// Opening.
impl Server {
    fn discover(&mut self, link: LinkId, id: u64, chance: &mut Chance) -> Vec<Emission> {
        let late = self.wait_of_a_slow_start(link);
        let mut proper = if self.speaks == Speaks::Handshake {
            refuse_probe(self.http, id, chance)
        } else {
            if let Some(session) = self.sessions.get_mut(&link) {
                session.stateless = true;
            }
            let mut versions = vec!["2026-07-28"];
            if self.speaks == Speaks::Both {
                versions.extend(VERSIONS);
            }
            Emission::result(
                id,
                &json!({
                    "resultType": "complete",
                    "supportedVersions": versions,
                    "capabilities": server_capabilities(),
                    "ttlMs": 0,
                    "cacheScope": "private",
                }),
            )
        };
        match self.manner {
            Manner::SlowStart => proper.after = late,
            Manner::SilentProbe => return Vec::new(),
            Manner::NamelessProbe => {
                let error = json!({"code": -32600, "message": "what?"});
                proper =
                    Emission::frame(late, &json!({"jsonrpc": "2.0", "id": null, "error": error}));
            }
            Manner::NonsenseProbe => proper = Emission::result(id, &json!({"ok": true})),
            Manner::DiesOnProbe => return vec![Emission::close()],
            _ => {}
        }
        vec![proper]
    }

    fn initialize(&mut self, link: LinkId, id: u64, chance: &mut Chance) -> Vec<Emission> {
        let version = match self.manner {
            Manner::SilentInitialize => return Vec::new(),
            Manner::RefusesInitialize => return vec![Emission::error(id, -32603)],
            Manner::WrongVersion => "1999-12-31",
            _ => VERSIONS[chance.below(4)],
        };
        if self.speaks == Speaks::Stateless {
            let mut refusal = refuse_initialize(self.http, id, chance);
            if self.manner == Manner::SlowStart {
                refusal.after = self.wait_of_a_slow_start(link);
            }
            return vec![refusal];
        }
        let forgetful = self.forgetful;
        if let Some(session) = self.sessions.get_mut(&link) {
            session.stateless = false;
            session.forgotten = forgetful;
        }
        let mut emissions = Vec::new();
        if self.manner == Manner::PingsFirst {
            emissions.push(Emission::frame(0, &request(AskKind::Ping, 0)));
        }
        let wait = match self.manner {
            Manner::SlowStart | Manner::NamelessProbe => self.wait_of_a_slow_start(link),
            _ => 0,
        };
        emissions.push(Emission {
            after: wait,
            ..initialized(id, version)
        });
        emissions
    }

    /// How long a server that takes its time to start needs from now on.
    fn wait_of_a_slow_start(&self, link: LinkId) -> u64 {
        let opened = self.sessions.get(&link).map(|session| session.opened);
        let age = self.now - opened.unwrap_or(self.now);
        self.late
            .saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX))
    }
}

/// Serving.
impl Server {
    fn listen(&mut self, link: LinkId, id: u64, params: &Value) -> Vec<Emission> {
        let Some(session) = self.sessions.get_mut(&link) else {
            return Vec::new();
        };
        let filter = &params["notifications"];
        let asked = filter["resourceSubscriptions"].as_array();
        let uris = asked.into_iter().flatten().filter_map(Value::as_str);
        let less = self.honours_less;
        let honoured: BTreeSet<String> = uris
            .filter(|uri| !less || uri.ends_with(['0', '2', '4']))
            .map(str::to_owned)
            .collect();
        let mut granted = filter.clone();
        if granted.get("resourceSubscriptions").is_some() {
            granted["resourceSubscriptions"] = json!(honoured);
        }
        session.streams.insert(id, honoured);
        vec![Emission::frame(
            0,
            &json!({
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"notifications": granted, "_meta": {SUBSCRIPTION: id}},
            }),
        )]
    }

    fn end_streams(&mut self, link: LinkId, error: bool, chance: &mut Chance) -> Vec<Emission> {
        let Some(session) = self.sessions.get_mut(&link) else {
            return Vec::new();
        };
        let mut emissions = Vec::new();
        for id in std::mem::take(&mut session.streams).into_keys() {
            let mut emission = match (error, chance.below(3)) {
                (true, _) => Emission::error(id, -32000),
                (false, 0) => {
                    let params = json!({"requestId": id});
                    Emission::frame(
                        0,
                        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
                    )
                }
                (false, _) => Emission::result(id, &json!({"_meta": {SUBSCRIPTION: id}})),
            };
            emission.sturdy = true;
            emissions.push(emission);
        }
        emissions
    }

    fn notification(&mut self, link: LinkId) -> Emission {
        self.serial += 1;
        let mut params = json!({"uri": "test:///0", "n": self.serial});
        let streams = self.sessions.get(&link).map(|session| &session.streams);
        if let Some((id, _)) = streams.and_then(BTreeMap::first_key_value) {
            params["_meta"] = json!({SUBSCRIPTION: id});
        }
        let method = "notifications/resources/updated";
        Emission::frame(
            0,
            &json!({"jsonrpc": "2.0", "method": method, "params": params}),
        )
    }

    /// A call of the host's: does what its script says.
    fn call(
        &mut self,
        link: LinkId,
        id: u64,
        params: &Value,
        chance: &mut Chance,
    ) -> Vec<Emission> {
        let nonce = params["nonce"].as_u64().unwrap_or_default();
        let turn = self.turn(nonce);
        let Some(session) = self.sessions.get_mut(&link) else {
            return Vec::new();
        };
        let stateless = session.stateless;
        session.open.insert(id, nonce);
        let other = session.open.keys().copied().find(|open| *open != id);
        let mut emissions = Vec::new();
        if let Some(token) = params["_meta"]["progressToken"].as_u64() {
            for step in 0..turn.progress {
                let at = u64::from(turn.after) * u64::from(step) / 4;
                let params = json!({"progressToken": token, "progress": step});
                emissions.push(Emission::frame(at, &json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})));
            }
        }
        let act = match turn.act {
            Act::Ask | Act::AskRoots | Act::Pause | Act::AskUnoffered if !stateless => Act::Answer,
            act => act,
        };
        let mut answers = self.perform(act, id, nonce, other, chance);
        for answer in &mut answers {
            answer.after += u64::from(turn.after);
        }
        emissions.append(&mut answers);
        emissions
    }

    fn turn(&mut self, nonce: u64) -> Turn {
        let usual = Turn {
            after: 0,
            act: Act::Answer,
            progress: 0,
        };
        let Some(script) = self.scripts.get_mut(&nonce) else {
            return usual;
        };
        let turn = script.turns.get(script.next).copied().unwrap_or(usual);
        script.next += 1;
        turn
    }

    fn perform(
        &mut self,
        act: Act,
        id: u64,
        nonce: u64,
        other: Option<u64>,
        chance: &mut Chance,
    ) -> Vec<Emission> {
        match act {
            Act::Answer => vec![self.answer(id, nonce, false)],
            Act::Twice => {
                let mut again = self.answer(id, nonce, false);
                again.after = chance.below(50) as u64;
                vec![self.answer(id, nonce, false), again]
            }
            Act::CrossedId => vec![self.answer(other.unwrap_or(id), nonce, other.is_some())],
            Act::WrongId => vec![self.answer(id + 1_000_000, nonce, false)],
            Act::TextId => {
                let id = id.to_string();
                vec![Emission::frame(
                    0,
                    &json!({"jsonrpc": "2.0", "id": id, "result": {}}),
                )]
            }
            Act::Refuse => vec![Emission::error(id, -32000)],
            Act::Silence => Vec::new(),
            Act::Malformed => {
                let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"nonce":}}}}"#);
                vec![Emission {
                    what: What::Frame(frame),
                    ..Emission::close()
                }]
            }
            Act::BadType => vec![Emission::result(id, &json!({"resultType": "riddle"}))],
            Act::TooLarge => {
                let padding = "x".repeat(MAX_FRAME);
                vec![Emission::result(id, &json!({"padding": padding}))]
            }
            Act::Ask | Act::AskRoots | Act::Pause | Act::AskUnoffered => {
                vec![self.ask(act, id, nonce)]
            }
        }
    }

    fn answer(&mut self, wire: u64, nonce: u64, crossed: bool) -> Emission {
        self.serial += 1;
        let serial = self.serial;
        let result = json!({"resultType": "complete", "nonce": nonce, "serial": serial});
        Emission {
            about: Some(About {
                wire,
                serial,
                question: None,
                crossed,
            }),
            ..Emission::result(wire, &result)
        }
    }

    fn ask(&mut self, act: Act, wire: u64, nonce: u64) -> Emission {
        self.serial += 1;
        let serial = self.serial;
        let elicit = |mode: &str| json!({"method": "elicitation/create", "params": {"mode": mode, "message": "?", "url": "https://example.org", "requestedSchema": {"type": "object", "properties": {}}}});
        let roots = json!({"method": "roots/list"});
        let mut state = Some(format!("state-{serial}"));
        let (requests, keys) = match act {
            Act::Ask => {
                state = state.filter(|_| !serial.is_multiple_of(3));
                (json!({"a": elicit("form"), "b": roots}), vec!["a", "b"])
            }
            Act::AskRoots => (json!({"b": roots}), vec!["b"]),
            Act::AskUnoffered => (json!({"a": elicit("url")}), vec!["a"]),
            _ => (Value::Null, Vec::new()),
        };
        let pauses = keys.is_empty();
        let mut result = json!({"resultType": "input_required", "nonce": nonce, "serial": serial});
        if !pauses {
            result["inputRequests"] = requests;
        }
        if let Some(state) = &state {
            result["requestState"] = json!(state);
        }
        Emission {
            about: Some(About {
                wire,
                serial,
                question: Some(Question {
                    state,
                    keys,
                    pauses,
                }),
                crossed: false,
            }),
            ..Emission::result(wire, &result)
        }
    }
}
