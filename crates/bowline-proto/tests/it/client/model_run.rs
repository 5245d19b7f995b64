//! TST-08: the machine and the reference model, in lock-step.

use std::{fmt, time::Duration};

use bowline_proto::{
    Instant,
    client::{
        CallId, CallOptions, CallPolicy, Cancellation, Connection, ConnectionErrorKind, Event,
        Failure, Input, Outcome, SendError, TelemetryEvent,
    },
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::{
    model::{End, Model, Place},
    properties::check,
    rig::{Rig, Sent, discovery, server_capabilities},
};

const MAX_FRAME: usize = 4096;

/// Something that happens to both.
#[derive(Clone)]
enum Ev {
    Start,
    Up,
    DialFailed,
    Down,
    /// The probe is answered with a yes.
    ProbeYes,
    /// `initialize` is answered, with a version that is acceptable or not.
    Initialized(bool),
    /// What is asked while opening is refused, under its id or under none.
    Refused {
        named: bool,
    },
    Junk,
    Ping,
    Note,
    Oversize,
    Answer(u8),
    Error(u8),
    Busy(u8),
    Fail(u8),
    Call {
        waits: bool,
        timeout: u16,
    },
    Cancel(u8),
    Stop,
    Pass(u16),
    /// Up to the machine's next deadline.
    Wake,
}

/// Events that lead somewhere often enough.
fn ev() -> impl Strategy<Value = Ev> {
    prop_oneof![
        3 => Just(Ev::Start),
        12 => Just(Ev::Up),
        2 => Just(Ev::DialFailed),
        4 => Just(Ev::Down),
        8 => Just(Ev::ProbeYes),
        8 => prop::bool::weighted(0.8).prop_map(Ev::Initialized),
        8 => any::<bool>().prop_map(|named| Ev::Refused { named }),
        1 => Just(Ev::Junk),
        1 => Just(Ev::Ping),
        1 => Just(Ev::Note),
        2 => Just(Ev::Oversize),
        8 => any::<u8>().prop_map(Ev::Answer),
        2 => any::<u8>().prop_map(Ev::Error),
        8 => any::<u8>().prop_map(Ev::Busy),
        2 => any::<u8>().prop_map(Ev::Fail),
        14 => (any::<bool>(), 0..40_000_u16).prop_map(|(waits, timeout)| Ev::Call { waits, timeout }),
        3 => any::<u8>().prop_map(Ev::Cancel),
        1 => prop_oneof![1 => Just(Ev::Stop), 2 => Just(Ev::Wake)],
        4 => (0..200_u16).prop_map(Ev::Pass),
        2 => (200..12_000_u16).prop_map(Ev::Pass),
        10 => Just(Ev::Wake),
    ]
}

impl fmt::Debug for Ev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => f.write_str("start"),
            Self::Up => f.write_str("the link is up"),
            Self::DialFailed => f.write_str("the dial fails"),
            Self::Down => f.write_str("the link is down"),
            Self::ProbeYes => f.write_str("the probe succeeds"),
            Self::Initialized(good) => write!(f, "initialize is answered (acceptable: {good})"),
            Self::Refused { named } => write!(f, "the opening is refused (by id: {named})"),
            Self::Junk => f.write_str("junk"),
            Self::Ping => f.write_str("ping"),
            Self::Note => f.write_str("a notification"),
            Self::Oversize => f.write_str("a frame over the limit"),
            Self::Answer(nth) => write!(f, "call {nth} is answered"),
            Self::Error(nth) => write!(f, "call {nth} is refused"),
            Self::Busy(nth) => write!(f, "call {nth} meets a full queue"),
            Self::Fail(nth) => write!(f, "call {nth} is not delivered"),
            Self::Call { waits, timeout } => write!(f, "call (waits: {waits}, {timeout} ms)"),
            Self::Cancel(nth) => write!(f, "cancel call {nth}"),
            Self::Stop => f.write_str("stop"),
            Self::Pass(ms) => write!(f, "{ms} ms pass"),
            Self::Wake => f.write_str("wake up"),
        }
    }
}

/// Both, side by side.
struct Both {
    rig: Rig,
    model: Model,
    /// Every call ever made, and its last request.
    calls: Vec<(CallId, Option<Sent>)>,
    probe: Option<u64>,
    initialize: Option<u64>,
}

