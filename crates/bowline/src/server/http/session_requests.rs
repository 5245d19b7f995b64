//! Requests to sessions: POST, GET and DELETE.

use std::{
    collections::VecDeque,
    ops::ControlFlow,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, request::Parts};
use tokio::time::error::Elapsed;

use super::{
    Body, Inner,
    admission::{REQUEST_BYTES, invalid_request_response, quota_exceeded},
    event_store_writer,
    events::{EventSource, EventStream, write_event, write_event_with_id, write_priming_event},
    lazy_timeout,
    post::{PostKind, principal},
    protected::{self, TokenLifetime},
    quotas::{BytesPermit, QuotaPermit, RequestPermit},
    request_headers::RequestHeaders,
    response::{self, PendingResponse},
    session::{PostOutcome, Session, SessionOwner},
    session_lookup::{LocatedSession, SessionLookup, session_error_response},
    session_stores::with_store_timeout,
    status::ResponseStatus,
    streams::{Reader, StreamMessage, StreamStart, Streams},
};
use crate::{
    proto::{
        http::{
            Accept, Headers as _, SessionError, SessionId,
            header::{name, protocol_version},
            resume::{EventId, ReplayError},
        },
        revision::Revision,
    },
    server::{auth::permissions::Permissions, replay::journal::hex, seal::random_bytes},
};

/// The maximum size of a request that opens a session: client information is
/// kept as long as the session, and there may be many.
const MAX_INITIALIZE_BYTES: usize = 64 * 1024;
/// When to try again if all sessions are in use.
const SESSION_WAIT: Duration = Duration::from_secs(5);

