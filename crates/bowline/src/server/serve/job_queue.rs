//! Handler runs that wait until there is capacity for them.

use std::{any::Any, sync::Arc};

use super::{latency::Timed, shared::Inner};
use crate::{
    catch_panic::CatchPanic,
    proto::server::{Reply, RequestKey},
    transport::BoxFuture,
};

/// How many notifications may wait for the author. A client that sends them
/// faster must not fill the memory.
const MAX_QUEUED_NOTIFICATIONS: usize = 256;
/// How many bytes they may bring together, unless it is one alone.
const MAX_QUEUED_NOTIFICATION_BYTES: usize = 1024 * 1024;

/// The author's work on a notification.
pub(super) struct NotificationJob {
    pub(super) work: BoxFuture<'static, ()>,
    /// How many bytes it brought.
    pub(super) bytes: usize,
}

/// Work of the author's, for a request.
pub(super) struct Job {
    pub(super) key: RequestKey,
    pub(super) work: CatchPanic<Reply>,
    /// How long it holds its thread, where that is watched.
    pub(super) timed: Option<Timed>,
    /// What counts for its sender until the work is dropped.
    pub(super) quota_permit: Option<Arc<dyn Any + Send + Sync>>,
}

impl Inner {
    /// Whether more work may be done at once, and none waits for its turn.
    pub(super) fn has_capacity(&self, at_once: usize) -> bool {
        self.queued_jobs.is_empty() && self.running.len() < at_once
    }

    pub(super) fn enqueue(&mut self, job: Job) {
        self.queued_jobs.push_back(job);
    }

    /// Takes in work on a notification, if there is not too much already.
    pub(super) fn queue_notification(&mut self, notice: NotificationJob) {
        let waiting: usize = self.notification_jobs.iter().map(|it| it.bytes).sum();
        let fits = self.notification_jobs.is_empty()
            || waiting + notice.bytes <= MAX_QUEUED_NOTIFICATION_BYTES;
        if fits && self.notification_jobs.len() < MAX_QUEUED_NOTIFICATIONS {
            self.notification_jobs.push_back(notice);
        }
    }

    /// The next work, if there may be more at once.
    pub(super) fn next_job(&mut self, at_once: usize) -> Option<Job> {
        if self.running.len() >= at_once {
            return None;
        }
        self.queued_jobs.pop_front()
    }
}
