//! State shared by all exchanges of one link: target, credentials, session and
//! revision.

use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use reqwest::{
    Method, StatusCode, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE},
};
use tokio::time::Instant as TokioInstant;

use super::{
    HttpLimits,
    authorizer::{AuthChallenge, ChallengeAction, Credentials, OutboundRequest, Unauthorized},
    backend::{HttpBackend, RequestTarget},
    body,
    post_request::{RequestHeaders, insert_version},
    response::HttpResponse,
    tool_headers::ToolHeaders,
};
use crate::{
    proto::{
        Instant,
        http::{
            ClientSession, Headers, SessionId, SessionIdError,
            header::{MismatchReason, name},
            resume::ResumptionPolicy,
        },
        revision::Rules,
    },
    sync,
    transport::{ConnectionErrorKind, SendError},
};

/// Maximum number of consecutive redirects.
const MAX_REDIRECTS: usize = 3;

/// Maximum number of retries with other credentials: one renewal, one sign-in,
/// one for additional scopes, and one each for a required nonce.
const MAX_AUTH_ATTEMPTS: u32 = 5;

/// Capacity for our own headers in addition to the application's.
const EXTRA_HEADERS: usize = 16;

/// The shared state of one link's exchanges.
pub(super) struct HttpContext {
    backend: HttpBackend,
    /// The application's headers.
    headers: HeaderMap,
    pub(super) limits: HttpLimits,
    pub(super) resumption: ResumptionPolicy,
    pub(super) max_frame_size: usize,
    credentials: Credentials,
    /// The server URL, as given by the application.
    server: Url,
    /// The target of POST requests.
    endpoint: Mutex<Arc<RequestTarget>>,
    session: Mutex<Session>,
    rules: OnceLock<&'static Rules>,
    tools: Mutex<ToolHeaders>,
    origin: TokioInstant,
}

/// The session and the headers derived from it.
#[derive(Default)]
struct Session {
    state: ClientSession,
    /// The headers that all POST requests share, once the revision is
    /// negotiated.
    post_headers: Option<Arc<HeaderMap>>,
}

impl HttpContext {
    pub(super) fn new(settings: &super::Http, backend: HttpBackend, max_frame_size: usize) -> Self {
        Self {
            backend,
            headers: settings.headers.clone(),
            limits: settings.limits,
            resumption: settings.resumption,
            max_frame_size,
            credentials: settings.credentials.clone(),
            server: settings.url.clone(),
            endpoint: Mutex::new(RequestTarget::new(settings.url.clone())),
            session: Mutex::default(),
            rules: OnceLock::new(),
            tools: Mutex::default(),
            origin: TokioInstant::now(),
        }
    }

    /// Returns the rules of the revision, once it is negotiated.
    pub(super) fn rules(&self) -> Option<&'static Rules> {
        self.rules.get().copied()
    }

    pub(super) fn set_rules(&self, rules: &'static Rules) {
        // A link has one revision; setting it again changes nothing.
        let _ = self.rules.set(rules);
    }

    /// Returns the current time on the protocol's clock.
    pub(super) fn now(&self) -> Instant {
        Instant::after_origin(self.origin.elapsed())
    }

    /// Waits until an instant on the protocol's clock.
    pub(super) async fn wait_until(&self, moment: Instant) {
        tokio::time::sleep_until(self.origin + moment.since_origin()).await;
    }

    fn endpoint(&self) -> Arc<RequestTarget> {
        Arc::clone(&sync::lock(&self.endpoint))
    }

    pub(super) fn set_endpoint(&self, url: Url) {
        *sync::lock(&self.endpoint) = RequestTarget::new(url);
    }

    pub(super) fn update_tool_headers(&self, result: &[u8], is_first: bool) {
        if self.rules().is_some_and(|rules| rules.mirror_headers) {
            sync::lock(&self.tools).record_page(result, is_first);
        }
    }

    pub(super) fn tool_headers(&self, params: &[u8]) -> Result<Vec<(String, String)>, String> {
        sync::lock(&self.tools).fields(params).map_err(|mismatch| {
            let reason = match mismatch.reason {
                MismatchReason::NotRepresentable => "has a value that cannot be sent in a header",
                _ => "appears more than once",
            };
            format!("the argument for the header {} {reason}", mismatch.header)
        })
    }
}

