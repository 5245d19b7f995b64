//! A reference model of the connection: its states and how calls end.
//!
//! Written from the transition table of the requirements, and from nothing
//! else: no frames, no ids, no links. What only chance knows (how long a wait
//! is) the model is told, and checks.

use std::{collections::BTreeMap, time::Duration};

use bowline_proto::{Instant, client::ConnectionState, revision::Era};

const OPENING: Duration = Duration::from_secs(10);
const PROBE: Duration = Duration::from_secs(3);
const LINGER: Duration = Duration::from_millis(100);

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Starting,
    Dialing,
    Probing,
    Initializing,
    Ready(Era),
    Backoff,
    Lingering,
    Ended,
}

/// How a call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum End {
    Result,
    Refused,
    Timeout,
    Cancelled,
    Lost,
    Shutdown,
    NotReady,
    Busy,
    Undelivered,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Waiting,
    Sent,
    /// The queue was full; when it is offered again is not known yet.
    Refused,
    Retrying(Instant),
}

#[derive(Debug)]
struct Call {
    deadline: Instant,
    stage: Stage,
    sends: u32,
}

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) place: Place,
    now: Instant,
    /// When the state's own timer fires: opening, redial, linger.
    state_timer: Option<Instant>,
    probe_timer: Option<Instant>,
    belief: Option<Era>,
    /// Failed attempts since the last success.
    attempt: u32,
    /// How many of the last ones timed out although the link was up.
    slow: u32,
    /// The server has said something wrong while the session was opened.
    wrong: bool,
    /// A probe was given up, and its answer may still come.
    late_probe: bool,
    /// It came: the server is of the stateless era after all.
    late_answer: bool,
    /// It fell, and how long the wait is must be told: at once, or by backoff.
    pub(crate) fell: Option<bool>,
    calls: BTreeMap<usize, Call>,
    /// What ended in this step.
    ended: Vec<(usize, End)>,
}

impl Model {
    pub(crate) fn new() -> Self {
        Self {
            place: Place::Starting,
            now: Instant::ORIGIN,
            state_timer: None,
            probe_timer: None,
            belief: None,
            attempt: 0,
            slow: 0,
            wrong: false,
            late_probe: false,
            late_answer: false,
            fell: None,
            calls: BTreeMap::new(),
            ended: Vec::new(),
        }
    }

    pub(crate) fn state(&self) -> ConnectionState {
        match self.place {
            Place::Starting => ConnectionState::Starting,
            Place::Dialing | Place::Probing | Place::Initializing => ConnectionState::Opening,
            Place::Ready(_) => ConnectionState::Ready,
            Place::Backoff => ConnectionState::Backoff,
            Place::Lingering | Place::Ended => ConnectionState::Closing,
        }
    }

    pub(crate) fn take_ended(&mut self) -> Vec<(usize, End)> {
        let mut ended = std::mem::take(&mut self.ended);
        ended.sort_unstable();
        ended
    }

    /// When something must happen at the latest.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let calls = self.calls.values().flat_map(|call| {
            let retry = match call.stage {
                Stage::Retrying(at) => Some(at),
                Stage::Waiting | Stage::Sent | Stage::Refused => None,
            };
            [Some(call.deadline), retry]
        });
        let own = [self.state_timer, self.probe_timer];
        own.into_iter().chain(calls).flatten().min()
    }

    fn is_opening(&self) -> bool {
        matches!(
            self.place,
            Place::Dialing | Place::Probing | Place::Initializing
        )
    }
}

/// The host.
impl Model {
    /// S1.
    pub(crate) fn start(&mut self) {
        if self.place == Place::Starting {
            self.dial();
        }
    }

    /// S4, I11, R12, R13, B5, C6; X-37 for those that wait.
    pub(crate) fn call(&mut self, name: usize, waits: bool, timeout: Duration) {
        let stage = match self.place {
            Place::Lingering | Place::Ended => return self.ended.push((name, End::Shutdown)),
            Place::Ready(_) => Stage::Sent,
            _ if waits => Stage::Waiting,
            _ => return self.ended.push((name, End::NotReady)),
        };
        let call = Call {
            deadline: self.now + timeout,
            stage,
            sends: 1,
        };
        self.calls.insert(name, call);
    }

