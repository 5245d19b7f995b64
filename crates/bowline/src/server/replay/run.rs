//! Running a conversation on a stage, as far as it goes.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use super::{
    replayer::{Action, PendingWrite, ReplayError, Replayer, Suspension},
    stored_journal::StoredJournal,
};
use crate::{proto::jsonrpc::ErrorObject, transport::BoxFuture};

/// How far a conversation came.
#[derive(Debug)]
pub(crate) enum RunOutcome<T> {
    /// To its end.
    Ended(T),
    /// To questions that have no answers yet.
    Suspended(Suspension),
    /// Not to where this round should have brought it.
    Failed(ReplayError),
}

/// Runs a conversation until it ends or waits for answers. What it had in
/// flight besides steps is dropped then, and whoever waits somewhere else waits
/// no longer. So it is, too, if the conversation panics or this is dropped.
///
/// What happens is written to its course, if it has one, by nobody else. What
/// is being written is written to its end first.
pub(crate) async fn run<T>(
    replayer: &Replayer,
    journal: Option<&StoredJournal>,
    work: impl Future<Output = T>,
) -> RunOutcome<T> {
    // It falls when the conversation is gone already.
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
                // It has been put there just before.
                return outcome.take().map_or(Poll::Pending, Poll::Ready);
            }
            if let Poll::Ready(end) = work.as_mut().poll(cx) {
                outcome = Some(match replayer.check_end() {
                    Ok(()) => RunOutcome::Ended(end),
                    Err(replay_error) => RunOutcome::Failed(replay_error),
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
                // Before it is dropped: what is dropped is no longer asked.
                Action::Suspend(suspension) => outcome = Some(RunOutcome::Suspended(suspension)),
                // Perhaps it waits for something that is no step, and was
                // quicker before.
                Action::Stuck(replay_error, timeout) => {
                    ready!(stuck_timer.poll(timeout, cx));
                    outcome = Some(RunOutcome::Failed(replay_error));
                }
                Action::Fail(replay_error) => outcome = Some(RunOutcome::Failed(replay_error)),
            }
        }
    })
    .await
}

/// What is being written to the journal.
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

    /// Writes on, and tells the stage when it is done.
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

/// How long to wait for what may never come.
struct StuckTimer(Option<Pin<Box<Sleep>>>);

impl StuckTimer {
    fn poll(&mut self, timeout: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep(timeout)));
        sleep.as_mut().poll(cx)
    }
}

/// Closes the stage in the end, however that comes.
struct CloseGuard<'a>(&'a Replayer);

impl Drop for CloseGuard<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
