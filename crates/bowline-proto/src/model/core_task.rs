//! Tasks as part of the core protocol, which they were in one revision.
//!
//! The tasks of [`task`](super::task) are different: they have other shapes,
//! and another notion of failure.

use super::{
    Extra, Meta,
    message::{notification, request, result},
    method,
    object::object,
    open_enum::open_enum,
};

object! {
    /// A request to run a request as a core task.
    pub struct TaskMetadata {
        /// How long to keep the task, in milliseconds.
        ttl: Option<u64> = optional "ttl",
    }
}

object! {
    /// The core task that a message belongs to; part of `_meta`.
    pub struct RelatedTask {
        /// The task's id.
        task_id: String = required "taskId",
    }
}

open_enum! {
    /// The status of a task.
    pub enum TaskStatus {
        /// It is running.
        Working = "working",
        /// It waits for input.
        InputRequired = "input_required",
        /// It has a result.
        Completed = "completed",
        /// It failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Returns whether the status is final.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// Defines results and notifications that are a task, with `_meta` among its
/// members.
macro_rules! core_task {
    ($(#[$meta:meta])* $name:ident) => {
        object! {
            $(#[$meta])*
            pub struct $name {
                /// The id of the task.
                task_id: String = required "taskId",
                /// Its status.
                status: TaskStatus = required "status",
                /// A description of the status, for people.
                status_message: Option<String> = optional "statusMessage",
                /// When it was created, in ISO 8601.
                created_at: String = required "createdAt",
                /// When it last changed, in ISO 8601.
                last_updated_at: String = required "lastUpdatedAt",
                /// How long it is kept, in milliseconds; `None` means forever.
                ttl: Option<u64> = nulled "ttl",
                /// How long to wait before polling again, in milliseconds.
                poll_interval: Option<u64> = optional "pollInterval",
                /// The metadata.
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
    /// The response to a request that is run as a task.
    pub struct CreateCoreTaskResult {
        /// The task.
        task: CoreTask = required "task",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateCoreTaskResult, untyped);

object! {
    /// Requests the status of a task.
    pub struct GetCoreTaskParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetCoreTaskParams = method::TASKS_GET => GetCoreTaskResult);

core_task!(
    /// The status of a task.
    GetCoreTaskResult
);
result!(GetCoreTaskResult, untyped);

object! {
    /// Requests the result of a task, and waits for it.
    pub struct CoreTaskResultParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CoreTaskResultParams = method::TASKS_RESULT => CoreTaskPayload);

object! {
    /// The result of a task: the result of the request that it runs, with all
    /// members except `_meta` in `extra`.
    pub struct CoreTaskPayload {
        /// The metadata of the result.
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
    /// Requests a page of tasks.
    pub struct ListCoreTasksParams {
        /// The cursor of the page, from the previous page.
        cursor: Option<String> = optional "cursor",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(ListCoreTasksParams = method::TASKS_LIST => ListCoreTasksResult);

object! {
    /// A page of tasks.
    pub struct ListCoreTasksResult {
        /// The tasks.
        tasks: Vec<CoreTask> = required "tasks",
        /// The cursor of the next page; an empty string is a valid cursor.
        next_cursor: Option<String> = optional "nextCursor",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(ListCoreTasksResult, untyped);

object! {
    /// Cancels a task.
    pub struct CancelCoreTaskParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CancelCoreTaskParams = method::TASKS_CANCEL => CancelCoreTaskResult);

core_task!(
    /// The cancelled task.
    CancelCoreTaskResult
);
result!(CancelCoreTaskResult, untyped);

core_task!(
    /// Notifies that a task changed.
    CoreTaskStatusParams
);
notification!(CoreTaskStatusParams = method::TASKS_STATUS);
