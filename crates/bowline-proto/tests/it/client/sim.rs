//! A simulated world in virtual time: the machine, a faulty link, a server.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use bowline_proto::{
    Instant,
    client::{
        CallId, CallOptions, CallPolicy, Cancellation, Config, Connection, ConnectionState, Event,
        Failure, Input, InputHandling, LinkId, ListSubscriptions, Outcome, Output, PeerRequestId,
        ProgressMode, Request, Timeouts, TransportKind,
    },
    jsonrpc::{ErrorObject, OutgoingMessage, RawJson},
    model::{InputResponses, LogLevel, ToolMode, method},
    revision::{Era, Revision},
};
use serde_json::json;

use super::{
    sim_link::{Faults, Transit},
    sim_op::{CallOp, Kind, Op, Plan, ServerDoes, Setup, Speaks},
    sim_oracle::{Ledger, Oracle, Wish, name_of},
    sim_rng::{Chance, Digest},
    sim_server::{MAX_FRAME, Server},
};

/// Within this much virtual time a connection must come back once all is well:
/// an attempt that hangs, the longest wait, an attempt that learns the era,
/// another wait, and one that works.
const RECOVERY: Duration = Duration::from_secs(150);
/// How much may happen at one moment before it counts as a loop.
const MOMENT: u32 = 20_000;

pub(crate) struct World {
    pub(crate) now: Instant,
    pub(crate) machine: Connection,
    pub(crate) server: Server,
    pub(crate) oracle: Oracle,
    pub(crate) setup: Setup,
    pub(crate) chance: Chance,
    pub(crate) faults: Faults,
    pub(crate) transit: BTreeMap<(Instant, u64), Transit>,
    pub(crate) sequence: u64,
    /// On a stream, nothing arrives before this.
    pub(crate) stalled_until: Instant,
    /// Links that were dialled at some time.
    pub(crate) ghosts: Vec<LinkId>,
    /// Which calls the host is being asked about.
    asked: BTreeSet<CallId>,
    peer_requests: BTreeSet<PeerRequestId>,
    /// The state that the host was told of last.
    told: ConnectionState,
    deadline: Option<Instant>,
    nonce: u64,
    /// How many inputs, commands and wake-ups there were.
    pub(crate) steps: u64,
    /// Of everything that was sent, and how every call ended.
    pub(crate) digest: Digest,
    /// Cancel this often, whatever the plan says.
    pub(crate) cancel_times: Option<u8>,
}

pub(crate) fn config(setup: Setup) -> Config {
    let mut config = Config::new("sim", "0.0.0");
    config.transport = if setup.http {
        TransportKind::Http
    } else {
        TransportKind::Stream
    };
    if setup.interactive {
        config.timeouts = Timeouts::interactive();
        config.timeouts.input = Duration::from_secs(20);
    }
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {"listChanged": true}});
    config.capabilities = serde_json::from_value(capabilities).expect("capabilities");
    config.assumed_era = setup.assume;
    let allowed = |revision: &Revision| setup.allowed.is_none_or(|era| revision.era() == era);
    config.revisions.retain(allowed);
    config.strict = setup.strict;
    config.log_level = setup.level.then_some(LogLevel::Warning);
    config.max_frame_size = MAX_FRAME;
    config.max_input_rounds = 2;
    config.max_server_requests = 3;
    if setup.few_graves {
        config.max_cancelled_calls = 3;
    }
    config
}

impl World {
    pub(crate) fn new(plan: &Plan) -> Self {
        let setup = plan.setup;
        let mut world = Self {
            now: Instant::ORIGIN,
            machine: Connection::new(config(setup), plan.seed),
            server: Server::new(setup.speaks, setup.http, setup.interactive),
            oracle: Oracle::default(),
            setup,
            chance: Chance::new(plan.seed),
            faults: Faults::default(),
            transit: BTreeMap::new(),
            sequence: 0,
            stalled_until: Instant::ORIGIN,
            ghosts: Vec::new(),
            asked: BTreeSet::new(),
            peer_requests: BTreeSet::new(),
            told: ConnectionState::Starting,
            deadline: None,
            nonce: 0,
            steps: 0,
            digest: Digest::new(),
            cancel_times: None,
        };
        world.act(Connection::start);
        if setup.head_start {
            world.pass(Duration::from_millis(300));
        }
        world
    }