/// POST.
impl Inner {
    pub(super) fn post_to_session<'a>(
        self: &'a Arc<Self>,
        parts: &'a Parts,
        body: Bytes,
        kind: PostKind,
        permit: RequestPermit,
    ) -> PendingResponse<'a> {
        match self.lookup_session(parts, kind == PostKind::Initialize) {
            Ok(SessionLookup::Local(session)) => self.post(parts, session, body, kind, permit),
            Ok(SessionLookup::Remote(id)) => PendingResponse::pending(async move {
                match self.locate_session(&id, parts, &body, &permit).await {
                    LocatedSession::Here(session) => {
                        self.post(parts, session, body, kind, permit).await
                    }
                    LocatedSession::Answered(response) => hold_permit(*response, permit),
                }
            }),
            Ok(SessionLookup::NoId) => {
                PendingResponse::pending(self.open_session(parts, body, kind, permit))
            }
            Err(refusal) => session_error_response(refusal).into(),
        }
    }

    fn post<'a>(
        self: &'a Arc<Self>,
        parts: &Parts,
        session: Arc<Session>,
        body: Bytes,
        kind: PostKind,
        permit: RequestPermit,
    ) -> PendingResponse<'a> {
        if let Some(response) = self.version_error(parts) {
            return response.into();
        }
        let batches = || session.revision().is_some_and(|it| it.rules().batching);
        if kind == PostKind::Batch && !batches() {
            return invalid_request_response(
                StatusCode::BAD_REQUEST,
                "batches are not supported in this protocol version",
            )
            .into();
        }
        let permissions = Permissions::from_extensions(&parts.extensions);
        // A call may have to wait for the client's answer to a question, and
        // that POST needs a permit. So this permit is released once the message
        // is stored. Its bytes count until all of it is processed.
        let (permit, bytes_permit) = if self.options.session_store.is_none() {
            (None, permit.into_bytes_permit())
        } else {
            let (permit, bytes_permit) = permit.split();
            (Some(permit), bytes_permit)
        };
        let Some(posted) = session.post(body.clone(), Some(bytes_permit), kind, permissions) else {
            return session_error_response(SessionError::NotFound).into();
        };
        if session.has_size_changed() {
            self.sessions.update_bytes(&session);
        }
        let token_lifetime = protected::stream_token_lifetime(parts);
        let Some(permit) = permit else {
            return self.first_response(session, posted, token_lifetime);
        };
        PendingResponse::pending(async move {
            self.store_session(&session, &body).await;
            drop(permit);
            let response = self
                .first_response(Arc::clone(&session), posted, token_lifetime)
                .await;
            if let Some(store) = &self.options.session_store {
                session
                    .store_subscriptions(store, &self.sessions.config)
                    .await;
            }
            response
        })
    }

    async fn open_session(
        self: &Arc<Self>,
        parts: &Parts,
        body: Bytes,
        kind: PostKind,
        permit: RequestPermit,
    ) -> Response<Body> {
        if self.stopping().has_begun() {
            let why = "the server is shutting down";
            return invalid_request_response(ResponseStatus::SHUTTING_DOWN, why);
        }
        #[cfg(feature = "cluster")]
        if let Some(refusal) = self.register_in_cluster().await {
            return refusal;
        }
        if body.len() > MAX_INITIALIZE_BYTES {
            let why =
                format!("the initialize request exceeds the limit of {MAX_INITIALIZE_BYTES} bytes");
            return invalid_request_response(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        let Ok(id) = SessionId::new(&hex(&random_bytes::<16>())) else {
            return invalid_request_response(
                StatusCode::INTERNAL_SERVER_ERROR,
                "no session id could be generated",
            );
        };
        let owner = SessionOwner {
            principal: principal(parts),
            quota: Arc::clone(permit.quota()),
        };
        let session = Session::new(self, id, owner);
        let permissions = Permissions::from_extensions(&parts.extensions);
        let bytes_permit = Some(permit.into_bytes_permit());
        let Some(posted) = session.post(body.clone(), bytes_permit, kind, permissions) else {
            return session_error_response(SessionError::NotFound);
        };
        if session.revision().is_none() {
            let response = self
                .first_response(Arc::clone(&session), posted, None)
                .await;
            session.close();
            return response;
        }
        // Before the first await: if the client disconnects, nothing may be
        // left untracked.
        let Ok(session) = self.sessions.add(session) else {
            let why = "too many sessions are open and all are in use, try again later";
            return invalid_request_response(ResponseStatus::unavailable(SESSION_WAIT), why);
        };
        self.store_session(&session, &body).await;
        let token_lifetime = protected::stream_token_lifetime(parts);
        let mut response = self
            .first_response(Arc::clone(&session), posted, token_lifetime)
            .await;
        if let Ok(id) = HeaderValue::from_str(session.id.as_str()) {
            let name = HeaderName::from_static(name::MCP_SESSION_ID);
            response.headers_mut().insert(name, id);
        }
        response
    }

    /// Responds with the first outcome of a POST.
    fn first_response<'a>(
        self: &'a Arc<Self>,
        session: Arc<Session>,
        mut posted: PostOutcome,
        token_lifetime: Option<TokenLifetime>,
    ) -> PendingResponse<'a> {
        // Polled again if not ready, so no wakeup is needed.
        let noop_cx = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(first) = posted.reader.messages.poll_recv(noop_cx) {
            return self
                .respond(session, posted, Ok(first), token_lifetime)
                .into();
        }
        PendingResponse::pending(async move {
            let first = posted.reader.messages.recv();
            let first = lazy_timeout::with_lazy_timeout(|| self.options.stream_after, first).await;
            self.respond(session, posted, first, token_lifetime)
        })
    }

    /// Responds with JSON for a single response, and with a stream otherwise or
    /// if it takes long.
    fn respond(
        &self,
        session: Arc<Session>,
        posted: PostOutcome,
        first: Result<Option<StreamMessage>, Elapsed>,
        token_lifetime: Option<TokenLifetime>,
    ) -> Response<Body> {
        let PostOutcome {
            mut reader,
            has_requests,
        } = posted;
        let first = match first {
            Ok(None) if !has_requests => return response::empty_response(StatusCode::ACCEPTED),
            Ok(Some(StreamMessage::Frame { last, frame, .. }))
                if last || reader.messages.is_finished() =>
            {
                return response::json_response(StatusCode::OK, frame);
            }
            // The request was cancelled: there will be no response.
            Ok(None) => {
                let (reader, start) = Streams::closed();
                return self.stream(session, reader, start, token_lifetime, None);
            }
            Ok(first) => first,
            Err(_) => None,
        };
        let start = session.streams().start(&mut reader, first);
        self.stream(session, reader, start, token_lifetime, None)
    }

    fn stream(
        &self,
        session: Arc<Session>,
        reader: Reader,
        start: StreamStart,
        token_lifetime: Option<TokenLifetime>,
        permits: Option<ListenPermits>,
    ) -> Response<Body> {
        let polling = session.streams().polling;
        let priming_id = start.priming_id.filter(|_| polling);
        let source = SessionStream {
            priming_event: priming_id.map(|id| (id, self.options.retry_delay)),
            first: start.messages,
            reader,
            session,
            _permits: permits,
        };
        response::stream_response(
            EventStream::new(source, self.options.keep_alive_interval)
                .with_token_lifetime(token_lifetime),
        )
    }
}

