//! Handler runs that wait until there is capacity for them.

use std::{any::Any, sync::Arc};

use super::{latency::Timed, shared::Inner};
use crate::{
    catch_panic::CatchPanic,
    proto::server::{Reply, RequestKey},
    transport::BoxFuture,
};

/// How many notifications may wait for their handler. A client that sends them
/// faster must not fill the memory.
const MAX_QUEUED_NOTIFICATIONS: usize = 256;
/// How many bytes they may have in total, unless there is only one.
const MAX_QUEUED_NOTIFICATION_BYTES: usize = 1024 * 1024;

/// A handler run for a notification.
pub(super) struct NotificationJob {
    pub(super) work: BoxFuture<'static, ()>,
    /// The size of the notification in bytes.
    pub(super) bytes: usize,
}

/// A handler run for a request.
pub(super) struct Job {
    pub(super) key: RequestKey,
    pub(super) work: CatchPanic<Reply>,
    /// Measures how long it blocks its thread, if enabled.
    pub(super) timed: Option<Timed>,
    /// Charged to the sender until the work is dropped.
    pub(super) quota_permit: Option<Arc<dyn Any + Send + Sync>>,
}

impl Inner {
    /// Returns whether more work may run concurrently, and none is queued.
    pub(super) fn has_capacity(&self, max_concurrent: usize) -> bool {
        self.queued_jobs.is_empty() && self.running.len() < max_concurrent
    }

    pub(super) fn enqueue(&mut self, job: Job) {
        self.queued_jobs.push_back(job);
    }

    /// Queues a notification, if there are not too many already.
    pub(super) fn queue_notification(&mut self, job: NotificationJob) {
        let waiting: usize = self.notification_jobs.iter().map(|it| it.bytes).sum();
        let has_room = self.notification_jobs.is_empty()
            || waiting + job.bytes <= MAX_QUEUED_NOTIFICATION_BYTES;
        if has_room && self.notification_jobs.len() < MAX_QUEUED_NOTIFICATIONS {
            self.notification_jobs.push_back(job);
        }
    }

    /// Returns the next job, if there is capacity.
    pub(super) fn next_job(&mut self, max_concurrent: usize) -> Option<Job> {
        if self.running.len() >= max_concurrent {
            return None;
        }
        self.queued_jobs.pop_front()
    }
}
