//! How long a command may take: the limit of `--timeout`, for all of it.
//!
//! A server that always has one more page, or one more question, keeps within
//! the time of every single request. So the whole is timed. The time in which
//! a person thinks is not the server's, and does not count.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

/// The clock of a command, which stands still while somebody on this side is
/// asked something. Clones are the same.
#[derive(Clone)]
pub(crate) struct Patience(Arc<Shared>);

struct Shared {
    began: Instant,
    pauses: Mutex<Pauses>,
    changed: Notify,
}

#[derive(Default)]
struct Pauses {
    /// How many go on.
    open: usize,
    /// Since when.
    since: Option<Instant>,
    /// How long those took that are over.
    total: Duration,
}

/// The clock stands still until this is dropped.
pub(crate) struct Pause(Patience);

impl Default for Patience {
    fn default() -> Self {
        Self(Arc::new(Shared {
            began: Instant::now(),
            pauses: Mutex::default(),
            changed: Notify::new(),
        }))
    }
}

impl Patience {
    /// Stops the clock, as somebody is asked.
    pub(crate) fn pause(&self) -> Pause {
        let mut pauses = self.pauses();
        pauses.open += 1;
        pauses.since.get_or_insert_with(Instant::now);
        drop(pauses);
        self.0.changed.notify_waiters();
        Pause(self.clone())
    }

    /// How long the command has taken, without pauses.
    pub(crate) fn spent(&self) -> Duration {
        let (pauses, now) = (self.pauses(), Instant::now());
        let current = pauses.since.map_or(Duration::ZERO, |since| now - since);
        (now - self.0.began).saturating_sub(pauses.total + current)
    }

    /// Does something until it is done, or until the command has taken so long;
    /// then there is no result.
    pub(crate) async fn until<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = self.over(limit) => None,
        }
    }

    async fn over(&self, limit: Duration) {
        loop {
            // Before the look at the clock, so that no change is missed.
            let changed = self.0.changed.notified();
            let left = limit.saturating_sub(self.spent());
            if self.pauses().open > 0 {
                changed.await;
            } else if left.is_zero() {
                return;
            } else {
                tokio::select! {
                    () = sleep(left) => {}
                    () = changed => {}
                }
            }
        }
    }

    fn pauses(&self) -> MutexGuard<'_, Pauses> {
        self.0.pauses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        let mut pauses = self.0.pauses();
        pauses.open = pauses.open.saturating_sub(1);
        if pauses.open == 0
            && let Some(since) = pauses.since.take()
        {
            pauses.total += since.elapsed();
        }
        drop(pauses);
        self.0.0.changed.notify_waiters();
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Patience")
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn what_takes_too_long_is_given_up() {
        let patience = Patience::default();
        assert_eq!(patience.until(LONG, ready(7)).await, Some(7));
        assert_eq!(patience.until(Duration::ZERO, pending::<()>()).await, None);
        assert_eq!(patience.until(Duration::ZERO, ready(7)).await, Some(7));
    }

    #[tokio::test]
    async fn time_to_think_does_not_count() {
        let patience = Patience::default();
        let (thinking, also) = (patience.pause(), patience.pause());
        let before = patience.spent();
        drop(also);
        let mut late = std::pin::pin!(patience.until(Duration::ZERO, pending::<()>()));
        tokio::select! {
            biased;
            _ = &mut late => panic!("the clock stands still"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(patience.spent(), before);
        drop(thinking);
        assert_eq!(late.await, None, "and goes on afterwards");
    }
}
