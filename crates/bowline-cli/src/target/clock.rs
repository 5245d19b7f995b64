//! The command's clock, for `--timeout`.
//!
//! A server that always has one more page, or one more question, stays within
//! the time limit of every single request. So the whole command is timed. Time
//! in which a user thinks does not count.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, sleep},
};

use crate::locks;

/// Measures the time of a command. It is paused while the user or a model is
/// asked. Clones share state.
#[derive(Clone)]
pub(crate) struct CommandClock(Arc<ClockInner>);

struct ClockInner {
    started: Instant,
    pauses: Mutex<Pauses>,
    changed: Notify,
}

#[derive(Default)]
struct Pauses {
    /// The number of active pauses.
    active: usize,
    /// When the current pause began.
    paused_at: Option<Instant>,
    /// The total of finished pauses.
    total: Duration,
}

/// Pauses the clock until dropped.
pub(crate) struct PauseGuard(CommandClock);

impl Default for CommandClock {
    fn default() -> Self {
        Self(Arc::new(ClockInner {
            started: Instant::now(),
            pauses: Mutex::default(),
            changed: Notify::new(),
        }))
    }
}

impl CommandClock {
    /// Pauses the clock while somebody is asked.
    pub(crate) fn pause(&self) -> PauseGuard {
        let mut pauses = self.pauses();
        pauses.active += 1;
        pauses.paused_at.get_or_insert_with(Instant::now);
        drop(pauses);
        self.0.changed.notify_waiters();
        PauseGuard(self.clone())
    }

    /// Returns the elapsed time without pauses.
    pub(crate) fn elapsed(&self) -> Duration {
        let (pauses, now) = (self.pauses(), Instant::now());
        let current = pauses
            .paused_at
            .map_or(Duration::ZERO, |paused_at| now - paused_at);
        (now - self.0.started).saturating_sub(pauses.total + current)
    }

    /// Runs a future until it completes or the elapsed time reaches the limit,
    /// which returns `None`.
    pub(crate) async fn with_timeout<T>(
        &self,
        limit: Duration,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        tokio::select! {
            biased;
            value = work => Some(value),
            () = self.wait_elapsed(limit) => None,
        }
    }

    async fn wait_elapsed(&self, limit: Duration) {
        loop {
            // Registered before reading the clock, so no change is missed.
            let changed = self.0.changed.notified();
            let remaining = limit.saturating_sub(self.elapsed());
            if self.pauses().active > 0 {
                changed.await;
            } else if remaining.is_zero() {
                return;
            } else {
                tokio::select! {
                    () = sleep(remaining) => {}
                    () = changed => {}
                }
            }
        }
    }

    fn pauses(&self) -> MutexGuard<'_, Pauses> {
        locks::lock(&self.0.pauses)
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        let mut pauses = self.0.pauses();
        pauses.active = pauses.active.saturating_sub(1);
        if pauses.active == 0
            && let Some(paused_at) = pauses.paused_at.take()
        {
            pauses.total += paused_at.elapsed();
        }
        drop(pauses);
        self.0.0.changed.notify_waiters();
    }
}

impl fmt::Debug for CommandClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CommandClock")
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[tokio::test]
    async fn what_takes_too_long_is_given_up() {
        let clock = CommandClock::default();
        assert_eq!(clock.with_timeout(LONG, ready(7)).await, Some(7));
        assert_eq!(
            clock.with_timeout(Duration::ZERO, pending::<()>()).await,
            None
        );
        assert_eq!(clock.with_timeout(Duration::ZERO, ready(7)).await, Some(7));
    }

    #[tokio::test]
    async fn time_to_think_does_not_count() {
        let clock = CommandClock::default();
        let (first_pause, second_pause) = (clock.pause(), clock.pause());
        let before = clock.elapsed();
        drop(second_pause);
        let mut timed = std::pin::pin!(clock.with_timeout(Duration::ZERO, pending::<()>()));
        tokio::select! {
            biased;
            _ = &mut timed => panic!("the clock stands still"),
            () = tokio::task::yield_now() => {}
        }
        assert_eq!(clock.elapsed(), before);
        drop(first_pause);
        assert_eq!(timed.await, None, "and goes on afterwards");
    }
}
