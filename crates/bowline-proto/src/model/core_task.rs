//! Tasks as a part of the core protocol, which they were for one revision.
//!
//! The tasks of [`task`](super::task) are another thing: the shapes differ, and
//! so does what a failure is.

use super::{
    Extra, Meta,
    message::{notification, request, result},
    method,
    object::object,
    open_enum::open_enum,
};

object! {
    /// Asks that a request be run as a core task.
    pub struct TaskMetadata {
        /// For how many milliseconds to keep it.
        ttl: Option<u64> = optional "ttl",
    }
}

object! {
    /// Says which core task a message belongs to; stands in `_meta`.
    pub struct RelatedTask {
        /// The task.
        task_id: String = required "taskId",
    }
}

open_enum! {
    /// Where a task stands.
    pub enum TaskStatus {
        /// It is being worked on.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It has a result.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was called off.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it will stay as it is.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Results and notifications that are a task, with `_meta` beside its members.
macro_rules! core_task {
    ($(#[$meta:meta])* $name:ident) => {
        object! {
            $(#[$meta])*
            pub struct $name {
                /// The task.
                task_id: String = required "taskId",
                /// Where it stands.
                status: TaskStatus = required "status",
                /// More about that, for people.
                status_message: Option<String> = optional "statusMessage",
                /// When it was made, in ISO 8601.
                created_at: String = required "createdAt",
                /// When it last changed, in ISO 8601.
                last_updated_at: String = required "lastUpdatedAt",
                /// For how many milliseconds it is kept; for ever where `None`.
                ttl: Option<u64> = nulled "ttl",
                /// How many milliseconds to wait before asking again.
                poll_interval: Option<u64> = optional "pollInterval",
                /// What travels beside it.
                meta: Option<Meta> = optional "_meta",
            }
        }
    };
}

core_task!(
    /// A task.
    CoreTask
);

object! {
    /// The answer to a request that is run as a task.
    pub struct CreateCoreTaskResult {
        /// The task.
        task: CoreTask = required "task",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateCoreTaskResult, untyped);

object! {
    /// Asks where a task stands.
    pub struct GetCoreTaskParams {
        /// Which task.
        task_id: String = required "taskId",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetCoreTaskParams = method::TASKS_GET => GetCoreTaskResult);

core_task!(
    /// Where a task stands.
    GetCoreTaskResult
);
result!(GetCoreTaskResult, untyped);

object! {
    /// Asks for the result of a task, and waits for it.
    pub struct CoreTaskResultParams {
        /// Which task.
        task_id: String = required "taskId",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CoreTaskResultParams = method::TASKS_RESULT => CoreTaskPayload);

object! {
    /// The result of a task: that of the request it was made for, all of it in
    /// `extra` but `_meta`.
    pub struct CoreTaskPayload {
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CoreTaskPayload, untyped);

impl From<Extra> for CoreTaskPayload {
    fn from(extra: Extra) -> Self {
        Self { meta: None, extra }
    }
}

object! {
    /// Asks for a page of tasks.
    pub struct ListCoreTasksParams {
        /// Where the page begins, as the one before it said.
        cursor: Option<String> = optional "cursor",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListCoreTasksParams = method::TASKS_LIST => ListCoreTasksResult);

object! {
    /// A page of tasks.
    pub struct ListCoreTasksResult {
        /// The tasks.
        tasks: Vec<CoreTask> = required "tasks",
        /// Where the next page begins; an empty string is a place, too.
        next_cursor: Option<String> = optional "nextCursor",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ListCoreTasksResult, untyped);

object! {
    /// Calls a task off.
    pub struct CancelCoreTaskParams {
        /// Which task.
        task_id: String = required "taskId",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CancelCoreTaskParams = method::TASKS_CANCEL => CancelCoreTaskResult);

core_task!(
    /// The task as it was called off.
    CancelCoreTaskResult
);
result!(CancelCoreTaskResult, untyped);

core_task!(
    /// Says that a task changed.
    CoreTaskStatusParams
);
notification!(CoreTaskStatusParams = method::TASKS_STATUS);
