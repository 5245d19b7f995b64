//! Tasks as the extension `io.modelcontextprotocol/tasks` has them.
//!
//! The server alone decides to make one. A tool that fails completes its task;
//! only an error of the protocol makes it fail.

use super::{
    Dialect, EmptyResult, InputRequests, InputResponses, Meta, ResultType, TaskStatus,
    message::{notification, request, result, set_complete},
    method,
    object::object,
};
use crate::jsonrpc::{ErrorObject, RawJson};

/// The id under which the extension stands among the capabilities.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/tasks";

object! {
    /// A result that is a promise: the answer will be found under the task.
    pub struct CreateTaskResult adjusted by CreateTaskResult::adjust {
        /// What kind of result it is: [`ResultType::Task`].
        result_type: Option<ResultType> = optional "resultType" if result_type,
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How many milliseconds to wait before asking again.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateTaskResult);

impl CreateTaskResult {
    fn adjust(&mut self, dialect: &Dialect) {
        if dialect.result_type {
            self.result_type = Some(ResultType::Task);
        }
    }
}

object! {
    /// Asks where a task stands.
    pub struct GetTaskParams {
        /// Which task.
        task_id: String = required "taskId",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetTaskParams = method::TASKS_GET => GetTaskResult);

object! {
    /// Where a task stands, with what it asks or what came of it.
    pub struct GetTaskResult adjusted by GetTaskResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How many milliseconds to wait before asking again.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// What it asks, if it waits for input. A key means the same question
        /// for as long as the task lives.
        input_requests: Option<InputRequests> = optional "inputRequests",
        /// The result of the request it was made for, if it completed.
        result: Option<RawJson> = optional "result",
        /// The error, if it failed.
        error: Option<ErrorObject> = optional "error",
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(GetTaskResult);

impl GetTaskResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
    }
}

object! {
    /// Brings a task the input it waits for.
    pub struct UpdateTaskParams {
        /// Which task.
        task_id: String = required "taskId",
        /// The answers, under the keys of the questions.
        input_responses: InputResponses = required "inputResponses",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(UpdateTaskParams = method::TASKS_UPDATE => EmptyResult);

object! {
    /// Calls a task off.
    pub struct CancelTaskParams {
        /// Which task.
        task_id: String = required "taskId",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CancelTaskParams = method::TASKS_CANCEL => EmptyResult);

object! {
    /// Says that a task changed, with all there is to know of it.
    pub struct TaskChangedParams {
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How many milliseconds to wait before asking again.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// What it asks, if it waits for input.
        input_requests: Option<InputRequests> = optional "inputRequests",
        /// The result of the request it was made for, if it completed.
        result: Option<RawJson> = optional "result",
        /// The error, if it failed.
        error: Option<ErrorObject> = optional "error",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(TaskChangedParams = method::TASKS_CHANGED);
