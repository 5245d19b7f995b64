//! Requests that speak for themselves: answered without a session, a task, or
//! a machine.

use std::{
    future::{Future as _, poll_fn},
    ops::ControlFlow,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::{
    Body, Inner,
    accounts::Place,
    answer::{self, Answer},
    entry::Received,
    events::{Events, Source, plain_event},
    pipe::{Receiver, Sender, pipe},
    post::{Modern, principal},
    protected::{self, Lifetime},
};
use crate::{
    contained::Contained,
    proto::{
        http::header::{decode_value, name, single},
        jsonrpc::{RawJson, RequestId, decode},
        model::{LogLevel, Number, method},
        server::{
            Config, Reply, RequestContext, Telling, discovery, encode_response, errors,
            stateless::Rejection,
        },
    },
    server::{
        auth::grant::Granted,
        request::{Handled, Request, SentBy, panicked},
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
/// Dropping the answer, or the stream, calls the request off.
pub(super) fn serve<'a>(
    inner: &'a Arc<Inner>,
    mut modern: Modern<'_>,
    context: RequestContext,
    place: Place,
) -> Answer<'a> {
    if let Err(rejection) = check_params(inner, &modern) {
        return answer::rejection(Some(&modern.id), &rejection).into();
    }
    // Somebody may work on it when the client has left.
    let place = Arc::new(place);
    let mut told = None;
    let mut voice = |request: &Request| {
        let (teller, receiver) = pipe();
        told = Some(receiver);
        Voice::Stream(Box::new(StreamVoice {
            inner: Arc::clone(inner),
            context: RequestContext::clone(&request.context),
            telling: Mutex::default(),
            teller,
        }))
    };
    let request = request(&mut modern, context, &place);
    let limit = inner.handle.config().max_frame;
    let handle = Arc::clone(&inner.handle);
    let work = match handle.handle(request, &mut voice) {
        Handled::Now(reply) => return whole(reply, &modern.id, limit).into(),
        Handled::Later(work) => Contained(work),
    };
    let mut answering = Answering {
        first: None,
        told,
        work: Some(work),
        reply: None,
        over: None,
        until: protected::until(modern.parts),
        inner: Arc::clone(inner),
        id: modern.id,
        limit,
        _place: place,
    };
    // It is asked again if that is not all, so that nobody need be woken.
    let unwatched = &mut Context::from_waker(Waker::noop());
    if let Poll::Ready(begun) = answering.poll_begun(unwatched) {
        return answering.go_on(begun).into();
    }
    Answer::later(async move {
        let begun = poll_fn(|cx| answering.poll_begun(cx));
        let begun = timeout(inner.options.patience, begun).await;
        answering.go_on(begun.ok().flatten())
    })
}

/// What the server is asked, in a place that counts until the work has ended.
fn request(modern: &mut Modern<'_>, context: RequestContext, place: &Arc<Place>) -> Request {
    Request {
        id: modern.id.clone(),
        method: modern.method.to_owned().into(),
        params: modern.params.take(),
        context: Box::new(context),
        principal: principal(modern.parts),
        granted: Granted::over_http(&modern.parts.extensions),
        sender: SentBy {
            caller: (&place.account().holder).into(),
            charge: Some(Arc::clone(place) as _),
        },
        allowance: None,
    }
}

/// Arguments that the tool wants mirrored must be, and must agree.
fn check_params(inner: &Inner, modern: &Modern<'_>) -> Result<(), Rejection> {
    if modern.method != method::TOOLS_CALL || !inner.handle.has_param_headers() {
        return Ok(());
    }
    // The header says what the body says, or the request was not admitted.
    let headers = Received(modern.parts);
    let Some(Ok(name)) = single(&headers, name::MCP_NAME)?.map(decode_value) else {
        return Ok(());
    };
    let Some(wanted) = inner.handle.param_headers(&name) else {
        return Ok(());
    };
    let params = modern.params.as_deref().unwrap_or(b"{}");
    // Whoever reads the params says what is wrong with them.
    if let Ok(call) = decode::<Call<'_>>(params) {
        let arguments = call.arguments.map(|raw| raw.get().as_bytes());
        wanted.check(&headers, arguments)?;
    }
    Ok(())
}

/// What a call brings, without being copied.
#[derive(Deserialize)]
struct Call<'a> {
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
    /// What is said on the way, where anything may be.
    told: Option<Receiver<Bytes>>,
    work: Option<Contained<Reply>>,
    /// The answer, while there is something to be said before it.
    reply: Option<Reply>,
    /// The server ends, and waits no longer; looked at by those who must wait.
    over: Option<BoxFuture<'static, ()>>,
    /// When a stream ends at the latest.
    until: Option<Lifetime>,
    inner: Arc<Inner>,
    id: RequestId,
    limit: usize,
    _place: Arc<Place>,
}

/// Something for the client.
enum Said {
    Notice(Bytes),
    Answer(Reply),
}

impl Answering {
    /// Waits until there is something to say. Gives the answer if that is all
    /// there will be.
    fn poll_begun(&mut self, cx: &mut Context<'_>) -> Poll<Option<Reply>> {
        let said = std::task::ready!(self.poll_said(cx));
        Poll::Ready(match said {
            Some(Said::Answer(reply)) => Some(reply),
            said => {
                self.first = said;
                None
            }
        })
    }

    /// Answers as a whole, or with all that is to be said.
    fn go_on(mut self, answer: Option<Reply>) -> Response<Body> {
        match answer {
            Some(reply) => whole(reply, &self.id, self.limit),
            None => {
                let keep_alive = self.inner.options.keep_alive;
                let until = self.until.take();
                answer::stream(Events::new(self, keep_alive).until(until))
            }
        }
    }

    fn poll_said(&mut self, cx: &mut Context<'_>) -> Poll<Option<Said>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(first));
        }
        if self.reply.is_none() {
            // After the answer nothing is said, whoever would.
            let Some(work) = &mut self.work else {
                return Poll::Ready(None);
            };
            if let Some(told) = &mut self.told
                && let Poll::Ready(Some(said)) = told.poll_recv(cx)
            {
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
            self.reply = Some(reply);
        }
        // What it said on its way must not be lost.
        let said = self.told.as_mut().and_then(Receiver::try_recv);
        let said = said.map(Said::Notice);
        Poll::Ready(said.or_else(|| self.reply.take().map(Said::Answer)))
    }
}

impl Source for Answering {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        let said = std::task::ready!(self.poll_said(cx));
        Poll::Ready(match said {
            Some(Said::Notice(notice)) => {
                plain_event(&notice, out);
                ControlFlow::Continue(())
            }
            Some(Said::Answer(reply)) => {
                plain_event(&reply.encode(&self.id, self.limit).0, out);
                ControlFlow::Break(())
            }
            None => ControlFlow::Break(()),
        })
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        plain_event(&protected::ended(&self.id), out);
    }
}

/// The way back to a client that waits for an answer over HTTP.
pub(crate) struct StreamVoice {
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

impl StreamVoice {
    pub(crate) fn progress(
        &self,
        progress: Number,
        total: Option<Number>,
        message: Option<&str>,
    ) -> bool {
        let context = &self.context;
        self.tell(|telling, config| telling.progress(config, context, progress, total, message))
    }

    pub(crate) fn log(&self, level: LogLevel, logger: Option<&str>, data: RawJson) -> bool {
        let context = &self.context;
        self.tell(move |telling, config| telling.log(config, context, &level, logger, data))
    }
}
