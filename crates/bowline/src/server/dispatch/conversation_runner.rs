//! Runs handlers that may ask the client: live, or round by round.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use tokio::time::sleep;

use super::round_outcome::{RecordedRound, RoundEnd, RoundOutcome, StoredReply};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{InputRequiredResult, InputResponses, ResultObject},
        revision::Era,
        server::{Reply, RequestContext, errors},
    },
    server::{
        conversation::{
            invocation::{Invocation, InvocationGuard},
            lifecycle::DetachOnDrop,
            step::run_as_step,
        },
        error::{Error, ErrorKind, Result},
        replay::{
            error::expired,
            journal::{Entry, EntryOutcome},
            replayer::{History, Replayer, RunFailure, Suspension},
            round::{ResumeInput, ResumedConversation, RoundCaller},
            run::{RunOutcome, run},
            state::ConversationInfo,
            stored_journal::{EndOutcome, OpenedRound, StoredJournal},
        },
        service::Core,
        tool::phases::{AFTER, BEFORE, CLEANUP},
    },
    transport::BoxFuture,
};

/// A handler, for one round.
pub(crate) trait RoundHandler<R>: Send + 'static {
    /// Runs the handler. Called once.
    fn run(&mut self, invocation: Arc<Invocation>) -> BoxFuture<'static, Result<R>>;

    /// Releases the value of the first phase if the last phase is not reached,
    /// for handlers that have phases.
    fn cleanup(&mut self, before: &RawJson, invocation: &Arc<Invocation>) -> Option<Cleanup> {
        let _ = (before, invocation);
        None
    }
}

/// Releases the value of the first phase.
pub(crate) type Cleanup = BoxFuture<'static, Result<()>>;

/// A handler without phases.
pub(crate) struct SinglePhase<F>(pub(crate) Option<F>);

impl<R, F> RoundHandler<R> for SinglePhase<F>
where
    F: FnOnce(Arc<Invocation>) -> BoxFuture<'static, Result<R>> + Send + 'static,
{
    fn run(&mut self, invocation: Arc<Invocation>) -> BoxFuture<'static, Result<R>> {
        match self.0.take() {
            Some(work) => work(invocation),
            None => Box::pin(async { Err(Error::internal("the handler ran already")) }),
        }
    }
}

/// Maps what a handler returned to the response.
pub(crate) type ResultMapper<R> = fn(Result<R>, &RequestContext) -> Result<R, ErrorObject>;

/// A round of a conversation that was suspended.
struct LaterRound<'a, R, T> {
    state: &'a str,
    answers: &'a InputResponses,
    map_result: ResultMapper<R>,
    /// What the caller wants of its end.
    convert: fn(RecordedRound, &RequestContext) -> T,
}

/// The run of one round.
struct RoundRun<R, H> {
    invocation: Arc<Invocation>,
    /// The age of the conversation when the round was first run.
    elapsed: Duration,
    handler: H,
    map_result: ResultMapper<R>,
}

/// Runs a handler that may ask, as the era requires. Steps that have started
/// run to their end even if the caller leaves.
pub(crate) fn run_conversation<R: ResultObject + Send + 'static>(
    core: Arc<Core>,
    mut invocation: Invocation,
    resume: ResumeInput,
    handler: impl RoundHandler<R>,
    map_result: ResultMapper<R>,
) -> DetachOnDrop<Reply> {
    let background = Arc::clone(&core.background);
    let origin = invocation.request.origin.clone();
    DetachOnDrop::new(&background, origin, move |lifecycle| {
        invocation.lifecycle = lifecycle;
        Box::pin(core.run_conversation(invocation, resume, handler, map_result))
    })
}

