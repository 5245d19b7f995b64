//! Work that goes on although nobody waits for it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout, timeout_at},
};

/// How much of it there may be at once. Clients that begin and leave, again and
/// again, must not pile up work without end.
const MAX_RUNNING: usize = 1024;

/// The work of a server that outlives the calls it belongs to.
#[derive(Debug)]
pub(crate) struct Background {
    /// How long it may take.
    timeout: Duration,
    running: AtomicUsize,
    idle: Notify,
}

impl Background {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            running: AtomicUsize::new(0),
            idle: Notify::new(),
        }
    }

    /// Does something without being waited for, in the time that there is for
    /// it. Where there is too much of it, and outside of a runtime, nothing is
    /// done.
    pub(crate) fn spawn(self: &Arc<Self>, work: impl Future<Output = ()> + Send + 'static) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let before = self.running.fetch_add(1, Ordering::AcqRel);
        let running = Running(Arc::clone(self));
        if before >= MAX_RUNNING {
            return;
        }
        let limit = self.timeout;
        runtime.spawn(async move {
            let _running = running;
            let _ = timeout(limit, work).await;
        });
    }

    /// Waits until all of it is done, but not longer than this.
    pub(crate) async fn until_idle(&self, deadline: Instant) {
        let idle = async {
            loop {
                let idle = self.idle.notified();
                if self.running.load(Ordering::Acquire) == 0 {
                    return;
                }
                idle.await;
            }
        };
        let _ = timeout_at(deadline, idle).await;
    }
}

struct Running(Arc<Background>);

impl Drop for Running {
    fn drop(&mut self) {
        if self.0.running.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}
