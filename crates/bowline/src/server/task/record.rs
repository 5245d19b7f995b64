//! What is stored of a task: everything that another node needs to go on.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{ClientCapabilities, Implementation, InputRequests, InputResponses},
        task::{Task, TaskParts, TaskState, Timestamp},
    },
    server::auth::permissions::StoredPermissions,
};

/// A task, and the call that it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TaskRecord {
    #[serde(rename = "t", with = "stored_task")]
    pub(super) task: Task,
    #[serde(rename = "c")]
    pub(super) call: StoredCall,
    /// The state from which the current round is resumed.
    #[serde(rename = "s")]
    pub(super) state: String,
    /// The answers with which it is resumed.
    #[serde(
        rename = "a",
        default,
        skip_serializing_if = "InputResponses::is_empty"
    )]
    pub(super) answers: InputResponses,
}

/// The call that a task runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredCall {
    #[serde(rename = "n")]
    pub(super) tool: Box<str>,
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<RawJson>,
    #[serde(rename = "p", default, skip_serializing_if = "Option::is_none")]
    pub(super) principal: Option<Box<str>>,
    #[serde(rename = "o")]
    pub(super) permissions: StoredPermissions,
    /// The revision of the request.
    #[serde(rename = "v")]
    pub(super) revision: Box<str>,
    #[serde(rename = "k")]
    pub(super) capabilities: ClientCapabilities,
    #[serde(rename = "i", default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<Implementation>,
}

/// How a task is stored. Short names: there may be many.
mod stored_task {
    use super::{
        Deserialize, Deserializer, ErrorObject, InputRequests, InputResponses, RawJson, Serialize,
        Serializer, Task, TaskParts, TaskState, Timestamp,
    };

    #[derive(Serialize, Deserialize)]
    struct Stored {
        #[serde(rename = "i")]
        id: Box<str>,
        #[serde(rename = "c")]
        created_at: u64,
        #[serde(rename = "u")]
        updated_at: u64,
        #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
        ttl_ms: Option<u64>,
        #[serde(rename = "p")]
        poll_interval_ms: u64,
        #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
        status_message: Option<Box<str>>,
        #[serde(rename = "s")]
        state: StoredState,
    }

    #[derive(Serialize, Deserialize)]
    enum StoredState {
        #[serde(rename = "w")]
        Working,
        #[serde(rename = "i")]
        InputRequired(InputRequests, InputResponses),
        #[serde(rename = "c")]
        Completed(RawJson, bool),
        #[serde(rename = "f")]
        Failed(ErrorObject),
        #[serde(rename = "x")]
        Cancelled,
    }

    pub(super) fn serialize<S: Serializer>(task: &Task, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = TaskParts::from(task.clone());
        let stored = Stored {
            id: parts.id,
            created_at: parts.created_at.unix_millis(),
            updated_at: parts.updated_at.unix_millis(),
            ttl_ms: parts.ttl_ms,
            poll_interval_ms: parts.poll_interval_ms,
            status_message: parts.status_message,
            state: match parts.state {
                TaskState::Working => StoredState::Working,
                TaskState::InputRequired { questions, answers } => {
                    StoredState::InputRequired(questions, answers)
                }
                TaskState::Completed { result, is_error } => {
                    StoredState::Completed(result, is_error)
                }
                TaskState::Failed(error) => StoredState::Failed(error),
                TaskState::Cancelled => StoredState::Cancelled,
            },
        };
        stored.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Task, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        Ok(Task::from(TaskParts {
            id: stored.id,
            created_at: Timestamp::from_unix_millis(stored.created_at),
            updated_at: Timestamp::from_unix_millis(stored.updated_at),
            ttl_ms: stored.ttl_ms,
            poll_interval_ms: stored.poll_interval_ms,
            status_message: stored.status_message,
            state: match stored.state {
                StoredState::Working => TaskState::Working,
                StoredState::InputRequired(questions, answers) => {
                    TaskState::InputRequired { questions, answers }
                }
                StoredState::Completed(result, is_error) => {
                    TaskState::Completed { result, is_error }
                }
                StoredState::Failed(error) => TaskState::Failed(error),
                StoredState::Cancelled => TaskState::Cancelled,
            },
        }))
    }
}