/// Runs a round of a suspended conversation on behalf of the server itself, which
/// keeps the state. Steps that have started run to their end even if this is dropped.
pub(crate) fn run_kept_round<R: ResultObject + Send + 'static>(
    core: Arc<Core>,
    mut invocation: Invocation,
    state: String,
    answers: InputResponses,
    handler: impl RoundHandler<R>,
    map_result: ResultMapper<R>,
) -> DetachOnDrop<RecordedRound> {
    let background = Arc::clone(&core.background);
    let origin = invocation.request.origin.clone();
    DetachOnDrop::new(&background, origin, move |lifecycle| {
        invocation.lifecycle = lifecycle;
        Box::pin(async move {
            let round = LaterRound {
                state: &state,
                answers: &answers,
                map_result,
                convert: |recorded, _| recorded,
            };
            core.run_later_round(invocation, round, handler).await
        })
    })
}

impl Core {
    async fn run_conversation<R: ResultObject>(
        self: Arc<Self>,
        mut invocation: Invocation,
        resume: ResumeInput,
        handler: impl RoundHandler<R>,
        map_result: ResultMapper<R>,
    ) -> Reply {
        if !invocation.uses_replay() {
            return run_live(invocation, handler, map_result).await;
        }
        let Some(state) = &resume.state else {
            invocation.replayer = Some(Replayer::first_round(resume.answers));
            let mut round_run = RoundRun {
                invocation: Arc::new(invocation),
                elapsed: Duration::ZERO,
                handler,
                map_result,
            };
            let outcome = self.run_first_round(&mut round_run).await;
            return outcome.into_reply(&round_run.invocation.request);
        };
        let later_round = LaterRound {
            state,
            answers: &resume.answers,
            map_result,
            convert: RecordedRound::into_reply,
        };
        self.run_later_round(invocation, later_round, handler).await
    }

    /// Runs a round of a conversation that was suspended.
    async fn run_later_round<R: ResultObject, T>(
        &self,
        invocation: Invocation,
        round: LaterRound<'_, R, T>,
        handler: impl RoundHandler<R>,
    ) -> T {
        let caller = RoundCaller {
            binding: &invocation.binding(),
            account: invocation.account(),
            lifecycle: &invocation.lifecycle,
        };
        match self.replay.resume(caller, round.state, round.answers).await {
            Ok(resumed) if resumed.is_expired => {
                let context = invocation.request.context.clone();
                let ended = self.end_expired(invocation, resumed, handler).await;
                (round.convert)(ended, &context)
            }
            Ok(resumed) => Box::pin(self.resume_round(invocation, resumed, handler, round)).await,
            Err(error) => {
                let ended = RecordedRound::Retryable(error);
                (round.convert)(ended, &invocation.request.context)
            }
        }
    }

    /// Runs the first round. It has no journal yet.
    async fn run_first_round<R: ResultObject>(
        &self,
        round_run: &mut RoundRun<R, impl RoundHandler<R>>,
    ) -> RoundOutcome<R> {
        let started_at = (self.replay.clock)();
        let timeout = self.replay.conversation_timeout;
        let info = |invocation: &Invocation| {
            let id = invocation.id().into();
            self.replay.begin(invocation.binding(), id, started_at)
        };
        let end = self.run_round(round_run, timeout, info).await;
        let RoundRun {
            invocation,
            handler,
            ..
        } = round_run;
        clean_up(invocation, handler, end.cleanup_input).await;
        end.outcome
    }

