//! Taking over tasks whose node is gone, and handing over those of this one.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout_at};

use super::{
    engine::{TaskEngine, TaskKey},
    running::RunLease,
};
use crate::{
    server::{service::Core, store::Lease},
    sync::lock,
};

/// How many tasks that are for other nodes are looked at in one go. Those behind them come
/// next: the leases of these end later then.
const MAX_LEFT: usize = 64;

/// How many tasks without a node are left to others.
#[derive(Clone, Copy, Default)]
struct LeftTasks {
    /// Those that cannot be opened here.
    unreadable: usize,
    /// Those that call a tool that this node does not have.
    without_tool: usize,
}

impl Core {
    /// Starts to look for tasks whose node is gone, once, if other nodes share the
    /// store.
    pub(super) fn start_takeovers(self: &Arc<Self>) {
        let engine = &self.task_engine;
        if engine.store().instance_id().is_some() || engine.takes_over.set(()).is_err() {
            return;
        }
        tokio::spawn(take_over(Arc::downgrade(self), engine.lease_timeout / 2));
    }

    /// Takes over all tasks whose lease has expired, except for those that are for other
    /// nodes: it cannot open them, or does not have their tool. Returns how many of these
    /// there are.
    ///
    /// Their leases end here, so other nodes find them at once. That happens last, or they
    /// would be claimed again and again.
    async fn take_over_tasks(self: &Arc<Self>) -> LeftTasks {
        let (mut left, mut leases) = (LeftTasks::default(), Vec::new());
        // After an error, the next round tries again.
        while leases.len() < MAX_LEFT
            && let Ok(Some(claimed)) = self.tasks().claim().await
        {
            match claimed.record {
                Some(record) if self.leaves_to_others(&record.call) => left.without_tool += 1,
                Some(record) => {
                    self.spawn_task(claimed.key, record, claimed.lease);
                    continue;
                }
                None => left.unreadable += 1,
            }
            leases.push((claimed.key, claimed.lease));
        }
        for (key, lease) in &leases {
            self.task_engine.end_lease(key, lease).await;
        }
        left
    }
}

/// Takes over tasks at an interval, as long as there is a server.
async fn take_over(core: Weak<Core>, interval: Duration) {
    let mut reported = LeftTasks::default();
    loop {
        sleep(interval).await;
        let Some(core) = core.upgrade() else {
            return;
        };
        let left = core.take_over_tasks().await;
        report_left_tasks(&core, reported, left);
        reported = left;
    }
}

/// Reports that there are more tasks than before that this node leaves to others.
fn report_left_tasks(core: &Core, before: LeftTasks, now: LeftTasks) {
    #[cfg(feature = "tracing")]
    if now.unreadable > before.unreadable {
        tracing::warn!(
            target: "bowline",
            event = "tasks.unreadable",
            server = &*core.replay.server_name,
            count = now.unreadable,
            "tasks without a node cannot be opened with the seal keys of this one"
        );
    }
    #[cfg(feature = "tracing")]
    if now.without_tool > before.without_tool {
        tracing::warn!(
            target: "bowline",
            event = "tasks.unknown_tool",
            server = &*core.replay.server_name,
            count = now.without_tool,
            "tasks without a node call tools that this one does not have"
        );
    }
    let _ = (core, before, now);
}

impl TaskEngine {
    /// Waits until no task runs here, up to the deadline. Then ends the leases of
    /// those that still do, so other nodes take them over at once.
    pub(crate) async fn shut_down(&self, deadline: Instant) {
        let idle = async {
            loop {
                let idle = self.idle.notified();
                if lock(&self.running).is_empty() {
                    return;
                }
                idle.await;
            }
        };
        if timeout_at(deadline, idle).await.is_ok() {
            return;
        }
        let running: Vec<_> = lock(&self.running).values().cloned().collect();
        for task in running {
            task.stopped.notify_one();
            self.end_lease(&task.key, &task.lease).await;
        }
    }

    /// Ends a lease now, so another node can claim the task.
    pub(super) async fn end_lease(&self, key: &TaskKey, lease: &RunLease) {
        let lease = Lease::new(&lease.holder, Duration::ZERO);
        // If this fails, it ends by itself.
        let _ = self.store().renew(key.as_store_key(), lease).await;
    }
}
