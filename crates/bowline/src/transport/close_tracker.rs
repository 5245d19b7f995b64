//! Tracking of the work that links still do after they were closed.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

/// How long forced tasks may take to end.
const FORCED_TIMEOUT: Duration = Duration::from_secs(1);

/// Tracks the work that the links of a connection still do after they were
/// closed, such as waiting for a child process to exit or for a session to be
/// deleted.
///
/// A transport receives it with each [`DialOptions`](super::DialOptions). A
/// link that is not done when [`close`](super::Link::close) returns calls
/// [`start_task`](Self::start_task), so stopping the client can wait for it.
///
/// Cheap to clone; all clones share one tracker.
#[derive(Clone, Debug, Default)]
pub struct CloseTracker {
    state: Arc<watch::Sender<CloseState>>,
}

/// Work that a link still does. Dropping it without [`finish`](Self::finish)
/// counts as forced.
#[derive(Debug)]
pub struct CloseTask {
    state: Arc<watch::Sender<CloseState>>,
    number: u64,
    is_finished: bool,
}

/// How a stop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopOutcome {
    /// Gracefully: the child process exited when asked to, the session was
    /// deleted.
    Graceful,
    /// Something was cut off: a child process was killed, or the server did not
    /// confirm that the session was deleted.
    Forced,
}

#[derive(Clone, Copy, Debug, Default)]
struct CloseState {
    running: usize,
    forced_ends: usize,
    /// Number of tasks started so far.
    started: u64,
    /// Tasks up to this number must end at once.
    forced_up_to: u64,
}

impl CloseTracker {
    /// Starts a task, which runs until it is [finished](CloseTask::finish) or
    /// dropped.
    #[must_use]
    pub fn start_task(&self) -> CloseTask {
        let mut number = 0;
        self.state.send_modify(|state| {
            state.running += 1;
            state.started += 1;
            number = state.started;
        });
        CloseTask {
            state: Arc::clone(&self.state),
            number,
            is_finished: false,
        }
    }

    /// Waits until no task is running, for at most `limit`. Tasks that are
    /// still running then are told to end at once; tasks that start later are
    /// not.
    pub async fn wait(&self, limit: Duration) -> StopOutcome {
        let before = self.forced_count();
        self.wait_since(before, limit, std::future::ready(())).await
    }

    /// Like [`wait`](Self::wait), after `first`, whose time counts towards the
    /// limit. The outcome is forced if the count of forced tasks has grown
    /// since `before`.
    pub(crate) async fn wait_since(
        &self,
        before: usize,
        limit: Duration,
        stop: impl Future<Output = ()>,
    ) -> StopOutcome {
        let graceful = async {
            stop.await;
            self.wait_idle().await;
        };
        if timeout(limit, graceful).await.is_err() {
            self.state
                .send_modify(|state| state.forced_up_to = state.started);
            // Nothing more can be done about tasks that do not end even now.
            let _ = timeout(FORCED_TIMEOUT, self.wait_idle()).await;
        }
        let now = *self.state.borrow();
        match now.running == 0 && now.forced_ends == before {
            true => StopOutcome::Graceful,
            false => StopOutcome::Forced,
        }
    }

    /// Returns the number of tasks that were forced so far.
    pub(crate) fn forced_count(&self) -> usize {
        self.state.borrow().forced_ends
    }

    async fn wait_idle(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as this tracker.
        let _ = state.wait_for(|state| state.running == 0).await;
    }
}

impl CloseTask {
    /// Waits until the task must end at once because it is no longer awaited.
    pub async fn wait_forced(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as this task.
        let is_forced = |state: &CloseState| state.forced_up_to >= self.number;
        let _ = state.wait_for(is_forced).await;
    }

    /// Marks the task as finished gracefully.
    pub fn finish(mut self) {
        self.is_finished = true;
    }
}

impl Drop for CloseTask {
    fn drop(&mut self) {
        self.state.send_modify(|state| {
            state.running -= 1;
            state.forced_ends += usize::from(!self.is_finished);
        });
    }
}

impl StopOutcome {
    /// Combines the outcomes of several stops.
    #[must_use]
    pub fn combine(outcomes: impl IntoIterator<Item = Self>) -> Self {
        let is_graceful = outcomes.into_iter().all(|one| one == Self::Graceful);
        match is_graceful {
            true => Self::Graceful,
            false => Self::Forced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(3);

    #[tokio::test(start_paused = true)]
    async fn what_finishes_is_waited_for() {
        let tracker = CloseTracker::default();
        let task = tracker.start_task();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            task.finish();
        });
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Graceful);
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Graceful, "at once");
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_forced() {
        let tracker = CloseTracker::default();
        let task = tracker.start_task();
        let forced = tokio::spawn(async move { task.wait_forced().await });
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Forced);
        forced.await.expect("it was told to end");
        assert_eq!(
            tracker.wait(LIMIT).await,
            StopOutcome::Graceful,
            "it is over"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_begins_after_others_were_forced_has_its_time() {
        let tracker = CloseTracker::default();
        let cut_off = tracker.start_task();
        tokio::spawn(async move { cut_off.wait_forced().await });
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Forced);
        let later = tracker.start_task();
        tokio::spawn(async move {
            tokio::select! {
                () = later.wait_forced() => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => later.finish(),
            }
        });
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Graceful);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_even_be_forced_is_left() {
        let tracker = CloseTracker::default();
        let _task = tracker.start_task();
        assert_eq!(tracker.wait(LIMIT).await, StopOutcome::Forced);
    }
}
