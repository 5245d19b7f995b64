//! How long a branch may take, live and by replay.
//!
//! Live, it is a matter of a timer. A replayed branch waits for its answers
//! between rounds, perhaps on another node, so that the journal keeps what time
//! it was: when the branch began, and when each answer came. It also keeps that
//! the time was over. So the branch ends at the same place in every replay,
//! however long that takes.

use std::{
    future::{Future, pending},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use tokio::sync::Notify;

use crate::{
    proto::jsonrpc::RawJson,
    server::{
        error::{Error, ErrorKind, Result},
        replay::{
            journal::{Mark, Outcome},
            stage::{Entered, Stage},
            state::{millis, whole_millis},
        },
        talk::{ask::put_off, call::Call, scope::Scope},
    },
};

/// How soon to look again whether the replay has come to what is new.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Until when a replayed branch may go on.
#[derive(Debug)]
pub(in crate::server::talk) struct Deadline {
    /// In milliseconds of the Unix epoch.
    at: u64,
    /// The name under which the journal keeps that it has passed.
    id: String,
    mark: Mark,
    /// Whether the journal has that already.
    known: bool,
    passed: AtomicBool,
    rung: Notify,
}

impl Scope {
    /// Runs the work of this branch, for so long at most.
    pub(super) async fn within<R>(
        &self,
        call: &Call,
        after: Duration,
        work: impl Future<Output = Result<R>>,
    ) -> Result<R> {
        let Some(stage) = &call.stage else {
            let ended = tokio::time::timeout(after, work).await;
            return ended.unwrap_or_else(|_| Err(too_late(after)));
        };
        let began = self.read_clock(call, stage).await?;
        let at = began.saturating_add(whole_millis(after));
        let id = self.name("!timeout");
        let mark = Mark::of_step(&id);
        let entered = stage.enter(&id, mark);
        let deadline = self.deadline.get_or_init(|| Deadline {
            at,
            id,
            mark,
            known: entered == Entered::Recorded,
            passed: AtomicBool::new(false),
            rung: Notify::new(),
        });
        let left = Duration::from_millis(at.saturating_sub(millis((call.clock)())));
        tokio::select! {
            // In this order, so that nothing goes on once the time is over.
            biased;
            () = deadline.wait(stage, left, entered) => Err(too_late(after)),
            ended = work => ended,
        }
    }

    /// Takes note of when an answer came. If that was too late for a branch,
    /// the branch is over, and nothing comes of the answer.
    pub(in crate::server::talk) async fn heard(&self, call: &Call) -> Result<()> {
        let Some(stage) = &call.stage else {
            return Ok(());
        };
        if self.deadlines().next().is_none() {
            return Ok(());
        }
        let now = self.read_clock(call, stage).await?;
        let late = self.deadlines().filter(|deadline| deadline.at <= now);
        // The outermost takes the others along.
        if let Some(late) = late.last() {
            late.pass(stage);
            pending::<()>().await;
        }
        Ok(())
    }

    /// Waits for ever where the journal has it that this was cut off, and does
    /// not know this step: then the step was cut off too. It must not begin
    /// again, and soon all of this is dropped.
    pub(in crate::server::talk) async fn unless_cut_off(&self, call: &Call, step: &str) {
        if let Some(stage) = &call.stage
            && self.deadlines().any(|deadline| deadline.known)
            && stage.enter(step, Mark::of_step(step)) == Entered::New
        {
            pending::<()>().await;
        }
    }

    fn deadlines(&self) -> impl Iterator<Item = &Deadline> {
        self.enclosing().filter_map(|scope| scope.deadline.get())
    }

    /// What time it is, the same in every replay.
    async fn read_clock(&self, call: &Call, stage: &Stage) -> Result<u64> {
        let id = self.repeated("!clock");
        let mark = Mark::of_step(&id);
        if stage.enter(&id, mark) == Entered::New {
            let now = millis((call.clock)());
            stage.record(&id, mark, Outcome::Value(RawJson::encode(&now)?));
        }
        // Told in its turn even if it is new, as it will be next time.
        stage.told(&id).await.ok_or_else(put_off)?.read()
    }
}

impl Deadline {
    /// Waits until the time is over.
    async fn wait(&self, stage: &Stage, left: Duration, entered: Entered) {
        if entered == Entered::New {
            tokio::select! {
                biased;
                () = self.rung.notified() => {}
                () = until_new(stage, left) => self.pass(stage),
            }
        }
        if stage.told(&self.id).await.is_none() {
            // The conversation was put off; it is told elsewhere.
            pending::<()>().await;
        }
    }

    /// The time is over, and that is written down.
    fn pass(&self, stage: &Stage) {
        if !self.known && !self.passed.swap(true, Ordering::Relaxed) {
            let nothing = Outcome::of(Ok(()));
            stage.record(&self.id, self.mark, nothing);
            self.rung.notify_one();
        }
    }
}

/// Waits for so long, and then until nothing is left in the journal that must
/// happen first.
async fn until_new(stage: &Stage, left: Duration) {
    tokio::time::sleep(left).await;
    while stage.check_end().is_err() {
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

fn too_late(after: Duration) -> Error {
    let message = format!("the branch did not come to its end within {after:?}");
    Error::of(ErrorKind::BranchTimeout { after }, message)
}
