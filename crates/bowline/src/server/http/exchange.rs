//! Requests that belong to sessions: POST, GET and DELETE.

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
    accounts::{Account, Charge, Counted, Place},
    answer::{self, Answer},
    entry::{MANY_BYTES, Received, exhausted, told},
    events::{Events, Source, event, event_called, prime},
    notes, patience,
    post::{Said, principal},
    protected::{self, Lifetime},
    session::{Posted, Session, Whose},
    store::answer_of,
    streams::{Message, Reader, Shown, Streams},
};
use crate::{
    proto::{
        http::{
            Accept, Headers as _, SessionId, SessionRefusal, SessionUse,
            header::{name, read_version},
            read_session,
            resume::{EventId, ReplayMiss},
        },
        revision::Revision,
    },
    server::{auth::grant::Granted, replay::journal::hex, seal::random_bytes},
};

/// The largest request that opens a session: what a client says of itself is
/// kept as long as the session, and there may be many.
const MOST_OPENING: usize = 64 * 1024;

/// Where the session of a request is.
enum Found {
    Here(Arc<Session>),
    /// Another node may have it.
    Elsewhere(SessionId),
    /// The request names none.
    None,
}

/// POST.
impl Inner {
    pub(super) fn post_to_session<'a>(
        self: &'a Arc<Self>,
        parts: &'a Parts,
        body: Bytes,
        said: Said,
        place: Place,
    ) -> Answer<'a> {
        match self.find(parts, said == Said::Opening) {
            Ok(Found::Here(session)) => self.post(parts, session, body, said, place),
            Ok(Found::Elsewhere(id)) => Answer::later(async move {
                match self.take_up(&id, parts, place.account()).await {
                    Ok(session) => self.post(parts, session, body, said, place).await,
                    Err(refusal) => refused(refusal),
                }
            }),
            Ok(Found::None) => Answer::later(self.open_session(parts, body, said, place)),
            Err(refusal) => refused(refusal).into(),
        }
    }

    fn post<'a>(
        self: &'a Arc<Self>,
        parts: &Parts,
        session: Arc<Session>,
        body: Bytes,
        said: Said,
        place: Place,
    ) -> Answer<'a> {
        if let Some(response) = self.wrong_version(parts) {
            return response.into();
        }
        let batches = || session.revision().is_some_and(|it| it.rules().batching);
        if said == Said::Batch && !batches() {
            return told(StatusCode::BAD_REQUEST, "there are no batches here").into();
        }
        let granted = Granted::over_http(&parts.extensions);
        // Whoever waits for a call may have to wait for the client's own
        // answer, which must find a place: this one is free once it is noted
        // what was posted. What was posted counts until nobody works on it.
        let (place, charge) = if self.options.session_store.is_none() {
            (None, place.leave())
        } else {
            let (place, charge) = place.split();
            (Some(place), charge)
        };
        let Some(posted) = session.post(body.clone(), Some(charge), said, granted) else {
            return refused(SessionRefusal::Gone).into();
        };
        if session.has_changed() {
            self.sessions.reweigh(&session);
        }
        let until = protected::until(parts);
        let Some(place) = place else {
            return self.read_answer(session, posted, until);
        };
        Answer::later(async move {
            self.note(&session, &body).await;
            drop(place);
            let response = self.read_answer(Arc::clone(&session), posted, until).await;
            if let Some(store) = &self.options.session_store {
                session.note_watched(store, &self.sessions.life).await;
            }
            response
        })
    }

    async fn open_session(
        self: &Arc<Self>,
        parts: &Parts,
        body: Bytes,
        said: Said,
        place: Place,
    ) -> Response<Body> {
        if self.stopping().has_begun() {
            return told(
                StatusCode::SERVICE_UNAVAILABLE,
                "the server is shutting down",
            );
        }
        if body.len() > MOST_OPENING {
            let why = format!("a session is opened with up to {MOST_OPENING} bytes");
            return told(StatusCode::PAYLOAD_TOO_LARGE, &why);
        }
        let Ok(id) = SessionId::new(&hex(&random_bytes::<16>())) else {
            return told(StatusCode::INTERNAL_SERVER_ERROR, "there is no id");
        };
        let whose = Whose {
            principal: principal(parts),
            account: Arc::clone(place.account()),
        };
        let session = Session::new(self, id, whose);
        let granted = Granted::over_http(&parts.extensions);
        let charge = Some(place.leave());
        let Some(posted) = session.post(body.clone(), charge, said, granted) else {
            return refused(SessionRefusal::Gone);
        };
        if session.revision().is_none() {
            let response = self.read_answer(Arc::clone(&session), posted, None).await;
            session.close();
            return response;
        }
        // Before anything is waited for: a client that goes away meanwhile
        // must leave nothing that nobody looks after.
        let Ok(session) = self.sessions.add(session) else {
            let why = "too many sessions are open, and all of them are in use";
            return told(StatusCode::SERVICE_UNAVAILABLE, why);
        };
        self.note(&session, &body).await;
        let until = protected::until(parts);
        let mut response = self.read_answer(Arc::clone(&session), posted, until).await;
        if let Ok(id) = HeaderValue::from_str(session.id.as_str()) {
            let name = HeaderName::from_static(name::MCP_SESSION_ID);
            response.headers_mut().insert(name, id);
        }
        response
    }

    /// Answers with what comes first of a POST.
    fn read_answer<'a>(
        self: &'a Arc<Self>,
        session: Arc<Session>,
        mut posted: Posted,
        until: Option<Lifetime>,
    ) -> Answer<'a> {
        // It is asked again if nothing is there, so that nobody need be woken.
        let unwatched = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(first) = posted.reader.messages.poll_recv(unwatched) {
            return self.answer(session, posted, Ok(first), until).into();
        }
        Answer::later(async move {
            let first = posted.reader.messages.recv();
            let first = patience::soon(|| self.options.patience, first).await;
            self.answer(session, posted, first, until)
        })
    }

    /// One answer is JSON; what needs more, or takes long, is a stream.
    fn answer(
        &self,
        session: Arc<Session>,
        posted: Posted,
        first: Result<Option<Message>, Elapsed>,
        until: Option<Lifetime>,
    ) -> Response<Body> {
        let Posted { mut reader, asked } = posted;
        let first = match first {
            Ok(None) if !asked => return answer::empty(StatusCode::ACCEPTED),
            Ok(Some(Message::Frame { last, frame, .. })) if last || reader.messages.is_over() => {
                return answer::json(StatusCode::OK, frame);
            }
            // It was called off: there is no answer, and never will be.
            Ok(None) => {
                let (reader, shown) = Streams::closed();
                return self.stream(session, reader, shown, until, None);
            }
            Ok(first) => first,
            Err(_) => None,
        };
        let shown = session.streams().show(&mut reader, first);
        self.stream(session, reader, shown, until, None)
    }

    fn stream(
        &self,
        session: Arc<Session>,
        reader: Reader,
        shown: Shown,
        until: Option<Lifetime>,
        listening: Option<Listening>,
    ) -> Response<Body> {
        let polling = session.streams().polling;
        let primed = shown.prime.filter(|_| polling);
        let source = SessionStream {
            primed: primed.map(|id| (id, self.options.retry)),
            first: shown.messages,
            reader,
            session,
            _listening: listening,
        };
        answer::stream(Events::new(source, self.options.keep_alive).until(until))
    }
}

