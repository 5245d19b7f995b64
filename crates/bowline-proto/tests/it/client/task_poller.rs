//! Following a task: when it is asked for, what is answered, and how it ends.

use std::time::Duration;

use bowline_proto::{
    Instant,
    client::{ConnectionErrorKind, Failure, Outcome, TaskPoller, TaskStep},
    jsonrpc::{ErrorObject, code},
    model::InputResponses,
    task::{Dialect, TaskInfo},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::look::{millis, raw};

pub(super) const CORE: Dialect = Dialect::Core;
pub(super) const EXTENSION: Dialect = Dialect::Extension;

/// A task as the extension describes it, with changes.
pub(super) fn task(changes: Value) -> Value {
    let mut task = json!({
        "resultType": "complete", "taskId": "t", "status": "working",
        "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
        "ttlMs": null, "ttl": null, "pollIntervalMs": 1000, "pollInterval": 1000,
    });
    let Value::Object(changes) = changes else {
        panic!("changes are an object");
    };
    for (key, value) in changes {
        task[key] = value;
    }
    task
}

pub(super) fn bytes(json: &Value) -> Bytes {
    Bytes::from(json.to_string())
}

fn question(message: &str) -> Value {
    let schema = json!({"type": "object", "properties": {}});
    json!({"method": "elicitation/create", "params": {"message": message, "requestedSchema": schema}})
}

pub(super) fn asking(keys: &[&str]) -> Value {
    let questions: serde_json::Map<_, _> = keys
        .iter()
        .map(|key| ((*key).to_owned(), question(key)))
        .collect();
    json!({"status": "input_required", "inputRequests": questions})
}

pub(super) fn timed_out() -> Outcome {
    Outcome::Failed(Failure::Timeout {
        after: Duration::from_secs(30),
    })
}

/// A poller and its clock.
pub(super) struct Follower {
    pub(super) poller: TaskPoller,
    pub(super) now: Instant,
    gets: u32,
}

impl Follower {
    fn new(created: Value) -> Self {
        let created = task(created);
        let info = TaskInfo::from_get_result(EXTENSION, &bytes(&created)).expect("a task");
        Self {
            poller: TaskPoller::new(Instant::ORIGIN, info, 4),
            now: Instant::ORIGIN,
            gets: 0,
        }
    }

    pub(super) fn working() -> Self {
        Self::new(json!({}))
    }

    /// Waits as long as it says, and returns the next step and how long that took.
    pub(super) fn step(&mut self) -> (TaskStep, Duration) {
        let before = self.now;
        loop {
            match self.poller.next(self.now) {
                TaskStep::Wait { until } => {
                    assert!(until > self.now, "it says to wait, for nothing");
                    self.now = until;
                }
                step => return (step, self.now - before),
            }
        }
    }

    /// Waits until the state is requested, and answers. Returns how long it waited.
    #[track_caller]
    fn get(&mut self, dialect: Dialect, changes: Value) -> Duration {
        self.respond(dialect, Outcome::Result(bytes(&task(changes))))
    }

    #[track_caller]
    fn respond(&mut self, dialect: Dialect, outcome: Outcome) -> Duration {
        let (step, waited) = self.step();
        assert_eq!(step, TaskStep::Get);
        self.gets += 1;
        self.poller.handle_get(self.now, dialect, outcome);
        waited
    }

    #[track_caller]
    fn asked(&mut self) -> Vec<String> {
        let (step, _) = self.step();
        let TaskStep::Ask(questions) = step else {
            panic!("it does not ask: {step:?}");
        };
        questions.iter().map(|(key, _)| key.to_owned()).collect()
    }

    pub(super) fn answer(&mut self, keys: &[&str]) {
        let answers = keys
            .iter()
            .map(|key| ((*key).to_owned(), raw(&json!({"action": "accept"}))));
        let answers: InputResponses = answers.collect();
        self.poller.handle_answers(self.now, Some(answers));
    }

    /// The keys of the answers that have to be sent, which are accepted.
    #[track_caller]
    fn update(&mut self, outcome: Outcome) -> Vec<String> {
        let (step, _) = self.step();
        let TaskStep::Update(answers) = step else {
            panic!("it has no answers: {step:?}");
        };
        self.poller.handle_update(self.now, outcome);
        answers.iter().map(|(key, _)| key.to_owned()).collect()
    }

    #[track_caller]
    fn end(&mut self) -> Outcome {
        match self.step().0 {
            TaskStep::Done(outcome) => outcome,
            other => panic!("it has not ended: {other:?}"),
        }
    }

    #[track_caller]
    fn failure(&mut self) -> Failure {
        match self.end() {
            Outcome::Failed(failure) => failure,
            other => panic!("it has not failed: {other:?}"),
        }
    }
}

pub(super) fn acknowledged() -> Outcome {
    Outcome::Result(Bytes::from_static(b"{}"))
}

#[test]
fn the_interval_is_the_one_that_the_server_last_asked_for_within_bounds() {
    let mut follower = Follower::new(json!({"pollIntervalMs": 300}));
    for (asked_for, expected) in [
        (Some(500), 300),
        (Some(0), 500),
        (Some(u64::MAX), 20),
        (None, 60_000),
        (Some(1), 1000),
        (Some(25), 20),
    ] {
        let mut state = task(json!({ "pollIntervalMs": asked_for }));
        if asked_for.is_none() {
            state.as_object_mut().unwrap().remove("pollIntervalMs");
        }
        let waited = follower.respond(EXTENSION, Outcome::Result(bytes(&state)));
        assert_eq!(waited, millis(expected));
    }
    assert_eq!(follower.step().1, millis(25));
}

#[test]
fn a_task_that_has_news_when_it_is_created_is_asked_for_at_once() {
    for status in ["completed", "input_required", "failed", "cancelled"] {
        let mut follower = Follower::new(json!({ "status": status }));
        assert_eq!(follower.step(), (TaskStep::Get, Duration::ZERO), "{status}");
    }
}

#[test]
fn a_task_of_the_extension_ends_with_what_its_state_says() {
    let mut follower = Follower::working();
    let result = json!({"content": []});
    follower.get(EXTENSION, json!({"status": "completed", "result": result}));
    assert_eq!(follower.end(), Outcome::Result(bytes(&result)));
    assert!(follower.poller.has_ended());

    let mut follower = Follower::working();
    let error = json!({"code": -7, "message": "no"});
    follower.get(EXTENSION, json!({"status": "failed", "error": error}));
    assert_eq!(follower.end(), Outcome::Error(ErrorObject::new(-7, "no")));

    let mut follower = Follower::working();
    follower.get(EXTENSION, json!({"status": "cancelled"}));
    assert_eq!(follower.failure(), Failure::TaskCancelled);

    for incomplete in ["completed", "failed"] {
        let mut follower = Follower::working();
        follower.get(EXTENSION, json!({ "status": incomplete }));
        let failure = follower.failure();
        assert!(
            matches!(failure, Failure::InvalidResponse { .. }),
            "{failure:?}"
        );
    }
}

#[test]
fn a_task_of_the_core_ends_with_what_is_fetched() {
    for status in ["completed", "failed", "input_required"] {
        let mut follower = Follower::working();
        follower.get(CORE, json!({ "status": status }));
        assert_eq!(follower.step().0, TaskStep::GetResult, "{status}");
        follower.poller.handle_result(acknowledged());
        assert_eq!(follower.end(), acknowledged());
    }
    let mut follower = Follower::working();
    follower.get(CORE, json!({"status": "cancelled"}));
    assert_eq!(follower.failure(), Failure::TaskCancelled);
}

#[test]
fn a_result_whose_stream_was_cut_is_requested_again() {
    let mut follower = Follower::working();
    follower.get(CORE, json!({"status": "input_required"}));
    assert_eq!(follower.step().0, TaskStep::GetResult);
    follower.poller.handle_result(timed_out());
    follower.get(CORE, json!({}));
    follower.get(CORE, json!({"status": "completed"}));
    assert_eq!(follower.step().0, TaskStep::GetResult);
    let lost = ConnectionErrorKind::Eof.into();
    follower
        .poller
        .handle_result(Outcome::Failed(Failure::ConnectionLost(lost)));
    follower.get(CORE, json!({"status": "completed"}));
    assert_eq!(follower.step().0, TaskStep::GetResult);
    follower.poller.handle_result(acknowledged());
    assert_eq!(follower.end(), acknowledged());
}

#[test]
fn a_result_that_never_comes_is_given_up() {
    let mut follower = Follower::working();
    for _ in 0..100 {
        match follower.step().0 {
            TaskStep::Get => {
                let state = Outcome::Result(bytes(&task(json!({"status": "completed"}))));
                follower.poller.handle_get(follower.now, CORE, state);
            }
            TaskStep::GetResult => follower.poller.handle_result(timed_out()),
            TaskStep::Done(outcome) => return assert_eq!(outcome, timed_out()),
            other => panic!("{other:?}"),
        }
    }
    panic!("it goes on");
}

#[test]
fn each_question_is_asked_once_however_often_it_is_repeated() {
    let mut follower = Follower::working();
    follower.get(EXTENSION, asking(&["a", "b"]));
    assert_eq!(follower.asked(), ["a", "b"]);
    assert_eq!(follower.asked(), ["a", "b"], "until they are answered");
    follower.answer(&["a", "b", "unasked"]);
    assert_eq!(follower.update(acknowledged()), ["a", "b"]);
    // The server repeats one, as the acknowledgement may take effect late.
    let soon = follower.get(EXTENSION, asking(&["b"]));
    assert!(soon <= millis(20), "{soon:?}");
    follower.get(EXTENSION, asking(&["b", "c"]));
    assert_eq!(follower.asked(), ["c"]);
    follower.answer(&["c"]);
    assert_eq!(follower.update(acknowledged()), ["c"]);
    follower.get(EXTENSION, asking(&["a", "b", "c"]));
    assert_eq!(follower.step().0, TaskStep::Get);
    let answered: Vec<_> = follower.poller.answered().collect();
    assert_eq!(answered, ["a", "b", "c"]);
}

#[test]
fn a_server_that_never_stops_asking_is_given_up() {
    let mut follower = Follower::working();
    for round in 0..4 {
        let key = format!("k{round}");
        follower.get(EXTENSION, asking(&[&key]));
        follower.answer(&[&key]);
        follower.update(acknowledged());
    }
    follower.get(EXTENSION, asking(&["more"]));
    assert_eq!(follower.failure(), Failure::TooManyRounds { rounds: 4 });
    assert!(!follower.poller.has_ended(), "it goes on, on the server");
}

#[test]
fn a_host_that_does_not_answer_ends_it() {
    let mut follower = Follower::working();
    follower.get(EXTENSION, asking(&["a"]));
    follower.poller.handle_answers(follower.now, None);
    assert_eq!(follower.failure(), Failure::InputNotProvided);
}

#[test]
fn answers_that_were_not_delivered_are_sent_again_and_asked_for_once() {
    let mut follower = Follower::working();
    follower.get(EXTENSION, asking(&["a"]));
    follower.answer(&["a"]);
    for _ in 0..3 {
        let before = follower.now;
        assert_eq!(follower.update(timed_out()), ["a"]);
        assert!(
            matches!(follower.poller.next(follower.now), TaskStep::Wait { until } if until > before)
        );
    }
    assert_eq!(follower.update(acknowledged()), ["a"]);
    follower.get(EXTENSION, json!({}));
    // The task ended meanwhile: its state tells how.
    let mut follower = Follower::working();
    follower.get(EXTENSION, asking(&["a"]));
    follower.answer(&["a"]);
    let unknown = ErrorObject::new(code::INVALID_PARAMS, "unknown task");
    follower.update(Outcome::Error(unknown));
    follower.get(EXTENSION, json!({"status": "cancelled"}));
    assert_eq!(follower.failure(), Failure::TaskCancelled);
}

#[test]
fn a_task_is_given_up_at_the_end_of_its_time_after_a_last_look() {
    let mut follower = Follower::new(json!({"ttlMs": 2500}));
    assert_eq!(
        follower.get(EXTENSION, json!({"ttlMs": 2500})),
        millis(1000)
    );
    assert_eq!(
        follower.get(EXTENSION, json!({"ttlMs": 2500})),
        millis(1000)
    );
    assert_eq!(
        follower.get(EXTENSION, json!({"ttlMs": 2500})),
        millis(500),
        "the last look"
    );
    assert_eq!(
        follower.failure(),
        Failure::TaskExpired { ttl: millis(2500) }
    );
    assert!(!follower.poller.has_ended());

    let mut follower = Follower::new(json!({"ttlMs": 2500}));
    follower.now = Instant::ORIGIN + millis(9000);
    let result = json!({"content": []});
    follower.get(
        EXTENSION,
        json!({"ttlMs": 2500, "status": "completed", "result": result}),
    );
    assert_eq!(
        follower.end(),
        Outcome::Result(bytes(&result)),
        "it ended in time"
    );
}

#[test]
fn the_time_to_live_may_change_and_counts_from_the_creation() {
    let mut follower = Follower::new(json!({"ttlMs": 1500}));
    follower.get(EXTENSION, json!({"ttlMs": 60_000}));
    for _ in 0..10 {
        follower.get(EXTENSION, json!({"ttlMs": 60_000}));
    }
    follower.get(EXTENSION, json!({"ttlMs": 100}));
    assert_eq!(
        follower.failure(),
        Failure::TaskExpired { ttl: millis(100) }
    );
    // A task that is older than our knowledge of it.
    let older = json!({"ttlMs": 10_000, "lastUpdatedAt": "2026-11-16T08:00:08Z"});
    let follower = Follower::new(older);
    assert_eq!(
        follower.poller.expires_at(),
        Some(Instant::ORIGIN + millis(2000))
    );
    // And one that is followed again.
    let follower = Follower::new(json!({"ttlMs": 10_000}));
    let mut resumed = follower.poller.resume(Some(millis(300)), ["a".into()]);
    assert_eq!(resumed.expires_at(), Some(Instant::ORIGIN + millis(300)));
    assert_eq!(
        resumed.next(Instant::ORIGIN),
        TaskStep::Get,
        "what happened meanwhile?"
    );
    let state = Outcome::Result(bytes(&task(asking(&["a"]))));
    resumed.handle_get(Instant::ORIGIN, EXTENSION, state);
    assert!(
        matches!(resumed.next(Instant::ORIGIN), TaskStep::Wait { .. }),
        "answered before"
    );
}

#[test]
fn requests_that_fail_are_repeated_later_each_time_and_not_forever() {
    let mut follower = Follower::working();
    let mut waits = Vec::new();
    for _ in 0..21 {
        waits.push(follower.respond(EXTENSION, timed_out()));
    }
    assert_eq!(follower.end(), timed_out());
    assert_eq!(waits[..4], [1000, 2000, 4000, 8000].map(millis));
    assert!(waits.is_sorted() && waits.iter().all(|wait| *wait <= millis(60_000)));
    // A response in between counts.
    let mut follower = Follower::working();
    for _ in 0..100 {
        follower.respond(EXTENSION, timed_out());
        follower.get(EXTENSION, json!({}));
    }
    // A failure that will not pass ends it.
    let mut follower = Follower::working();
    follower.respond(EXTENSION, Outcome::Failed(Failure::Shutdown));
    assert_eq!(follower.failure(), Failure::Shutdown);
}

#[test]
fn a_server_that_asks_to_be_left_alone_is() {
    let mut follower = Follower::working();
    let kind = ConnectionErrorKind::Status {
        status: 429,
        retry_after: Some(Duration::from_secs(40)),
    };
    follower.respond(
        EXTENSION,
        Outcome::Failed(Failure::NotDelivered(kind.into())),
    );
    follower.poller.hint(follower.now);
    assert_eq!(follower.get(EXTENSION, json!({})), Duration::from_secs(40));
}

#[test]
fn a_server_that_forgot_the_task_ends_it() {
    let mut follower = Follower::working();
    let unknown = ErrorObject::new(code::INVALID_PARAMS, "unknown task");
    follower.respond(EXTENSION, Outcome::Error(unknown.clone()));
    assert_eq!(follower.end(), Outcome::Error(unknown));
    assert!(follower.poller.has_ended());
}

#[test]
fn a_server_that_speaks_of_another_task_is_not_believed() {
    let mut follower = Follower::working();
    let result = json!({"content": []});
    follower.get(
        EXTENSION,
        json!({"taskId": "u", "status": "completed", "result": result}),
    );
    let failure = follower.failure();
    assert!(
        matches!(failure, Failure::InvalidResponse { .. }),
        "{failure:?}"
    );
    let mut follower = Follower::working();
    follower.respond(EXTENSION, Outcome::Result(Bytes::from_static(b"[]")));
    assert!(matches!(
        follower.failure(),
        Failure::InvalidResponse { .. }
    ));
}

#[test]
fn an_unknown_status_is_not_an_end() {
    let mut follower = Follower::new(json!({"ttlMs": 10_000}));
    follower.get(EXTENSION, json!({"status": "meditating", "ttlMs": 10_000}));
    follower.get(CORE, json!({"status": "meditating", "ttl": 10_000}));
    let result = json!({"content": []});
    follower.get(EXTENSION, json!({"status": "completed", "result": result}));
    assert_eq!(follower.end(), Outcome::Result(bytes(&result)));
}

#[test]
fn hints_shorten_the_wait_but_not_below_the_minimum() {
    let mut follower = Follower::working();
    for _ in 0..50 {
        follower.poller.hint(follower.now);
        assert_eq!(follower.get(EXTENSION, json!({})), millis(20));
    }
}
