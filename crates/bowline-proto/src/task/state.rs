//! The state of a task.

use std::time::Duration;

use super::Timestamp;
use crate::{
    jsonrpc::{ErrorObject, RawJson},
    model::{InputRequests, InputResponses},
};

/// A task: its identity, its times and its [state](TaskState).
///
/// States change only by the methods of this type, so a task that has ended stays as
/// it is: its result is not overwritten by work that did not notice.
///
/// ```
/// use bowline_proto::{jsonrpc::RawJson, task::{Task, Timestamp}};
/// use std::time::Duration;
///
/// let now = Timestamp::from_unix_millis(0);
/// let mut task = Task::new("t1", now, Some(Duration::from_secs(60)), Duration::from_secs(1));
/// assert!(task.cancel(now));
/// let result = RawJson::from_string("{}".to_owned()).unwrap();
/// assert!(!task.complete(now, result, false), "it was cancelled");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    parts: TaskParts,
}

/// The parts of a task, to store it.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskParts {
    /// The id.
    pub id: Box<str>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// How long it is kept, in milliseconds after its creation; forever if `None`.
    pub ttl_ms: Option<u64>,
    /// How long a client should wait before it asks again, in milliseconds.
    pub poll_interval_ms: u64,
    /// The description of the status, for people.
    pub status_message: Option<Box<str>>,
    /// The state.
    pub state: TaskState,
}

impl From<TaskParts> for Task {
    fn from(parts: TaskParts) -> Self {
        Self { parts }
    }
}

impl From<Task> for TaskParts {
    fn from(task: Task) -> Self {
        task.parts
    }
}

/// The state of a task.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskState {
    /// It is running.
    Working,
    /// It waits until all its questions are answered.
    InputRequired {
        /// The questions without an answer. A key is never used twice.
        questions: InputRequests,
        /// The answers so far.
        answers: InputResponses,
    },
    /// The request has a result.
    Completed {
        /// The result.
        result: RawJson,
        /// Whether it is the result of a tool that failed.
        is_error: bool,
    },
    /// The request has an error instead of a result.
    Failed(ErrorObject),
    /// It was cancelled.
    Cancelled,
}

/// What answers did to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// None of them answers an open question.
    Ignored,
    /// Some questions are still open.
    Partial,
    /// All questions are answered: [`Task::resume`] returns the answers.
    Complete,
}

impl Task {
    /// Creates a task that is working. It is kept for `ttl` after its creation, or
    /// forever.
    #[must_use]
    pub fn new(
        id: impl Into<Box<str>>,
        now: Timestamp,
        ttl: Option<Duration>,
        poll_interval: Duration,
    ) -> Self {
        let parts = TaskParts {
            id: id.into(),
            created_at: now,
            updated_at: now,
            ttl_ms: ttl.map(millis),
            poll_interval_ms: millis(poll_interval),
            status_message: None,
            state: TaskState::Working,
        };
        Self { parts }
    }

    /// Returns the id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.parts.id
    }

    /// Returns when the task was created.
    #[must_use]
    pub fn created_at(&self) -> Timestamp {
        self.parts.created_at
    }

    /// Returns when the task last changed.
    #[must_use]
    pub fn updated_at(&self) -> Timestamp {
        self.parts.updated_at
    }

    /// Returns how long the task is kept after its creation.
    #[must_use]
    pub fn ttl(&self) -> Option<Duration> {
        self.parts.ttl_ms.map(Duration::from_millis)
    }

    /// Returns when the task is forgotten, if ever.
    #[must_use]
    pub fn expires_at(&self) -> Option<Timestamp> {
        self.ttl().map(|ttl| self.parts.created_at.after(ttl))
    }

    /// Returns whether the task is to be forgotten.
    #[must_use]
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at().is_some_and(|expiry| now >= expiry)
    }

    /// Returns how long a client should wait before it asks again.
    #[must_use]
    pub fn poll_interval(&self) -> Duration {
        Duration::from_millis(self.parts.poll_interval_ms)
    }

    /// Returns the description of the status, for people.
    #[must_use]
    pub fn status_message(&self) -> Option<&str> {
        self.parts.status_message.as_deref()
    }

    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> &TaskState {
        &self.parts.state
    }

    /// Returns whether the task has ended.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(
            self.parts.state,
            TaskState::Completed { .. } | TaskState::Failed(_) | TaskState::Cancelled
        )
    }

    /// Sets the description of the status. Returns whether the task is still going
    /// on.
    pub fn set_status_message(&mut self, now: Timestamp, message: impl Into<Box<str>>) -> bool {
        let message = message.into();
        self.change(now, |task| task.parts.status_message = Some(message))
    }

    /// Asks questions. Returns whether the task was working.
    pub fn ask(&mut self, now: Timestamp, questions: InputRequests) -> bool {
        if self.parts.state != TaskState::Working {
            return false;
        }
        let answers = InputResponses::new();
        self.change(now, |task| {
            task.parts.state = TaskState::InputRequired { questions, answers };
        })
    }

    /// Adds answers. Those under other keys than the open questions' are ignored:
    /// they are late, repeated, or not for us.
    pub fn answer(&mut self, now: Timestamp, given: &InputResponses) -> AnswerOutcome {
        let TaskState::InputRequired { questions, answers } = &mut self.parts.state else {
            return AnswerOutcome::Ignored;
        };
        let before = answers.len();
        for (key, answer) in given.iter() {
            if questions.remove(key).is_some() {
                answers.insert(key.to_owned(), answer.clone());
            }
        }
        if answers.len() == before {
            return AnswerOutcome::Ignored;
        }
        let outcome = match questions.is_empty() {
            true => AnswerOutcome::Complete,
            false => AnswerOutcome::Partial,
        };
        self.touch(now);
        outcome
    }

    /// Continues to work once all questions are answered. Returns the answers.
    pub fn resume(&mut self, now: Timestamp) -> Option<InputResponses> {
        match &mut self.parts.state {
            TaskState::InputRequired { questions, answers } if questions.is_empty() => {
                let answers = std::mem::take(answers);
                self.change(now, |task| task.parts.state = TaskState::Working);
                Some(answers)
            }
            _ => None,
        }
    }

    /// Ends the task with a result. Returns `false` if it has ended before.
    pub fn complete(&mut self, now: Timestamp, result: RawJson, is_error: bool) -> bool {
        self.change(now, |task| {
            task.parts.state = TaskState::Completed { result, is_error };
        })
    }

    /// Ends the task with an error. Returns `false` if it has ended before.
    pub fn fail(&mut self, now: Timestamp, error: ErrorObject) -> bool {
        let message = error.message.as_str().into();
        self.change(now, |task| {
            // Some clients show this and never fetch the error.
            task.parts.status_message = Some(message);
            task.parts.state = TaskState::Failed(error);
        })
    }

    /// Cancels the task. Returns `false` if it has ended before.
    pub fn cancel(&mut self, now: Timestamp) -> bool {
        self.change(now, |task| task.parts.state = TaskState::Cancelled)
    }

    fn change(&mut self, now: Timestamp, change: impl FnOnce(&mut Self)) -> bool {
        if self.is_terminal() {
            return false;
        }
        change(self);
        self.touch(now);
        true
    }

    /// Notes a change. Clocks of nodes differ, so `now` may be before the last one.
    fn touch(&mut self, now: Timestamp) {
        self.parts.updated_at = self.parts.updated_at.max(now);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
