//! What must hold at every moment of every simulated world.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Duration,
};

use bowline_proto::{
    Instant,
    client::{CallId, Connection, ConnectionState, Failure, LinkId, Outcome, TelemetryEvent},
    revision::Era,
};
use bytes::Bytes;
use serde_json::Value;

use super::{
    sim_belief::Beliefs,
    sim_words::{About, Question},
};

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// More dials than this without a pause are a loop.
const DIALS_AT_ONCE: usize = 5;

/// Watches everything that the machine says, and remembers what it must.
#[derive(Default)]
pub(crate) struct Oracle {
    /// The link that was dialled and not given up.
    pub(crate) link: Option<Live>,
    pub(crate) calls: BTreeMap<CallId, Ledger>,
    pub(crate) beliefs: Beliefs,
    /// The answer that is being handed to the machine just now.
    pub(crate) delivering: Option<(LinkId, About)>,
    /// How calls ended, counted.
    pub(crate) tally: BTreeMap<&'static str, u64>,
    /// The server did something for which a subscription may be refused.
    pub(crate) dishonoured: bool,
    pub(crate) stopped: bool,
    pub(crate) ended: bool,
    nonces: BTreeMap<u64, CallId>,
    /// Calls that an observer saw begin, and not end.
    observed: BTreeMap<u64, u64>,
    sent: BTreeMap<u64, SentRequest>,
    last_link: Option<LinkId>,
    last_id: u64,
    dials: VecDeque<Instant>,
}

pub(crate) struct Live {
    pub(crate) link: LinkId,
    pub(crate) up: bool,
    pub(crate) settled: Option<Era>,
}

struct SentRequest {
    link: LinkId,
    frame: Bytes,
    call: Option<CallId>,
    sends: u32,
    busy: bool,
}

/// A call, as the host knows it.
pub(crate) struct Ledger {
    pub(crate) wish: Wish,
    pub(crate) timeout: Duration,
    pub(crate) extends: Option<Duration>,
    pub(crate) cancelled: bool,
    /// It is bound to the session in which it is first sent.
    pub(crate) stateful: bool,
    pub(crate) done: bool,
    /// How it ended, in a word.
    pub(crate) how: &'static str,
    /// Not before this may it time out.
    earliest: Instant,
    /// Not after this may it be open.
    latest: Instant,
    /// Progress cannot push the deadline beyond the second, perhaps not even
    /// beyond the first.
    caps: Option<(Instant, Instant)>,
    /// The id of its last request, and the link that it went over.
    wire: Option<u64>,
    link: Option<LinkId>,
    question: Option<Question>,
    /// The host has answered the question.
    provided: bool,
    /// When the server last put it off.
    put_off: Instant,
    /// The host was asked while it was open.
    was_held: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Request(u64),
    Subscribe(String),
    Unsubscribe(String),
    Level,
}

impl Ledger {
    pub(crate) fn new(
        now: Instant,
        wish: Wish,
        timeout: Duration,
        extends: Option<Duration>,
    ) -> Self {
        let mut ledger = Self {
            wish,
            timeout,
            extends,
            cancelled: false,
            stateful: false,
            done: false,
            how: "",
            earliest: now,
            latest: now,
            caps: None,
            wire: None,
            link: None,
            question: None,
            provided: false,
            put_off: now,
            was_held: false,
        };
        ledger.begin_round(now);
        ledger
    }

    /// A request goes out, or will: its time counts from here.
    fn begin_round(&mut self, now: Instant) {
        self.caps = self.extends.map(|most| (now + most, now + most));
        self.set_deadline(now + self.patience());
    }

    fn patience(&self) -> Duration {
        self.extends
            .map_or(self.timeout, |most| most.min(self.timeout))
    }

    fn set_deadline(&mut self, deadline: Instant) {
        (self.earliest, self.latest) = (deadline, deadline);
    }
}

/// Commands of the host's.
impl Oracle {
    pub(crate) fn called(&mut self, id: CallId, ledger: Ledger) {
        if let Wish::Request(nonce) = ledger.wish {
            self.nonces.insert(nonce, id);
        }
        self.beliefs.begin(&ledger.wish);
        let before = self.calls.insert(id, ledger);
        assert!(before.is_none(), "{id:?} was handed out twice");
    }