/// GET and DELETE.
impl Inner {
    /// The stream of the server's own, or one that broke off.
    pub(super) async fn listen_to_session(
        self: &Arc<Self>,
        parts: &Parts,
        place: Place,
    ) -> Response<Body> {
        if !Accept::read(&Received(parts)).event_stream {
            let why = "Accept must allow text/event-stream";
            return told(StatusCode::NOT_ACCEPTABLE, why);
        }
        let session = match self.find_named(parts, &place).await {
            Ok(session) => session,
            Err(refusal) => return refused(refusal),
        };
        if let Some(response) = self.wrong_version(parts) {
            return response;
        }
        let counted = match place.account().listen() {
            Ok(counted) => counted,
            Err(why) => return *exhausted(why, "streams at once"),
        };
        session.touch();
        let (reader, shown) = match self.open_stream(parts, &session).await {
            Ok(opened) => opened,
            Err(refusal) => return *refusal,
        };
        if session.has_changed() {
            self.sessions.reweigh(&session);
        }
        let mut listening = Listening {
            _counted: counted,
            charge: place.leave(),
        };
        // What it begins with is kept for it, also where nobody else does.
        if let Err(why) = listening.charge.grow(shown.bytes()) {
            return *exhausted(why, MANY_BYTES);
        }
        let until = protected::until(parts);
        self.stream(session, reader, shown, until, Some(listening))
    }

