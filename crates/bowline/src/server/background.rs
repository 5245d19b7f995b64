//! Tasks that continue after their caller has left.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{
    sync::Notify,
    time::{Instant, timeout, timeout_at},
};

use crate::sync::{Mutex, lock};

/// The maximum number of tasks at once, for one caller and in total. Clients
/// that repeatedly start work and leave must not accumulate work without limit,
/// nor block the work of others. Unknown callers count as one.
const MAX_PER_CALLER: usize = 128;
const MAX_TOTAL: usize = 1024;

/// The caller that a task is charged to, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    #[default]
    Unknown,
    /// The caller is not authenticated, but its address is known.
    #[cfg(feature = "http-server")]
    Address(std::net::IpAddr),
    Principal(Arc<str>),
}

/// A caller that may be authenticated.
impl From<Option<&Arc<str>>> for Caller {
    fn from(principal: Option<&Arc<str>>) -> Self {
        principal.map_or(Self::Unknown, |it| Self::Principal(Arc::clone(it)))
    }
}

/// The tasks of a server that outlive their calls.
#[derive(Debug)]
pub(crate) struct BackgroundTasks {
    /// How long a task may take.
    timeout: Duration,
    running: Mutex<RunningTasks>,
    idle: Notify,
}

/// The number of running tasks.
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

    /// Spawns a task for a caller, with a time limit. Does nothing if there are
    /// too many tasks, or outside of a runtime.
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

    /// Waits until all tasks are done, up to the deadline.
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
