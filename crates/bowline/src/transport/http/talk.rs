//! What all exchanges of one link share: where to, who we are, what was settled.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use reqwest::{
    Method, StatusCode, Url,
    header::{
        ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER, WWW_AUTHENTICATE,
    },
};
use tokio::time::Instant as Clock;

use super::{
    HttpLimits,
    answer::Answer,
    authorizer::{Challenged, Credentials, Outbound, Unauthorized, Verdict},
    body,
    letter::{Heading, name_version},
    tool_headers::ToolHeaders,
    way::{Place, Way},
};
use crate::{
    proto::{
        Instant,
        http::{
            ClientSession, Headers, SessionId, SessionIdError,
            header::{MismatchReason, name},
            resume::ResumptionPolicy,
            retry_after,
        },
        revision::Rules,
    },
    transport::{CauseKind, HttpRefusal, Refusal},
};

/// How many redirects are followed, one after the other.
const MOST_REDIRECTS: usize = 3;

/// How many times a request is made again with other credentials: one renewal,
/// one sign-in, one for more rights, and one each for a nonce that is wanted.
const MOST_CREDENTIALS: u32 = 5;

/// How many headers of ours there is room for beside the application's.
const ROOM: usize = 16;

/// One link's side of the conversation, apart from the exchanges themselves.
pub(super) struct Talk {
    way: Way,
    /// The headers that the application wants to be sent.
    headers: HeaderMap,
    pub(super) limits: HttpLimits,
    pub(super) resumption: ResumptionPolicy,
    pub(super) max_frame: usize,
    credentials: Credentials,
    /// The server, as the application named it.
    server: Url,
    /// Where messages are posted to.
    endpoint: Mutex<Arc<Place>>,
    session: Mutex<Session>,
    rules: OnceLock<&'static Rules>,
    tools: Mutex<ToolHeaders>,
    origin: Clock,
}

/// The session, and what follows from it.
#[derive(Default)]
struct Session {
    state: ClientSession,
    /// The headers that all posts have in common, once the revision is settled.
    posting: Option<Arc<HeaderMap>>,
}

impl Talk {
    pub(super) fn new(settings: &super::Http, way: Way, max_frame: usize) -> Self {
        Self {
            way,
            headers: settings.headers.clone(),
            limits: settings.limits,
            resumption: settings.resumption,
            max_frame,
            credentials: settings.credentials.clone(),
            server: settings.url.clone(),
            endpoint: Mutex::new(Place::new(settings.url.clone())),
            session: Mutex::default(),
            rules: OnceLock::new(),
            tools: Mutex::default(),
            origin: Clock::now(),
        }
    }

    /// The rules of the revision, once that is settled.
    pub(super) fn rules(&self) -> Option<&'static Rules> {
        self.rules.get().copied()
    }

    pub(super) fn settle(&self, rules: &'static Rules) {
        // A link speaks one revision; a second word on it says nothing new.
        let _ = self.rules.set(rules);
    }

    /// Now, as a moment of the protocol's clock.
    pub(super) fn now(&self) -> Instant {
        Instant::after_origin(self.origin.elapsed())
    }

    /// Waits until a moment of the protocol's clock.
    pub(super) async fn wait_until(&self, moment: Instant) {
        tokio::time::sleep_until(self.origin + moment.since_origin()).await;
    }

    fn endpoint(&self) -> Arc<Place> {
        Arc::clone(&lock(&self.endpoint))
    }

    pub(super) fn set_endpoint(&self, url: Url) {
        *lock(&self.endpoint) = Place::new(url);
    }

    pub(super) fn listed_tools(&self, result: &[u8], is_first: bool) {
        if self.rules().is_some_and(|rules| rules.mirror_headers) {
            lock(&self.tools).listed(result, is_first);
        }
    }

    pub(super) fn tool_headers(&self, params: &[u8]) -> Result<Vec<(String, String)>, String> {
        lock(&self.tools).fields(params).map_err(|mismatch| {
            let why = match mismatch.reason {
                MismatchReason::Unmirrorable => "holds a value that no header can carry",
                _ => "stands there twice",
            };
            format!("the argument for the header {} {why}", mismatch.header)
        })
    }
}

