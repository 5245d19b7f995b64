//! The shutdown signal and its deadline.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// Longer than any timeout, but safe to add to an instant.
const FAR_FUTURE: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Whether shutdown has begun, and how long running work may continue.
pub(crate) struct ShutdownSignal {
    deadline: watch::Sender<Option<Instant>>,
    /// The same without the deadline, for frequent checks.
    has_begun: AtomicBool,
}

impl ShutdownSignal {
    /// Begins the shutdown. Repeated calls can only shorten the timeout.
    pub(super) fn begin(&self, timeout: Duration) {
        // First, so woken tasks see it.
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

    /// Returns until when running work may continue, if shutdown has begun.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        *self.deadline.borrow()
    }

    /// Returns the time left until the deadline, if shutdown has begun.
    pub(super) fn remaining(&self) -> Option<Duration> {
        let deadline = self.deadline()?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }
}

#[cfg(feature = "http-server")]
impl ShutdownSignal {
    /// Returns whether shutdown has begun and nothing new may start.
    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    /// Waits until shutdown begins.
    pub(crate) fn wait_begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut receiver = self.deadline.subscribe();
        async move {
            // If the sender is gone, it never begins.
            if receiver.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until running work must end.
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