    async fn open_stream(
        &self,
        parts: &Parts,
        session: &Session,
    ) -> Result<(Reader, Shown), Box<Response<Body>>> {
        let refuse = |why: &str| Box::new(told(StatusCode::BAD_REQUEST, why));
        let received = Received(parts);
        let Some(last) = received.values(name::LAST_EVENT_ID).next() else {
            return Ok(session.streams().open_own());
        };
        let cursor = EventId::parse(last);
        let cursor = cursor.ok_or_else(|| refuse("Last-Event-ID is none of ours"))?;
        let resumed = session.streams().resume(cursor);
        let miss = match resumed {
            Ok(resumed) => return Ok(resumed),
            Err(miss) => miss,
        };
        let noted = match miss {
            ReplayMiss::Foreign | ReplayMiss::Gone => self.noted(session, cursor).await,
            _ => None,
        };
        noted.ok_or_else(|| refuse(&miss.to_string()))
    }

    /// A stream that another node sent, or of which we keep only the end, as
    /// far as it is noted.
    async fn noted(&self, session: &Session, cursor: EventId) -> Option<(Reader, Shown)> {
        let store = self.options.event_store.as_ref()?;
        let place = notes::Place::of(&cursor.to_string())?;
        let events = store.after(&session.id, &place.stream, place.sequence);
        let events = answer_of(events).await;
        let events = events.filter(|events| !events.is_empty())?;
        let numbers = events.iter().map(|event| event.sequence);
        if !numbers.eq((place.sequence + 1..).take(events.len())) {
            return None;
        }
        let own = events.iter().any(|event| event.own);
        // A stream of ours goes on with what we keep of it, unless something is
        // missing in between. What comes on the server's own stream goes on
        // here, wherever it began; what somebody worked on elsewhere does not.
        let last = EventId::parse(place.id(events.last()?.sequence).as_bytes())?;
        let resumed = session.streams().resume(last);
        let (reader, mut shown) = match resumed {
            Ok(resumed) => resumed,
            Err(ReplayMiss::Foreign) if own => session.streams().open_own(),
            Err(_) => Streams::closed(),
        };
        let noted = events.into_iter().map(|event| Message::Noted {
            id: place.id(event.sequence),
            frame: event.message,
        });
        shown.prime = None;
        shown.messages = noted.chain(shown.messages).collect();
        Some((reader, shown))
    }

    pub(super) async fn end_session(
        self: &Arc<Self>,
        parts: &Parts,
        place: Place,
    ) -> Response<Body> {
        let session = match self.find_named(parts, &place).await {
            Ok(session) => session,
            Err(refusal) => return refused(refusal),
        };
        if let Some(response) = self.wrong_version(parts) {
            return response;
        }
        // By a task of its own: a client that does not wait for the answer has
        // ended its session all the same.
        let ending = Arc::clone(self).end(session);
        let ending = async move {
            ending.await;
            drop(place);
        };
        let _ = tokio::spawn(ending).await;
        answer::empty(StatusCode::NO_CONTENT)
    }

    async fn end(self: Arc<Self>, session: Arc<Session>) {
        // There first: who comes meanwhile finds it here, and must not take up
        // what is about to be forgotten.
        if let Some(store) = &self.options.session_store {
            session.forget(&**store).await;
        }
        self.sessions.remove(&session);
        if let Some(store) = &self.options.event_store {
            answer_of(store.remove(&session.id)).await;
        }
    }
}

/// Finding sessions, and noting them for others to find.
impl Inner {
    async fn find_named(
        &self,
        parts: &Parts,
        place: &Place,
    ) -> Result<Arc<Session>, SessionRefusal> {
        match self.find(parts, false)? {
            Found::Here(session) => Ok(session),
            Found::Elsewhere(id) => self.take_up(&id, parts, place.account()).await,
            Found::None => Err(SessionRefusal::Missing),
        }
    }

    /// Whether a request names a session of the caller's that is open here.
    pub(super) fn has_session(&self, parts: &Parts) -> bool {
        matches!(self.find(parts, false), Ok(Found::Here(_)))
    }

