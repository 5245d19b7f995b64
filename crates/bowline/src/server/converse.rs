//! Running what may ask: live, or round by round.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::{
    error::{Error, ErrorKind, Result},
    limits::Limits,
    replay::{
        course::{Course, End, Round},
        journal::{Entry, Outcome},
        perform::{Performance, perform},
        refusal::expired,
        round::{Brought, Caller, Resumed},
        stage::{Fault, PutOff, Script, Stage},
        state::{Thread, account, binding},
    },
    request::{Request, answer},
    service::Core,
    talk::{
        call::{Call, EndOfCall},
        presence::{Presence, Staying},
        step::as_a_step,
        voice::Voice,
    },
    tool::handoff::{AFTER, BEFORE, CLEANUP},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, RequestId},
        model::{InputRequiredResult, ResultObject},
        revision::Era,
        server::{Reply, RequestContext, encode_result, errors},
    },
    transport::BoxFuture,
};

/// What is to be run.
pub(super) struct Task {
    pub(super) name: Box<str>,
    /// The arguments, as they came.
    pub(super) arguments: Option<Bytes>,
    pub(super) limits: Limits,
    pub(super) brought: Brought,
}

/// Whoever does the work.
pub(super) trait Handler<R>: Send + 'static {
    /// Begins the work. It is done once.
    fn run(&mut self, call: Arc<Call>) -> BoxFuture<'static, Result<R>>;

    /// What to do with the value of the first phase where the last is not
    /// reached, for work in phases.
    fn cleanup(&mut self, before: &RawJson, call: &Arc<Call>) -> Option<Cleanup> {
        let _ = (before, call);
        None
    }
}

/// What is done with what the first phase holds.
pub(super) type Cleanup = BoxFuture<'static, Result<()>>;

/// Work without phases.
pub(super) struct Whole<F>(pub(super) Option<F>);

impl<R, F> Handler<R> for Whole<F>
where
    F: FnOnce(Arc<Call>) -> BoxFuture<'static, Result<R>> + Send + 'static,
{
    fn run(&mut self, call: Arc<Call>) -> BoxFuture<'static, Result<R>> {
        match self.0.take() {
            Some(work) => work(call),
            None => Box::pin(async { Err(Error::internal("it is done already")) }),
        }
    }
}

/// What the client is told of how something ended.
pub(super) type Settle<R> = fn(Result<R>, &RequestContext) -> Result<R, ErrorObject>;

/// How one round ended, and what is to be done about it.
struct Ended<R> {
    round: How<R>,
    /// What the first phase holds and is to be released, since no later one is
    /// reached.
    held: Option<RawJson>,
}

/// How one round ended.
enum How<R> {
    Complete(R),
    Suspended(InputRequiredResult),
    /// What was run ended with an error of the protocol.
    Refused(ErrorObject),
    /// The round came to no end. It may be played again.
    Broken(ErrorObject),
}

/// A round that is to be played.
struct Play<R, H> {
    call: Arc<Call>,
    /// How long the conversation had been going on when the round was played
    /// first.
    spent: Duration,
    handler: H,
    settle: Settle<R>,
}

/// Runs something that may ask, in the way of the era. What must come to its
/// end does, although the caller leaves.
pub(super) fn converse<R: ResultObject + Send + 'static>(
    core: Arc<Core>,
    request: Request,
    voice: Voice,
    task: Task,
    handler: impl Handler<R>,
    settle: Settle<R>,
) -> Staying {
    let background = Arc::clone(&core.background);
    let sender = request.sender.clone();
    Staying::new(&background, sender, move |presence| {
        Box::pin(core.converse(request, voice, task, handler, settle, presence))
    })
}

