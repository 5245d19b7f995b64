//! One session of the older revisions.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, request::Parts};
use tokio::time::Instant;

use super::{
    Body, Inner, answer,
    entry::{Received, told},
    events::{Events, Source, event, prime},
    post::principal,
    streams::{Message, Reader, Streams},
};
use crate::{
    proto::{
        http::{
            Accept, Headers as _, SessionId, SessionRefusal, SessionUse,
            header::{name, read_version},
            read_session,
            resume::EventId,
        },
        jsonrpc::{Envelope, Messages, scan, split},
        model::method,
        revision::{HttpShape, Revision},
        server::{Connection, Incoming, Input},
    },
    server::{
        replay::journal::hex,
        request::Handle,
        seal::random_bytes,
        serve::{Outlet, Shared},
    },
};

/// A session, with a machine of its own.
pub(super) struct Session {
    pub(super) id: SessionId,
    principal: Option<Arc<str>>,
    shared: Arc<Shared>,
    streams: Arc<Mutex<Streams>>,
    used: Mutex<Instant>,
}

/// Where the machine's frames go.
struct SessionOutlet(Arc<Mutex<Streams>>);

impl Outlet for SessionOutlet {
    fn send(&mut self, about: Option<Incoming>, answer: bool, frame: Bytes) {
        lock(&self.0).send(about, answer, frame);
    }

    fn pause(&mut self, request: Incoming) -> bool {
        lock(&self.0).pause(request)
    }
}