    /// The session that a request names, if it is the caller's.
    fn find(&self, parts: &Parts, opens: bool) -> Result<Found, SessionRefusal> {
        let named = read_session(&Received(parts), opens, true)?;
        let SessionUse::Named(id) = named else {
            return Ok(Found::None);
        };
        match self.sessions.get(&id) {
            Some(session) if session.principal == principal(parts) => Ok(Found::Here(session)),
            None if self.options.session_store.is_some() => Ok(Found::Elsewhere(id)),
            Some(_) | None => Err(SessionRefusal::Gone),
        }
    }

    /// Takes up a session of this caller's that another node, or another life
    /// of this one, had.
    async fn take_up(
        &self,
        id: &SessionId,
        parts: &Parts,
        account: &Arc<Account>,
    ) -> Result<Arc<Session>, SessionRefusal> {
        let caller = principal(parts);
        let whose = Whose {
            principal: caller.clone(),
            account: Arc::clone(account),
        };
        let granted = Granted::over_http(&parts.extensions);
        let load = self.remake(id, whose, granted);
        let session = self.taking_up.once(id, caller.clone(), load).await;
        // Somebody may have been first.
        let session = session.filter(|session| session.principal == caller);
        session.ok_or(SessionRefusal::Gone)
    }

    async fn remake(&self, id: &SessionId, whose: Whose, granted: Granted) -> Option<Arc<Session>> {
        let store = self.options.session_store.as_ref()?;
        if self.stopping().has_begun() {
            return None;
        }
        // Who began to load it may have left when it was here.
        if let Some(session) = self.sessions.get(id) {
            return Some(session);
        }
        let stored = answer_of(store.get(id)).await??;
        let caller = whose.principal.as_deref();
        let stored = Some(stored).filter(|it| it.principal.as_deref() == caller)?;
        let session = Session::again(self, id.clone(), whose);
        if !session.remake(stored, &granted).await {
            session.close();
            return None;
        }
        let session = self.sessions.add(session).ok()?;
        // From here on it is ours: the node that had it does not forget it for
        // us.
        session.note_use(&**store, &self.sessions.life).await;
        Some(session)
    }

    /// A version header must name a version that we speak.
    fn wrong_version(&self, parts: &Parts) -> Option<Response<Body>> {
        let headers = Received(parts);
        let version = match read_version(&headers) {
            Ok(version) => version?,
            Err(mismatch) => return Some(answer::rejection(None, &mismatch.into())),
        };
        let spoken = &self.handle.config().revisions;
        match Revision::parse(version) {
            Some(revision) if spoken.contains(&revision) => None,
            Some(_) | None => Some(told(
                StatusCode::BAD_REQUEST,
                "this protocol version is not spoken here",
            )),
        }
    }

    /// Notes for others what was posted to a session, where they can look.
    async fn note(&self, session: &Session, body: &Bytes) {
        if let Some(store) = &self.options.session_store {
            session.note(&**store, body, &self.sessions.life).await;
        }
    }
}

fn refused(refusal: SessionRefusal) -> Response<Body> {
    let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
    answer::refusal(status, None, &refusal.to_error())
}

/// What a stream counts for that a GET opened, until it is closed.
struct Listening {
    _counted: Counted,
    charge: Charge,
}

/// A stream of a session's, as events. Dropping it leaves the session as it is.
struct SessionStream {
    primed: Option<(EventId, Duration)>,
    first: VecDeque<Message>,
    reader: Reader,
    session: Arc<Session>,
    _listening: Option<Listening>,
}

/// The session was used for as long as it was connected.
impl Drop for SessionStream {
    fn drop(&mut self) {
        self.session.touch();
    }
}

impl Source for SessionStream {
    fn poll_event(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>) -> Poll<ControlFlow<()>> {
        if let Some((id, retry)) = self.primed.take() {
            prime(id, retry, out);
            return Poll::Ready(ControlFlow::Continue(()));
        }
        let next = match self.first.pop_front() {
            Some(first) => Some(first),
            None => std::task::ready!(self.reader.messages.poll_recv(cx)),
        };
        Poll::Ready(match next {
            Some(Message::Frame { id, last, frame }) => {
                event(id, &frame, out);
                if last {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            }
            Some(Message::Noted { id, frame }) => {
                event_called(&id, &frame, out);
                ControlFlow::Continue(())
            }
            Some(Message::Pause) | None => ControlFlow::Break(()),
        })
    }
}