impl Core {
    async fn converse<R: ResultObject>(
        self: Arc<Self>,
        request: Request,
        voice: Voice,
        task: Task,
        handler: impl Handler<R>,
        settle: Settle<R>,
        presence: Arc<Presence>,
    ) -> Reply {
        let Request {
            id,
            method,
            context,
            principal,
            granted,
            ..
        } = request;
        let principal = principal.as_ref();
        let arguments = task.arguments.as_deref();
        let named = principal.map(|principal| &**principal);
        let binding = || binding(named, &method, &task.name, arguments);
        let clock = Arc::clone(&self.replay.clock);
        let mut call = Call::new(context, task.name.clone(), voice, task.limits, clock);
        call.principal = principal.cloned();
        call.granted = granted;
        call.presence = presence;
        if !call.is_replayed() {
            let ended = live(call, handler, settle).await;
            return ended.0.into_reply(&ended.1.context, &id);
        }
        let Some(state) = &task.brought.state else {
            call.stage = Some(Stage::first(task.brought.answers));
            let began = (self.replay.clock)();
            let mut play = Play {
                call: Arc::new(call),
                spent: Duration::ZERO,
                handler,
                settle,
            };
            let life = self.replay.life;
            let thread = |call: &Call| self.replay.begin(binding(), call.id().into(), began);
            let Ended { round, held } = self.play(&mut play, life, thread).await;
            clean_up(&play.call, &mut play.handler, held).await;
            return round.into_reply(&play.call.context, &id);
        };
        let caller = Caller {
            binding: &binding(),
            account: account(named),
            presence: &call.presence,
        };
        let resumed = self.replay.resume(caller, state, &task.brought.answers);
        match resumed.await {
            Ok(resumed) if resumed.is_expired => self.end_late(call, resumed, handler).await,
            Ok(resumed) => Box::pin(self.go_on(call, resumed, handler, settle)).await,
            Err(error) => Reply::Error(error),
        }
    }

    /// A later round. Who repeats one that was the last gets its answer again.
    async fn go_on<R: ResultObject>(
        &self,
        mut call: Call,
        resumed: Resumed,
        handler: impl Handler<R>,
        settle: Settle<R>,
    ) -> Reply {
        let thread = resumed.thread;
        let round = resumed.place.open(waiting(&call)).await;
        let (course, since) = match round {
            Ok(Round::Play(course, since)) => (course, since),
            Ok(Round::Played(answer)) => return Stored::reply(&answer),
            Err(error) => return Reply::Error(error),
        };
        let delay = course.delay();
        if !delay.is_zero() {
            let clock = Arc::clone(&self.replay.clock);
            call.clock = Arc::new(move || clock().checked_sub(delay).unwrap_or_else(&*clock));
        }
        let spent = thread.age(course.now());
        call.is_called(thread.nonce.clone());
        call.stage = Some(Stage::resumed(Script {
            before: resumed.before,
            answers: resumed.answers,
            since,
        }));
        call.course = Some(course);
        let mut play = Play {
            call: Arc::new(call),
            spent,
            handler,
            settle,
        };
        let left = self.replay.left(&thread).unwrap_or_default();
        let ended = self.play(&mut play, left, |_| thread).await;
        ended.conclude(&play.call, &mut play.handler).await
    }

    /// Plays a round as far as it goes, some time after the conversation began,
    /// which may go on for so long.
    async fn play<R: ResultObject>(
        &self,
        play: &mut Play<R, impl Handler<R>>,
        left: Duration,
        thread: impl FnOnce(&Call) -> Thread,
    ) -> Ended<R> {
        let call = Arc::clone(&play.call);
        let _end = EndOfCall(Arc::clone(&call));
        let Some(stage) = &call.stage else {
            let error = errors::internal("there is no stage to play on");
            return How::Broken(error).into();
        };
        let work = play.handler.run(Arc::clone(&call));
        let performed = perform(stage, call.course.as_ref(), work);
        let performed = with_lease(&call, attended(&call, stage, left, performed));
        match within(call.limits.time, play.spent, performed).await {
            Err(late) => play.early(play.settle(Err(late)), &[]),
            Ok(Performance::Ended(end)) => play.settle(end).into(),
            Ok(Performance::Failed(Fault::Expired)) => play.early(How::Refused(expired()), &[]),
            Ok(Performance::Failed(fault)) => How::Broken(fault.explain()).into(),
            Ok(Performance::Suspended(kept)) => {
                let thread = thread(&call);
                match self.replay.left(&thread) {
                    Some(left) => {
                        let held = play.held(&kept.journal);
                        self.suspend(&call, held, thread, left, kept).await
                    }
                    None => play.early(How::Refused(expired()), &kept.journal),
                }
            }
        }
    }

