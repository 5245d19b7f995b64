//! Following a task to its end: when to ask again, what to answer, when to give up.

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;

use super::{Failure, Outcome};
use crate::{
    Instant,
    jsonrpc::code,
    model::{InputRequests, InputResponses, TaskStatus},
    task::{Dialect, TaskInfo},
};

/// The shortest time between two requests for the state of a task, whatever the server
/// says.
const MIN_INTERVAL: Duration = Duration::from_millis(20);
/// The longest time between two requests for the state of a task.
const MAX_INTERVAL: Duration = Duration::from_secs(60);
/// The time between two requests if the server does not say.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);
/// How many requests about a task may fail in a row.
const MAX_FAILURES: u32 = 20;

/// Follows one task of the server until it ends.
///
/// It is a machine of its own, beside the [`Connection`](super::Connection): a task
/// outlives connections. The driver asks for the [next step](Self::next), takes it, and
/// reports how it went.
///
/// - The state is requested at the interval that the server last asked for, but at least
///   20 ms and at most 60 s apart. [`hint`](Self::hint) shortens the wait.
/// - Each question is asked once, whatever the server repeats. A server that asks in too
///   many rounds is given up.
/// - Requests that fail for a passing reason are repeated, later each time, and up to 20
///   times in a row.
/// - A task that is still going on at the end of its time to live is given up after a
///   last look. The time counts from when the task was first seen, by our clock: the
///   server's may be wrong.
///
/// ```
/// use bowline_proto::{Instant, client::{TaskPoller, TaskStep}, task::{Dialect, TaskInfo}};
///
/// let created = br#"{"resultType": "task", "taskId": "t1", "status": "working",
///     "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
///     "ttlMs": null, "pollIntervalMs": 0}"#;
/// let task = TaskInfo::from_create_result(Dialect::Extension, created).unwrap();
/// let mut poller = TaskPoller::new(Instant::ORIGIN, task, 32);
/// let TaskStep::Wait { until } = poller.next(Instant::ORIGIN) else { panic!() };
/// assert_eq!(until.since_origin().as_millis(), 20);
/// assert_eq!(poller.next(until), TaskStep::Get);
/// ```
#[derive(Clone, Debug)]
pub struct TaskPoller {
    info: TaskInfo,
    phase: Phase,
    /// When the task was first seen, and how old it was.
    first_seen: (Instant, Duration),
    /// When the state was last requested.
    last_get: Option<Instant>,
    /// When to request it next, unless the task expires before.
    next_get: Instant,
    /// The keys of questions that were answered.
    answered: BTreeSet<Box<str>>,
    rounds: u32,
    max_rounds: u32,
    /// Requests for the state, or with answers, that failed in a row.
    failures: u32,
    /// Requests for the result that failed since the task was last working.
    result_failures: u32,
}

#[derive(Clone, Debug)]
enum Phase {
    /// Waits, and asks for the state.
    Polling,
    /// The host is being asked.
    Asking(InputRequests),
    /// The answers have to be sent, from then on.
    Answering(InputResponses, Instant),
    /// The result has to be requested.
    Fetching,
    Ended(Box<Outcome>),
}

/// What to do next about a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskStep {
    /// Wait until then, or until something suggests that the task has changed.
    Wait {
        /// When to ask for the next step.
        until: Instant,
    },
    /// Request the state, and report it to [`TaskPoller::handle_get`].
    Get,
    /// Request the result, and report it to [`TaskPoller::handle_result`]. Meanwhile,
    /// the server may ask questions.
    GetResult,
    /// Ask the host, and report to [`TaskPoller::handle_answers`].
    Ask(InputRequests),
    /// Send the answers, and report to [`TaskPoller::handle_update`].
    Update(InputResponses),
    /// The task is over, or was given up: see [`TaskPoller::has_ended`].
    Done(Outcome),
}

impl TaskPoller {
    /// Follows a task that was created or seen just now. The host is asked in at most
    /// `max_rounds` rounds.
    #[must_use]
    pub fn new(now: Instant, info: TaskInfo, max_rounds: u32) -> Self {
        let age = info.age();
        // A task that is just working has nothing new to tell yet.
        let (last_get, next_get) = match info.status {
            TaskStatus::Working => (Some(now), now + interval(&info)),
            _ => (None, now),
        };
        Self {
            info,
            phase: Phase::Polling,
            first_seen: (now, age),
            last_get,
            next_get,
            answered: BTreeSet::new(),
            rounds: 0,
            max_rounds,
            failures: 0,
            result_failures: 0,
        }
    }

    /// Continues with a task that was followed before: its remaining time to live, and
    /// the keys of the questions that were answered.
    #[must_use]
    pub fn resume(
        mut self,
        remaining: Option<Duration>,
        answered: impl IntoIterator<Item = Box<str>>,
    ) -> Self {
        if let Some((ttl, remaining)) = self.info.ttl.zip(remaining) {
            self.first_seen.1 = ttl.saturating_sub(remaining);
        }
        self.answered.extend(answered);
        self.last_get = None;
        self.next_get = self.first_seen.0;
        self
    }