/// Sessions.
impl HttpContext {
    /// Returns the session that requests currently name.
    pub(super) fn session(&self) -> Option<SessionId> {
        sync::lock(&self.session).state.id().cloned()
    }

    pub(super) fn open_session(&self, headers: &HeaderMap) -> Result<(), SessionIdError> {
        let mut session = sync::lock(&self.session);
        session.post_headers = None;
        session.state.set_from_response(&HeaderMapView(headers))
    }

    pub(super) fn clear_session(&self, session_id: &SessionId) {
        let mut session = sync::lock(&self.session);
        session.post_headers = None;
        session.state.clear_if(session_id);
    }

    /// Returns the headers that POST requests share under these rules. Cached
    /// if these are the negotiated rules.
    pub(super) fn post_headers(&self, rules: Option<&'static Rules>) -> Arc<HeaderMap> {
        let mut session = sync::lock(&self.session);
        if let Some(cached) = &session.post_headers {
            return Arc::clone(cached);
        }
        let mut headers = self.common_headers(&session, rules);
        headers.insert(
            CONTENT_TYPE,
            HeaderValue::from_static(name::APPLICATION_JSON),
        );
        headers.insert(ACCEPT, HeaderValue::from_static(name::ACCEPT_BOTH));
        let headers = Arc::new(headers);
        if self.rules().is_some() {
            session.post_headers = Some(Arc::clone(&headers));
        }
        headers
    }

    /// Returns the headers of all requests: the application's, the session and
    /// the protocol version.
    fn common_headers(&self, session: &Session, rules: Option<&'static Rules>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(self.headers.len() + EXTRA_HEADERS);
        headers.extend(self.headers.clone());
        let id = session.state.id().map(SessionId::as_str);
        if let Some(Ok(mut id)) = id.map(HeaderValue::from_str) {
            // Anyone who has it can join the session.
            id.set_sensitive(true);
            headers.insert(name::MCP_SESSION_ID, id);
        }
        insert_version(rules, &mut headers);
        headers
    }
}

/// Requests.
impl HttpContext {
    /// Requests an event stream, after the given event if there is one.
    pub(super) async fn get_stream(
        &self,
        last_event_id: Option<&str>,
    ) -> Result<HttpResponse, SendError> {
        let mut headers = self.common_headers(&sync::lock(&self.session), self.rules());
        headers.insert(ACCEPT, HeaderValue::from_static(name::TEXT_EVENT_STREAM));
        let id = last_event_id.map(|id| HeaderValue::from_bytes(id.as_bytes()));
        if let Some(Ok(id)) = id {
            headers.insert(name::LAST_EVENT_ID, id);
        }
        self.send(Method::GET, &headers.into(), Bytes::new()).await
    }

    /// Deletes the session.
    pub(super) async fn delete(&self) -> Result<HttpResponse, SendError> {
        let headers = self.common_headers(&sync::lock(&self.session), self.rules());
        self.send(Method::DELETE, &headers.into(), Bytes::new())
            .await
    }

    /// Sends a request, and retries it with other credentials if the server
    /// asks for them and the authorizer has some. Returns the response,
    /// whatever its status.
    pub(super) async fn send(
        &self,
        method: Method,
        request_headers: &RequestHeaders,
        body: Bytes,
    ) -> Result<HttpResponse, SendError> {
        for attempt in 0.. {
            let (response, sent) = self
                .send_following_redirects(&method, request_headers, &body)
                .await?;
            let refused = matches!(
                response.status(),
                StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN
            );
            if refused && !self.credentials.is_some() && is_challenge(&response) {
                return Err(unauthorized_error(Unauthorized::new(
                    "the server requires different credentials (HTTP 403)",
                )));
            }
            if !refused || !self.credentials.is_some() || attempt >= MAX_AUTH_ATTEMPTS {
                return Ok(response);
            }
            let request = self.outbound_request(&method, response.url());
            let challenge = AuthChallenge {
                status: response.status().as_u16(),
                headers: response.headers(),
                sent: &sent,
                attempt,
            };
            let challenge_future = Box::pin(self.credentials.on_challenge(request, challenge));
            let action = challenge_future.await;
            if action.map_err(unauthorized_error)? == ChallengeAction::Fail {
                return Ok(response);
            }
            Box::pin(body::drain(response)).await;
        }
        Err(unreachable_error("it refused the credentials repeatedly"))
    }