    /// Hands a state out, for the next round. If that cannot be done for a
    /// first round, or nobody is there to take it, nobody can go on.
    async fn suspend<R>(
        &self,
        call: &Call,
        held: Option<RawJson>,
        thread: Thread,
        left: Duration,
        kept: PutOff,
    ) -> Ended<R> {
        let _busy = call.presence.busy();
        let held = held.filter(|_| call.course.is_none());
        let position = call.course.as_ref().map_or(0, Course::position);
        let account = account(call.principal.as_deref());
        let suspended = self.replay.suspend(thread, left, &account, position, kept);
        match suspended.await {
            Ok(question) => Ended {
                round: How::Suspended(question),
                held: held.filter(|_| call.presence.has_left()),
            },
            Err(error) => Ended {
                round: How::Broken(error),
                held,
            },
        }
    }

    /// Ends a conversation whose state came back too late, if it has not ended
    /// and that can be known: what its first phase holds is released.
    async fn end_late<R>(
        &self,
        mut call: Call,
        resumed: Resumed,
        mut handler: impl Handler<R>,
    ) -> Reply {
        let before = resumed.before.iter().find(|it| *it.id == *BEFORE);
        let Some(Entry {
            outcome: Outcome::Value(before),
            ..
        }) = before
        else {
            return Reply::Error(expired());
        };
        let course = match resumed.place.open_to_end(&[AFTER, CLEANUP]).await {
            Ok(Some(course)) => course,
            Ok(None) => return Reply::Error(expired()),
            Err(error) => return Reply::Error(error),
        };
        call.course = Some(course);
        call.is_called(resumed.thread.nonce);
        let call = Arc::new(call);
        let _end = EndOfCall(Arc::clone(&call));
        let ended = Ended::<InputRequiredResult> {
            round: How::Refused(expired()),
            held: Some(before.clone()),
        };
        ended.conclude(&call, &mut handler).await
    }
}

impl<R: ResultObject, H: Handler<R>> Play<R, H> {
    /// What was run came to its end.
    fn settle(&self, end: Result<R>) -> How<R> {
        let context = &self.call.context;
        let lacks = matches!(&end, Err(error) if error.is_capability());
        match (self.settle)(end, context) {
            Ok(result) => How::Complete(result),
            // The client may declare it when it comes again.
            Err(error) if lacks && context.era() == Era::Stateless => How::Broken(error),
            Err(error) => How::Refused(error),
        }
    }

    /// The conversation ends here, and not where it would have, so that what its
    /// first phase holds is to be released. This much of it is known besides
    /// what its stage knows.
    fn early(&self, round: How<R>, told: &[Entry]) -> Ended<R> {
        let held = self.held(told);
        Ended { round, held }
    }

    /// What the first phase holds, if no later one has begun.
    fn held(&self, told: &[Entry]) -> Option<RawJson> {
        let stage = self.call.stage.as_ref()?;
        let outcome = |id: &str| {
            let told = told.iter().find(|entry| *entry.id == *id);
            told.map(|entry| entry.outcome.clone())
                .or_else(|| stage.outcome(id))
        };
        if outcome(AFTER).is_some() || outcome(CLEANUP).is_some() {
            return None;
        }
        match outcome(BEFORE)? {
            Outcome::Value(before) => Some(before),
            _ => None,
        }
    }
}

/// Tells the client that another node works on its request.
fn waiting(call: &Call) -> impl Fn() {
    let times = std::sync::atomic::AtomicU32::new(0);
    move || {
        let times = times.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        // Far less than any work will say of itself afterwards.
        let progress = f64::from(times) / 1e6;
        let message = "Another node works on this request";
        call.voice.progress(progress, None, Some(message));
    }
}

/// Lets nothing new begin once the caller has left, or the time of the
/// conversation is over.
async fn attended<T>(
    call: &Call,
    stage: &Stage,
    left: Duration,
    performed: impl Future<Output = T>,
) -> T {
    let mut performed = pin!(performed);
    let mut expiry = pin!(sleep(left));
    let mut is_expired = false;
    poll_fn(|cx| {
        if call.presence.has_left() {
            stage.wind_down(Fault::Abandoned);
        }
        if let Poll::Ready(ended) = performed.as_mut().poll(cx) {
            return Poll::Ready(ended);
        }
        if !is_expired && expiry.as_mut().poll(cx).is_ready() {
            is_expired = true;
            stage.wind_down(Fault::Expired);
            return performed.as_mut().poll(cx);
        }
        Poll::Pending
    })
    .await
}

/// Keeps the lease of the conversation's journal meanwhile, if it has one.
async fn with_lease<T>(call: &Call, performed: impl Future<Output = T>) -> T {
    let Some(course) = &call.course else {
        return performed.await;
    };
    tokio::select! {
        biased;
        performed = performed => performed,
        never = course.keep_lease() => match never {},
    }
}

