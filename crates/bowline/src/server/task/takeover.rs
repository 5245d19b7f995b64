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

/// How many tasks that cannot be opened are looked at in one go. Those behind them come
/// next: the leases of these end later then.
const MAX_UNREADABLE: usize = 64;

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

    /// Takes over all tasks whose lease has expired. Returns how many of them cannot be
    /// opened here.
    ///
    /// Those are for nodes with another key, which find them at once: their leases end
    /// here. That happens last, or they would be claimed again and again.
    async fn take_over_tasks(self: &Arc<Self>) -> usize {
        let mut unreadable = Vec::new();
        // After an error, the next round tries again.
        while unreadable.len() < MAX_UNREADABLE
            && let Ok(Some(claimed)) = self.tasks().claim().await
        {
            match claimed.record {
                Some(record) => self.spawn_task(claimed.key, record, claimed.lease),
                None => unreadable.push((claimed.key, claimed.lease)),
            }
        }
        for (key, lease) in &unreadable {
            self.task_engine.end_lease(key, lease).await;
        }
        unreadable.len()
    }
}

/// Takes over tasks at an interval, as long as there is a server.
async fn take_over(core: Weak<Core>, interval: Duration) {
    let mut reported = 0;
    loop {
        sleep(interval).await;
        let Some(core) = core.upgrade() else {
            return;
        };
        let unreadable = core.take_over_tasks().await;
        if unreadable > reported {
            report_unreadable(&core, unreadable);
        }
        reported = unreadable;
    }
}

/// Reports that there are tasks that this node cannot open.
fn report_unreadable(core: &Core, count: usize) {
    #[cfg(feature = "tracing")]
    tracing::warn!(
        target: "bowline",
        event = "tasks.unreadable",
        server = &*core.replay.server_name,
        count,
        "tasks without a node cannot be opened with the seal keys of this one"
    );
    let _ = (core, count);
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
    async fn end_lease(&self, key: &TaskKey, lease: &RunLease) {
        let lease = Lease::new(&lease.holder, Duration::ZERO);
        // If this fails, it ends by itself.
        let _ = self.store().renew(key.as_store_key(), lease).await;
    }
}