    /// Lives a plan through to a clean end.
    pub(crate) fn live(plan: &Plan) -> Self {
        let mut world = Self::new(plan);
        for op in &plan.ops {
            world.apply(op);
        }
        world
    }
}

/// Driving the machine.
impl World {
    pub(crate) fn handle(&mut self, input: Input) {
        let ticked = matches!(input, Input::Tick);
        self.machine.handle(self.now, input);
        self.drain();
        if ticked {
            let soon = self.deadline.is_none_or(|deadline| deadline > self.now);
            assert!(soon, "a wake-up that changes nothing");
        }
    }

    pub(crate) fn act<T>(&mut self, act: impl FnOnce(&mut Connection, Instant) -> T) -> T {
        let result = act(&mut self.machine, self.now);
        self.drain();
        result
    }

    fn drain(&mut self) {
        self.steps += 1;
        loop {
            let output = self.machine.poll_output();
            if self.oracle.ended {
                let allowed = matches!(
                    output,
                    Output::Idle(None)
                        | Output::Telemetry(_)
                        | Output::Event(Event::StateChanged(ConnectionState::Closing))
                        | Output::CallDone {
                            outcome: Outcome::Failed(Failure::Shutdown),
                            ..
                        }
                );
                assert!(allowed, "{output:?} after the end");
            }
            match output {
                Output::Idle(deadline) => break self.deadline = deadline,
                output => self.obey(output),
            }
        }
        assert_eq!(
            self.told,
            self.machine.state(),
            "the host was told otherwise"
        );
        self.oracle.at_rest(self.now, &self.machine, self.deadline);
    }

    fn obey(&mut self, output: Output) {
        match output {
            Output::Dial {
                link,
                http_variant: wiring,
                ..
            } => {
                self.oracle.dialled(self.now, link);
                self.ghosts.push(link);
                self.dial(link, wiring);
            }
            Output::Close { link } => {
                self.oracle.hung_up(link);
                self.server.closed(link);
                self.hang_up(link);
            }
            Output::Send { link, id, frame } => {
                self.oracle.sent(self.now, link, id, &frame);
                self.digest.add(&frame);
                self.carry(link, id, frame);
            }
            Output::Abort { link, id } => {
                self.oracle.aborted(link, id, self.setup.http);
                self.server.aborted(link, id);
            }
            Output::Negotiated { link, revision } => self.oracle.settled(link, revision.era()),
            Output::CallDone { call, outcome } => {
                self.asked.remove(&call);
                self.digest.add(name_of(&outcome).as_bytes());
                self.oracle.done(self.now, call, &outcome);
            }
            Output::Event(event) => self.event(event),
            Output::Telemetry(telemetry) => self.oracle.observed(&telemetry),
            Output::Idle(_) => {}
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Ready { session } => self.oracle.beliefs.ready(session),
            Event::Progress { call, .. } => self.oracle.progressed(self.now, call),
            Event::Request { request, .. } => {
                assert!(self.peer_requests.insert(request), "asked twice");
                let input = config(self.setup).timeouts.input;
                self.oracle.held(self.now + input);
            }
            Event::RequestWithdrawn { request } => {
                self.oracle.released(self.now);
                self.peer_requests.remove(&request);
            }
            Event::InputRequired { call, .. } => {
                let deadline = self.now + config(self.setup).timeouts.input;
                self.oracle.asked(deadline, call);
                assert!(self.asked.insert(call), "asked twice");
            }
            Event::InputWithdrawn { call } => {
                assert!(self.asked.remove(&call), "withdrawn, but never asked");
            }
            Event::Resubscribed { uris } => self.oracle.beliefs.resubscribed(&uris),
            Event::SubscriptionLost { uri, error } => {
                self.oracle.beliefs.lost(&uri, error.is_some());
            }
            Event::Ended => self.oracle.ended = true,
            Event::StateChanged(state) => self.told = state,
            Event::Disconnected { .. } | Event::Notification { .. } => {}
        }
    }