    /// A6.
    pub(crate) fn cancel(&mut self, name: usize) {
        self.end(name, End::Cancelled);
    }

    /// S3, I10, R14, B6, C2.
    pub(crate) fn stop(&mut self) {
        match self.place {
            Place::Lingering | Place::Ended => return,
            Place::Starting | Place::Backoff => self.place = Place::Ended,
            Place::Dialing | Place::Probing | Place::Initializing | Place::Ready(_) => {
                self.place = Place::Lingering;
            }
        }
        self.probe_timer = None;
        self.state_timer = (self.place == Place::Lingering).then_some(self.now + LINGER);
        for name in self.names() {
            self.end(name, End::Shutdown);
        }
    }
}

/// The link.
impl Model {
    /// I1. Whoever is believed to be of the handshake era is spared the probe.
    pub(crate) fn up(&mut self) {
        if self.place != Place::Dialing {
            return;
        }
        if self.belief == Some(Era::Handshake) {
            self.place = Place::Initializing;
        } else {
            self.place = Place::Probing;
            self.probe_timer = Some(self.now + PROBE);
        }
    }

    /// S2, B9.
    pub(crate) fn dial_failed(&mut self) {
        match self.place {
            Place::Lingering => self.finish(),
            _ if self.is_opening() => self.fall(false),
            _ => {}
        }
    }

    /// I9, R8, B4, C4. A server that dies of the probe is of the handshake era.
    pub(crate) fn down(&mut self) {
        match self.place {
            Place::Probing if self.belief.is_none() => {
                self.belief = Some(Era::Handshake);
                self.fall(true);
            }
            Place::Dialing | Place::Probing | Place::Initializing => {
                self.belief = None;
                self.fall(false);
            }
            Place::Ready(_) => self.fall(false),
            Place::Lingering => self.finish(),
            Place::Starting | Place::Backoff | Place::Ended => {}
        }
    }

    /// The probe is answered: yes.
    pub(crate) fn probe_answered(&mut self) {
        match self.place {
            Place::Probing => self.ready(Era::Stateless),
            Place::Initializing if self.late_probe => {
                self.late_probe = false;
                self.late_answer = true;
            }
            _ => {}
        }
    }

    /// I3, I4.
    pub(crate) fn initialize_answered(&mut self, acceptable: bool) {
        match self.place {
            Place::Initializing if acceptable => self.ready(Era::Handshake),
            Place::Initializing => self.fail_opening(),
            _ => {}
        }
    }

    /// I5, and any error to the probe: try the handshake.
    pub(crate) fn opening_refused(&mut self, named: bool) {
        match self.place {
            Place::Probing => {
                self.probe_timer = None;
                self.place = Place::Initializing;
            }
            Place::Initializing if !named && self.late_probe => self.late_probe = false,
            Place::Initializing if self.late_answer => self.ready(Era::Stateless),
            Place::Initializing => self.fail_opening(),
            _ => {}
        }
    }

    /// R2.
    pub(crate) fn answered(&mut self, name: usize, end: End) {
        let ready = matches!(self.place, Place::Ready(_));
        let sent = self.calls.get(&name);
        if ready && sent.is_some_and(|call| call.stage == Stage::Sent) {
            self.end(name, end);
        }
    }

    /// R13c, R15, R16: three sends in all.
    pub(crate) fn busy(&mut self, name: usize) {
        let Some(call) = self.calls.get_mut(&name) else {
            return;
        };
        if call.stage != Stage::Sent {
            return;
        }
        if call.sends >= 3 {
            self.end(name, End::Busy);
        } else {
            call.stage = Stage::Refused;
        }
    }
}