    pub(crate) fn provided(&mut self, now: Instant, id: CallId) {
        if let Some(ledger) = self.calls.get_mut(&id) {
            ledger.provided = true;
            ledger.begin_round(now);
        }
    }

    /// The calls that are open, oldest first.
    pub(crate) fn open(&self) -> Vec<CallId> {
        let open = self.calls.iter().filter(|(_, ledger)| !ledger.done);
        open.map(|(id, _)| *id).collect()
    }
}

/// What the machine asks for.
impl Oracle {
    pub(crate) fn dialled(&mut self, now: Instant, link: LinkId) {
        assert!(!self.ended, "a dial after the end");
        assert!(self.link.is_none(), "a dial while a link is live");
        assert!(self.last_link < Some(link), "links are named in order");
        self.last_link = Some(link);
        self.link = Some(Live {
            link,
            up: false,
            settled: None,
        });
        while let Some(first) = self.dials.front() {
            if now - *first < Duration::from_secs(1) {
                break;
            }
            self.dials.pop_front();
        }
        self.dials.push_back(now);
        assert!(self.dials.len() <= DIALS_AT_ONCE, "dialling in a loop");
    }

    pub(crate) fn hung_up(&mut self, link: LinkId) {
        let live = self.link.take().map(|live| live.link);
        assert_eq!(live, Some(link), "a hangup of a link that is not live");
    }

    pub(crate) fn settled(&mut self, link: LinkId, era: Era) {
        let live = self.link.as_mut().filter(|live| live.link == link);
        let live = live.expect("only a live link is settled");
        assert!(live.up && live.settled.is_none(), "settled once, when up");
        live.settled = Some(era);
        self.beliefs.era = Some(era);
    }

    pub(crate) fn sent(&mut self, now: Instant, link: LinkId, id: Option<u64>, frame: &Bytes) {
        let live = self.link.as_ref().filter(|live| live.link == link);
        let live = live.unwrap_or_else(|| panic!("a send on {link:?}, which is not live"));
        assert!(live.up, "a send before the link is up");
        let json: Value = serde_json::from_slice(frame).expect("frames are JSON");
        assert!(!frame.contains(&b'\n'), "a frame is one line");
        let method = json["method"].as_str();
        let is_request = method.is_some() && json.get("id").is_some();
        assert_eq!(id.is_some(), is_request, "requests have ids: {json}");
        check_era(live.settled, id, method, &json, frame);
        if let Some(id) = id {
            assert_eq!(json["id"].as_u64(), Some(id), "the id is the frame's");
            self.sent_request(now, link, id, frame, &json);
        }
    }

    fn sent_request(&mut self, now: Instant, link: LinkId, id: u64, frame: &Bytes, json: &Value) {
        if let Some(before) = self.sent.get_mut(&id) {
            assert!(
                before.busy,
                "id {id} was sent twice, and not because of a full queue"
            );
            assert_eq!(
                before.link, link,
                "a frame is offered again on its own link only"
            );
            assert_eq!(before.frame, frame, "a frame is offered again as it was");
            before.busy = false;
            before.sends += 1;
            assert!(before.sends <= 3, "more than three sends");
            return;
        }
        assert!(id > self.last_id, "ids grow: {id} after {}", self.last_id);
        self.last_id = id;
        let nonce = json["params"]["nonce"].as_u64();
        let call = nonce.and_then(|nonce| self.nonces.get(&nonce)).copied();
        if let Some(ledger) = call.and_then(|call| self.calls.get_mut(&call)) {
            assert!(!ledger.done, "a request for a call that has ended");
            next_round(now, ledger, json);
            ledger.wire = Some(id);
            let before = ledger.link.replace(link);
            let moved = before.is_some_and(|before| before != link);
            assert!(
                !(ledger.stateful && moved),
                "a stateful call in two sessions"
            );
        }
        self.sent.insert(
            id,
            SentRequest {
                link,
                frame: frame.clone(),
                call,
                sends: 1,
                busy: false,
            },
        );
    }