    /// Lets everything happen that is due until `until`, in order. Where the
    /// link and the clock come at once, chance decides.
    pub(crate) fn run_until(&mut self, until: Instant) {
        let mut here = 0;
        loop {
            let (arrival, deadline) = (self.next_arrival(), self.deadline);
            let Some(next) = [arrival, deadline].into_iter().flatten().min() else {
                break;
            };
            if next > until {
                break;
            }
            here = if next > self.now { 0 } else { here + 1 };
            assert!(here < MOMENT, "time does not pass");
            self.now = self.now.max(next);
            let both = arrival.is_some_and(|at| at <= self.now)
                && deadline.is_some_and(|at| at <= self.now);
            let link_first = if both {
                self.chance.below(2) == 0
            } else {
                arrival == Some(next)
            };
            if link_first {
                self.arrive();
            } else {
                self.handle(Input::Tick);
            }
        }
        self.now = self.now.max(until);
    }

    pub(crate) fn pass(&mut self, wait: Duration) {
        self.run_until(self.now + wait);
    }
}

/// What the plan says.
impl World {
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::Call(call) => {
                self.call(call);
            }
            Op::Cancel { nth, times } => self.cancel(*nth, *times, &Cancellation::Requested(None)),
            Op::DropCall { nth } => self.cancel(*nth, 1, &Cancellation::Dropped),
            Op::Subscribe { uri, wait } => {
                let uri = uri_of(*uri);
                let wish = Wish::Subscribe(uri.clone());
                self.wish(wish, *wait, |machine, now, options| {
                    machine.subscribe(now, &uri, options)
                });
            }
            Op::Unsubscribe { uri, wait } => {
                let uri = uri_of(*uri);
                let wish = Wish::Unsubscribe(uri.clone());
                self.wish(wish, *wait, |machine, now, options| {
                    machine.unsubscribe(now, &uri, options)
                });
            }
            Op::SetLevel { wait } => self.wish(Wish::Level, *wait, |machine, now, options| {
                machine.set_log_level(now, LogLevel::Error, options)
            }),
            Op::Watch { tools, prompts } => {
                let watch = ListSubscriptions {
                    tools: *tools,
                    prompts: *prompts,
                    ..ListSubscriptions::default()
                };
                self.act(|machine, now| machine.set_list_subscriptions(now, watch));
            }
            Op::Notify => {
                let draft = OutgoingMessage::without_params(method::ROOTS_LIST_CHANGED);
                self.act(|machine, now| machine.notify(now, draft));
            }
            Op::ProvideInput { nth, give } => self.provide(*nth, *give),
            Op::Respond { nth, ok } => self.respond(*nth, *ok),
            Op::Server(does) => self.provoke(*does),
            Op::Link(fault) => self.fault(*fault),
            Op::Pass { ms } => self.pass(Duration::from_millis((*ms).into())),
            Op::Wake => {
                if let Some(deadline) = self.deadline {
                    self.run_until(deadline);
                }
            }
            Op::Stop => self.stop(),
            Op::Restart => self.restart(),
        }
    }

    pub(crate) fn call(&mut self, op: &CallOp) -> CallId {
        self.nonce += 1;
        let nonce = self.nonce;
        self.server.script(nonce, op.turns.clone());
        let (name, class) = method_of(op.kind);
        let padding = if op.kind == Kind::Huge { MAX_FRAME } else { 1 };
        let params = json!({"nonce": nonce, "name": "x", "uri": "test:///0", "padding": "x".repeat(padding)});
        let request = Request::raw(name, &params).expect("an object");
        let extends = op.extends.map(|ms| Duration::from_millis(ms.into()));
        let options = CallOptions {
            timeout: op.timeout.map(|ms| Duration::from_millis(ms.into())),
            policy: policy(op.wait),
            progress: match extends {
                Some(at_most) => ProgressMode::ExtendDeadline { max: at_most },
                None if nonce.is_multiple_of(3) => ProgressMode::Report,
                None => ProgressMode::Off,
            },
            retry_on_disconnect: op.replay,
            mode: op.mode,
            input_handling: if op.hand_back {
                InputHandling::ReturnToCaller
            } else {
                InputHandling::AskHost
            },
            ..CallOptions::default()
        };
        let timeout = options
            .timeout
            .unwrap_or(config(self.setup).timeouts.for_class(class));
        let id = self.machine.call(self.now, request, options);
        let mut ledger = Ledger::new(self.now, Wish::Request(nonce), timeout, extends);
        ledger.stateful = op.mode == Some(ToolMode::Stateful);
        self.oracle.called(id, ledger);
        self.drain();
        id
    }

    fn wish(
        &mut self,
        wish: Wish,
        wait: bool,
        ask: impl FnOnce(&mut Connection, Instant, CallOptions) -> CallId,
    ) {
        let options = CallOptions {
            policy: policy(wait),
            ..CallOptions::default()
        };
        let class = match wish {
            Wish::Level => method::RequestClass::Other,
            _ => method::RequestClass::Resource,
        };
        let timeout = config(self.setup).timeouts.for_class(class);
        let id = ask(&mut self.machine, self.now, options);
        self.oracle
            .called(id, Ledger::new(self.now, wish, timeout, None));
        self.drain();
    }

    fn provoke(&mut self, does: ServerDoes) {
        self.oracle.dishonoured |= matches!(
            does,
            ServerDoes::HonourLess { .. }
                | ServerDoes::EndStreams { .. }
                | ServerDoes::CancelRequest { .. }
        );
        if let Some(link) = self.oracle.link.as_ref().map(|live| live.link) {
            let emissions = self.server.act(link, does, &mut self.chance);
            self.emit(link, emissions);
        }
    }

    fn cancel(&mut self, nth: u8, times: u8, cancel: &Cancellation) {
        let open = self.oracle.open();
        let Some(id) = open.get(usize::from(nth) % open.len().max(1)).copied() else {
            return;
        };
        if let Some(ledger) = self.oracle.calls.get_mut(&id) {
            ledger.cancelled = true;
        }
        for _ in 0..self.cancel_times.unwrap_or(times) {
            self.act(|machine, now| machine.cancel(now, id, cancel.clone()));
        }
        assert!(self.oracle.calls[&id].done, "a cancelled call ends at once");
    }

    fn provide(&mut self, nth: u8, give: bool) {
        let nth = usize::from(nth) % self.asked.len().max(1);
        let Some(id) = self.asked.iter().copied().nth(nth) else {
            return;
        };
        let answers = give.then(|| {
            let mut answers = InputResponses::default();
            let answer = RawJson::encode(&json!({"action": "accept", "content": {}}));
            answers.insert("a".to_owned(), answer.expect("JSON"));
            answers
        });
        if give {
            self.asked.remove(&id);
            self.oracle.provided(self.now, id);
        }
        self.act(|machine, now| machine.provide_input(now, id, answers));
        assert!(
            !self.asked.contains(&id),
            "an answered question is not withdrawn"
        );
    }

    fn respond(&mut self, nth: u8, ok: bool) {
        let nth = usize::from(nth) % self.peer_requests.len().max(1);
        let Some(request) = self.peer_requests.iter().copied().nth(nth) else {
            return;
        };
        self.oracle.released(self.now);
        self.peer_requests.remove(&request);
        let answer = if ok {
            Ok(RawJson::encode(&json!({"ok": true})).expect("JSON"))
        } else {
            Err(ErrorObject::new(-1, "no"))
        };
        self.act(|machine, now| machine.respond(now, request, answer));
    }
}