    /// Sends a request, and follows redirects on the same origin. Returns the
    /// response, and the credentials that were sent.
    async fn send_following_redirects(
        &self,
        method: &Method,
        request_headers: &RequestHeaders,
        body: &Bytes,
    ) -> Result<(HttpResponse, HeaderMap), SendError> {
        let mut request_target = self.endpoint();
        for _ in 0..=MAX_REDIRECTS {
            let outbound = self.outbound_request(method, &request_target.url);
            let credentials = self.credentials.headers(outbound).await;
            let credentials = credentials.map_err(unauthorized_error)?;
            let headers = request_headers.merged_with(&credentials);
            let sending = self
                .backend
                .send(method.clone(), &request_target, headers, body.clone());
            let response = sending.await?;
            if !response.is_from(&request_target)
                && !same_origin(response.url(), &request_target.url)
            {
                // The application's own client followed a redirect there.
                return Err(cross_origin_error());
            }
            self.credentials.on_response(outbound, response.headers());
            let Some(next) = redirect(&response)? else {
                return Ok((response, credentials));
            };
            if response.status() == StatusCode::PERMANENT_REDIRECT {
                self.set_endpoint(next.clone());
            }
            Box::pin(body::drain(response)).await;
            request_target = RequestTarget::new(next);
        }
        Err(unreachable_error("too many redirects"))
    }

    fn outbound_request<'a>(&'a self, method: &'a Method, url: &'a Url) -> OutboundRequest<'a> {
        OutboundRequest {
            server: &self.server,
            method,
            url,
        }
    }
}

/// Returns the target of a redirect, if the response is one that may be
/// followed.
///
/// Only 307 and 308 are followed, which keep method and body, and only within
/// the origin: the request, including credentials and session, is not for
/// anyone else.
fn redirect(response: &HttpResponse) -> Result<Option<Url>, SendError> {
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
        .ok_or_else(|| unreachable_error("it sent a redirect without a valid location"))?;
    if !same_origin(&target, response.url()) {
        return Err(cross_origin_error());
    }
    Ok(Some(target))
}

fn same_origin(one: &Url, other: &Url) -> bool {
    let credentials = |url: &Url| (url.username().to_owned(), url.password().map(str::to_owned));
    one.origin() == other.origin() && credentials(one) == credentials(other)
}

fn cross_origin_error() -> SendError {
    unreachable_error("it redirects to another origin, which is not followed")
}

fn unreachable_error(reason: &str) -> SendError {
    SendError::Failed(ConnectionErrorKind::Unreachable(reason.to_owned()).into())
}

/// Returns whether a response is about credentials. A 403 alone is not: servers
/// also send it for hosts and origins that they do not serve.
fn is_challenge(response: &HttpResponse) -> bool {
    response.status() == StatusCode::FORBIDDEN && response.headers().contains_key(WWW_AUTHENTICATE)
}

/// No credentials are available, so the request was not processed.
fn unauthorized_error(reason: Unauthorized) -> SendError {
    SendError::Failed(ConnectionErrorKind::Unauthorized(reason.into_message()).into())
}

/// Received headers, as the protocol rules read them.
struct HeaderMapView<'a>(&'a HeaderMap);

impl Headers for HeaderMapView<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let values = self.0.get_all(name).iter();
        values.map(HeaderValue::as_bytes)
    }
}