    pub(crate) fn aborted(&mut self, link: LinkId, id: u64, http: bool) {
        assert!(http, "only exchanges can be aborted");
        assert_eq!(self.link.as_ref().map(|live| live.link), Some(link));
        assert!(self.sent.contains_key(&id), "an abort of nothing");
    }

    pub(crate) fn busy(&mut self, id: u64) {
        if let Some(sent) = self.sent.get_mut(&id) {
            sent.busy = true;
        }
    }

    /// The link is gone, and the machine knows.
    pub(crate) fn gone(&mut self, link: LinkId) {
        self.link.take_if(|live| live.link == link);
    }
}

/// Answers, questions, and ends.
impl Oracle {
    /// An answer is about to be handed over. If it asks for another round,
    /// what the next request must carry is known from here on.
    pub(crate) fn deliver(&mut self, now: Instant, link: LinkId, about: &About) {
        self.delivering = Some((link, about.clone()));
        let Some(question) = &about.question else {
            return;
        };
        let current = self.link.as_ref().is_some_and(|live| live.link == link);
        let call = self.sent.get(&about.wire).and_then(|sent| sent.call);
        let ledger = call.and_then(|call| self.calls.get_mut(&call));
        if let Some(ledger) = ledger.filter(|ledger| !ledger.done)
            && current
            && ledger.wire == Some(about.wire)
            && ledger.question.is_none()
        {
            if question.pauses {
                // The machine waits up to six seconds before it asks again.
                ledger.latest = ledger
                    .latest
                    .max(now + Duration::from_secs(6) + ledger.timeout);
            }
            ledger.question = Some(question.clone());
            ledger.provided = false;
        }
    }

    pub(crate) fn asked(&mut self, deadline: Instant, id: CallId) {
        let ledger = self
            .calls
            .get_mut(&id)
            .expect("a call of ours is asked about");
        assert!(!ledger.done, "a question about a call that has ended");
        ledger.set_deadline(deadline);
    }

    /// The host is asked, perhaps on behalf of any call: it may take longer now.
    pub(crate) fn held(&mut self, until: Instant) {
        for ledger in self.calls.values_mut().filter(|ledger| !ledger.done) {
            ledger.latest = ledger.latest.max(until);
            ledger.was_held = true;
        }
    }

    /// The host has answered, or need not: the server has its full time again.
    pub(crate) fn released(&mut self, now: Instant) {
        for ledger in self.calls.values_mut().filter(|ledger| !ledger.done) {
            ledger.latest = ledger.latest.max(now + ledger.timeout);
            ledger.caps = ledger.caps.map(|(low, high)| {
                let anew = ledger.extends.map_or(high, |most| now + most);
                (low, high.max(anew))
            });
        }
    }

    pub(crate) fn progressed(&mut self, now: Instant, id: CallId) {
        let ledger = self.calls.get_mut(&id).expect("progress of a call of ours");
        assert!(!ledger.done, "progress of a call that has ended");
        if let Some((low, high)) = ledger.caps {
            let deadline = now + ledger.timeout;
            if ledger.was_held {
                // Whether a question still holds it, the server does not say.
                ledger.latest = deadline.min(high).max(ledger.latest);
            } else {
                (ledger.earliest, ledger.latest) = (deadline.min(low), deadline.min(high));
            }
        }
    }