fn lock(streams: &Mutex<Streams>) -> MutexGuard<'_, Streams> {
    // Nothing that holds the lock can panic halfway.
    streams.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn new(handle: &Arc<dyn Handle>, id: SessionId, principal: Option<Arc<str>>) -> Arc<Self> {
        let incarnation = u64::from_le_bytes(random_bytes());
        let streams = Arc::new(Mutex::new(Streams::new(incarnation)));
        let machine = Connection::new(handle.config().clone());
        let outlet = Box::new(SessionOutlet(Arc::clone(&streams)));
        let serving = handle.serving().clone();
        let shared = Shared::with_outlet(machine, outlet, serving, principal.clone());
        handle.connections().register(&shared);
        Arc::new(Self {
            id,
            principal,
            shared,
            streams,
            used: Mutex::new(Instant::now()),
        })
    }

    fn touch(&self) {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// When the session is to be closed, if nothing happens until then.
    pub(super) fn expires(&self, idle: Duration) -> Instant {
        let used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if lock(&self.streams).is_used() {
            return Instant::now() + idle;
        }
        *used + idle
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn close(&self) {
        self.shared
            .command(|machine, now| machine.handle(now, Input::Closed));
        lock(&self.streams).close();
    }

    fn revision(&self) -> Option<Revision> {
        let read = |machine: &mut Connection, _| machine.session().map(|(revision, _)| revision);
        self.shared.command(read)
    }

    /// Takes in what was posted; says where its answers can be read.
    fn post(&self, handle: &Arc<dyn Handle>, body: Bytes) -> Reader {
        let reader = self.shared.take_in(
            handle,
            |machine, now| {
                let reader = lock(&self.streams).take_in();
                machine.handle(now, Input::Frame(body));
                reader
            },
            |requests| lock(&self.streams).taken_in(requests),
        );
        self.touch();
        reader
    }
}

/// What is posted to sessions.
impl Inner {
    pub(super) async fn post_to_session(
        self: &Arc<Self>,
        parts: &Parts,
        body: Bytes,
    ) -> Response<Body> {
        let opens = opens_session(&body);
        let session = match self.find(parts, opens) {
            Ok(Some(session)) => session,
            Ok(None) if opens => return self.open_session(parts, body).await,
            Ok(None) => return refused(SessionRefusal::Missing),
            Err(refusal) => return refused(refusal),
        };
        if let Some(response) = wrong_version(parts) {
            return response;
        }
        let reader = session.post(&self.handle, body);
        self.read_answer(&session, reader).await
    }

    async fn open_session(self: &Arc<Self>, parts: &Parts, body: Bytes) -> Response<Body> {
        let Some(place) = self.sessions.place() else {
            let why = "too many sessions are open";
            return told(StatusCode::SERVICE_UNAVAILABLE, why);
        };
        let id = SessionId::new(&hex(&random_bytes::<16>()));
        let Ok(id) = id else {
            return told(StatusCode::INTERNAL_SERVER_ERROR, "there is no id");
        };
        let session = Session::new(&self.handle, id, principal(parts));
        let reader = session.post(&self.handle, body);
        let opened = session.revision().is_some();
        let mut response = self.read_answer(&session, reader).await;
        if opened {
            if let Ok(id) = HeaderValue::from_str(session.id.as_str()) {
                let name = HeaderName::from_static(name::MCP_SESSION_ID);
                response.headers_mut().insert(name, id);
            }
            self.sessions.add(&session, place);
        }
        response
    }

    /// One answer is JSON; what needs more, or takes long, is a stream.
    async fn read_answer(
        self: &Arc<Self>,
        session: &Arc<Session>,
        mut reader: Reader,
    ) -> Response<Body> {
        let patience = tokio::time::timeout(self.options.patience, reader.recv());
        let first = match patience.await {
            Ok(None) => return answer::empty(StatusCode::ACCEPTED),
            Ok(Some(Message::Frame { id, last, frame })) if last || reader.is_over() => {
                if let Some(id) = id {
                    lock(&session.streams).forget_recording(id);
                }
                return answer::json(StatusCode::OK, frame);
            }
            Ok(first) => first,
            Err(_) => None,
        };
        let primed = self.prime(session, &reader);
        self.stream(session, reader, primed, first)
    }

    fn stream(
        &self,
        session: &Arc<Session>,
        reader: Reader,
        primed: Option<Bytes>,
        first: Option<Message>,
    ) -> Response<Body> {
        let source = SessionStream {
            primed,
            first,
            reader,
            session: Arc::clone(session),
            over: false,
        };
        answer::stream(Events::new(source, self.options.keep_alive))
    }

    /// The event that a stream begins with, on revisions that have it.
    fn prime(&self, session: &Session, reader: &Reader) -> Option<Bytes> {
        let shape = session.revision()?.rules().http;
        let polling = matches!(shape, HttpShape::Streamable { polling: true });
        let id = reader.prime.filter(|_| polling)?;
        Some(prime(&id.to_string(), self.options.retry))
    }
}

/// GET and DELETE.
impl Inner {
    /// The stream of the server's own, or one that broke off.
    pub(super) fn listen_to_session(self: &Arc<Self>, parts: &Parts) -> Response<Body> {
        if !Accept::read(&Received(parts)).event_stream {
            let why = "Accept must allow text/event-stream";
            return told(StatusCode::NOT_ACCEPTABLE, why);
        }
        let session = match self.find(parts, false) {
            Ok(Some(session)) => session,
            Ok(None) => return refused(SessionRefusal::Missing),
            Err(refusal) => return refused(refusal),
        };
        session.touch();
        let received = Received(parts);
        let Some(last) = received.values(name::LAST_EVENT_ID).next() else {
            let reader = lock(&session.streams).open_own();
            let primed = self.prime(&session, &reader);
            return self.stream(&session, reader, primed, None);
        };
        let resumed = EventId::parse(last).map(|cursor| lock(&session.streams).resume(cursor));
        match resumed {
            Some(Ok(reader)) => self.stream(&session, reader, None, None),
            Some(Err(miss)) => told(StatusCode::BAD_REQUEST, &miss.to_string()),
            None => told(StatusCode::BAD_REQUEST, "Last-Event-ID is none of ours"),
        }
    }

    pub(super) fn end_session(self: &Arc<Self>, parts: &Parts) -> Response<Body> {
        match self.find(parts, false) {
            Ok(Some(session)) => {
                self.sessions.remove(&session.id);
                answer::empty(StatusCode::NO_CONTENT)
            }
            Ok(None) => refused(SessionRefusal::Missing),
            Err(refusal) => refused(refusal),
        }
    }

    /// The session that a request names, if it is the caller's.
    fn find(&self, parts: &Parts, opens: bool) -> Result<Option<Arc<Session>>, SessionRefusal> {
        let named = read_session(&Received(parts), opens, true)?;
        let SessionUse::Named(id) = named else {
            return Ok(None);
        };
        let caller = principal(parts);
        let session = self.sessions.get(&id);
        let session = session.filter(|session| session.principal == caller);
        session.map(Some).ok_or(SessionRefusal::Gone)
    }
}

fn refused(refusal: SessionRefusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
    answer::refusal(status, None, &refusal.to_error())
}

/// A version header must name a version that there is.
fn wrong_version(parts: &Parts) -> Option<Response<Body>> {
    match read_version(&Received(parts)) {
        Ok(None) => None,
        Ok(Some(version)) if Revision::parse(version).is_some() => None,
        Ok(Some(_)) => Some(told(StatusCode::BAD_REQUEST, "no such protocol version")),
        Err(mismatch) => Some(answer::rejection(None, &mismatch.into())),
    }
}

/// Whether the body is the request that opens a session.
fn opens_session(body: &[u8]) -> bool {
    let Ok(Messages::One(message)) = split(body) else {
        return false;
    };
    matches!(scan(message), Ok(Envelope::Request { method, .. }) if method == method::INITIALIZE)
}

/// A stream of a session's, as events. Dropping it leaves the session as it is.
struct SessionStream {
    primed: Option<Bytes>,
    first: Option<Message>,
    reader: Reader,
    session: Arc<Session>,
    over: bool,
}

impl Source for SessionStream {
    fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(primed) = self.primed.take() {
            return Poll::Ready(Some(primed));
        }
        if self.over {
            return Poll::Ready(None);
        }
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => std::task::ready!(self.reader.poll_recv(cx)),
        };
        self.session.touch();
        match next {
            Some(Message::Frame { id, frame, .. }) => {
                let id = id.map(|id| id.to_string());
                Poll::Ready(Some(event(id.as_deref(), &frame)))
            }
            Some(Message::Pause) | None => {
                self.over = true;
                Poll::Ready(None)
            }
        }
    }
}
