//! What a client knows about a task of its server.

use std::time::Duration;

use super::{Dialect, Timestamp};
use crate::{
    jsonrpc::{DecodeError, ErrorObject, RawJson, decode},
    model::{
        CoreTask, CreateCoreTaskResult, CreateTaskResult, GetCoreTaskResult, GetTaskResult,
        InputRequests, TaskStatus,
    },
};

/// What the server last said about a task, in either dialect.
///
/// The status message and the times are the server's: show them, do not rely on them.
///
/// ```
/// use bowline_proto::{model::TaskStatus, task::{Dialect, TaskInfo}};
///
/// let created = br#"{"resultType": "task", "taskId": "t1", "status": "working",
///     "createdAt": "2026-11-16T08:00:00Z", "lastUpdatedAt": "2026-11-16T08:00:00Z",
///     "ttlMs": 60000, "pollIntervalMs": 500}"#;
/// let task = TaskInfo::from_create_result(Dialect::Extension, created).unwrap();
/// assert_eq!((&*task.id, task.status), ("t1", TaskStatus::Working));
/// assert_eq!(task.ttl.unwrap().as_secs(), 60);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskInfo {
    /// The id.
    pub id: Box<str>,
    /// The status.
    pub status: TaskStatus,
    /// A description of the status, for people.
    pub status_message: Option<String>,
    /// When the task was created, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept after its creation; forever if `None`.
    pub ttl: Option<Duration>,
    /// How long to wait before asking again, if the server said so.
    pub poll_interval: Option<Duration>,
    /// The questions that it waits for. Always empty in the core, where questions
    /// are requests of the server.
    pub questions: InputRequests,
    /// The result of the call, where it comes with the status.
    pub result: Option<RawJson>,
    /// The error of the call, where it comes with the status.
    pub error: Option<ErrorObject>,
}

impl TaskInfo {
    /// Reads the response to a call that became a task.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not such a response.
    pub fn from_create_result(dialect: Dialect, result: &[u8]) -> Result<Self, DecodeError> {
        match dialect {
            Dialect::Core => decode::<CreateCoreTaskResult>(result).map(|it| it.task.into()),
            Dialect::Extension => decode::<CreateTaskResult>(result).map(Self::from),
        }
    }

    /// Reads the response to `tasks/get`.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not such a response.
    pub fn from_get_result(dialect: Dialect, result: &[u8]) -> Result<Self, DecodeError> {
        match dialect {
            Dialect::Core => decode::<GetCoreTaskResult>(result).map(Self::from),
            Dialect::Extension => decode::<GetTaskResult>(result).map(Self::from),
        }
    }

    /// Returns how old the task was when it last changed, by the server's clock. Zero
    /// if the server's times cannot be read.
    #[must_use]
    pub fn age(&self) -> Duration {
        let times = Timestamp::parse(&self.created_at).zip(Timestamp::parse(&self.last_updated_at));
        times.map_or(Duration::ZERO, |(created, updated)| created.until(updated))
    }

    fn new(id: String, status: TaskStatus, created_at: String, last_updated_at: String) -> Self {
        Self {
            id: id.into(),
            status,
            status_message: None,
            created_at,
            last_updated_at,
            ttl: None,
            poll_interval: None,
            questions: InputRequests::new(),
            result: None,
            error: None,
        }
    }
}

impl From<CreateTaskResult> for TaskInfo {
    fn from(task: CreateTaskResult) -> Self {
        Self {
            status_message: task.status_message,
            ttl: task.ttl_ms.map(Duration::from_millis),
            poll_interval: task.poll_interval_ms.map(Duration::from_millis),
            ..Self::new(
                task.task_id,
                task.status,
                task.created_at,
                task.last_updated_at,
            )
        }
    }
}

impl From<GetTaskResult> for TaskInfo {
    fn from(task: GetTaskResult) -> Self {
        Self {
            status_message: task.status_message,
            ttl: task.ttl_ms.map(Duration::from_millis),
            poll_interval: task.poll_interval_ms.map(Duration::from_millis),
            questions: task.input_requests.unwrap_or_default(),
            result: task.result,
            error: task.error,
            ..Self::new(
                task.task_id,
                task.status,
                task.created_at,
                task.last_updated_at,
            )
        }
    }
}

/// Converts messages of the core that are a task.
macro_rules! from_core {
    ($($name:ident),*) => {$(
        impl From<$name> for TaskInfo {
            fn from(task: $name) -> Self {
                Self {
                    status_message: task.status_message,
                    ttl: task.ttl.map(Duration::from_millis),
                    poll_interval: task.poll_interval.map(Duration::from_millis),
                    ..Self::new(
                        task.task_id,
                        task.status,
                        task.created_at,
                        task.last_updated_at,
                    )
                }
            }
        }
    )*};
}

from_core!(CoreTask, GetCoreTaskResult);
