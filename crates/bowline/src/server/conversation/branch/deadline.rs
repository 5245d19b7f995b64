//! Time limits of branches, live and by replay.
//!
//! Live, this is a timer. A replayed branch waits for its answers between
//! rounds, perhaps on another node, so the journal records the time: when the
//! branch began, and when each answer arrived. It also records that the
//! deadline has passed. So the branch ends at the same place in every replay,
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

/// How often to check whether the replay has reached new entries.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The deadline of a replayed branch.
#[derive(Debug)]
pub(in crate::server::conversation) struct Deadline {
    /// In milliseconds since the Unix epoch.
    at_millis: u64,
    /// The name of the journal entry that records the expiry.
    id: String,
    fingerprint: Fingerprint,
    /// Whether the journal has that entry already.
    is_recorded: bool,
    is_expired: AtomicBool,
    expired: Notify,
}

impl Scope {
    /// Runs the work of this branch, with a time limit.
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
            // The deadline is polled first, so nothing continues once it has
            // passed.
            biased;
            () = deadline.wait(replayer, left, status) => Err(timeout_error(after)),
            result = work => result,
        }
    }

    /// Records when an answer arrived. If that was after the deadline of a
    /// branch, the branch has expired and the answer is not used.
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
        // The outermost branch ends the inner ones too.
        if let Some(expired) = expired.last() {
            expired.expire(replayer);
            pending::<()>().await;
        }
        Ok(())
    }

    /// Waits forever if the journal records that this branch expired and does
    /// not contain this step: then the step was interrupted too. It must not
    /// begin again, and the future is dropped soon.
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

    /// Returns the current time, which is the same in every replay.
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
        // Reported in order even if it is new, as it will be in the next
        // replay.
        replayer
            .wait_outcome(&id)
            .await
            .ok_or_else(suspended_error)?
            .decode()
    }
}

impl Deadline {
    /// Waits until the deadline has passed.
    async fn wait(&self, replayer: &Replayer, left: Duration, status: EntryStatus) {
        if status == EntryStatus::New {
            tokio::select! {
                biased;
                () = self.expired.notified() => {}
                () = wait_until_replayed(replayer, left) => self.expire(replayer),
            }
        }
        if replayer.wait_outcome(&self.id).await.is_none() {
            // The conversation was suspended; this is reported elsewhere.
            pending::<()>().await;
        }
    }

    /// Marks the deadline as passed and records it.
    fn expire(&self, replayer: &Replayer) {
        if !self.is_recorded && !self.is_expired.swap(true, Ordering::Relaxed) {
            let nothing = EntryOutcome::from_result(Ok(()));
            replayer.record(&self.id, self.fingerprint, nothing);
            self.expired.notify_one();
        }
    }
}

/// Waits for the given time, and then until no earlier entry is left in the
/// journal.
async fn wait_until_replayed(replayer: &Replayer, left: Duration) {
    tokio::time::sleep(left).await;
    while replayer.check_end().is_err() {
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

fn timeout_error(after: Duration) -> Error {
    let message = format!("the branch timed out after {after:?}");
    Error::with_kind(ErrorKind::BranchTimeout { after }, message)
}
