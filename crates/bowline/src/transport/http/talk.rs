//! What all exchanges of one link share: where to, who we are, what was settled.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use bytes::Bytes;
use reqwest::{
    Method, Response, StatusCode, Url,
    header::{ACCEPT, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER},
};
use tokio::time::Instant as Clock;

use super::{
    HttpLimits,
    authorizer::{Challenged, Credentials, Outbound, Unauthorized, Verdict},
    body,
    letter::name_version,
    tool_headers::ToolHeaders,
    words::words_of,
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

/// One link's side of the conversation, apart from the exchanges themselves.
pub(super) struct Talk {
    pub(super) http: reqwest::Client,
    /// The headers that the application wants to be sent.
    pub(super) headers: HeaderMap,
    pub(super) limits: HttpLimits,
    pub(super) resumption: ResumptionPolicy,
    pub(super) max_frame: usize,
    credentials: Credentials,
    /// The server, as the application named it.
    server: Url,
    /// Where messages are posted to.
    endpoint: Mutex<Url>,
    session: Mutex<ClientSession>,
    rules: OnceLock<&'static Rules>,
    tools: Mutex<ToolHeaders>,
    origin: Clock,
}

impl Talk {
    pub(super) fn new(settings: &super::Http, http: reqwest::Client, max_frame: usize) -> Self {
        Self {
            http,
            headers: settings.headers.clone(),
            limits: settings.limits,
            resumption: settings.resumption,
            max_frame,
            credentials: settings.credentials.clone(),
            server: settings.url.clone(),
            endpoint: Mutex::new(settings.url.clone()),
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

    pub(super) fn endpoint(&self) -> Url {
        lock(&self.endpoint).clone()
    }

    pub(super) fn set_endpoint(&self, url: Url) {
        *lock(&self.endpoint) = url;
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
        lock(&self.session).id().cloned()
    }

    pub(super) fn name_session(&self, headers: &mut HeaderMap) {
        let session = lock(&self.session);
        let id = session.id().map(SessionId::as_str);
        if let Some(Ok(mut id)) = id.map(HeaderValue::from_str) {
            // Whoever has it can join the session.
            id.set_sensitive(true);
            headers.insert(name::MCP_SESSION_ID, id);
        }
    }

    pub(super) fn opened(&self, headers: &HeaderMap) -> Result<(), SessionIdError> {
        lock(&self.session).opened(&Received(headers))
    }

    pub(super) fn lost(&self, session: &SessionId) {
        lock(&self.session).lost(session);
    }
}

/// Asking.
impl Talk {
    /// Asks for an event stream, from after an event if there is one.
    pub(super) async fn get_stream(
        &self,
        last_event_id: Option<&str>,
    ) -> Result<Response, Refusal> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(name::TEXT_EVENT_STREAM));
        self.name_session(&mut headers);
        name_version(self.rules(), &mut headers);
        let id = last_event_id.map(|id| HeaderValue::from_bytes(id.as_bytes()));
        if let Some(Ok(id)) = id {
            headers.insert(name::LAST_EVENT_ID, id);
        }
        self.send(Method::GET, headers, Bytes::new()).await
    }

    /// Ends the session.
    pub(super) async fn delete(&self) -> Result<Response, Refusal> {
        let mut headers = HeaderMap::new();
        self.name_session(&mut headers);
        name_version(self.rules(), &mut headers);
        self.send(Method::DELETE, headers, Bytes::new()).await
    }

    /// Sends a request, and again with other credentials where the server wants
    /// others and there are some. Gives the answer, whatever its status.
    pub(super) async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response, Refusal> {
        let letter = (method, headers, body);
        for attempt in 0.. {
            let (response, sent) = self.follow(&letter).await?;
            let refused = matches!(
                response.status(),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
            );
            if !refused || !self.credentials.is_some() || attempt >= MOST_CREDENTIALS {
                return Ok(response);
            }
            let request = self.outbound(&letter.0, response.url());
            let challenge = Challenged {
                status: response.status().as_u16(),
                headers: response.headers(),
                sent: &sent,
                attempt,
            };
            let verdict = self.credentials.challenged(request, challenge).await;
            if verdict.map_err(unauthorized)? == Verdict::Leave {
                return Ok(response);
            }
            body::drain(response).await;
        }
        Err(unreachable("it wants other credentials again and again"))
    }

    /// Sends a request, and again where the server says that it lives elsewhere
    /// on the same origin. Gives the answer, and the credentials that it met.
    async fn follow(
        &self,
        (method, headers, body): &(Method, HeaderMap, Bytes),
    ) -> Result<(Response, HeaderMap), Refusal> {
        let mut url = self.endpoint();
        for _ in 0..=MOST_REDIRECTS {
            let outbound = self.outbound(method, &url);
            let credentials = self.credentials.headers(outbound).await;
            let credentials = credentials.map_err(unauthorized)?;
            let request = self
                .http
                .request(method.clone(), url.clone())
                .headers(self.headers.clone())
                .headers(headers.clone())
                .headers(credentials.clone())
                .body(body.clone());
            let response = request.send().await.map_err(refusal_of)?;
            if !same_origin(response.url(), &url) {
                // A client of the application's own followed it there.
                return Err(elsewhere());
            }
            self.credentials.answered(outbound, response.headers());
            let Some(next) = redirect(&response)? else {
                return Ok((response, credentials));
            };
            if response.status() == StatusCode::PERMANENT_REDIRECT {
                self.set_endpoint(next.clone());
            }
            url = next;
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
    pub(super) async fn refusal(&self, response: &mut Response) -> HttpRefusal {
        HttpRefusal {
            status: response.status().as_u16(),
            retry_after: wait_of(response),
            body: body::beginning(response, self.limits.error_body).await,
        }
    }
}

/// How long the server wants to be left alone.
pub(super) fn wait_of(response: &Response) -> Option<std::time::Duration> {
    let value = response.headers().get(RETRY_AFTER)?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    retry_after(value.as_bytes(), now.map_or(0, |now| now.as_secs()))
}

/// Where a redirect leads, if the answer is one that may be followed.
///
/// Only the two kinds are that keep method and body, and only within the
/// origin: what is sent there, credentials and session included, is not for
/// anybody else.
fn redirect(response: &Response) -> Result<Option<Url>, Refusal> {
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

/// There are no credentials that would do, so that nothing was looked at.
fn unauthorized(why: Unauthorized) -> Refusal {
    Refusal::Failed(CauseKind::Unauthorized(why.into_words()).into())
}

/// A request that met no server was not delivered. Of any other, nobody knows.
fn refusal_of(error: reqwest::Error) -> Refusal {
    if error.is_connect() || error.is_builder() || error.is_redirect() {
        Refusal::Failed(CauseKind::Unreachable(words_of(error)).into())
    } else {
        Refusal::Unanswered(CauseKind::Io(words_of(error)).into())
    }
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
