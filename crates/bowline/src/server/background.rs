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
const MAX_OF_ONE: usize = 128;
const MAX_OF_ALL: usize = 1024;

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
pub(crate) struct Background {
    /// How long it may take.
    timeout: Duration,
    running: Mutex<Running>,
    idle: Notify,
}

/// How much there is.
#[derive(Debug, Default)]
struct Running {
    all: usize,
    by_caller: HashMap<Caller, usize>,
}

impl Background {
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
        let mut counted = lock(&self.running);
        let own = counted.by_caller.get(&caller).copied().unwrap_or_default();
        if own >= MAX_OF_ONE || counted.all >= MAX_OF_ALL {
            return;
        }
        counted.all += 1;
        counted.by_caller.insert(caller.clone(), own + 1);
        drop(counted);
        let running = Counted(Arc::clone(self), caller);
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
                if lock(&self.running).all == 0 {
                    return;
                }
                idle.await;
            }
        };
        let _ = timeout_at(deadline, idle).await;
    }
}

struct Counted(Arc<Background>, Caller);

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counted = lock(&self.0.running);
        counted.all -= 1;
        if let Some(own) = counted.by_caller.get_mut(&self.1) {
            *own -= 1;
            if *own == 0 {
                counted.by_caller.remove(&self.1);
            }
        }
        if counted.all == 0 {
            self.0.idle.notify_waiters();
        }
    }
}