/// Ends and new beginnings.
impl World {
    /// Stops. Every caller is answered at once.
    pub(crate) fn stop(&mut self) {
        let open = self.oracle.open();
        let first = self.machine.state() != ConnectionState::Closing;
        self.oracle.stopped = true;
        assert_eq!(self.act(Connection::stop), first);
        for id in open {
            assert_eq!(self.oracle.calls[&id].how, "shutdown");
        }
        assert_eq!(self.machine.state(), ConnectionState::Closing);
        self.oracle.all_done();
        assert_eq!(self.machine.stats().calls, 0);
    }

    fn restart(&mut self) {
        self.stop();
        self.end();
        let tally = std::mem::take(&mut self.oracle.tally);
        let dishonoured = self.oracle.dishonoured;
        self.oracle = Oracle::default();
        self.oracle.dishonoured = dishonoured;
        self.oracle.tally = tally;
        self.transit.clear();
        self.ghosts.clear();
        let seed = self.chance.next();
        self.machine = Connection::new(config(self.setup), seed);
        self.told = ConnectionState::Starting;
        self.act(Connection::start);
    }

    /// After the stop: nothing is held, and nothing follows.
    pub(crate) fn end(&mut self) {
        let settings = config(self.setup);
        self.pass(settings.close_timeout);
        assert!(self.machine.has_ended(), "the end waits too long");
        self.pass(settings.cancelled_call_ttl() + settings.sweep_interval);
        assert_eq!(
            self.machine.stats(),
            bowline_proto::client::ConnectionStats::default()
        );
        assert_eq!(self.deadline, None);
        assert!(self.asked.is_empty(), "a question without a call");
        assert!(self.peer_requests.is_empty(), "a request without a session");
        self.oracle.all_done();
    }

