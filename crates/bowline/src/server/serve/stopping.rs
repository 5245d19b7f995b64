//! The call for the end, and how long what is under way may go on then.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};

/// More than any grace, and not too much to count with.
const AGES: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);

/// Whether the end was called for, and until when what is under way may go on.
pub(crate) struct Stopping {
    until: watch::Sender<Option<Instant>>,
    /// The same without the time, for those who ask often.
    begun: AtomicBool,
}

impl Stopping {
    /// Calls for the end. Doing it again can only shorten the grace.
    pub(super) fn begin(&self, grace: Duration) {
        // First, so that whoever is woken finds it said.
        self.begun.store(true, Ordering::Release);
        let wanted = Instant::now() + grace.min(AGES);
        self.until.send_if_modified(|until| {
            let sooner = until.is_none_or(|until| wanted < until);
            if sooner {
                *until = Some(wanted);
            }
            sooner
        });
    }

    /// Until when what is under way may go on, if the end was called for.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        *self.until.borrow()
    }

    /// How much of the grace is left, if the end was called for.
    pub(super) fn grace(&self) -> Option<Duration> {
        let until = self.deadline()?;
        Some(until.saturating_duration_since(Instant::now()))
    }
}

#[cfg(feature = "http-server")]
impl Stopping {
    /// Whether nothing new is to be begun.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun.load(Ordering::Acquire)
    }

    /// Waits until the end is called for.
    pub(crate) fn begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut until = self.until.subscribe();
        async move {
            // If nobody can call for it any more, it does not come.
            if until.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until what is under way must end.
    pub(crate) fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut until = self.until.subscribe();
        async move {
            loop {
                let deadline = *until.borrow_and_update();
                tokio::select! {
                    () = sleep_until(deadline) => return,
                    Ok(()) = until.changed() => {}
                }
            }
        }
    }
}

impl Default for Stopping {
    fn default() -> Self {
        Self {
            until: watch::Sender::new(None),
            begun: AtomicBool::new(false),
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