/// Runs something that asks its client directly.
async fn live<R: ResultObject>(
    call: Call,
    mut handler: impl Handler<R>,
    settle: Settle<R>,
) -> (How<R>, Arc<Call>) {
    let call = Arc::new(call);
    let _end = EndOfCall(Arc::clone(&call));
    let work = handler.run(Arc::clone(&call));
    let end = within(call.limits.time, Duration::ZERO, work).await;
    let end = end.and_then(|end| end);
    let ended = match settle(end, &call.context) {
        Ok(result) => How::Complete(result),
        Err(error) => How::Refused(error),
    };
    (ended, call)
}

/// The work, with a limit on its time, of which some is spent.
pub(super) async fn within<T>(
    limit: Option<Duration>,
    spent: Duration,
    work: impl Future<Output = T>,
) -> Result<T> {
    let Some(after) = limit else {
        return Ok(work.await);
    };
    let late = || {
        let message = format!("it did not come to its end within {after:?}");
        Error::of(ErrorKind::Timeout { after }, message)
    };
    let left = after.saturating_sub(spent);
    if left.is_zero() {
        return Err(late());
    }
    tokio::time::timeout(left, work).await.map_err(|_| late())
}

impl<R> From<How<R>> for Ended<R> {
    fn from(round: How<R>) -> Self {
        Self { round, held: None }
    }
}

impl<R: ResultObject> Ended<R> {
    /// Writes down how a later round ended, if the conversation did. Its answer
    /// is what was written first.
    async fn conclude<H>(self, call: &Arc<Call>, handler: &mut impl Handler<H>) -> Reply {
        let Some(course) = &call.course else {
            return Reply::Error(errors::internal("a later round has a journal"));
        };
        let is_last = matches!(self.round, How::Complete(_) | How::Refused(_));
        let stored = self.round.store(&call.context);
        let written = match serde_json::to_vec(&stored) {
            Ok(written) if is_last => written,
            _ => {
                course.release().await;
                return stored.into_reply();
            }
        };
        // First, so that it is known wherever it is cut off.
        let begun = self.held.iter().map(|_| CLEANUP.into()).collect();
        match course.end(&written, begun).await {
            Ok(End::Ours) => {
                clean_up(call, handler, self.held).await;
                stored.into_reply()
            }
            Ok(End::Before(answer)) => Stored::reply(&answer),
            Err(error) => Reply::Error(error),
        }
    }
}

/// Releases what the first phase holds, unless a later one has begun.
async fn clean_up<R>(call: &Arc<Call>, handler: &mut impl Handler<R>, held: Option<RawJson>) {
    if let Some(held) = held
        && call.begin_last_phase()
        && let Some(cleanup) = handler.cleanup(&held, call)
    {
        let _busy = call.presence.busy();
        // Why the conversation ended matters more.
        let _ = as_a_step(cleanup).await;
    }
}

impl<R: ResultObject> How<R> {
    fn into_reply(self, context: &RequestContext, id: &RequestId) -> Reply {
        match self {
            Self::Complete(result) => answer(context, id, result),
            Self::Suspended(question) => answer(context, id, question),
            Self::Refused(error) | Self::Broken(error) => Reply::Error(error),
        }
    }

    fn store(self, context: &RequestContext) -> Stored {
        let encoded = match self {
            Self::Complete(result) => encode_result(context, result),
            Self::Suspended(question) => encode_result(context, question),
            Self::Refused(error) | Self::Broken(error) => return Stored::Error(error),
        };
        match encoded {
            Ok(result) => Stored::Result(result),
            Err(error) => Stored::Error(errors::internal(&error.to_string())),
        }
    }
}

/// An answer that may be given again.
#[derive(Clone, Serialize, Deserialize)]
enum Stored {
    #[serde(rename = "r")]
    Result(RawJson),
    #[serde(rename = "e")]
    Error(ErrorObject),
}

impl Stored {
    fn into_reply(self) -> Reply {
        match self {
            Self::Result(result) => Reply::Result(result),
            Self::Error(error) => Reply::Error(error),
        }
    }

    fn reply(written: &Bytes) -> Reply {
        match serde_json::from_slice::<Self>(written) {
            Ok(stored) => stored.into_reply(),
            Err(error) => Reply::Error(errors::internal(&error.to_string())),
        }
    }
}