/// Sessions.
impl Talk {
    /// The session that requests name now.
    pub(super) fn session(&self) -> Option<SessionId> {
        lock(&self.session).state.id().cloned()
    }

    pub(super) fn opened(&self, headers: &HeaderMap) -> Result<(), SessionIdError> {
        let mut session = lock(&self.session);
        session.posting = None;
        session.state.opened(&Received(headers))
    }

    pub(super) fn lost(&self, lost: &SessionId) {
        let mut session = lock(&self.session);
        session.posting = None;
        session.state.lost(lost);
    }

    /// The headers that posts have in common, by these rules. Written once,
    /// where the rules are those that were settled on.
    pub(super) fn posting(&self, rules: Option<&'static Rules>) -> Arc<HeaderMap> {
        let mut session = lock(&self.session);
        if let Some(posting) = &session.posting {
            return Arc::clone(posting);
        }
        let mut headers = self.common(&session, rules);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static(name::APPLICATION_JSON),
        );
        headers.insert(ACCEPT, HeaderValue::from_static(name::ACCEPT_BOTH));
        let headers = Arc::new(headers);
        if self.rules().is_some() {
            session.posting = Some(Arc::clone(&headers));
        }
        headers
    }

    /// What all requests say: what the application wants, which session, and
    /// which version.
    fn common(&self, session: &Session, rules: Option<&'static Rules>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.headers.len() + ROOM);
        headers.extend(self.headers.clone());
        let id = session.state.id().map(SessionId::as_str);
        if let Some(Ok(mut id)) = id.map(HeaderValue::from_str) {
            // Whoever has it can join the session.
            id.set_sensitive(true);
            headers.insert(name::MCP_SESSION_ID, id);
        }
        name_version(rules, &mut headers);
        headers
    }
}

/// Asking.
impl Talk {
    /// Asks for an event stream, from after an event if there is one.
    pub(super) async fn get_stream(&self, last_event_id: Option<&str>) -> Result<Answer, Refusal> {
        let mut headers = self.common(&lock(&self.session), self.rules());
        headers.insert(ACCEPT, HeaderValue::from_static(name::TEXT_EVENT_STREAM));
        let id = last_event_id.map(|id| HeaderValue::from_bytes(id.as_bytes()));
        if let Some(Ok(id)) = id {
            headers.insert(name::LAST_EVENT_ID, id);
        }
        self.send(Method::GET, &headers.into(), Bytes::new()).await
    }

    /// Ends the session.
    pub(super) async fn delete(&self) -> Result<Answer, Refusal> {
        let headers = self.common(&lock(&self.session), self.rules());
        self.send(Method::DELETE, &headers.into(), Bytes::new())
            .await
    }

    /// Sends a request, and again with other credentials where the server wants
    /// others and there are some. Gives the answer, whatever its status.
    pub(super) async fn send(
        &self,
        method: Method,
        heading: &Heading,
        body: Bytes,
    ) -> Result<Answer, Refusal> {
        for attempt in 0.. {
            let (answer, sent) = self.follow(&method, heading, &body).await?;
            let refused = matches!(
                answer.status(),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
            );
            if refused && !self.credentials.is_some() && is_challenge(&answer) {
                return Err(unauthorized(Unauthorized::new(
                    "the server wants other credentials than it was sent (HTTP 403)",
                )));
            }
            if !refused || !self.credentials.is_some() || attempt >= MOST_CREDENTIALS {
                return Ok(answer);
            }
            let request = self.outbound(&method, answer.url());
            let challenge = Challenged {
                status: answer.status().as_u16(),
                headers: answer.headers(),
                sent: &sent,
                attempt,
            };
            let asking = Box::pin(self.credentials.challenged(request, challenge));
            let verdict = asking.await;
            if verdict.map_err(unauthorized)? == Verdict::Leave {
                return Ok(answer);
            }
            Box::pin(body::drain(answer)).await;
        }
        Err(unreachable("it wants other credentials again and again"))
    }