    pub(crate) fn done(&mut self, now: Instant, id: CallId, outcome: &Outcome) {
        let ledger = self.calls.get_mut(&id).expect("only calls of ours end");
        assert!(!ledger.done, "{id:?} ended twice");
        ledger.done = true;
        ledger.how = name_of(outcome);
        *self.tally.entry(ledger.how).or_default() += 1;
        let is_wish = !matches!(ledger.wish, Wish::Request(_));
        match outcome {
            Outcome::Failed(Failure::Timeout { .. }) => {
                assert!(
                    now >= ledger.earliest,
                    "{id:?} timed out early: {:?}",
                    ledger.wish
                );
            }
            Outcome::Failed(Failure::Cancelled) => assert!(ledger.cancelled, "nobody cancelled"),
            Outcome::Failed(Failure::Shutdown) => assert!(self.stopped, "nobody stopped"),
            Outcome::Failed(Failure::Busy { sends }) => assert_eq!(*sends, 3),
            Outcome::Failed(Failure::NoSuchMethod { method, .. }) => {
                assert!(!is_wish, "{method} is a wish, which every era fulfils");
            }
            Outcome::Failed(Failure::SubscriptionRefused) => {
                assert!(self.dishonoured, "the server would have honoured it");
            }
            Outcome::Result(result) if !is_wish => {
                check_result(&self.delivering, &self.link, ledger, result);
            }
            _ => {}
        }
        self.beliefs.end(&ledger.wish, outcome);
    }

    /// An observer sees every call that was taken in begin and end, once each.
    pub(crate) fn observed(&mut self, telemetry: &TelemetryEvent) {
        match telemetry {
            TelemetryEvent::RequestStart {
                call, correlation, ..
            } => {
                let before = self.observed.insert(*call, *correlation);
                assert_eq!(before, None, "a call began twice");
            }
            TelemetryEvent::RequestStop {
                call, correlation, ..
            } => {
                let began = self.observed.remove(call);
                assert_eq!(began, Some(*correlation), "a call ended that never began");
            }
            TelemetryEvent::RequestException {
                call, correlation, ..
            } => {
                // A call that was not taken in ends without a beginning.
                let began = self.observed.remove(call);
                assert!(began.is_none_or(|began| began == *correlation));
            }
            _ => {}
        }
    }

    /// Nothing is left to say: what must hold then.
    pub(crate) fn at_rest(&self, now: Instant, machine: &Connection, deadline: Option<Instant>) {
        let open = self.calls.values().filter(|ledger| !ledger.done);
        let mut count = 0;
        for ledger in open {
            count += 1;
            assert!(
                ledger.latest >= now,
                "{:?} outlived its deadline",
                ledger.wish
            );
            let live = self.link.as_ref().map(|live| live.link);
            assert!(
                !ledger.stateful || ledger.link.is_none() || ledger.link == live,
                "a stateful call outlived its session: {:?}",
                ledger.wish
            );
        }
        let census = machine.stats();
        assert_eq!(census.outputs, 0);
        assert!(count <= census.calls, "the machine lost a call");
        assert!(census.calls <= census.timers, "a call without a deadline");
        assert!(
            deadline.is_some() || census.calls == 0,
            "calls are open and nothing will happen"
        );
        let live = self.link.as_ref();
        let receiving = machine.readable_link();
        match machine.state() {
            ConnectionState::Opening => {
                let live = live.expect("opening has a link");
                assert_eq!(receiving, live.up.then_some(live.link));
            }
            ConnectionState::Ready => {
                let live = live.expect("a session has a link");
                assert!(live.up && live.settled.is_some());
                assert_eq!(receiving, Some(live.link));
            }
            ConnectionState::Starting | ConnectionState::Backoff | ConnectionState::Closing => {
                assert_eq!(receiving, None, "nothing may be read now");
                assert!(live.is_none(), "a link is live and nobody cares");
            }
        }
    }

    /// After everything: each call has ended, and nothing is held.
    pub(crate) fn all_done(&self) {
        for (id, ledger) in &self.calls {
            assert!(ledger.done, "{id:?} ({:?}) never ended", ledger.wish);
        }
        assert!(self.observed.is_empty(), "an observer still waits");
    }

    pub(crate) fn unsettled(&self) -> BTreeSet<String> {
        self.beliefs.restoring.clone()
    }
}

