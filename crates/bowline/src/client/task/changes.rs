//! Notifications of changed tasks, which shorten the wait for the next poll.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use serde::Deserialize;
use tokio::sync::watch;

use crate::{
    client::shared::Shared,
    proto::{jsonrpc::decode, model::method},
    sync,
};

/// The tasks that are followed, with a channel for each.
#[derive(Debug, Default)]
pub(crate) struct TaskChanges {
    followed: Mutex<HashMap<Box<str>, watch::Sender<u64>>>,
}

/// The params that all notifications about tasks have.
#[derive(Deserialize)]
struct ChangedTask<'a> {
    #[serde(rename = "taskId", borrow)]
    id: std::borrow::Cow<'a, str>,
}

impl TaskChanges {
    /// Wakes whoever follows the task that a notification is about, if it is about one.
    pub(crate) fn notified(&self, name: &str, params: Option<&[u8]>) {
        if !matches!(name, method::TASKS_CHANGED | method::TASKS_STATUS) {
            return;
        }
        let followed = sync::lock(&self.followed);
        if followed.is_empty() {
            return;
        }
        if let Ok(changed) = decode::<ChangedTask<'_>>(params.unwrap_or_default())
            && let Some(sender) = followed.get(&*changed.id)
        {
            sender.send_modify(|count| *count += 1);
        }
    }
}

/// The interest in the changes of one task, until it is dropped.
pub(super) struct FollowedTask<'a> {
    shared: &'a Arc<Shared>,
    id: Box<str>,
    changes: watch::Receiver<u64>,
    is_subscribed: bool,
}

impl<'a> FollowedTask<'a> {
    pub(super) fn new(shared: &'a Arc<Shared>, id: &str) -> Self {
        let mut followed = sync::lock(&shared.host.task_changes.followed);
        let sender = followed
            .entry(id.into())
            .or_insert_with(|| watch::Sender::new(0));
        Self {
            shared,
            id: id.into(),
            changes: sender.subscribe(),
            is_subscribed: false,
        }
    }

    /// Asks the server to notify, if it does that only on request. Not for tasks that end
    /// before they are polled once: that would be a request more for each.
    pub(super) fn subscribe(&mut self) {
        if !std::mem::replace(&mut self.is_subscribed, true) {
            self.shared
                .command(|machine, now| machine.watch_task(now, &self.id));
        }
    }

    /// Waits until the server says that the task has changed.
    pub(super) async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for FollowedTask<'_> {
    fn drop(&mut self) {
        let is_last = {
            let mut followed = sync::lock(&self.shared.host.task_changes.followed);
            let others = followed
                .get(&self.id)
                .map_or(0, watch::Sender::receiver_count);
            // Our own receiver still counts.
            let is_last = others <= 1;
            if is_last {
                followed.remove(&self.id);
            }
            is_last
        };
        if is_last {
            self.shared
                .command(|machine, now| machine.unwatch_task(now, &self.id));
        }
    }
}