/// What chance decides.
impl Model {
    /// The wait before the next dial, which must fit the attempt.
    pub(crate) fn redial_in(&mut self, wait: Duration) {
        let at_once = self.fell.take().expect("it fell");
        if at_once {
            assert_eq!(wait, Duration::ZERO);
        } else {
            let base = 1_000 * 2_u64.pow(self.attempt.min(5));
            let base = Duration::from_millis(base.min(30_000));
            let low = (base * 4 / 5).max(Duration::from_secs(1));
            let high = (base * 6 / 5).min(Duration::from_secs(30));
            assert!(
                (low..=high).contains(&wait),
                "{wait:?} after {} attempts",
                self.attempt
            );
            self.attempt += 1;
        }
        self.state_timer = Some(self.now + wait);
    }

    /// The wait before a frame is offered again: 5 to 15 ms.
    pub(crate) fn retry_in(&mut self, wait: Duration) {
        let window = Duration::from_millis(5)..=Duration::from_millis(15);
        assert!(window.contains(&wait), "{wait:?}");
        let mut calls = self.calls.values_mut();
        let call = calls.find(|call| call.stage == Stage::Refused);
        call.expect("a call was refused").stage = Stage::Retrying(self.now + wait);
    }
}

impl Model {
    /// Something that is nobody's answer.
    pub(crate) fn junk(&mut self) {
        self.wrong |= matches!(self.place, Place::Probing | Place::Initializing);
    }
}

/// The clock.
impl Model {
    pub(crate) fn tick(&mut self, now: Instant) {
        self.now = now;
        let due = |timer: &mut Instant| *timer <= now;
        // A change of state gives a better reason than a timeout: it goes first.
        if self.state_timer.take_if(due).is_some() {
            match self.place {
                // I8. One that is there may only be slow, and is given longer.
                Place::Dialing => self.fail_opening(),
                Place::Probing | Place::Initializing => {
                    let slow = if self.wrong { 0 } else { self.slow + 1 };
                    self.fail_opening();
                    self.slow = slow;
                }
                // B1.
                Place::Backoff => self.dial(),
                // C1.
                Place::Lingering => self.finish(),
                Place::Starting | Place::Ready(_) | Place::Ended => {}
            }
        }
        if self.probe_timer.take_if(due).is_some() && self.place == Place::Probing {
            self.late_probe = true;
            self.place = Place::Initializing;
        }
        for name in self.names() {
            let Some(call) = self.calls.get_mut(&name) else {
                continue;
            };
            // R9, R10b.
            if call.deadline <= now {
                self.end(name, End::Timeout);
            } else if matches!(call.stage, Stage::Retrying(at) if at <= now) {
                call.stage = Stage::Sent;
                call.sends += 1;
            }
        }
    }

    fn dial(&mut self) {
        self.place = Place::Dialing;
        self.state_timer = Some(self.now + OPENING * (1 << self.slow.min(3)));
        self.wrong = false;
        self.late_probe = false;
        self.late_answer = false;
    }

    fn ready(&mut self, era: Era) {
        self.place = Place::Ready(era);
        self.belief = Some(era);
        self.attempt = 0;
        self.slow = 0;
        self.state_timer = None;
        self.probe_timer = None;
        for call in self.calls.values_mut() {
            call.stage = Stage::Sent;
        }
    }

    fn fail_opening(&mut self) {
        self.belief = None;
        self.fall(false);
    }

    /// Everybody on the wire is lost; those who wait go on waiting (FSM-20).
    fn fall(&mut self, at_once: bool) {
        self.place = Place::Backoff;
        self.slow = 0;
        self.state_timer = None;
        self.probe_timer = None;
        self.fell = Some(at_once);
        for name in self.names() {
            if self.calls[&name].stage != Stage::Waiting {
                self.end(name, End::Lost);
            }
        }
    }

    fn finish(&mut self) {
        self.place = Place::Ended;
        self.state_timer = None;
    }

    fn end(&mut self, name: usize, end: End) {
        if self.calls.remove(&name).is_some() {
            self.ended.push((name, end));
        }
    }

    fn names(&self) -> Vec<usize> {
        self.calls.keys().copied().collect()
    }
}
