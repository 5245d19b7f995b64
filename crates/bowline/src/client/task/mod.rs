//! Tasks: calls whose result is fetched later.
//!
//! `response` tells a task from a result. `follow` takes the steps that the core's
//! `TaskPoller` decides on, for a call that waits (`call`) or for a `handle`, which can be
//! saved (`saved`). `changes` shortens the wait when the server notifies.

mod call;
mod changes;
mod follow;
mod handle;
mod response;
mod saved;

use std::time::Duration;

pub(super) use self::{
    call::follow_call, changes::TaskChanges, handle::task_or_result, response::ToolResponse,
};
pub use self::{
    handle::{TaskHandle, TaskOrResult, TaskOutcome},
    saved::SavedTask,
};
use super::{Client, Error, List, call as client_call};
use crate::proto::{
    client::{CallOptions, CallPolicy, Request},
    model::{CancelTaskParams, GetTaskParams, ListCoreTasksParams, method},
    task::TaskInfo,
};

/// How long a call waits for the task it became, by default.
pub(super) const DEFAULT_TASK_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// The server's tasks: calls whose result is fetched later. See [`Client::tasks`].
#[derive(Clone, Copy, Debug)]
pub struct Tasks<'a> {
    pub(super) client: &'a Client,
}

impl<'a> Tasks<'a> {
    /// Returns a handle to a [saved](TaskHandle::saved) task, of this process or another.
    /// Nothing is sent yet.
    ///
    /// ```
    /// # use bowline::{Client, Error, client::SavedTask};
    /// # async fn example(client: &Client, json: &str) -> Result<(), Box<dyn std::error::Error>> {
    /// let saved: SavedTask = serde_json::from_str(json)?;
    /// let result = client.tasks().resume(saved).wait().await?;
    /// # drop(result);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn resume(self, saved: SavedTask) -> TaskHandle {
        TaskHandle::resume(self.client, saved)
    }

    /// Asks the server for the state of a task, and returns a handle to it.
    ///
    /// # Errors
    ///
    /// Returns an error if the task does not exist or belongs to another caller, or there
    /// is no response.
    pub async fn get(self, id: &str) -> Result<TaskHandle, Error> {
        let call = self.client.request(GetTaskParams::new(id));
        let outcome = call.outcome().await?;
        let shared = self.client.shared();
        let result = client_call::outcome_bytes(shared, method::TASKS_GET, outcome)?;
        let info = TaskInfo::from_get_result(follow::dialect(shared), &result)
            .map_err(|error| Error::decode(method::TASKS_GET, error))?;
        Ok(TaskHandle::new(self.client, info, None))
    }

    /// Cancels a task. The server may still complete it, and need not stop the work.
    ///
    /// # Errors
    ///
    /// Returns an error if the task does not exist or belongs to another caller, or there
    /// is no response. In revision 2025-11-25, also if the task has ended.
    pub async fn cancel(self, id: &str) -> Result<(), Error> {
        self.client
            .request(CancelTaskParams::new(id))
            .await
            .map(drop)
    }

    /// Lists the tasks of this caller, from all pages. Only revision 2025-11-25 has such
    /// a list, and its servers need not offer one: without it, keep the ids.
    pub fn list(self) -> List<'a, TaskInfo> {
        List::new::<ListCoreTasksParams>(self.client)
    }
}

/// Returns the options of requests about a task that is followed: they are safe to repeat
/// and outlive connections.
fn request_options(timeout: Option<Duration>) -> CallOptions {
    CallOptions {
        timeout,
        policy: CallPolicy::WaitForConnection,
        retry_on_disconnect: true,
        // The server has created a task.
        check_capabilities: false,
        ..CallOptions::default()
    }
}

/// Returns the request, which can always be encoded.
fn request<P: crate::proto::model::Request + serde::Serialize>(params: P) -> Request {
    Request::new(params).unwrap_or_else(|_| Request::without_params(P::METHOD))
}
