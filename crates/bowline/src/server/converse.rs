//! Running what may ask: live, or round by round.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::{
    error::{Error, ErrorKind, Result},
    limits::Limits,
    replay::{
        claims::Round,
        perform::{Performance, perform},
        round::{Brought, Resumed},
        stage::{PutOff, Stage},
        state::{Thread, binding},
    },
    request::{Request, answer},
    service::Core,
    talk::{
        call::{Call, EndOfCall},
        voice::Voice,
    },
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, RawJson, RequestId},
        model::{InputRequiredResult, ResultObject},
        server::{Reply, RequestContext, encode_result, errors},
    },
    transport::BoxFuture,
};

/// What is to be run.
pub(super) struct Task<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Option<&'a [u8]>,
    pub(super) limits: Limits,
    pub(super) brought: Brought,
}

/// What the client is told of how something ended.
pub(super) type Settle<R> = fn(Result<R>, &RequestContext) -> Result<R, ErrorObject>;

/// How one round ended.
enum Ended<R> {
    Complete(R),
    Suspended(InputRequiredResult),
    /// What was run ended with an error of the protocol.
    Refused(ErrorObject),
    /// The round came to no end. It may be played again.
    Broken(ErrorObject),
}

impl Core {
    /// Runs something that may ask, in the way of the era.
    pub(super) async fn converse<R: ResultObject>(
        &self,
        request: Request,
        voice: Voice,
        task: Task<'_>,
        work: impl FnOnce(Arc<Call>) -> BoxFuture<'static, Result<R>>,
        settle: Settle<R>,
    ) -> Reply {
        let Request {
            id,
            method,
            context,
            principal,
            granted,
            ..
        } = request;
        let binding = || binding(principal.as_deref(), &method, task.name, task.arguments);
        let clock = Arc::clone(&self.replay.clock);
        let mut call = Call::new(context, task.name.into(), voice, task.limits, clock);
        call.principal.clone_from(&principal);
        call.granted = granted;
        if !call.is_replayed() {
            let ended = live(call, work, settle).await;
            return ended.0.into_reply(&ended.1.context, &id);
        }
        let Some(state) = &task.brought.state else {
            call.stage = Some(Stage::offered(task.brought.answers));
            let begin = || self.replay.begin(binding());
            let ended = self.play(call, Duration::ZERO, begin, work, settle).await;
            return ended.0.into_reply(&ended.1.context, &id);
        };
        let binding = binding();
        let resumed = self.replay.resume(&binding, state, &task.brought.answers);
        match resumed.await {
            Ok(resumed) => self.go_on(call, resumed, work, settle).await,
            Err(error) => Reply::Error(error),
        }
    }

    /// A later round. Who repeats one that was the last gets its answer again.
    async fn go_on<R: ResultObject>(
        &self,
        mut call: Call,
        resumed: Resumed,
        work: impl FnOnce(Arc<Call>) -> BoxFuture<'static, Result<R>>,
        settle: Settle<R>,
    ) -> Reply {
        let claim = match self.replay.claim(&resumed).await {
            Ok(Round::Play(claim)) => claim,
            Ok(Round::Played(answer)) => return Stored::reply(&answer),
            Err(error) => return Reply::Error(error),
        };
        call.stage = Some(resumed.stage);
        call.claims = Some(resumed.claims);
        let (thread, spent) = (resumed.thread, resumed.age);
        let played = self.play(call, spent, || Ok(thread), work, settle);
        let (ended, call) = played.await;
        let last = matches!(ended, Ended::Complete(_) | Ended::Refused(_));
        let stored = ended.store(&call.context);
        let reply = stored.clone().into_reply();
        match serde_json::to_vec(&stored) {
            Ok(answer) if last => claim.keep(answer.into()).await,
            _ => claim.release().await,
        }
        reply
    }

    /// Plays a round as far as it goes, some time after the conversation began.
    async fn play<R: ResultObject>(
        &self,
        call: Call,
        spent: Duration,
        thread: impl FnOnce() -> Result<Thread, ErrorObject>,
        work: impl FnOnce(Arc<Call>) -> BoxFuture<'static, Result<R>>,
        settle: Settle<R>,
    ) -> (Ended<R>, Arc<Call>) {
        let call = Arc::new(call);
        let _end = EndOfCall(Arc::clone(&call));
        let Some(stage) = &call.stage else {
            let error = errors::internal("there is no stage to play on");
            return (Ended::Broken(error), call);
        };
        let performed = perform(stage, work(Arc::clone(&call)));
        let ended = match within(call.limits.time, spent, performed).await {
            Err(late) => Ended::of(settle(Err(late), &call.context)),
            Ok(Performance::Ended(end)) => Ended::of(settle(end, &call.context)),
            Ok(Performance::Failed(fault)) => Ended::Broken(fault.explain()),
            Ok(Performance::Suspended(kept)) => match self.suspend(thread(), kept).await {
                Ok(question) => Ended::Suspended(question),
                Err(error) => Ended::Broken(error),
            },
        };
        (ended, call)
    }

    async fn suspend(
        &self,
        thread: Result<Thread, ErrorObject>,
        kept: PutOff,
    ) -> Result<InputRequiredResult, ErrorObject> {
        self.replay.suspend(&thread?, kept).await
    }
}

/// Runs something that asks its client directly.
async fn live<R: ResultObject>(
    call: Call,
    work: impl FnOnce(Arc<Call>) -> BoxFuture<'static, Result<R>>,
    settle: Settle<R>,
) -> (Ended<R>, Arc<Call>) {
    let call = Arc::new(call);
    let _end = EndOfCall(Arc::clone(&call));
    let work = work(Arc::clone(&call));
    let end = within(call.limits.time, Duration::ZERO, work).await;
    let end = end.and_then(|end| end);
    (Ended::of(settle(end, &call.context)), call)
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

impl<R: ResultObject> Ended<R> {
    fn of(settled: Result<R, ErrorObject>) -> Self {
        match settled {
            Ok(result) => Self::Complete(result),
            Err(error) => Self::Refused(error),
        }
    }

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
