//! The tasks that run in this process.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::engine::{TaskEngine, TaskKey};
use crate::{server::store::Lease, sync::lock};

/// The right of one run to work on a task: the lease that was taken for it.
///
/// A process may have taken the lease of a task for an earlier run, which has not ended
/// yet. So each run has a name of its own, and what an earlier one still has to store is
/// refused.
#[derive(Clone, Debug)]
pub(super) struct RunLease {
    /// The name of the run, as the holder of the lease.
    pub(super) holder: Box<str>,
    /// The version of the task with which it was taken. That of a later run is greater.
    pub(super) version: u64,
}

impl RunLease {
    /// Returns a new name for a run.
    pub(super) fn new_holder() -> Box<str> {
        TaskEngine::new_id()
    }
}

/// A task that runs in this process.
#[derive(Clone)]
pub(super) struct RunningTask {
    pub(super) key: TaskKey,
    pub(super) lease: RunLease,
    /// Notified if it is to stop.
    pub(super) stopped: Arc<Notify>,
}

/// The tasks that run in this process, by their ids: the last run of each.
pub(super) type RunningTasks = HashMap<Box<str>, RunningTask>;

impl TaskEngine {
    /// Waits until a task may run here.
    pub(super) async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        // It is never closed.
        Arc::clone(&self.permits).acquire_owned().await.ok()
    }

    /// Returns the lease that a run takes.
    pub(super) fn lease<'a>(&self, holder: &'a str) -> Lease<'a> {
        Lease::new(holder, self.lease_timeout)
    }

    /// Notes that a task runs here, and stops an earlier run of it, which has lost its
    /// lease to this one. Returns `None` if there is a later run.
    pub(super) fn begin(&self, key: &TaskKey, lease: &RunLease) -> Option<Arc<Notify>> {
        let mut running = lock(&self.running);
        let earlier = running.get(&key.id);
        if earlier.is_some_and(|it| it.lease.version >= lease.version) {
            return None;
        }
        let stopped = Arc::new(Notify::new());
        let task = RunningTask {
            key: key.clone(),
            lease: lease.clone(),
            stopped: Arc::clone(&stopped),
        };
        if let Some(earlier) = running.insert(key.id.clone(), task) {
            earlier.stopped.notify_one();
        }
        Some(stopped)
    }

    /// Notes that a run has ended.
    pub(super) fn end(&self, id: &str, lease: &RunLease) {
        let mut running = lock(&self.running);
        if running
            .get(id)
            .is_some_and(|it| it.lease.holder == lease.holder)
        {
            running.remove(id);
        }
        if running.is_empty() {
            self.idle.notify_waiters();
        }
    }

    /// Stops a task, if it runs here.
    pub(super) fn stop(&self, id: &str) {
        if let Some(task) = lock(&self.running).get(id) {
            task.stopped.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::server::TaskOptions;

    fn engine() -> TaskEngine {
        let clock = Arc::new(SystemTime::now);
        TaskEngine::new(TaskOptions::new(), None, clock, Duration::from_secs(1))
    }

    fn key() -> TaskKey {
        TaskKey {
            id: "task".into(),
            account: "account".into(),
        }
    }

    fn lease(version: u64) -> RunLease {
        let holder = RunLease::new_holder();
        RunLease { holder, version }
    }

    fn versions(engine: &TaskEngine) -> Vec<u64> {
        let running = lock(&engine.running);
        running.values().map(|it| it.lease.version).collect()
    }

    #[tokio::test]
    async fn a_later_run_replaces_an_earlier_one_and_outlives_its_end() {
        let (engine, first, second) = (engine(), lease(1), lease(3));
        let stopped = engine.begin(&key(), &first).expect("it runs");
        engine.begin(&key(), &second).expect("it runs");
        // Returns only if it was notified.
        stopped.notified().await;
        engine.end("task", &first);
        assert_eq!(versions(&engine), [3]);
        engine.end("task", &second);
        assert_eq!(versions(&engine), [0; 0]);
    }

    #[tokio::test]
    async fn a_run_that_begins_late_does_not_stop_a_later_one() {
        let (engine, first, second) = (engine(), lease(1), lease(3));
        engine.begin(&key(), &second).expect("it runs");
        assert!(engine.begin(&key(), &first).is_none());
        assert_eq!(versions(&engine), [3]);
    }
}
