//! Runs a conversation as far as it can go.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use super::{
    replayer::{Action, PendingWrite, Replayer, RunFailure, Suspension},
    stored_journal::StoredJournal,
};
use crate::{proto::jsonrpc::ErrorObject, transport::BoxFuture};

/// The outcome of a run.
#[derive(Debug)]
pub(crate) enum RunOutcome<T> {
    /// The conversation ended.
    Ended(T),
    /// It has questions without answers.
    Suspended(Suspension),
    /// The replay failed.
    Failed(RunFailure),
}

/// Runs a conversation until it ends or needs answers. Then everything in
/// flight except steps is dropped, and other waiters are released. The same
/// happens if the conversation panics or this future is dropped.
///
/// Only this function writes events to its journal, if it has one. A write in
/// progress is completed first.
pub(crate) async fn run<T>(
    replayer: &Replayer,
    journal: Option<&StoredJournal>,
    work: impl Future<Output = T>,
) -> RunOutcome<T> {
    // Dropped after the conversation.
    let _close_guard = CloseGuard(replayer);
    let mut work = pin!(work);
    let mut write = JournalWrite::Idle;
    let mut stuck_timer = StuckTimer(None);
    let mut outcome = None;
    poll_fn(|cx| {
        replayer.set_waker(cx.waker());
        loop {
            if outcome.is_some() {
                ready!(write.poll(replayer, cx));
                // It was set just before.
                return outcome.take().map_or(Poll::Pending, Poll::Ready);
            }
            if let Poll::Ready(end) = work.as_mut().poll(cx) {
                outcome = Some(match replayer.check_end() {
                    Ok(()) => RunOutcome::Ended(end),
                    Err(failure) => RunOutcome::Failed(failure),
                });
                continue;
            }
            if !write.is_idle() && write.poll(replayer, cx).is_ready() {
                continue;
            }
            let next = replayer.next_action();
            if !matches!(next, Action::Stuck(..)) {
                stuck_timer.0 = None;
            }
            match next {
                Action::Poll => {}
                Action::Wait => return Poll::Pending,
                Action::Write(pending) => write = JournalWrite::begin(journal, pending),
                // Before it is dropped: dropped questions are no longer asked.
                Action::Suspend(suspension) => outcome = Some(RunOutcome::Suspended(suspension)),
                // It may wait for something other than a step that was faster
                // before.
                Action::Stuck(failure, timeout) => {
                    ready!(stuck_timer.poll(timeout, cx));
                    outcome = Some(RunOutcome::Failed(failure));
                }
                Action::Fail(failure) => outcome = Some(RunOutcome::Failed(failure)),
            }
        }
    })
    .await
}

/// A journal write in progress.
enum JournalWrite<'a> {
    Idle,
    InProgress(BoxFuture<'a, Result<(), ErrorObject>>),
}

impl<'a> JournalWrite<'a> {
    fn begin(journal: Option<&'a StoredJournal>, pending: PendingWrite) -> Self {
        Self::InProgress(Box::pin(async move {
            match journal {
                Some(journal) => journal.write(pending).await,
                None => Ok(()),
            }
        }))
    }

    fn is_idle(&self) -> bool {
        matches!(self, Self::Idle)
    }

    /// Continues the write and notifies the replayer when it is done.
    fn poll(&mut self, replayer: &Replayer, cx: &mut Context<'_>) -> Poll<()> {
        let Self::InProgress(future) = self else {
            return Poll::Ready(());
        };
        let written = ready!(future.as_mut().poll(cx));
        *self = Self::Idle;
        match written {
            Ok(()) => replayer.mark_written(),
            Err(error) => replayer.fail(error),
        }
        Poll::Ready(())
    }
}

/// A timeout for events that may never happen.
struct StuckTimer(Option<Pin<Box<Sleep>>>);

impl StuckTimer {
    fn poll(&mut self, timeout: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep(timeout)));
        sleep.as_mut().poll(cx)
    }
}

/// Closes the replayer at the end of the run in any case.
struct CloseGuard<'a>(&'a Replayer);

impl Drop for CloseGuard<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