    /// Returns what the server last said about the task.
    #[must_use]
    pub fn info(&self) -> &TaskInfo {
        &self.info
    }

    /// Returns when the server may forget the task, if ever.
    #[must_use]
    pub fn expires_at(&self) -> Option<Instant> {
        let (first_seen, age) = self.first_seen;
        let ttl = self.info.ttl?;
        Some(first_seen + ttl.saturating_sub(age))
    }

    /// Returns the keys of the questions that were answered.
    pub fn answered(&self) -> impl Iterator<Item = &str> {
        self.answered.iter().map(|key| &**key)
    }

    /// Returns whether the task has ended on the server, as far as is known. If it was
    /// given up, it may still go on there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let is_unknown = |outcome: &Outcome| match outcome {
            Outcome::Error(error) => error.code == code::INVALID_PARAMS,
            Outcome::Result(_) => true,
            Outcome::Failed(_) => false,
        };
        self.info.status.is_terminal()
            || matches!(&self.phase, Phase::Ended(outcome) if is_unknown(outcome))
    }

    /// Returns what to do next. The answer stays the same until time passes or
    /// something is reported.
    #[must_use]
    pub fn next(&self, now: Instant) -> TaskStep {
        match &self.phase {
            Phase::Ended(outcome) => TaskStep::Done((**outcome).clone()),
            Phase::Fetching => TaskStep::GetResult,
            Phase::Asking(questions) => TaskStep::Ask(questions.clone()),
            Phase::Answering(_, at) if now < *at => TaskStep::Wait { until: *at },
            Phase::Answering(answers, _) => TaskStep::Update(answers.clone()),
            Phase::Polling => {
                let until = self.poll_at();
                match now < until {
                    true => TaskStep::Wait { until },
                    false => TaskStep::Get,
                }
            }
        }
    }

    /// Requests the state sooner, because the task may have changed.
    pub fn hint(&mut self, now: Instant) {
        // Not while the server fails: it asked for peace, or is not there.
        if self.failures == 0 {
            self.next_get = self.next_get.min(now);
        }
    }

    /// Goes on with a task that was given up.
    pub fn retry(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Ended(_)) && !self.has_ended() {
            self.result_failures = 0;
            self.rounds = 0;
            self.poll_soon(now);
        }
    }

    /// Gives the task up.
    pub fn fail(&mut self, failure: Failure) {
        self.end(Outcome::Failed(failure));
    }

    /// When the state is requested: at the interval, or for the last time when the task
    /// expires.
    fn poll_at(&self) -> Instant {
        let at = match self.expires_at() {
            Some(expiry) => self.next_get.min(expiry),
            None => self.next_get,
        };
        let earliest = self.last_get.map(|last| last + MIN_INTERVAL);
        earliest.map_or(at, |earliest| at.max(earliest))
    }

    fn end(&mut self, outcome: Outcome) {
        if !matches!(self.phase, Phase::Ended(_)) {
            self.phase = Phase::Ended(Box::new(outcome));
        }
    }

    fn end_invalid(&mut self, message: impl Into<String>) {
        let message = message.into();
        self.fail(Failure::InvalidResponse { message });
    }
}

/// Reports.
impl TaskPoller {
    /// Handles the response to `tasks/get`.
    pub fn handle_get(&mut self, now: Instant, dialect: Dialect, outcome: Outcome) {
        if matches!(self.phase, Phase::Ended(_)) {
            return;
        }
        self.last_get = Some(now);
        let result = match outcome {
            Outcome::Result(result) => result,
            Outcome::Failed(failure) if failure.is_transient() => {
                return self.request_failed(now, failure);
            }
            other => return self.end(other),
        };
        match TaskInfo::from_get_result(dialect, &result) {
            Ok(info) if info.id != self.info.id => {
                let asked = &self.info.id;
                let message = format!("asked about task {asked:?}, told about {:?}", info.id);
                self.end_invalid(message);
            }
            Ok(info) => self.handle_info(now, dialect, info),
            Err(error) => self.end_invalid(error.to_string()),
        }
    }

