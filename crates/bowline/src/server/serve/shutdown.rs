//! The call for the end, and how long what is under way may go on then.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// More than any grace, and not too much to count with.
const FAR_FUTURE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Whether the end was called for, and until when what is under way may go on.
pub(crate) struct ShutdownSignal {
    deadline: watch::Sender<Option<Instant>>,
    /// The same without the time, for those who ask often.
    has_begun: AtomicBool,
}

impl ShutdownSignal {
    /// Calls for the end. Doing it again can only shorten the grace.
    pub(super) fn begin(&self, timeout: Duration) {
        // First, so that whoever is woken finds it said.
        self.has_begun.store(true, Ordering::Release);
        let requested = Instant::now() + timeout.min(FAR_FUTURE);
        self.deadline.send_if_modified(|current| {
            let is_earlier = current.is_none_or(|current| requested < current);
            if is_earlier {
                *current = Some(requested);
            }
            is_earlier
        });
    }

    /// Until when what is under way may go on, if the end was called for.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        *self.deadline.borrow()
    }

    /// How much of the grace is left, if the end was called for.
    pub(super) fn remaining(&self) -> Option<Duration> {
        let deadline = self.deadline()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(feature = "http-server")]
impl ShutdownSignal {
    /// Whether nothing new is to be begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Waits until the end is called for.
    pub(crate) fn wait_begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.deadline.subscribe();
        async move {
            // If nobody can call for it any more, it does not come.
            if receiver.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until what is under way must end.
    pub(crate) fn wait_deadline(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.deadline.subscribe();
        async move {
            loop {
                let deadline = *receiver.borrow_and_update();
                tokio::select! {
                    () = sleep_until(deadline) => return,
                    Ok(()) = receiver.changed() => {}
                }
            }
        }
    }
}

impl Default for ShutdownSignal {
    fn default() -> Self {
        Self {
            deadline: watch::Sender::new(None),
            has_begun: AtomicBool::new(false),
        }
    }
}

#[cfg(feature = "http-server")]
async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
