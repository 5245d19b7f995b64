//! Tasks that are saved, to be followed by another process.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::proto::{
    client::TaskPoller,
    model::{GetTaskResult, TaskStatus},
    task::TaskInfo,
};

/// What is needed to follow a task again. See [`TaskHandle::saved`](super::TaskHandle::saved).
///
/// It can be serialized to JSON, stored, and [resumed](super::Tasks::resume) in another
/// process with a client of the same server and the same account. Whoever has the id may
/// be able to read the result, so treat it as a secret.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SavedTask {
    task_id: String,
    status: TaskStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<String>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    poll_interval_ms: Option<u64>,
    /// When the task expires, in milliseconds since 1970, by the clock of the client
    /// that saw it created.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    /// The keys of questions that were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answered: Vec<Box<str>>,
}

impl SavedTask {
    /// Returns the id of the task.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.task_id
    }

    /// Returns the status of the task when it was saved.
    #[must_use]
    pub fn status(&self) -> &TaskStatus {
        &self.status
    }

    pub(super) fn new(
        poller: &TaskPoller,
        remaining: Option<Duration>,
        unix_now: Duration,
    ) -> Self {
        let info = poller.info();
        let expires_at = remaining.map(|remaining| millis(unix_now.saturating_add(remaining)));
        Self {
            task_id: info.id.to_string(),
            status: info.status.clone(),
            status_message: info.status_message.clone(),
            created_at: info.created_at.clone(),
            last_updated_at: info.last_updated_at.clone(),
            ttl_ms: info.ttl.map(millis),
            poll_interval_ms: info.poll_interval.map(millis),
            expires_at,
            answered: poller.answered().map(Into::into).collect(),
        }
    }

    /// Returns what is known about the task, its remaining time to live, and the keys of
    /// the questions that were answered.
    pub(super) fn into_parts(
        self,
        unix_now: Duration,
    ) -> (TaskInfo, Option<Duration>, Vec<Box<str>>) {
        let mut task = GetTaskResult::new(
            self.task_id,
            self.status,
            self.created_at,
            self.last_updated_at,
        );
        task.status_message = self.status_message;
        task.ttl_ms = self.ttl_ms;
        task.poll_interval_ms = self.poll_interval_ms;
        let expires_at = self.expires_at.map(Duration::from_millis);
        let remaining = expires_at.map(|expires_at| expires_at.saturating_sub(unix_now));
        (TaskInfo::from(task), remaining, self.answered)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
