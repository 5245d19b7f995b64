//! Requests that speak for themselves: answered without a session, a task, or
//! a machine.

use std::{
    borrow::Cow,
    future::Future as _,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    Body, Inner, answer,
    entry::Received,
    events::{Events, Source, event},
    pipe::{Receiver, Sender, pipe},
    post::{Modern, principal},
};
use crate::{
    contained::Contained,
    proto::{
        jsonrpc::{RawJson, RequestId, decode},
        model::{InputRequest, LogLevel, method},
        server::{
            Config, Failure, Outcome, Reply, RequestContext, Telling, discovery, encode_response,
            errors, stateless::Rejection,
        },
    },
    server::{
        auth::grant::Granted,
        request::{Handled, Request, panicked},
        talk::voice::{Voice, number},
    },
    transport::BoxFuture,
};

/// Says who we are.
pub(super) fn discover(
    config: &Config,
    id: &RequestId,
    context: &RequestContext,
) -> Response<Body> {
    match encode_response(context, id, discovery(config)) {
        Ok(frame) => answer::json(StatusCode::OK, frame),
        Err(error) => {
            let error = errors::internal(&error.to_string());
            answer::refusal(StatusCode::OK, Some(id), &error)
        }
    }
}

/// Answers with JSON if nothing else is to be said, with a stream otherwise.
/// Dropping this, or the stream, calls the request off.
pub(super) async fn serve(
    inner: &Arc<Inner>,
    modern: Modern<'_>,
    context: RequestContext,
    place: OwnedSemaphorePermit,
) -> Response<Body> {
    if let Err(rejection) = check_params(inner, &modern) {
        return answer::rejection(Some(&modern.id), &rejection);
    }
    let (teller, told) = pipe();
    let voice = StreamVoice {
        inner: Arc::clone(inner),
        context: context.clone(),
        telling: Mutex::default(),
        teller,
    };
    let request = Request {
        id: modern.id.clone(),
        method: modern.method.to_owned().into(),
        params: modern.params,
        context: Box::new(context),
        principal: principal(modern.parts),
        granted: Granted::over_http(&modern.parts.extensions),
    };
    let limit = inner.handle.config().max_frame;
    let handle = Arc::clone(&inner.handle);
    let work = match handle.handle(request, Box::new(voice)) {
        Handled::Now(reply) => return whole(reply, &modern.id, limit),
        Handled::Later(work) => Contained(work),
    };
    let mut answering = Answering {
        first: None,
        told,
        work: Some(work),
        over: None,
        inner: Arc::clone(inner),
        id: modern.id,
        limit,
        _place: place,
    };
    let patience = tokio::time::timeout(inner.options.patience, answering.begin());
    if let Ok(Some(reply)) = patience.await {
        return whole(reply, &answering.id, limit);
    }
    answer::stream(Events::new(answering, inner.options.keep_alive))
}

/// Arguments that the tool wants mirrored must be, and must agree.
fn check_params(inner: &Inner, modern: &Modern<'_>) -> Result<(), Rejection> {
    if modern.method != method::TOOLS_CALL {
        return Ok(());
    }
    let params = modern.params.as_deref().unwrap_or(b"{}");
    let Ok(call) = decode::<Named<'_>>(params) else {
        // Whoever reads the params says what is wrong with them.
        return Ok(());
    };
    if let Some(headers) = inner.handle.param_headers(&call.name) {
        let arguments = call.arguments.map(|raw| raw.get().as_bytes());
        headers.check(&Received(modern.parts), arguments)?;
    }
    Ok(())
}

/// What a call names, without being copied.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
}

fn whole(reply: Reply, id: &RequestId, limit: usize) -> Response<Body> {
    let (frame, error) = reply.encode(id, limit);
    let status = error.map_or(200, |error| errors::http_status(&error));
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
    answer::json(status, frame)
}

/// The work on a request, as a stream of events.
struct Answering {
    first: Option<Said>,
    told: Receiver<Bytes>,
    work: Option<Contained<Reply>>,
    /// The server ends, and waits no longer; looked at by those who must wait.
    over: Option<BoxFuture<'static, ()>>,
    inner: Arc<Inner>,
    id: RequestId,
    limit: usize,
    _place: OwnedSemaphorePermit,
}

/// Something for the client.
enum Said {
    Notice(Bytes),
    Answer(Reply),
}

impl Answering {
    /// Waits until there is something to say. Gives the answer if that is all
    /// there will be.
    async fn begin(&mut self) -> Option<Reply> {
        match std::future::poll_fn(|cx| self.poll_said(cx)).await? {
            Said::Answer(reply) => Some(reply),
            said @ Said::Notice(_) => {
                self.first = Some(said);
                None
            }
        }
    }

    fn poll_said(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        // After the answer nothing is said, whoever would.
        let Some(work) = &mut self.work else {
            return Poll::Ready(None);
        };
        if let Poll::Ready(Some(said)) = self.told.poll_recv(cx) {
            return Poll::Ready(Some(Said::Notice(said)));
        }
        let reply = match Pin::new(work).poll(cx) {
            Poll::Ready(reply) => reply.unwrap_or_else(|_| panicked()),
            Poll::Pending => {
                let stopping = self.inner.stopping();
                let over = self.over.get_or_insert_with(|| Box::pin(stopping.over()));
                std::task::ready!(over.as_mut().poll(cx));
                Reply::Error(errors::internal("The server is shutting down"))
            }
        };
        self.work = None;
        // What it said on its way must not be lost.
        match self.told.try_recv() {
            None => Poll::Ready(Some(Said::Answer(reply))),
            Some(said) => {
                let reply = std::future::ready(reply);
                self.work = Some(Contained(Box::pin(reply)));
                Poll::Ready(Some(Said::Notice(said)))
            }
        }
    }
}

impl Source for Answering {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let said = std::task::ready!(self.poll_said(cx));
        Poll::Ready(said.map(|said| match said {
            Said::Notice(notice) => event(None, &notice),
            Said::Answer(reply) => event(None, &reply.encode(&self.id, self.limit).0),
        }))
    }
}

/// The way back to a client that waits for an answer over HTTP.
struct StreamVoice {
    inner: Arc<Inner>,
    context: RequestContext,
    telling: Mutex<Telling>,
    teller: Sender<Bytes>,
}

impl StreamVoice {
    /// Tells the client something that it can do without.
    fn tell(&self, say: impl FnOnce(&mut Telling, &Config) -> Option<Bytes>) -> bool {
        if self.teller.is_behind() {
            return false;
        }
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let said = say(&mut telling, self.inner.handle.config());
        said.is_some_and(|said| self.teller.send(said))
    }
}

impl Voice for StreamVoice {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let (progress, total) = (number(progress), total.map(number));
        let context = &self.context;
        self.tell(|telling, config| telling.progress(config, context, progress, total, message))
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let context = &self.context;
        self.tell(|telling, config| telling.log(config, context, &level, logger, data))
    }

    fn ask(&self, _: InputRequest, _: Option<Duration>) -> BoxFuture<'_, Outcome> {
        Box::pin(std::future::ready(Outcome::Failed(Failure::NotInThisEra)))
    }
}
