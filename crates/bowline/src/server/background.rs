//! Work that goes on although nobody waits for it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::Notify,
    time::{Instant, timeout, timeout_at},
};

use crate::sync::{Mutex, lock};

/// How much of it there may be at once, for one caller and for all. Clients that
/// begin and leave, again and again, must not pile up work without end, nor keep
/// others from theirs. Callers of whom nothing is known count as one.
const MAX_PER_CALLER: usize = 128;
const MAX_TOTAL: usize = 1024;

/// Who left work behind, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    #[default]
    Unknown,
    /// Nobody said who it is, but where it comes from is known.
    #[cfg(feature = "http-server")]
    Address(std::net::IpAddr),
    Principal(Arc<str>),
}

/// Somebody whose name may be known.
impl From<Option<&Arc<str>>> for Caller {
    fn from(principal: Option<&Arc<str>>) -> Self {
        principal.map_or(Self::Unknown, |it| Self::Principal(Arc::clone(it)))
    }
}

/// The work of a server that outlives the calls it belongs to.
#[derive(Debug)]
pub(crate) struct BackgroundTasks {
    /// How long it may take.
    timeout: Duration,
    running: Mutex<RunningTasks>,
    idle: Notify,
}

/// How much there is.
#[derive(Debug, Default)]
struct RunningTasks {
    total: usize,
    by_caller: HashMap<Caller, usize>,
}

impl BackgroundTasks {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self {
            timeout,
            running: Mutex::default(),
            idle: Notify::new(),
        }
    }

    /// Does something for a caller without being waited for, in the time that
    /// there is for it. Where there is too much of it, and outside of a runtime,
    /// nothing is done.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        caller: Caller,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let mut tasks = lock(&self.running);
        let count = tasks.by_caller.get(&caller).copied().unwrap_or_default();
        if count >= MAX_PER_CALLER || tasks.total >= MAX_TOTAL {
            return;
        }
        tasks.total += 1;
        tasks.by_caller.insert(caller.clone(), count + 1);
        drop(tasks);
        let running = TaskGuard(Arc::clone(self), caller);
        let limit = self.timeout;
        runtime.spawn(async move {
            let _running = running;
            let _ = timeout(limit, work).await;
        });
    }

    /// Waits until all of it is done, but not longer than this.
    pub(crate) async fn wait_idle(&self, deadline: Instant) {
        let idle = async {
            loop {
                let idle = self.idle.notified();
                if lock(&self.running).total == 0 {
                    return;
                }
                idle.await;
            }
        };
        let _ = timeout_at(deadline, idle).await;
    }
}

struct TaskGuard(Arc<BackgroundTasks>, Caller);

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let mut tasks = lock(&self.0.running);
        tasks.total -= 1;
        if let Some(count) = tasks.by_caller.get_mut(&self.1) {
            *count -= 1;
            if *count == 0 {
                tasks.by_caller.remove(&self.1);
            }
        }
        if tasks.total == 0 {
            self.0.idle.notify_waiters();
        }
    }
}
