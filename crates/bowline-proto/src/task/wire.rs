//! What the other side sees of a task.

use super::{Task, TaskState};
use crate::{
    jsonrpc::{ErrorObject, RawJson, code},
    model::{
        CancelCoreTaskResult, CoreTask, CoreTaskPayload, CoreTaskStatusParams,
        CreateCoreTaskResult, CreateTaskResult, GetCoreTaskResult, GetTaskResult, InputRequests,
        RelatedTask, ResultObject as _, TaskChangedParams, TaskStatus,
    },
};

impl Task {
    /// Returns the status in the extension, where a tool that fails has completed.
    #[must_use]
    pub fn status(&self) -> TaskStatus {
        match &self.state() {
            TaskState::Working => TaskStatus::Working,
            // Until the work goes on, there is nothing left to answer.
            TaskState::InputRequired { questions, .. } if questions.is_empty() => {
                TaskStatus::Working
            }
            TaskState::InputRequired { .. } => TaskStatus::InputRequired,
            TaskState::Completed { .. } => TaskStatus::Completed,
            TaskState::Failed(_) => TaskStatus::Failed,
            TaskState::Cancelled => TaskStatus::Cancelled,
        }
    }

    /// Returns the status in the core, where a tool that fails has failed.
    #[must_use]
    pub fn core_status(&self) -> TaskStatus {
        match self.state() {
            TaskState::Completed { is_error: true, .. } => TaskStatus::Failed,
            _ => self.status(),
        }
    }

    /// Returns the response to a call that became this task, in the extension.
    #[must_use]
    pub fn to_create_result(&self) -> CreateTaskResult {
        let mut result = CreateTaskResult::new(
            self.id(),
            TaskStatus::Working,
            self.created_at().to_string(),
            self.updated_at().to_string(),
        );
        result.ttl_ms = self.ttl_ms();
        result.poll_interval_ms = Some(self.poll_interval_ms());
        result
    }

    /// Returns the state with its questions or its outcome, in the extension.
    #[must_use]
    pub fn to_get_result(&self) -> GetTaskResult {
        let mut result = GetTaskResult::new(
            self.id(),
            self.status(),
            self.created_at().to_string(),
            self.updated_at().to_string(),
        );
        result.ttl_ms = self.ttl_ms();
        result.status_message = self.status_message().map(str::to_owned);
        result.poll_interval_ms = Some(self.poll_interval_ms());
        result.input_requests = self.open_questions().cloned();
        match self.state() {
            TaskState::Completed { result: value, .. } => result.result = Some(value.clone()),
            TaskState::Failed(error) => result.error = Some(error.clone()),
            _ => {}
        }
        result
    }

    /// Returns the notification of a change, in the extension.
    #[must_use]
    pub fn to_changed_params(&self) -> TaskChangedParams {
        let current = self.to_get_result();
        let mut params = TaskChangedParams::new(
            current.task_id,
            current.status,
            current.created_at,
            current.last_updated_at,
        );
        params.ttl_ms = current.ttl_ms;
        params.status_message = current.status_message;
        params.poll_interval_ms = current.poll_interval_ms;
        params.input_requests = current.input_requests;
        params.result = current.result;
        params.error = current.error;
        params
    }

    /// Returns the task as the core shows it.
    #[must_use]
    pub fn to_core_task(&self) -> CoreTask {
        let mut task = CoreTask::new(
            self.id(),
            self.core_status(),
            self.created_at().to_string(),
            self.updated_at().to_string(),
        );
        task.ttl = self.ttl_ms();
        task.status_message = self.status_message().map(str::to_owned);
        task.poll_interval = Some(self.poll_interval_ms());
        task
    }

    /// Returns the response to a request that became this task, in the core. A
    /// task begins as working.
    #[must_use]
    pub fn to_core_create_result(&self) -> CreateCoreTaskResult {
        let mut task = self.to_core_task();
        task.status = TaskStatus::Working;
        CreateCoreTaskResult::new(task)
    }

    /// Returns the outcome of a task that has ended, as the core has it: the result
    /// of the request, marked with the task, or its error.
    #[must_use]
    pub fn to_core_payload(&self) -> Option<Result<CoreTaskPayload, ErrorObject>> {
        match self.state() {
            TaskState::Working | TaskState::InputRequired { .. } => None,
            TaskState::Completed { result, .. } => Some(self.payload(result)),
            TaskState::Failed(error) => Some(Err(error.clone())),
            TaskState::Cancelled => {
                let message = "The task was cancelled";
                Some(Err(ErrorObject::new(code::INVALID_REQUEST, message)))
            }
        }
    }

    fn payload(&self, result: &RawJson) -> Result<CoreTaskPayload, ErrorObject> {
        let mut payload = CoreTaskPayload::decode(result.get().as_bytes())
            .map_err(|error| ErrorObject::new(code::INTERNAL_ERROR, error.to_string()))?;
        let meta = payload.meta.get_or_insert_default();
        meta.set_related_task(&RelatedTask::new(self.id()));
        Ok(payload)
    }

    /// Returns the questions without an answer, if the task waits for some.
    #[must_use]
    pub fn open_questions(&self) -> Option<&InputRequests> {
        match self.state() {
            TaskState::InputRequired { questions, .. } if !questions.is_empty() => Some(questions),
            _ => None,
        }
    }

    fn ttl_ms(&self) -> Option<u64> {
        self.ttl().map(|ttl| ttl.as_millis() as u64)
    }

    fn poll_interval_ms(&self) -> u64 {
        self.poll_interval().as_millis() as u64
    }
}

/// Converts between the messages of the core that are a task.
macro_rules! from_core_task {
    ($($name:ident),*) => {$(
        impl From<CoreTask> for $name {
            fn from(task: CoreTask) -> Self {
                let CoreTask { task_id, status, created_at, last_updated_at, .. } = task;
                let mut message = Self::new(task_id, status, created_at, last_updated_at);
                message.ttl = task.ttl;
                message.status_message = task.status_message;
                message.poll_interval = task.poll_interval;
                message
            }
        }
    )*};
}

from_core_task!(
    GetCoreTaskResult,
    CancelCoreTaskResult,
    CoreTaskStatusParams
);
