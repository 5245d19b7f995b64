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
use tokio::sync::mpsc;

use super::{
    Body, Inner, answer,
    entry::Received,
    events::{Events, Source, event},
    post::{Modern, principal},
};
use crate::{
    contained::Contained,
    proto::{
        jsonrpc::{RawJson, RequestId, decode},
        model::{InputRequest, LogLevel, Number, method},
        server::{
            Config, Failure, Outcome, Reply, RequestContext, Telling, discovery, encode_response,
            errors, stateless::Rejection,
        },
    },
    server::{
        request::{Handled, Request},
        talk::voice::Voice,
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
) -> Response<Body> {
    if let Err(rejection) = check_params(inner, &modern) {
        return answer::rejection(Some(&modern.id), &rejection);
    }
    let (teller, mut told) = mpsc::unbounded_channel();
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
    };
    let limit = inner.handle.config().max_frame;
    let handle = Arc::clone(&inner.handle);
    let mut work = match handle.handle(request, Box::new(voice)) {
        Handled::Now(reply) => return whole(reply, &modern.id, limit),
        Handled::Later(work) => Contained(work),
    };
    let first = tokio::select! {
        biased;
        said = told.recv() => said,
        reply = &mut work => {
            let reply = reply.unwrap_or_else(|_| panicked());
            // What it said on its way must not be lost.
            match told.try_recv() {
                Err(_) => return whole(reply, &modern.id, limit),
                Ok(said) => {
                    work = Contained(Box::pin(std::future::ready(reply)));
                    Some(said)
                }
            }
        }
        () = tokio::time::sleep(inner.options.patience) => None,
    };
    let source = Answering {
        first,
        told,
        work: Some(work),
        id: modern.id,
        limit,
    };
    answer::stream(Events::new(source, inner.options.keep_alive))
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

fn panicked() -> Reply {
    Reply::Error(errors::internal(
        "The server failed at this: its handler panicked",
    ))
}

/// The work on a request, as a stream of events.
struct Answering {
    first: Option<Bytes>,
    told: mpsc::UnboundedReceiver<Bytes>,
    work: Option<Contained<Reply>>,
    id: RequestId,
    limit: usize,
}

impl Source for Answering {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(None, &first)));
        }
        if let Poll::Ready(Some(said)) = self.told.poll_recv(cx) {
            return Poll::Ready(Some(event(None, &said)));
        }
        let Some(work) = &mut self.work else {
            return Poll::Ready(None);
        };
        let reply = std::task::ready!(Pin::new(work).poll(cx));
        if let Ok(said) = self.told.try_recv() {
            let reply = reply.unwrap_or_else(|_| panicked());
            self.work = Some(Contained(Box::pin(std::future::ready(reply))));
            return Poll::Ready(Some(event(None, &said)));
        }
        self.work = None;
        let (frame, _) = reply
            .unwrap_or_else(|_| panicked())
            .encode(&self.id, self.limit);
        Poll::Ready(Some(event(None, &frame)))
    }
}

/// The way back to a client that waits for an answer over HTTP.
struct StreamVoice {
    inner: Arc<Inner>,
    context: RequestContext,
    telling: Mutex<Telling>,
    teller: mpsc::UnboundedSender<Bytes>,
}

impl Voice for StreamVoice {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) -> bool {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let config = self.inner.handle.config();
        let total = total.map(Number::from);
        let said = telling.progress(config, &self.context, progress, total, message);
        said.is_some_and(|said| self.teller.send(said).is_ok())
    }

    fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let config = self.inner.handle.config();
        let said = telling.log(config, &self.context, &level, logger, data);
        said.is_some_and(|said| self.teller.send(said).is_ok())
    }

    fn ask(&self, _: InputRequest, _: Option<Duration>) -> BoxFuture<'_, Outcome> {
        Box::pin(std::future::ready(Outcome::Failed(Failure::NotInThisEra)))
    }
}
