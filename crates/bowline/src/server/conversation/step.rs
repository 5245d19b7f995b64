//! Steps: side effects that run once in a conversation, no matter how many times
//! it is replayed.

use std::{
    fmt,
    future::{Future, Ready},
    marker::PhantomData,
    pin::Pin,
};

use serde::{Serialize, de::DeserializeOwned};

use super::{invocation::Invocation, question::suspended_error, scope::Scope};
use crate::server::{
    error::{Error, ErrorKind, Result},
    replay::{
        journal::{EntryOutcome, Fingerprint, digest, hex},
        replayer::{EntryStatus, Replayer},
    },
};

tokio::task_local! {
    /// Set while a step is polled.
    static IN_STEP: ();
}

/// Returns whether the current task is within a step.
///
/// Questions and steps within a step are not in the journal once the step
/// itself is, so a replay would not reach them again. Live they would work, but
/// they are rejected there too, so the mistake is noticed.
pub(super) fn is_in_step() -> bool {
    IN_STEP.try_with(|()| ()).is_ok()
}

pub(super) fn not_allowed_in_step(what: &str) -> Error {
    Error::with_kind(
        ErrorKind::InvalidQuestion,
        format!("a step must not {what}"),
    )
}

/// Runs work as part of a step.
pub(crate) async fn run_as_step<T>(work: impl Future<Output = T>) -> T {
    IN_STEP.scope((), work).await
}

/// A side effect that runs once in a conversation; created by
/// [`Conversation::step`](super::Conversation::step) and started by `.await`.
#[must_use = "a step only runs when awaited"]
pub struct Step<'a, T, F, R = fn(String) -> Ready<Result<T>>> {
    invocation: &'a Invocation,
    scope: &'a Scope,
    name: &'a str,
    work: F,
    recover: Option<R>,
    value: PhantomData<fn() -> T>,
}

impl<'a, T, F> Step<'a, T, F> {
    pub(super) fn new(
        invocation: &'a Invocation,
        scope: &'a Scope,
        name: &'a str,
        work: F,
    ) -> Self {
        Self {
            invocation,
            scope,
            name,
            work,
            recover: None,
            value: PhantomData,
        }
    }

    /// Sets a function that finds out the outcome of the step if it is unknown, for
    /// example by asking the payment service or querying the database. It receives
    /// the [key](super::Conversation::step_with_key) of the step, and its return
    /// value becomes that of the step. It must not repeat the side effect.
    ///
    /// The outcome can be unknown only where a conversation can continue after its node
    /// died: in revision 2026-07-28 after the first question, and in a task of any
    /// revision; see [`step`](super::Conversation::step).
    ///
    /// ```
    /// # use bowline::server::{Conversation, Result};
    /// # struct Bank;
    /// # impl Bank {
    /// #     async fn charge(&self, key: String) -> Result<String> { Ok(key) }
    /// #     async fn find(&self, key: String) -> Result<String> { Ok(key) }
    /// # }
    /// # async fn example(cx: Conversation<Bank>) -> Result<()> {
    /// cx.confirm("Pay?").await?;
    /// let receipt = cx
    ///     .step_with_key("charge", |key| cx.state().charge(key))
    ///     .recover(|key| cx.state().find(key))
    ///     .await?;
    /// # drop(receipt);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// If the first node was only slow, it may still be running the step when this
    /// function is called. Without this function, or if a node dies while it runs,
    /// the step fails with [`ErrorKind::OutcomeUnknown`].
    pub fn recover<R, V>(self, recover: R) -> Step<'a, T, F, R>
    where
        R: FnOnce(String) -> V,
        V: Future<Output = Result<T>>,
    {
        Step {
            invocation: self.invocation,
            scope: self.scope,
            name: self.name,
            work: self.work,
            recover: Some(recover),
            value: PhantomData,
        }
    }
}

impl<'a, T, F, W, R, V> Step<'a, T, F, R>
where
    T: Serialize + DeserializeOwned,
    F: FnOnce(String) -> W,
    W: Future<Output = Result<T>>,
    R: FnOnce(String) -> V,
    V: Future<Output = Result<T>>,
{
    async fn run(self) -> Result<T> {
        let (invocation, id) = (self.invocation, self.scope.unique_name(self.name));
        self.scope.wait_if_interrupted(invocation, &id).await;
        let key = || hex(&digest([invocation.id().as_bytes(), id.as_bytes()])[..16]);
        let work = async { (self.work)(key()).await };
        let result = invocation.step(&id, work).await;
        match (result, self.recover) {
            (Err(error), Some(recover)) if *error.kind() == ErrorKind::OutcomeUnknown => {
                let recover = async { recover(key()).await };
                invocation.step(&format!("{id}!recover"), recover).await
            }
            (result, _) => result,
        }
    }
}

impl<'a, T, F, W, R, V> IntoFuture for Step<'a, T, F, R>
where
    T: Serialize + DeserializeOwned + Send + 'a,
    F: FnOnce(String) -> W + Send + 'a,
    W: Future<Output = Result<T>> + Send + 'a,
    R: FnOnce(String) -> V + Send + 'a,
    V: Future<Output = Result<T>> + Send + 'a,
{
    type Output = Result<T>;
    type IntoFuture = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T, F, R> fmt::Debug for Step<'_, T, F, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut step = f.debug_struct("Step");
        step.field("name", &self.name).finish_non_exhaustive()
    }
}

impl Invocation {
    /// Runs a step, or returns its recorded outcome. Once begun, it runs to its
    /// end even if the caller leaves; nothing begins after the caller has left.
    ///
    /// Live, its value goes through JSON too, so a type that does not survive
    /// that is noticed on the first try, not in another era.
    pub(crate) async fn step<T: Serialize + DeserializeOwned>(
        &self,
        id: &str,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        if is_in_step() {
            return Err(not_allowed_in_step("run other steps"));
        }
        let work = run_as_step(async { EntryOutcome::from_result(work.await) });
        let outcome = match &self.replayer {
            None => self.step_live(work).await,
            Some(replayer) => self.step_replayed(replayer, id, work).await?,
        };
        outcome.decode()
    }

    async fn step_live(&self, work: impl Future<Output = EntryOutcome>) -> EntryOutcome {
        if self.lifecycle.is_detached() {
            std::future::pending::<()>().await;
        }
        let _busy = self.lifecycle.begin_work();
        work.await
    }

    async fn step_replayed(
        &self,
        replayer: &Replayer,
        id: &str,
        work: impl Future<Output = EntryOutcome>,
    ) -> Result<EntryOutcome> {
        let fingerprint = Fingerprint::for_step(id);
        match replayer.register(id, fingerprint) {
            // A diverged entry receives nothing until the run ends.
            EntryStatus::Recorded | EntryStatus::Diverged => {}
            EntryStatus::New => {
                let running = replayer
                    .begin_step(id, fingerprint)
                    .await
                    .ok_or_else(suspended_error)?;
                let _busy = self.lifecycle.begin_work();
                running.end(work.await);
            }
        }
        replayer.wait_outcome(id).await.ok_or_else(suspended_error)
    }
}