/// GET and DELETE.
impl Inner {
    /// Opens the standalone stream, or resumes an interrupted one.
    pub(super) async fn listen_to_session(
        self: &Arc<Self>,
        parts: &Parts,
        permit: RequestPermit,
    ) -> Response<Body> {
        if !Accept::from_headers(&RequestHeaders(parts)).event_stream {
            let why = "Accept must allow text/event-stream";
            return invalid_request_response(StatusCode::NOT_ACCEPTABLE, why);
        }
        let session = match self.require_session(parts, &permit).await {
            LocatedSession::Here(session) => session,
            LocatedSession::Answered(response) => return hold_permit(*response, permit),
        };
        if let Some(response) = self.version_error(parts) {
            return response;
        }
        let stream_permit = match permit.quota().listen_permit() {
            Ok(stream_permit) => stream_permit,
            Err(why) => return *quota_exceeded(why, "open streams"),
        };
        session.touch();
        let (reader, start) = match self.open_stream(parts, &session).await {
            Ok(opened) => opened,
            Err(refusal) => return *refusal,
        };
        if session.has_size_changed() {
            self.sessions.update_bytes(&session);
        }
        let mut permits = ListenPermits {
            _stream: stream_permit,
            bytes: permit.into_bytes_permit(),
        };
        // Charged to it: the initial messages are held for this stream.
        if let Err(why) = permits.bytes.grow(start.bytes()) {
            return *quota_exceeded(why, REQUEST_BYTES);
        }
        let token_lifetime = protected::stream_token_lifetime(parts);
        self.stream(session, reader, start, token_lifetime, Some(permits))
    }

    async fn open_stream(
        &self,
        parts: &Parts,
        session: &Session,
    ) -> Result<(Reader, StreamStart), Box<Response<Body>>> {
        let refuse = |why: &str| Box::new(invalid_request_response(StatusCode::BAD_REQUEST, why));
        let headers = RequestHeaders(parts);
        let Some(last) = headers.values(name::LAST_EVENT_ID).next() else {
            return Ok(session.streams().open_standalone());
        };
        let cursor = EventId::parse(last);
        let cursor = cursor.ok_or_else(|| refuse("Last-Event-ID is not a valid event id"))?;
        let resumed = session.streams().resume(cursor);
        let replay_error = match resumed {
            Ok(resumed) => return Ok(resumed),
            Err(replay_error) => replay_error,
        };
        let stored = match replay_error {
            ReplayError::WrongSession | ReplayError::Dropped => {
                self.stored_stream(session, cursor).await
            }
            _ => None,
        };
        stored.ok_or_else(|| refuse(&replay_error.to_string()))
    }

    /// Returns the stored part of a stream that another node sent, or of which
    /// we keep only the end.
    async fn stored_stream(
        &self,
        session: &Session,
        cursor: EventId,
    ) -> Option<(Reader, StreamStart)> {
        let store = self.options.event_store.as_ref()?;
        let position = event_store_writer::StreamPosition::parse(&cursor.to_string())?;
        let events = store.events_after(&session.id, &position.stream, position.sequence);
        let events = with_store_timeout(events).await;
        let events = events.filter(|events| !events.is_empty())?;
        let sequences = events.iter().map(|event| event.sequence);
        if !sequences.eq((position.sequence + 1..).take(events.len())) {
            return None;
        }
        let is_standalone = events.iter().any(|event| event.is_standalone);
        // A stream of ours continues with what we keep of it, unless there is a
        // gap. The standalone stream continues here, wherever it started; that
        // of a request processed elsewhere does not.
        let last = EventId::parse(position.event_id(events.last()?.sequence).as_bytes())?;
        let resumed = session.streams().resume(last);
        let (reader, mut start) = match resumed {
            Ok(resumed) => resumed,
            Err(ReplayError::WrongSession) if is_standalone => session.streams().open_standalone(),
            Err(_) => Streams::closed(),
        };
        let seal = &self.sessions.config.seal;
        let stored = events.into_iter().map(|event| {
            let id = position.event_id(event.sequence);
            let frame = seal.open_event(&session.id, &id, &event.message)?;
            Some(StreamMessage::Stored { id, frame })
        });
        let stored: VecDeque<StreamMessage> = stored.collect::<Option<_>>()?;
        start.priming_id = None;
        start.messages = stored.into_iter().chain(start.messages).collect();
        Some((reader, start))
    }