    /// Runs a later round. A repeated last round returns its stored reply.
    async fn resume_round<R: ResultObject, T>(
        &self,
        mut invocation: Invocation,
        resumed: ResumedConversation,
        handler: impl RoundHandler<R>,
        round: LaterRound<'_, R, T>,
    ) -> T {
        let info = resumed.info;
        let opened = resumed.access.open(report_waiting(&invocation)).await;
        let (journal, since) = match opened {
            Ok(OpenedRound::Run(journal, since)) => (*journal, since),
            Ok(OpenedRound::Finished(answer)) => {
                let ended = RecordedRound::Ended(StoredReply::decode(&answer));
                return (round.convert)(ended, &invocation.request.context);
            }
            Err(error) => {
                let ended = RecordedRound::Retryable(error);
                return (round.convert)(ended, &invocation.request.context);
            }
        };
        let delay = journal.clock_delay();
        if !delay.is_zero() {
            let clock = Arc::clone(&self.replay.clock);
            invocation.clock = Arc::new(move || clock().checked_sub(delay).unwrap_or_else(&*clock));
        }
        let elapsed = info.age(journal.now());
        invocation.set_id(info.nonce.clone());
        let replayer = Replayer::later_round(History {
            before: resumed.before,
            answers: resumed.answers,
            since,
        });
        if resumed.is_first {
            replayer.mark_first_round();
        }
        invocation.replayer = Some(replayer);
        invocation.journal = Some(journal);
        let mut round_run = RoundRun {
            invocation: Arc::new(invocation),
            elapsed,
            handler,
            map_result: round.map_result,
        };
        let left = self.replay.time_left(&info).unwrap_or_default();
        let ended = self.run_round(&mut round_run, left, |_| info).await;
        let recorded = ended
            .record(&round_run.invocation, &mut round_run.handler)
            .await;
        (round.convert)(recorded, &round_run.invocation.request.context)
    }

    /// Runs a round until it ends or is suspended. The conversation expires
    /// after `left`.
    async fn run_round<R: ResultObject>(
        &self,
        round_run: &mut RoundRun<R, impl RoundHandler<R>>,
        left: Duration,
        info: impl FnOnce(&Invocation) -> ConversationInfo,
    ) -> RoundEnd<R> {
        let invocation = Arc::clone(&round_run.invocation);
        let _guard = InvocationGuard(Arc::clone(&invocation));
        let Some(replayer) = &invocation.replayer else {
            let error = errors::internal_error("the round has no replayer");
            return RoundOutcome::Retryable(error).into();
        };
        let work = round_run.handler.run(Arc::clone(&invocation));
        let future = run(replayer, invocation.journal.as_ref(), work);
        let future = while_renewing_lease(
            &invocation,
            stop_when_abandoned(&invocation, replayer, left, future),
        );
        match with_timeout(invocation.limits.timeout, round_run.elapsed, future).await {
            Err(timeout_error) => round_run.end_early(round_run.finish(Err(timeout_error)), &[]),
            Ok(RunOutcome::Ended(end)) => round_run.finish(end).into(),
            Ok(RunOutcome::Failed(RunFailure::Expired)) => {
                round_run.end_early(RoundOutcome::ProtocolError(expired()), &[])
            }
            Ok(RunOutcome::Failed(fault)) => {
                RoundOutcome::Retryable(fault.into_error_object()).into()
            }
            Ok(RunOutcome::Suspended(suspension)) => {
                let info = info(&invocation);
                match self.replay.time_left(&info) {
                    Some(left) => {
                        let cleanup_input = round_run.cleanup_input(&suspension.journal);
                        self.suspend(&invocation, cleanup_input, info, left, suspension)
                            .await
                    }
                    None => round_run
                        .end_early(RoundOutcome::ProtocolError(expired()), &suspension.journal),
                }
            }
        }
    }

    /// Suspends the conversation and returns its sealed state. If that fails in
    /// the first round, or the caller has left, the conversation cannot resume.
    async fn suspend<R>(
        &self,
        invocation: &Invocation,
        cleanup_input: Option<RawJson>,
        info: ConversationInfo,
        left: Duration,
        suspension: Suspension,
    ) -> RoundEnd<R> {
        let _busy = invocation.lifecycle.begin_work();
        let cleanup_input = cleanup_input.filter(|_| invocation.journal.is_none());
        let position = invocation
            .journal
            .as_ref()
            .map_or(0, StoredJournal::position);
        let account = invocation.account();
        let suspended = self
            .replay
            .suspend(info, left, &account, position, suspension);
        match suspended.await {
            Ok(question) => RoundEnd {
                outcome: RoundOutcome::Suspended(question),
                cleanup_input: cleanup_input.filter(|_| invocation.lifecycle.is_detached()),
            },
            Err(error) => RoundEnd {
                outcome: RoundOutcome::Retryable(error),
                cleanup_input,
            },
        }
    }