/// What may be said in which era, and before there is one.
fn check_era(
    settled: Option<Era>,
    id: Option<u64>,
    method: Option<&str>,
    json: &Value,
    frame: &[u8],
) {
    let names_version = memchr::memmem::find(frame, VERSION_KEY.as_bytes()).is_some();
    match (settled, id, method) {
        (None, Some(_), Some("server/discover")) => assert!(names_version),
        (None, Some(_), Some("initialize")) => assert!(!names_version),
        (None, None, None) => assert_eq!(json["result"], serde_json::json!({}), "a ping's answer"),
        (None, _, _) => panic!("{json} before there is a session"),
        (Some(Era::Handshake), _, _) => {
            assert!(!names_version, "{json}");
            // Rounds of input are unknown in this era.
            assert!(json["params"].get("requestState").is_none(), "{json}");
            assert!(json["params"].get("inputResponses").is_none(), "{json}");
        }
        (Some(Era::Stateless), Some(_), _) => {
            let version = json["params"]["_meta"][VERSION_KEY].as_str();
            assert_eq!(version, Some("2026-07-28"), "{json}");
        }
        (Some(Era::Stateless), None, None) => panic!("{json}: clients answer nothing here"),
        (Some(Era::Stateless), None, Some(_)) => {}
    }
}

/// A further request of a call carries what the last answer asked for, and
/// only that.
fn next_round(now: Instant, ledger: &mut Ledger, json: &Value) {
    let params = &json["params"];
    let Some(question) = ledger.question.take() else {
        assert!(
            params.get("requestState").is_none(),
            "a state from nowhere: {json}"
        );
        assert!(
            params.get("inputResponses").is_none(),
            "answers to nothing: {json}"
        );
        return;
    };
    assert_eq!(
        params["requestState"].as_str(),
        question.state.as_deref(),
        "the state is echoed, byte for byte: {json}"
    );
    let answered = params["inputResponses"].as_object();
    let answered: Vec<&str> = answered
        .into_iter()
        .flat_map(|all| all.keys())
        .map(String::as_str)
        .collect();
    assert_eq!(answered, question.keys, "every question is answered");
    if !ledger.provided {
        ledger.begin_round(now);
    }
    if question.pauses {
        // The pause may have ended while there was no session to send in.
        ledger.earliest = ledger.earliest.min(ledger.put_off + ledger.patience());
        if let (Some((low, _)), Some(most)) = (&mut ledger.caps, ledger.extends) {
            *low = ledger.put_off + most;
        }
    }
}

/// A result is the one that the server gave to this very request.
fn check_result(
    delivering: &Option<(LinkId, About)>,
    live: &Option<Live>,
    ledger: &Ledger,
    result: &Bytes,
) {
    let json: Value = serde_json::from_slice(result).expect("results are JSON");
    let Some(serial) = json["serial"].as_u64() else {
        // Not one of those that are told apart.
        return;
    };
    let (link, about) = delivering.as_ref().expect("a result comes with a frame");
    assert_eq!(serial, about.serial, "a result from another frame");
    assert_eq!(
        Some(about.wire),
        ledger.wire,
        "an answer to another request"
    );
    assert_eq!(
        Some(*link),
        live.as_ref().map(|live| live.link),
        "an answer from another link"
    );
    if !about.crossed {
        let nonce = json["nonce"].as_u64().expect("a nonce");
        assert_eq!(
            Wish::Request(nonce),
            ledger.wish,
            "an answer to another call"
        );
    }
}

pub(crate) fn name_of(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Result(_) => "result",
        Outcome::Error(_) => "refused",
        Outcome::Failed(failure) => match failure {
            Failure::Timeout { .. } => "timeout",
            Failure::Cancelled => "cancelled",
            Failure::ConnectionLost(_) => "lost",
            Failure::Shutdown => "shutdown",
            Failure::NotReady { .. } => "not ready",
            Failure::Busy { .. } => "busy",
            Failure::NotDelivered(_) => "undelivered",
            Failure::RequestTooLarge { .. } => "request too large",
            Failure::ResponseTooLarge { .. } => "answer too large",
            Failure::InvalidResponse { .. } => "invalid answer",
            Failure::NoSuchMethod { .. } => "no such method",
            Failure::TooManyRounds { .. } => "too many rounds",
            Failure::InputNotOffered { .. } => "not offered",
            Failure::InputNotProvided => "abandoned",
            Failure::SubscriptionRefused => "not honoured",
            _ => "other",
        },
    }
}
