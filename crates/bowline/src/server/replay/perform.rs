//! Running a conversation on a stage, as far as it goes.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Poll, ready},
};

use tokio::time::{Sleep, sleep};

use super::stage::{Fault, Next, PutOff, Stage};

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
pub(crate) async fn perform<T>(stage: &Stage, work: impl Future<Output = T>) -> Performance<T> {
    // It falls when the conversation is gone already.
    let _curtain = Curtain(stage);
    let mut work = pin!(work);
    let mut patience: Option<Pin<Box<Sleep>>> = None;
    poll_fn(|cx| {
        stage.watch(cx.waker());
        loop {
            if let Poll::Ready(end) = work.as_mut().poll(cx) {
                return Poll::Ready(match stage.check_end() {
                    Ok(()) => Performance::Ended(end),
                    Err(fault) => Performance::Failed(fault),
                });
            }
            match stage.next() {
                Next::Again => patience = None,
                Next::Wait => {
                    patience = None;
                    return Poll::Pending;
                }
                // Before it is dropped: what is dropped is no longer asked.
                Next::Suspend(kept) => return Poll::Ready(Performance::Suspended(kept)),
                // Perhaps it waits for something that is no step, and was
                // quicker before.
                Next::Stuck(fault, time) => {
                    let patience = patience.get_or_insert_with(|| Box::pin(sleep(time)));
                    ready!(patience.as_mut().poll(cx));
                    return Poll::Ready(Performance::Failed(fault));
                }
                Next::Fail(fault) => return Poll::Ready(Performance::Failed(fault)),
            }
        }
    })
    .await
}

/// Closes the stage in the end, however that comes.
struct Curtain<'a>(&'a Stage);

impl Drop for Curtain<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