    /// Sends a request, and again where the server says that it lives elsewhere
    /// on the same origin. Gives the answer, and the credentials that it met.
    async fn follow(
        &self,
        method: &Method,
        heading: &Heading,
        body: &Bytes,
    ) -> Result<(Answer, HeaderMap), Refusal> {
        let mut place = self.endpoint();
        for _ in 0..=MOST_REDIRECTS {
            let outbound = self.outbound(method, &place.url);
            let credentials = self.credentials.headers(outbound).await;
            let credentials = credentials.map_err(unauthorized)?;
            let headers = heading.with(&credentials);
            let sending = self.way.send(method.clone(), &place, headers, body.clone());
            let answer = sending.await?;
            if !answer.is_from(&place) && !same_origin(answer.url(), &place.url) {
                // A client of the application's own followed it there.
                return Err(elsewhere());
            }
            self.credentials.answered(outbound, answer.headers());
            let Some(next) = redirect(&answer)? else {
                return Ok((answer, credentials));
            };
            if answer.status() == StatusCode::PERMANENT_REDIRECT {
                self.set_endpoint(next.clone());
            }
            Box::pin(body::drain(answer)).await;
            place = Place::new(next);
        }
        Err(unreachable("it redirects again and again"))
    }

    fn outbound<'a>(&'a self, method: &'a Method, url: &'a Url) -> Outbound<'a> {
        Outbound {
            server: &self.server,
            method,
            url,
        }
    }

    /// What a status that is not success comes to, with the start of its body.
    pub(super) async fn refusal(&self, response: &mut Answer) -> HttpRefusal {
        HttpRefusal {
            status: response.status().as_u16(),
            retry_after: wait_of(response),
            body: body::beginning(response, self.limits.error_body).await,
        }
    }
}

/// How long the server wants to be left alone.
pub(super) fn wait_of(response: &Answer) -> Option<std::time::Duration> {
    let value = response.headers().get(RETRY_AFTER)?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    retry_after(value.as_bytes(), now.map_or(0, |now| now.as_secs()))
}

/// Where a redirect leads, if the answer is one that may be followed.
///
/// Only the two kinds are that keep method and body, and only within the
/// origin: what is sent there, credentials and session included, is not for
/// anybody else.
fn redirect(response: &Answer) -> Result<Option<Url>, Refusal> {
    let follows = matches!(
        response.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    if !follows {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION);
    let target = location
        .and_then(|location| str::from_utf8(location.as_bytes()).ok())
        .and_then(|location| response.url().join(location).ok())
        .ok_or_else(|| unreachable("it redirects to nowhere"))?;
    if !same_origin(&target, response.url()) {
        return Err(elsewhere());
    }
    Ok(Some(target))
}

fn same_origin(one: &Url, other: &Url) -> bool {
    let credentials = |url: &Url| (url.username().to_owned(), url.password().map(str::to_owned));
    one.origin() == other.origin() && credentials(one) == credentials(other)
}

fn elsewhere() -> Refusal {
    unreachable("it redirects to another origin, where nothing of this may go")
}

fn unreachable(why: &str) -> Refusal {
    Refusal::Failed(CauseKind::Unreachable(why.to_owned()).into())
}

/// Whether a refusal is about who asks: 403 alone is not, since servers also
/// say so of hosts and origins that they do not serve.
fn is_challenge(answer: &Answer) -> bool {
    answer.status() == StatusCode::FORBIDDEN && answer.headers().contains_key(WWW_AUTHENTICATE)
}

/// There are no credentials that would do, so that nothing was looked at.
fn unauthorized(why: Unauthorized) -> Refusal {
    Refusal::Failed(CauseKind::Unauthorized(why.into_words()).into())
}

/// Headers as received, for the rules that read them.
struct Received<'a>(&'a HeaderMap);

impl Headers for Received<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let values = self.0.get_all(name).iter();
        values.map(HeaderValue::as_bytes)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is kept here is whole after every statement.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
