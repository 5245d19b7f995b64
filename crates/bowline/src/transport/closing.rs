//! What links still have to do after they were closed, and waiting for it.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::timeout};

/// How long what was told to end at once may take for that.
const FORCED_END: Duration = Duration::from_secs(1);

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
    progress: Arc<watch::Sender<Progress>>,
}

/// Something that a link still does. Dropping it says that it was cut off.
#[derive(Debug)]
pub struct CloseTask {
    progress: Arc<watch::Sender<Progress>>,
    number: u64,
    is_finished: bool,
}

/// How what was connected has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// In good order: the child process has ended when it was asked to, the
    /// session was deleted.
    Gracefully,
    /// Something was cut off: a child process was killed, or the server did not
    /// answer that the session is deleted.
    Forcefully,
}

#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    under_way: usize,
    cut_off: usize,
    /// How many tasks there have been.
    begun: u64,
    /// The first so many of them have to end at once.
    forced: u64,
}

impl CloseTracker {
    /// Says that a link has something left to do, until the task is
    /// [finished](CloseTask::finished) or dropped.
    #[must_use]
    pub fn begin(&self) -> CloseTask {
        let mut number = 0;
        self.progress.send_modify(|progress| {
            progress.under_way += 1;
            progress.begun += 1;
            number = progress.begun;
        });
        CloseTask {
            progress: Arc::clone(&self.progress),
            number,
            is_finished: false,
        }
    }

    /// Waits until nothing is under way any more, for `limit` at most. What is
    /// not done by then is told to end at once; what begins later is not.
    pub async fn wait(&self, limit: Duration) -> Stopped {
        let before = self.cut_off();
        self.wait_since(before, limit, std::future::ready(())).await
    }

    /// As [`wait`](Self::wait), after `first`, which counts towards the limit.
    /// Whatever was cut off since there were `before` such counts.
    pub(crate) async fn wait_since(
        &self,
        before: usize,
        limit: Duration,
        first: impl Future<Output = ()>,
    ) -> Stopped {
        let orderly = async {
            first.await;
            self.idle().await;
        };
        if timeout(limit, orderly).await.is_err() {
            self.progress
                .send_modify(|progress| progress.forced = progress.begun);
            // What does not even end so has nobody who could do more.
            let _ = timeout(FORCED_END, self.idle()).await;
        }
        let now = *self.progress.borrow();
        match now.under_way == 0 && now.cut_off == before {
            true => Stopped::Gracefully,
            false => Stopped::Forcefully,
        }
    }

    /// How often something was cut off so far.
    pub(crate) fn cut_off(&self) -> usize {
        self.progress.borrow().cut_off
    }

    async fn idle(&self) {
        let mut progress = self.progress.subscribe();
        // The sender lives as long as this tracker.
        let _ = progress.wait_for(|progress| progress.under_way == 0).await;
    }
}

impl CloseTask {
    /// Waits until it has to end at once: whoever waited for it does so no
    /// longer.
    pub async fn forced(&self) {
        let mut progress = self.progress.subscribe();
        // The sender lives as long as this task.
        let is_forced = |progress: &Progress| progress.forced >= self.number;
        let _ = progress.wait_for(is_forced).await;
    }

    /// Says that it is done, in good order.
    pub fn finished(mut self) {
        self.is_finished = true;
    }
}

impl Drop for CloseTask {
    fn drop(&mut self) {
        self.progress.send_modify(|progress| {
            progress.under_way -= 1;
            progress.cut_off += usize::from(!self.is_finished);
        });
    }
}

impl Stopped {
    /// How several things ended that belong together.
    #[must_use]
    pub fn all(each: impl IntoIterator<Item = Self>) -> Self {
        let gracefully = each.into_iter().all(|one| one == Self::Gracefully);
        match gracefully {
            true => Self::Gracefully,
            false => Self::Forcefully,
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
        let task = tracker.begin();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            task.finished();
        });
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Gracefully);
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Gracefully, "at once");
    }

    #[tokio::test(start_paused = true)]
    async fn what_takes_too_long_is_forced() {
        let tracker = CloseTracker::default();
        let task = tracker.begin();
        let forced = tokio::spawn(async move { task.forced().await });
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Forcefully);
        forced.await.expect("it was told to end");
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Gracefully, "it is over");
    }

    #[tokio::test(start_paused = true)]
    async fn what_begins_after_others_were_forced_has_its_time() {
        let tracker = CloseTracker::default();
        let cut_off = tracker.begin();
        tokio::spawn(async move { cut_off.forced().await });
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Forcefully);
        let later = tracker.begin();
        tokio::spawn(async move {
            tokio::select! {
                () = later.forced() => {}
                () = tokio::time::sleep(Duration::from_secs(1)) => later.finished(),
            }
        });
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Gracefully);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_even_be_forced_is_left() {
        let tracker = CloseTracker::default();
        let _task = tracker.begin();
        assert_eq!(tracker.wait(LIMIT).await, Stopped::Forcefully);
    }
}