    /// From now on nothing goes wrong, and the server is one that the machine
    /// can speak with.
    pub(crate) fn heal(&mut self) {
        self.faults = Faults::default();
        let fits = match self.setup.allowed {
            None => true,
            Some(Era::Handshake) => self.server.speaks != Speaks::Stateless,
            Some(Era::Stateless) => self.server.speaks != Speaks::Handshake,
        };
        if !fits {
            self.server.speaks = Speaks::Both;
            if let Some(link) = self.oracle.link.as_ref().map(|live| live.link) {
                self.transit.retain(|_, transit| !transit.brings_up(link));
                self.fault(super::sim_op::Fault::Cut);
            }
        }
        self.server.heal();
    }

    /// With all being well, the connection must come back and work.
    pub(crate) fn recover(&mut self) {
        self.heal();
        self.pass(RECOVERY);
        assert_eq!(
            self.machine.state(),
            ConnectionState::Ready,
            "it does not come back"
        );
        let before = self.oracle.tally.get("result").copied().unwrap_or_default();
        self.call(&CallOp {
            kind: Kind::Foreign,
            wait: false,
            timeout: Some(20_000),
            extends: None,
            replay: false,
            mode: None,
            hand_back: false,
            turns: Vec::new(),
        });
        self.pass(RECOVERY);
        let after = self.oracle.tally.get("result").copied().unwrap_or_default();
        assert!(after > before, "a call does not get through");
        assert_eq!(self.machine.state(), ConnectionState::Ready);
        let left = self.machine.stats();
        assert!(left.cancelled_calls <= config(self.setup).max_cancelled_calls);
    }

    /// The host and the server must agree on what is subscribed.
    pub(crate) fn agree(&mut self) {
        let link = self.oracle.link.as_ref().map(|live| live.link);
        let in_force = self.server.in_force(link.expect("a session"));
        self.oracle.beliefs.agree_with(&in_force);
        let unsettled = self.oracle.unsettled();
        assert!(unsettled.is_empty(), "never heard of again: {unsettled:?}");
    }
}

fn uri_of(uri: u8) -> String {
    format!("test:///{uri}")
}

fn policy(wait: bool) -> CallPolicy {
    if wait {
        CallPolicy::WaitForConnection
    } else {
        CallPolicy::FailFast
    }
}

fn method_of(kind: Kind) -> (&'static str, method::RequestClass) {
    use method::RequestClass as C;
    match kind {
        Kind::Tool | Kind::Huge => (method::TOOLS_CALL, C::Tool),
        Kind::Resource => (method::RESOURCES_READ, C::Resource),
        Kind::Prompt => (method::PROMPTS_GET, C::Other),
        Kind::ListTools => (method::TOOLS_LIST, C::Tool),
        Kind::Ping => (method::PING, C::Other),
        Kind::Foreign => ("example/do", C::Other),
    }
}