    fn handle_info(&mut self, now: Instant, dialect: Dialect, info: TaskInfo) {
        self.info = info;
        self.failures = 0;
        self.next_get = now + interval(&self.info);
        self.phase = Phase::Polling;
        let is_expired = self.expires_at().is_some_and(|expiry| now >= expiry);
        match (&self.info.status, dialect) {
            (TaskStatus::Completed | TaskStatus::Failed, Dialect::Core) => {
                self.phase = Phase::Fetching;
            }
            (TaskStatus::Completed, Dialect::Extension) => match self.info.result.clone() {
                Some(result) => {
                    self.end(Outcome::Result(Bytes::from(result.get().to_owned())));
                }
                None => self.end_invalid("the task is completed but has no result"),
            },
            (TaskStatus::Failed, Dialect::Extension) => match self.info.error.clone() {
                Some(error) => self.end(Outcome::Error(error)),
                None => self.end_invalid("the task failed but has no error"),
            },
            (TaskStatus::Cancelled, _) => self.fail(Failure::TaskCancelled),
            _ if is_expired => {
                let ttl = self.info.ttl.unwrap_or_default();
                self.fail(Failure::TaskExpired { ttl });
            }
            (TaskStatus::InputRequired, Dialect::Core) => self.phase = Phase::Fetching,
            (TaskStatus::InputRequired, Dialect::Extension) => self.ask(),
            // A status of a later version is not an end that we know.
            (TaskStatus::Working, _) | (_, _) => self.result_failures = 0,
        }
    }

    /// Asks the questions that were not answered yet.
    fn ask(&mut self) {
        let questions: InputRequests = self
            .info
            .questions
            .iter()
            .filter(|(key, _)| !self.answered.contains(*key))
            .map(|(key, question)| (key.to_owned(), question.clone()))
            .collect();
        if questions.is_empty() {
            return;
        }
        self.rounds += 1;
        if self.rounds > self.max_rounds {
            let rounds = self.max_rounds;
            return self.fail(Failure::TooManyRounds { rounds });
        }
        self.phase = Phase::Asking(questions);
    }

    /// Handles the host's answers, or its refusal to answer. Answers to other
    /// questions than those that were asked are dropped.
    pub fn handle_answers(&mut self, now: Instant, answers: Option<InputResponses>) {
        let Phase::Asking(questions) = &self.phase else {
            return;
        };
        let Some(answers) = answers else {
            return self.fail(Failure::InputNotProvided);
        };
        let is_asked = |key: &str| questions.contains_key(key);
        let answers: InputResponses = answers
            .iter()
            .filter(|(key, _)| is_asked(key))
            .map(|(key, answer)| (key.to_owned(), answer.clone()))
            .collect();
        self.note_answers(&answers);
        self.phase = Phase::Answering(answers, now);
    }

    /// Notes that questions were answered elsewhere. They are not asked any more.
    pub fn mark_answered(&mut self, now: Instant, answers: &InputResponses) {
        self.note_answers(answers);
        if let Phase::Asking(questions) = &mut self.phase {
            for (key, _) in answers.iter() {
                questions.remove(key);
            }
            if questions.is_empty() {
                self.poll_soon(now);
            }
        }
    }

    fn note_answers(&mut self, answers: &InputResponses) {
        let keys = answers.iter().map(|(key, _)| key.into());
        self.answered.extend(keys);
    }

    /// Handles the response to `tasks/update`.
    pub fn handle_update(&mut self, now: Instant, outcome: Outcome) {
        if !matches!(self.phase, Phase::Answering(..)) {
            return;
        }
        match outcome {
            Outcome::Failed(failure) if failure.is_transient() => {
                self.request_failed(now, failure);
            }
            // The task may have ended meanwhile, so its state tells more.
            Outcome::Error(error) if error.code == code::INVALID_PARAMS => self.poll_soon(now),
            Outcome::Result(_) => self.poll_soon(now),
            other => self.end(other),
        }
    }

    /// Handles the response to `tasks/result`.
    pub fn handle_result(&mut self, outcome: Outcome) {
        if !matches!(self.phase, Phase::Fetching) {
            return;
        }
        match outcome {
            // Its stream was cut, or it took too long: the state tells what to do.
            Outcome::Failed(failure) if failure.is_transient() => {
                self.result_failures += 1;
                match self.result_failures > MAX_FAILURES {
                    true => self.fail(failure),
                    false => self.phase = Phase::Polling,
                }
            }
            other => self.end(other),
        }
    }

    fn poll_soon(&mut self, now: Instant) {
        self.failures = 0;
        self.next_get = now;
        self.phase = Phase::Polling;
    }

    /// Repeats a request later.
    fn request_failed(&mut self, now: Instant, failure: Failure) {
        let is_expired = self.expires_at().is_some_and(|expiry| now >= expiry);
        self.failures += 1;
        if is_expired || self.failures > MAX_FAILURES {
            return self.fail(failure);
        }
        let wait = interval(&self.info).saturating_mul(1 << self.failures.min(16));
        let asked_for = match &failure {
            Failure::NotDelivered(cause) => cause.retry_after(),
            _ => None,
        };
        let wait = wait.max(asked_for.unwrap_or_default()).min(MAX_INTERVAL);
        self.next_get = now + wait;
        if let Phase::Answering(_, at) = &mut self.phase {
            *at = now + wait;
        }
    }
}

/// Returns how long to wait before the next request.
fn interval(info: &TaskInfo) -> Duration {
    let wanted = info.poll_interval.unwrap_or(DEFAULT_INTERVAL);
    wanted.clamp(MIN_INTERVAL, MAX_INTERVAL)
}
