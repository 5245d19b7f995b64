//! Taking over tasks whose node is gone, and handing over those of this one.

use std::sync::{Arc, Weak};

use tokio::time::{Instant, sleep, timeout_at};

use super::engine::TaskEngine;
use crate::{server::service::Core, sync::lock};

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

    /// Takes over all tasks whose lease has expired.
    async fn take_over_tasks(self: &Arc<Self>) {
        // After an error, the next round tries again.
        while let Ok(Some((key, record, lease))) = self.tasks().claim().await {
            self.spawn_task(key, record, lease);
        }
    }
}

/// Takes over tasks at an interval, as long as there is a server.
async fn take_over(core: Weak<Core>, interval: std::time::Duration) {
    loop {
        sleep(interval).await;
        match core.upgrade() {
            Some(core) => core.take_over_tasks().await,
            None => return,
        }
    }
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
            let mut lease = self.lease(&task.lease.holder);
            lease.duration = std::time::Duration::ZERO;
            // If this fails, the lease ends by itself.
            let _ = self.store().renew(task.key.as_store_key(), lease).await;
        }
    }
}
