//! The requests that wait for the result of a task, and which of them asks its questions.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::Notify;

use super::engine::{TaskEngine, TaskKey};
use crate::sync::lock;

/// The requests that wait for the results of tasks, by the keys of the tasks: for each, what
/// is notified when it may ask now, or no longer. The newest is the last.
///
/// The key includes the principal, so nobody else takes over questions with a task's id.
pub(super) type ResultWaiters = HashMap<TaskKey, Vec<Arc<Notify>>>;

/// A request that waits for the result of a task.
///
/// The questions of the task are asked on the newest request that waits. The connection of
/// an older one may be gone without the server knowing, and then nobody would ever answer.
pub(super) struct ResultWaiter<'a> {
    engine: &'a TaskEngine,
    key: TaskKey,
    changed: Arc<Notify>,
}

impl TaskEngine {
    /// Notes that a request waits for the result of a task. It takes over the questions from
    /// the one that came before it.
    pub(super) fn begin_waiting(&self, key: &TaskKey) -> ResultWaiter<'_> {
        let changed = Arc::new(Notify::new());
        let mut waiters = lock(&self.result_waiters);
        let waiters = waiters.entry(key.clone()).or_default();
        if let Some(older) = waiters.last() {
            older.notify_one();
        }
        waiters.push(Arc::clone(&changed));
        ResultWaiter {
            engine: self,
            key: key.clone(),
            changed,
        }
    }
}

impl ResultWaiter<'_> {
    /// Returns whether this is the newest of the requests that wait.
    pub(super) fn is_newest(&self) -> bool {
        let waiters = lock(&self.engine.result_waiters);
        let newest = waiters.get(&self.key).and_then(|waiters| waiters.last());
        newest.is_some_and(|it| Arc::ptr_eq(it, &self.changed))
    }

    /// Waits until this becomes the newest, or another one does. May return spuriously.
    pub(super) async fn newest_changed(&self) {
        self.changed.notified().await;
    }
}

impl Drop for ResultWaiter<'_> {
    fn drop(&mut self) {
        let mut waiters = lock(&self.engine.result_waiters);
        let Some(left) = waiters.get_mut(&self.key) else {
            return;
        };
        left.retain(|it| !Arc::ptr_eq(it, &self.changed));
        match left.last() {
            Some(newest) => newest.notify_one(),
            None => {
                waiters.remove(&self.key);
            }
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

    fn key(id: &str, account: &str) -> TaskKey {
        TaskKey {
            id: id.into(),
            account: account.into(),
        }
    }

    #[tokio::test]
    async fn the_newest_request_asks_and_an_older_one_when_it_has_left() {
        let engine = engine();
        let older = engine.begin_waiting(&key("task", "alice"));
        let other = engine.begin_waiting(&key("another task", "alice"));
        assert!(older.is_newest() && other.is_newest());
        let newer = engine.begin_waiting(&key("task", "alice"));
        // Returns only if it was notified.
        older.newest_changed().await;
        assert!(!older.is_newest() && newer.is_newest());
        drop(newer);
        older.newest_changed().await;
        assert!(older.is_newest());
        drop((older, other));
        assert!(lock(&engine.result_waiters).is_empty());
    }

    #[tokio::test]
    async fn an_older_request_that_leaves_takes_nothing_along() {
        let engine = engine();
        let older = engine.begin_waiting(&key("task", "alice"));
        let newer = engine.begin_waiting(&key("task", "alice"));
        drop(older);
        assert!(newer.is_newest());
    }

    #[tokio::test]
    async fn another_principal_with_the_same_id_takes_over_nothing() {
        let engine = engine();
        let owner = engine.begin_waiting(&key("task", "alice"));
        let _other = engine.begin_waiting(&key("task", "mallory"));
        assert!(owner.is_newest());
    }
}