    pub(super) async fn end_session(
        self: &Arc<Self>,
        parts: &Parts,
        permit: RequestPermit,
    ) -> Response<Body> {
        let session = match self.require_session(parts, &permit).await {
            LocatedSession::Here(session) => session,
            LocatedSession::Answered(response) => return hold_permit(*response, permit),
        };
        if let Some(response) = self.version_error(parts) {
            return response;
        }
        // On its own task: the session ends even if the client does not wait
        // for the response.
        let ending = Arc::clone(self).close_session(session);
        let ending = async move {
            ending.await;
            drop(permit);
        };
        let _ = tokio::spawn(ending).await;
        response::empty_response(StatusCode::NO_CONTENT)
    }

    async fn close_session(self: Arc<Self>, session: Arc<Session>) {
        // Removed from the store first: until then, requests find the session
        // here and do not restore a record that is about to be removed.
        if let Some(store) = &self.options.session_store {
            session
                .remove_stored(&**store, &self.sessions.config.node)
                .await;
        }
        self.sessions.remove(&session);
        if let Some(store) = &self.options.event_store {
            with_store_timeout(store.remove(&session.id)).await;
        }
    }
}
/// Checks and storage.
impl Inner {
    /// Returns an error if the version header names an unsupported version.
    fn version_error(&self, parts: &Parts) -> Option<Response<Body>> {
        let headers = RequestHeaders(parts);
        let version = match protocol_version(&headers) {
            Ok(version) => version?,
            Err(mismatch) => return Some(response::rejection_response(None, &mismatch.into())),
        };
        let supported = &self.handler.config().revisions;
        match Revision::parse(version) {
            Some(revision) if supported.contains(&revision) => None,
            Some(_) | None => Some(invalid_request_response(
                StatusCode::BAD_REQUEST,
                "unsupported protocol version",
            )),
        }
    }

    /// Stores the record of a session after a POST, if there is a store.
    async fn store_session(&self, session: &Session, body: &Bytes) {
        if let Some(store) = &self.options.session_store {
            session
                .store_record(&**store, body, &self.sessions.config)
                .await;
        }
    }
}

/// Holds the permit of a request until a response that another node sends is complete.
fn hold_permit(response: Response<Body>, permit: RequestPermit) -> Response<Body> {
    #[cfg(feature = "cluster")]
    let response = response.map(|body| body.holding(permit));
    #[cfg(not(feature = "cluster"))]
    drop(permit);
    response
}

/// The permits of a GET stream, released when it is closed.
struct ListenPermits {
    _stream: QuotaPermit,
    bytes: BytesPermit,
}

/// A stream of a session, as events. Dropping it does not affect the session.
struct SessionStream {
    priming_event: Option<(EventId, Duration)>,
    first: VecDeque<StreamMessage>,
    reader: Reader,
    session: Arc<Session>,
    _permits: Option<ListenPermits>,
}

/// Marks the session as used until the stream was closed.
impl Drop for SessionStream {
    fn drop(&mut self) {
        self.session.touch();
    }
}

impl EventSource for SessionStream {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        if let Some((id, retry)) = self.priming_event.take() {
            write_priming_event(id, retry, out);
            return Poll::Ready(ControlFlow::Continue(()));
        }
        let next = match self.first.pop_front() {
            Some(first) => Some(first),
            None => std::task::ready!(self.reader.messages.poll_recv(cx)),
        };
        Poll::Ready(match next {
            Some(StreamMessage::Frame { id, last, frame }) => {
                write_event(id, &frame, out);
                if last {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
            Some(StreamMessage::Stored { id, frame }) => {
                write_event_with_id(&id, &frame, out);
                ControlFlow::Continue(())
            }
            Some(StreamMessage::Release) | None => ControlFlow::Break(()),
        })
    }
}
