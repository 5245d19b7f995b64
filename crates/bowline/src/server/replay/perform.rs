//! Running a conversation on a stage, as far as it goes.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use super::{
    course::Course,
    stage::{Fault, Next, Pending, PutOff, Stage},
};
use crate::{proto::jsonrpc::ErrorObject, transport::BoxFuture};

/// How far a conversation came.
#[derive(Debug)]
pub(crate) enum Performance<T> {
    /// To its end.
    Ended(T),
    /// To questions that have no answers yet.
    Suspended(PutOff),
    /// Not to where this round should have brought it.
    Failed(Fault),
}

/// Runs a conversation until it ends or waits for answers. What it had in
/// flight besides steps is dropped then, and whoever waits somewhere else waits
/// no longer. So it is, too, if the conversation panics or this is dropped.
///
/// What happens is written to its course, if it has one, by nobody else. What
/// is being written is written to its end first.
pub(crate) async fn perform<T>(
    stage: &Stage,
    course: Option<&Course>,
    work: impl Future<Output = T>,
) -> Performance<T> {
    // It falls when the conversation is gone already.
    let _curtain = Curtain(stage);
    let mut work = pin!(work);
    let mut writing = Writing::Nothing;
    let mut patience = Patience(None);
    let mut performance = None;
    poll_fn(|cx| {
        stage.watch(cx.waker());
        loop {
            if performance.is_some() {
                ready!(writing.poll(stage, cx));
                // It has been put there just before.
                return performance.take().map_or(Poll::Pending, Poll::Ready);
            }
            if let Poll::Ready(end) = work.as_mut().poll(cx) {
                performance = Some(match stage.check_end() {
                    Ok(()) => Performance::Ended(end),
                    Err(fault) => Performance::Failed(fault),
                });
                continue;
            }
            if !writing.is_over() && writing.poll(stage, cx).is_ready() {
                continue;
            }
            let next = stage.next();
            if !matches!(next, Next::Stuck(..)) {
                patience.0 = None;
            }
            match next {
                Next::Again => {}
                Next::Wait => return Poll::Pending,
                Next::Write(pending) => writing = Writing::begin(course, pending),
                // Before it is dropped: what is dropped is no longer asked.
                Next::Suspend(kept) => performance = Some(Performance::Suspended(kept)),
                // Perhaps it waits for something that is no step, and was
                // quicker before.
                Next::Stuck(fault, time) => {
                    ready!(patience.poll(time, cx));
                    performance = Some(Performance::Failed(fault));
                }
                Next::Fail(fault) => performance = Some(Performance::Failed(fault)),
            }
        }
    })
    .await
}

/// What is being written to the journal.
enum Writing<'a> {
    Nothing,
    Entry(BoxFuture<'a, Result<(), ErrorObject>>),
}

impl<'a> Writing<'a> {
    fn begin(course: Option<&'a Course>, pending: Pending) -> Self {
        Self::Entry(Box::pin(async move {
            match course {
                Some(course) => course.write(pending).await,
                None => Ok(()),
            }
        }))
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Writes on, and tells the stage when it is done.
    fn poll(&mut self, stage: &Stage, cx: &mut Context<'_>) -> Poll<()> {
        let Self::Entry(entry) = self else {
            return Poll::Ready(());
        };
        let written = ready!(entry.as_mut().poll(cx));
        *self = Self::Nothing;
        match written {
            Ok(()) => stage.written(),
            Err(error) => stage.fail(error),
        }
        Poll::Ready(())
    }
}

/// How long to wait for what may never come.
struct Patience(Option<Pin<Box<Sleep>>>);

impl Patience {
    fn poll(&mut self, time: Duration, cx: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep(time)));
        sleep.as_mut().poll(cx)
    }
}

/// Closes the stage in the end, however that comes.
struct Curtain<'a>(&'a Stage);

impl Drop for Curtain<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