impl Both {
    fn new() -> Self {
        Self {
            rig: Rig::with(|config| config.max_frame_size = MAX_FRAME),
            model: Model::new(),
            calls: Vec::new(),
            probe: None,
            initialize: None,
        }
    }

    fn apply(&mut self, ev: &Ev) {
        match ev {
            Ev::Start => {
                self.model.start();
                self.rig.act(Connection::start);
            }
            Ev::Call { waits, timeout } => self.call(*waits, *timeout),
            Ev::Cancel(nth) => {
                if let Some(name) = self.nth(*nth) {
                    let id = self.calls[name].0;
                    self.model.cancel(name);
                    let cancel = Cancellation::Requested(None);
                    self.rig.act(|machine, now| machine.cancel(now, id, cancel));
                }
            }
            Ev::Stop => {
                self.model.stop();
                self.rig.stop();
            }
            Ev::Pass(ms) => return self.pass(Duration::from_millis((*ms).into())),
            Ev::Wake => {
                if let Some(deadline) = self.rig.deadline {
                    return self.pass(deadline - self.rig.now);
                }
            }
            // The rest comes from a link, of which there must have been one.
            link if self.rig.link.is_some() => self.heard(link),
            _ => {}
        }
        self.compare();
    }

    fn call(&mut self, waits: bool, timeout: u16) {
        let timeout = Duration::from_millis(timeout.into());
        let name = self.calls.len();
        let options = CallOptions {
            timeout: Some(timeout),
            policy: if waits {
                CallPolicy::WaitForConnection
            } else {
                CallPolicy::FailFast
            },
            ..CallOptions::default()
        };
        self.model.call(name, waits, timeout);
        let params = json!({"name": "x", "call": name});
        let id = self.rig.call_with("tools/call", params, options);
        self.calls.push((id, None));
    }