    /// Ends a conversation whose state came back after it expired, unless it has
    /// ended already. Releases the value of its first phase.
    async fn end_expired<R>(
        &self,
        mut invocation: Invocation,
        resumed: ResumedConversation,
        mut handler: impl RoundHandler<R>,
    ) -> RecordedRound {
        let has_expired = || RecordedRound::Ended(StoredReply::Error(expired()));
        let before = resumed.before.iter().find(|it| *it.id == *BEFORE);
        let Some(Entry {
            outcome: EntryOutcome::Value(before),
            ..
        }) = before
        else {
            return has_expired();
        };
        let journal = match resumed.access.open_expired(&[AFTER, CLEANUP]).await {
            Ok(Some(journal)) => journal,
            Ok(None) => return has_expired(),
            Err(error) => return RecordedRound::Retryable(error),
        };
        invocation.journal = Some(journal);
        invocation.set_id(resumed.info.nonce);
        let invocation = Arc::new(invocation);
        let _guard = InvocationGuard(Arc::clone(&invocation));
        let ended = RoundEnd::<InputRequiredResult> {
            outcome: RoundOutcome::ProtocolError(expired()),
            cleanup_input: Some(before.clone()),
        };
        ended.record(&invocation, &mut handler).await
    }
}

impl<R: ResultObject, H: RoundHandler<R>> RoundRun<R, H> {
    /// Returns the outcome of a handler that returned.
    fn finish(&self, end: Result<R>) -> RoundOutcome<R> {
        let context = &self.invocation.request.context;
        let is_missing_capability = matches!(&end, Err(error) if error.is_missing_capability());
        match (self.map_result)(end, context) {
            Ok(result) => RoundOutcome::Complete(result),
            // The client may declare it when it repeats the round.
            Err(error) if is_missing_capability && context.era() == Era::Stateless => {
                RoundOutcome::Retryable(error)
            }
            Err(error) => RoundOutcome::ProtocolError(error),
        }
    }

    /// Ends the conversation early, so the value of its first phase is released.
    /// `entries` are those that the replayer does not have yet.
    fn end_early(&self, round: RoundOutcome<R>, entries: &[Entry]) -> RoundEnd<R> {
        let cleanup_input = self.cleanup_input(entries);
        RoundEnd {
            outcome: round,
            cleanup_input,
        }
    }

    /// Returns the value of the first phase, if no later phase has started.
    fn cleanup_input(&self, entries: &[Entry]) -> Option<RawJson> {
        let replayer = self.invocation.replayer.as_ref()?;
        let outcome = |id: &str| {
            let entries = entries.iter().find(|entry| *entry.id == *id);
            entries
                .map(|entry| entry.outcome.clone())
                .or_else(|| replayer.outcome(id))
        };
        if outcome(AFTER).is_some() || outcome(CLEANUP).is_some() {
            return None;
        }
        match outcome(BEFORE)? {
            EntryOutcome::Value(before) => Some(before),
            _ => None,
        }
    }
}

/// Reports to the client that another node is processing its request.
fn report_waiting(invocation: &Invocation) -> impl Fn() {
    let attempts = std::sync::atomic::AtomicU32::new(0);
    move || {
        let attempts = attempts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // Less than any progress that the handler will report.
        let progress = f64::from(attempts) / 1e6;
        let message = "Another node works on this request";
        invocation.channel.progress(progress, None, Some(message));
    }
}

/// Starts no new steps once the caller has left or the conversation has
/// expired.
async fn stop_when_abandoned<T>(
    invocation: &Invocation,
    replayer: &Replayer,
    left: Duration,
    future: impl Future<Output = T>,
) -> T {
    let mut future = pin!(future);
    let mut expiry = pin!(sleep(left));
    let mut is_expired = false;
    poll_fn(|cx| {
        if invocation.lifecycle.is_detached() {
            replayer.shut_down(RunFailure::Abandoned);
        }
        if let Poll::Ready(ended) = future.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        if !is_expired && expiry.as_mut().poll(cx).is_ready() {
            is_expired = true;
            replayer.shut_down(RunFailure::Expired);
            return future.as_mut().poll(cx);
        }
        Poll::Pending
    })
    .await
}

