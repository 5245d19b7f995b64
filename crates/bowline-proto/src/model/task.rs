//! Tasks of the extension `io.modelcontextprotocol/tasks`.
//!
//! Only the server decides to create one. A tool that fails completes its task;
//! only a protocol error makes the task fail.

use super::{
    ClientCapabilities, EmptyResult, InputRequests, InputResponses, Meta, ResultType, TaskStatus,
    WireFeatures,
    message::{notification, request, result, set_complete},
    method,
    object::object,
};
use crate::jsonrpc::{ErrorObject, RawJson};

/// The id of the extension in the capabilities.
pub const EXTENSION_ID: &str = "io.modelcontextprotocol/tasks";

/// Returns the capabilities that a client must declare to receive tasks.
#[must_use]
pub fn required_capability() -> ClientCapabilities {
    let mut required = ClientCapabilities::default();
    required.declare_extension(EXTENSION_ID);
    required
}

object! {
    /// A result that refers to a task, which will have the final result.
    pub struct CreateTaskResult adjusted by CreateTaskResult::adjust {
        /// The type of the result: [`ResultType::Task`].
        result_type: Option<ResultType> = optional "resultType" if result_type,
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How long to wait before polling again, in milliseconds.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(CreateTaskResult);

impl CreateTaskResult {
    fn adjust(&mut self, features: &WireFeatures) {
        if features.result_type {
            self.result_type = Some(ResultType::Task);
        }
    }
}

object! {
    /// Requests the status of a task.
    pub struct GetTaskParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(GetTaskParams = method::TASKS_GET => GetTaskResult);

object! {
    /// The status of a task, with its questions or its outcome.
    pub struct GetTaskResult adjusted by GetTaskResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How long to wait before polling again, in milliseconds.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// The questions, if it waits for input. A key refers to the same
        /// question for the life of the task.
        input_requests: Option<InputRequests> = optional "inputRequests",
        /// The result of the request that it runs, if it completed.
        result: Option<RawJson> = optional "result",
        /// The error, if it failed.
        error: Option<ErrorObject> = optional "error",
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(GetTaskResult);

impl GetTaskResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
    }
}

object! {
    /// Sends a task the input it waits for.
    pub struct UpdateTaskParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The answers, under the keys of the questions.
        input_responses: InputResponses = required "inputResponses",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(UpdateTaskParams = method::TASKS_UPDATE => EmptyResult);

object! {
    /// Cancels a task.
    pub struct CancelTaskParams {
        /// The id of the task.
        task_id: String = required "taskId",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(CancelTaskParams = method::TASKS_CANCEL => EmptyResult);

object! {
    /// Notifies that a task changed, with its complete state.
    pub struct TaskChangedParams {
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
        ttl_ms: Option<u64> = nulled "ttlMs",
        /// How long to wait before polling again, in milliseconds.
        poll_interval_ms: Option<u64> = optional "pollIntervalMs",
        /// The questions, if it waits for input.
        input_requests: Option<InputRequests> = optional "inputRequests",
        /// The result of the request that it runs, if it completed.
        result: Option<RawJson> = optional "result",
        /// The error, if it failed.
        error: Option<ErrorObject> = optional "error",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(TaskChangedParams = method::TASKS_CHANGED);