    fn heard(&mut self, ev: &Ev) {
        match ev {
            Ev::Up => {
                self.model.up();
                self.rig.up();
            }
            Ev::DialFailed => {
                self.model.dial_failed();
                self.rig.dial_failed();
            }
            Ev::Down => {
                self.model.down();
                self.rig.down();
            }
            Ev::Answer(nth) | Ev::Error(nth) | Ev::Busy(nth) | Ev::Fail(nth) => {
                if let Some(name) = self.nth(*nth)
                    && let Some(sent) = self.calls[name].1.clone()
                {
                    self.about_call(ev, name, &sent);
                }
            }
            // I2, R1: it is nobody's answer.
            Ev::Oversize => {
                self.model.junk();
                self.rig.bytes(vec![b' '; MAX_FRAME + 1]);
            }
            Ev::Junk => {
                self.model.junk();
                self.rig.bytes("junk");
            }
            Ev::Ping => self
                .rig
                .frame(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})),
            Ev::Note => self
                .rig
                .frame(&json!({"jsonrpc": "2.0", "method": "notifications/x"})),
            opening => self.about_opening(opening),
        }
    }

    fn about_opening(&mut self, ev: &Ev) {
        let (probe, initialize) = (self.probe, self.initialize);
        match ev {
            Ev::ProbeYes => {
                if let Some(id) = probe {
                    self.model.probe_answered();
                    self.rig.answer_to(id, discovery());
                }
            }
            Ev::Initialized(acceptable) => {
                if let Some(id) = initialize {
                    self.model.initialize_answered(*acceptable);
                    let version = if *acceptable {
                        "2025-06-18"
                    } else {
                        "1999-12-31"
                    };
                    self.rig.answer_to(id, initialized(version));
                }
            }
            Ev::Refused { named } => {
                let open = match self.model.place {
                    Place::Probing => probe,
                    _ => initialize,
                };
                if let Some(id) = open {
                    self.model.opening_refused(*named);
                    let id = if *named { json!(id) } else { Value::Null };
                    let error = json!({"code": -32601, "message": "no"});
                    self.rig
                        .frame(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                }
            }
            _ => {}
        }
    }

    fn about_call(&mut self, ev: &Ev, name: usize, sent: &Sent) {
        let id = sent.id.expect("a request");
        match ev {
            Ev::Answer(_) => {
                self.model.answered(name, End::Result);
                self.rig.answer_to(id, json!({}));
            }
            Ev::Error(_) => {
                self.model.answered(name, End::Refused);
                let error = json!({"code": -1, "message": "no"});
                self.rig
                    .frame(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
            Ev::Busy(_) => {
                self.model.busy(name);
                self.rig.refuse(id, SendError::Busy(sent.frame.clone()));
            }
            Ev::Fail(_) => {
                self.model.answered(name, End::Undelivered);
                let cause = ConnectionErrorKind::Io("no".to_owned()).into();
                self.rig.refuse(id, SendError::Failed(cause));
            }
            _ => {}
        }
    }

    /// Some call, the latest ones most often.
    fn nth(&self, nth: u8) -> Option<usize> {
        let back = usize::from(nth) % self.calls.len().clamp(1, 6);
        self.calls.len().checked_sub(back + 1)
    }

    fn pass(&mut self, wait: Duration) {
        let until = self.rig.now + wait;
        while let Some(deadline) = self.rig.deadline.filter(|deadline| *deadline <= until) {
            self.tick(deadline.max(self.rig.now));
        }
        self.tick(until);
    }

    fn tick(&mut self, now: Instant) {
        self.rig.now = now;
        self.model.tick(now);
        self.rig.handle(Input::Tick);
        self.compare();
    }

    /// Tells the model what chance decided, then compares.
    fn compare(&mut self) {
        for telemetry in &self.rig.telemetry {
            if let TelemetryEvent::RetryScheduled { delay, .. } = telemetry {
                self.model.retry_in(*delay);
            }
        }
        for event in &self.rig.events {
            if let Event::Disconnected { retry_in, .. } = event {
                self.model.redial_in(retry_in.expect("it never gives up"));
            }
        }
        assert_eq!(self.model.fell, None, "it fell, and nobody was told");
        self.note_sent();
        let mut ended: Vec<_> = self
            .rig
            .done
            .iter()
            .map(|(id, outcome)| {
                let name = self.calls.iter().position(|(call, _)| call == id);
                (name.expect("a call of ours"), end_of(outcome))
            })
            .collect();
        ended.sort_unstable();
        assert_eq!(ended, self.model.take_ended(), "calls ended otherwise");
        assert_eq!(self.rig.state(), self.model.state(), "{:?}", self.model);
        if let Place::Ready(era) = self.model.place {
            let server = self.rig.connection.server_info().expect("a session");
            assert_eq!(server.revision.era(), era);
        }
        assert_eq!(
            self.rig.connection.has_ended(),
            self.model.place == Place::Ended
        );
        if let Some(deadline) = self.model.deadline() {
            let woken = self.rig.deadline.is_some_and(|wake| wake <= deadline);
            assert!(woken, "the machine would sleep through {deadline:?}");
        }
        self.rig.forget();
    }

    fn note_sent(&mut self) {
        for sent in &self.rig.sent {
            match sent.method() {
                "server/discover" => (self.probe, self.initialize) = (sent.id, None),
                "initialize" => self.initialize = sent.id,
                "tools/call" => {
                    let name = sent.json["params"]["call"].as_u64().expect("a call");
                    let name = usize::try_from(name).expect("a small number");
                    self.calls[name].1 = Some(sent.clone());
                }
                _ => {}
            }
        }
    }
}

fn initialized(version: &str) -> Value {
    json!({
        "protocolVersion": version,
        "capabilities": server_capabilities(),
        "serverInfo": {"name": "fake", "version": "1"},
    })
}

fn end_of(outcome: &Outcome) -> End {
    match outcome {
        Outcome::Result(_) => End::Result,
        Outcome::Error(_) => End::Refused,
        Outcome::Failed(Failure::Timeout { .. }) => End::Timeout,
        Outcome::Failed(Failure::Cancelled) => End::Cancelled,
        Outcome::Failed(Failure::ConnectionLost(_)) => End::Lost,
        Outcome::Failed(Failure::Shutdown) => End::Shutdown,
        Outcome::Failed(Failure::NotReady { .. }) => End::NotReady,
        Outcome::Failed(Failure::Busy { .. }) => End::Busy,
        Outcome::Failed(Failure::NotDelivered(_)) => End::Undelivered,
        Outcome::Failed(failure) => panic!("the model knows no {failure:?}"),
    }
}

/// TST-08: states and outcomes agree with the reference model, step by step.
#[test]
fn the_machine_follows_the_model() {
    check(&vec(ev(), 1..150), |events| {
        let mut both = Both::new();
        for ev in events {
            both.apply(ev);
        }
        both.model.stop();
        both.rig.stop();
        both.compare();
        both.pass(Duration::from_millis(100));
        assert_eq!(both.model.place, Place::Ended);
    });
}
