//! What links still have to do after they were closed, and waiting for it.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

/// How long what was told to end at once may take for that.
const FORCED_TIMEOUT: Duration = Duration::from_secs(1);

/// What the links of one connection still do after they were closed: one waits
/// for a child process to end, another for a session to be deleted.
///
/// A transport gets it with each [`Dial`](super::Dial). A link that is not done
/// when [`close`](super::Link::close) returns says so with
/// [`begin`](Self::begin), and whoever stops the client can wait for it.
///
/// Cheap to clone; all clones are the same tracker.
#[derive(Clone, Debug, Default)]
pub struct CloseTracker {
    state: Arc<watch::Sender<CloseState>>,
}

/// Something that a link still does. Dropping it says that it was cut off.
#[derive(Debug)]
pub struct CloseTask {
    state: Arc<watch::Sender<CloseState>>,
    number: u64,
    is_finished: bool,
}

/// How what was connected has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopOutcome {
    /// In good order: the child process has ended when it was asked to, the
    /// session was deleted.
    Graceful,
    /// Something was cut off: a child process was killed, or the server did not
    /// answer that the session is deleted.
    Forced,
}

#[derive(Clone, Copy, Debug, Default)]
struct CloseState {
    running: usize,
    forced_ends: usize,
    /// How many tasks there have been.
    started: u64,
    /// The first so many of them have to end at once.
    forced_up_to: u64,
}

impl CloseTracker {
    /// Says that a link has something left to do, until the task is
    /// [finished](CloseTask::finished) or dropped.
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

    /// Waits until nothing is under way any more, for `limit` at most. What is
    /// not done by then is told to end at once; what begins later is not.
    pub async fn wait(&self, limit: Duration) -> StopOutcome {
        let before = self.forced_count();
        self.wait_since(before, limit, std::future::ready(())).await
    }

    /// As [`wait`](Self::wait), after `first`, which counts towards the limit.
    /// Whatever was cut off since there were `before` such counts.
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
            // What does not even end so has nobody who could do more.
            let _ = timeout(FORCED_TIMEOUT, self.wait_idle()).await;
        }
        let now = *self.state.borrow();
        match now.running == 0 && now.forced_ends == before {
            true => StopOutcome::Graceful,
            false => StopOutcome::Forced,
        }
    }

    /// How often something was cut off so far.
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
    /// Waits until it has to end at once: whoever waited for it does so no
    /// longer.
    pub async fn wait_forced(&self) {
        let mut state = self.state.subscribe();
        // The sender lives as long as this task.
        let is_forced = |state: &CloseState| state.forced_up_to >= self.number;
        let _ = state.wait_for(is_forced).await;
    }

    /// Says that it is done, in good order.
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
    /// How several things ended that belong together.
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