/// Renews the lease of the conversation's journal while the future runs.
async fn while_renewing_lease<T>(invocation: &Invocation, future: impl Future<Output = T>) -> T {
    let Some(journal) = &invocation.journal else {
        return future.await;
    };
    tokio::select! {
        biased;
        future = future => future,
        never = journal.renew_lease() => match never {},
    }
}

/// Runs a handler whose questions are requests to the client.
async fn run_live<R: ResultObject>(
    invocation: Invocation,
    mut handler: impl RoundHandler<R>,
    map_result: ResultMapper<R>,
) -> Reply {
    let invocation = Arc::new(invocation);
    let _guard = InvocationGuard(Arc::clone(&invocation));
    let work = handler.run(Arc::clone(&invocation));
    let end = with_timeout(invocation.limits.timeout, Duration::ZERO, work).await;
    let request = &invocation.request;
    match map_result(end.and_then(|end| end), &request.context) {
        Ok(result) => request.encode_reply(result),
        Err(error) => Reply::Error(error),
    }
}

/// Runs the future with a timeout, of which some time has elapsed.
pub(crate) async fn with_timeout<T>(
    limit: Option<Duration>,
    elapsed: Duration,
    work: impl Future<Output = T>,
) -> Result<T> {
    let Some(after) = limit else {
        return Ok(work.await);
    };
    let timeout_error = || {
        let message = format!("timed out after {after:?}");
        Error::with_kind(ErrorKind::Timeout { after }, message)
    };
    let left = after.saturating_sub(elapsed);
    if left.is_zero() {
        return Err(timeout_error());
    }
    tokio::time::timeout(left, work)
        .await
        .map_err(|_| timeout_error())
}

impl<R: ResultObject> RoundEnd<R> {
    /// Records the end of a later round, if it ended the conversation. Returns
    /// the reply that was recorded first.
    async fn record<H>(
        self,
        invocation: &Arc<Invocation>,
        handler: &mut impl RoundHandler<H>,
    ) -> RecordedRound {
        let Some(journal) = &invocation.journal else {
            let error = errors::internal_error("a later round has a journal");
            return RecordedRound::Retryable(error);
        };
        let stored = match self.outcome.into_recorded(&invocation.request.context) {
            RecordedRound::Ended(stored) => stored,
            other => {
                journal.release().await;
                return other;
            }
        };
        let Ok(encoded_reply) = serde_json::to_vec(&stored) else {
            journal.release().await;
            return RecordedRound::Ended(stored);
        };
        // Before the cleanup, so a crash in it is visible in the journal.
        let started_steps = self.cleanup_input.iter().map(|_| CLEANUP.into()).collect();
        match journal.record_end(&encoded_reply, started_steps).await {
            Ok(EndOutcome::Recorded) => {
                clean_up(invocation, handler, self.cleanup_input).await;
                RecordedRound::Ended(stored)
            }
            Ok(EndOutcome::AlreadyEnded(answer)) => {
                RecordedRound::Ended(StoredReply::decode(&answer))
            }
            Err(error) => RecordedRound::Retryable(error),
        }
    }
}

/// Releases the value of the first phase, unless a later phase has started.
async fn clean_up<R>(
    invocation: &Arc<Invocation>,
    handler: &mut impl RoundHandler<R>,
    cleanup_input: Option<RawJson>,
) {
    if let Some(cleanup_input) = cleanup_input
        && invocation.begin_final_phase()
        && let Some(cleanup) = handler.cleanup(&cleanup_input, invocation)
    {
        let _busy = invocation.lifecycle.begin_work();
        // The reason why the conversation ended is more important.
        let _ = run_as_step(cleanup).await;
    }
}
