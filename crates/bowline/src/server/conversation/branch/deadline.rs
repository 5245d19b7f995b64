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
        conversation::{invocation::Invocation, question::suspended_error, scope::Scope},
        error::{Error, ErrorKind, Result},
        replay::{
            journal::{EntryOutcome, Fingerprint},
            replayer::{EntryStatus, Replayer},
            state::{duration_millis, unix_millis},
        },
    },
};

/// How soon to look again whether the replay has come to what is new.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Until when a replayed branch may go on.
#[derive(Debug)]
pub(in crate::server::conversation) struct Deadline {
    /// In milliseconds of the Unix epoch.
    at_millis: u64,
    /// The name under which the journal keeps that it has passed.
    id: String,
    fingerprint: Fingerprint,
    /// Whether the journal has that already.
    is_recorded: bool,
    is_expired: AtomicBool,
    expired: Notify,
}

impl Scope {
    /// Runs the work of this branch, for so long at most.
    pub(super) async fn run_with_timeout<R>(
        &self,
        invocation: &Invocation,
        after: Duration,
        work: impl Future<Output = Result<R>>,
    ) -> Result<R> {
        let Some(replayer) = &invocation.replayer else {
            let result = tokio::time::timeout(after, work).await;
            return result.unwrap_or_else(|_| Err(timeout_error(after)));
        };
        let started_at = self.read_clock(invocation, replayer).await?;
        let at = started_at.saturating_add(duration_millis(after));
        let id = self.full_name("!timeout");
        let fingerprint = Fingerprint::for_step(&id);
        let status = replayer.register(&id, fingerprint);
        let deadline = self.deadline.get_or_init(|| Deadline {
            at_millis: at,
            id,
            fingerprint,
            is_recorded: status == EntryStatus::Recorded,
            is_expired: AtomicBool::new(false),
            expired: Notify::new(),
        });
        let left = Duration::from_millis(at.saturating_sub(unix_millis((invocation.clock)())));
        tokio::select! {
            // In this order, so that nothing goes on once the time is over.
            biased;
            () = deadline.wait(replayer, left, status) => Err(timeout_error(after)),
            result = work => result,
        }
    }

    /// Takes note of when an answer came. If that was too late for a branch,
    /// the branch is over, and nothing comes of the answer.
    pub(in crate::server::conversation) async fn check_deadlines(
        &self,
        invocation: &Invocation,
    ) -> Result<()> {
        let Some(replayer) = &invocation.replayer else {
            return Ok(());
        };
        if self.deadlines().next().is_none() {
            return Ok(());
        }
        let now = self.read_clock(invocation, replayer).await?;
        let expired = self
            .deadlines()
            .filter(|deadline| deadline.at_millis <= now);
        // The outermost takes the others along.
        if let Some(expired) = expired.last() {
            expired.expire(replayer);
            pending::<()>().await;
        }
        Ok(())
    }

    /// Waits for ever where the journal has it that this was cut off, and does
    /// not know this step: then the step was cut off too. It must not begin
    /// again, and soon all of this is dropped.
    pub(in crate::server::conversation) async fn wait_if_interrupted(
        &self,
        invocation: &Invocation,
        step: &str,
    ) {
        if let Some(replayer) = &invocation.replayer
            && self.deadlines().any(|deadline| deadline.is_recorded)
            && replayer.register(step, Fingerprint::for_step(step)) == EntryStatus::New
        {
            pending::<()>().await;
        }
    }

    fn deadlines(&self) -> impl Iterator<Item = &Deadline> {
        self.ancestors().filter_map(|scope| scope.deadline.get())
    }

    /// What time it is, the same in every replay.
    async fn read_clock(&self, invocation: &Invocation, replayer: &Replayer) -> Result<u64> {
        let id = self.unique_name("!clock");
        let fingerprint = Fingerprint::for_step(&id);
        if replayer.register(&id, fingerprint) == EntryStatus::New {
            let now = unix_millis((invocation.clock)());
            replayer.record(
                &id,
                fingerprint,
                EntryOutcome::Value(RawJson::encode(&now)?),
            );
        }
        // Told in its turn even if it is new, as it will be next time.
        replayer
            .wait_outcome(&id)
            .await
            .ok_or_else(suspended_error)?
            .decode()
    }
}

impl Deadline {
    /// Waits until the time is over.
    async fn wait(&self, replayer: &Replayer, left: Duration, status: EntryStatus) {
        if status == EntryStatus::New {
            tokio::select! {
                biased;
                () = self.expired.notified() => {}
                () = wait_until_replayed(replayer, left) => self.expire(replayer),
            }
        }
        if replayer.wait_outcome(&self.id).await.is_none() {
            // The conversation was put off; it is told elsewhere.
            pending::<()>().await;
        }
    }

    /// The time is over, and that is written down.
    fn expire(&self, replayer: &Replayer) {
        if !self.is_recorded && !self.is_expired.swap(true, Ordering::Relaxed) {
            let nothing = EntryOutcome::from_result(Ok(()));
            replayer.record(&self.id, self.fingerprint, nothing);
            self.expired.notify_one();
        }
    }
}

/// Waits for so long, and then until nothing is left in the journal that must
/// happen first.
async fn wait_until_replayed(replayer: &Replayer, left: Duration) {
    tokio::time::sleep(left).await;
    while replayer.check_end().is_err() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn timeout_error(after: Duration) -> Error {
    let message = format!("the branch did not come to its end within {after:?}");
    Error::with_kind(ErrorKind::BranchTimeout { after }, message)
}
