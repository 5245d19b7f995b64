//! Servers that are reached over HTTP, in every shape that the protocol has had.
//!
//! A link makes an exchange of every frame: a POST, whose answer is one message
//! or a stream of them. What a server says unasked comes on a stream that the
//! link keeps open, where the revision has one. Servers of the first revision,
//! which have two endpoints, are spoken to when the connection asks for that.
//!
//! Requests go straight to the server ([`pool`]), or by a client that knows of
//! proxies ([`way`] chooses).
//!
//! Here is the machinery; what statuses, headers and streams mean is decided in
//! [`proto::http`](crate::proto::http) and by the connection.

mod authorizer;
mod backend;
mod body;
mod context;
mod error;
mod error_text;
mod event_channel;
mod events;
mod exchange;
mod get_stream;
pub(crate) mod http_client;
mod legacy_sse;
mod link;
mod pool;
mod post_request;
mod response;
mod tool_headers;

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use reqwest::{
    Url,
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

use self::{authorizer::Credentials, backend::HttpBackend, context::HttpContext, link::HttpLink};
use super::{
    BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, HttpVariant, Link, Transport,
    TransportKind,
};
use crate::proto::{
    http::{header::name, resume::ResumptionPolicy},
    revision::Era,
};

pub use authorizer::{AuthChallenge, Authorizer, ChallengeAction, OutboundRequest, Unauthorized};
pub use error::HttpConfigError;

/// A server that is reached by a URL.
///
/// Clones share their connections, and what was found out about the server.
///
/// Connections are kept and used again; as many calls as are made go out at
/// once. Proxies are those that `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
/// `NO_PROXY` name. Redirects are followed if they keep the method (307 and
/// 308) and lead to the same origin.
///
/// ```
/// use bowline::transport::Http;
///
/// # fn main() -> Result<(), bowline::transport::HttpConfigError> {
/// let server = Http::new("https://mcp.example.com/mcp?key=hush")?
///     .header("x-team", "knots")?
///     .bearer("s3cr3t")?;
/// assert_eq!(
///     format!("{server:?}"),
///     r#"Http { url: "https://mcp.example.com/mcp", headers: ["authorization", "x-team"] }"#,
///     "values of headers and queries are never shown",
/// );
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Http {
    url: Url,
    headers: HeaderMap,
    limits: HttpLimits,
    resumption: ResumptionPolicy,
    credentials: Credentials,
    backend: Arc<OnceLock<HttpBackend>>,
    known_era: KnownEra,
}

/// How much of what a server sends is read.
///
/// The largest message is a setting of the client's, as for every transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// How much of the body of an error is kept: 64 KiB.
    pub max_error_body: usize,
    /// How many bytes of comments and the like may come between two events of
    /// a stream before it is given up: 8 MiB.
    pub max_comment_bytes: u64,
    /// How many bytes may have arrived and wait to be taken in, before nothing
    /// more is read: 4 MiB. One message may be larger than that.
    pub max_backlog: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            max_error_body: 64 * 1024,
            max_comment_bytes: 8 * 1024 * 1024,
            max_backlog: 4 * 1024 * 1024,
        }
    }
}

impl Http {
    /// The server at `url`.
    ///
    /// # Errors
    ///
    /// Where it is not an `http` or `https` URL with a host, or has a user name
    /// or password in it.
    pub fn new(url: &str) -> Result<Self, HttpConfigError> {
        let mut url = Url::parse(url).map_err(|_| HttpConfigError::InvalidUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HttpConfigError::UnsupportedScheme);
        }
        if !url.has_host() {
            return Err(HttpConfigError::InvalidUrl);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HttpConfigError::CredentialsInUrl);
        }
        // It is never sent.
        url.set_fragment(None);
        Ok(Self {
            url,
            headers: HeaderMap::new(),
            limits: HttpLimits::default(),
            resumption: ResumptionPolicy::default(),
            credentials: Credentials::default(),
            backend: Arc::default(),
            known_era: KnownEra::default(),
        })
    }

    /// Sends a header with every request, in place of an earlier one of that
    /// name. Its value is treated as a secret.
    ///
    /// # Errors
    ///
    /// Where the name or the value cannot be sent, or the transport sets the
    /// header itself.
    pub fn header(mut self, name: &str, value: &str) -> Result<Self, HttpConfigError> {
        let key = HeaderName::try_from(name).map_err(|_| HttpConfigError::InvalidHeaderName)?;
        if is_reserved(&key) {
            return Err(HttpConfigError::ReservedHeader {
                name: key.as_str().into(),
            });
        }
        let invalid_value = |_| HttpConfigError::InvalidHeaderValue {
            name: key.as_str().into(),
        };
        let mut value = HeaderValue::from_str(value).map_err(invalid_value)?;
        value.set_sensitive(true);
        self.headers.insert(key, value);
        Ok(self)
    }

    /// Sends a bearer token with every request.
    ///
    /// # Errors
    ///
    /// Where the token has a line break or another control character in it.
    pub fn bearer(self, token: &str) -> Result<Self, HttpConfigError> {
        self.header(header::AUTHORIZATION.as_str(), &format!("Bearer {token}"))
    }

    /// Asks `authorizer` for the credentials of every request.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.credentials.set(authorizer);
        self
    }

    /// Lets credentials go over plain `http` to another machine, where whoever
    /// is on the way can read and use them. Without this, requests with a token
    /// or another header that says who asks are not made. For places where
    /// nobody else is on the way: between the containers of one machine, say.
    ///
    /// ```
    /// use bowline::transport::Http;
    ///
    /// # fn main() -> Result<(), bowline::transport::HttpConfigError> {
    /// let server = Http::new("http://tools:8000/mcp")?
    ///     .bearer("s3cr3t")?
    ///     .allow_plain_http();
    /// # drop(server);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn allow_plain_http(mut self) -> Self {
        self.credentials.allow_plain_http = true;
        self
    }

    /// Uses this HTTP client: for a pool of connections that is shared with
    /// others, for certificates or proxies of one's own. Begin with
    /// [`client_builder`](Self::client_builder) to keep what the transport
    /// relies on: a client that follows redirects may send headers elsewhere.
    #[must_use]
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.backend = Arc::new(OnceLock::from(HttpBackend::Reqwest(client)));
        self
    }

    /// The settings that the transport has unless a client is given:
    /// certificates as the system judges them, proxies from the environment, ten
    /// seconds to connect, no redirects.
    ///
    /// # Errors
    ///
    /// Where the system has no certificates that can be used.
    pub fn client_builder() -> Result<reqwest::ClientBuilder, ConnectionError> {
        http_client::builder().map_err(|reason| ConnectionErrorKind::Unreachable(reason).into())
    }

    /// Sets how much is read of what the server sends.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how streams that break are taken up again.
    #[must_use]
    pub fn resumption(mut self, policy: ResumptionPolicy) -> Self {
        self.resumption = policy;
        self
    }

    /// The way to the server, found when it is first needed: reading the
    /// certificates of the system takes a while.
    fn backend(&self) -> Result<HttpBackend, ConnectionError> {
        if let Some(backend) = self.backend.get() {
            return Ok(backend.clone());
        }
        let found = HttpBackend::for_url(&self.url)?;
        Ok(self.backend.get_or_init(|| found).clone())
    }

    /// Whether headers of the application's say who asks, and others could read
    /// them.
    pub(crate) fn exposes_credentials(&self) -> bool {
        authorizer::has_credentials(&self.headers) && self.credentials.must_not_send_to(&self.url)
    }

    /// The URL without what may be secret in it.
    fn redacted_url(&self) -> String {
        let mut url = self.url.clone();
        url.set_query(None);
        url.to_string()
    }
}

impl Transport for Http {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let settings = self.clone();
        Box::pin(async move {
            if settings.exposes_credentials() {
                return Err(ConnectionErrorKind::Unauthorized(
                    authorizer::PLAIN_HTTP_MESSAGE.to_owned(),
                )
                .into());
            }
            let backend = settings.backend()?;
            let context = Arc::new(HttpContext::new(&settings, backend, options.max_frame_size));
            let link = match options.http_variant {
                HttpVariant::Streamable => {
                    HttpLink::streamable(context, settings.known_era, options.close_tracker)
                }
                HttpVariant::LegacySse => {
                    let events = legacy_sse::open(&context).await?;
                    HttpLink::legacy_sse(context, settings.known_era, options.close_tracker, events)
                }
            };
            Ok(Box::new(link) as Box<dyn Link>)
        })
    }

    fn kind(&self) -> TransportKind {
        TransportKind::Http
    }

    fn known_era(&self) -> Option<Era> {
        self.known_era.get()
    }

    fn describe(&self) -> String {
        self.redacted_url()
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.headers.keys().map(HeaderName::as_str).collect();
        names.sort_unstable();
        f.debug_struct("Http")
            .field("url", &self.redacted_url())
            .field("headers", &names)
            .finish()
    }
}

/// Which era the server was last found to be of: all links to it profit.
#[derive(Clone, Default)]
struct KnownEra(Arc<Mutex<Option<Era>>>);

impl KnownEra {
    fn get(&self) -> Option<Era> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, era: Era) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(era);
    }
}

/// The headers that make up the protocol, and those that frame a body.
fn is_reserved(key: &HeaderName) -> bool {
    const RESERVED: &[HeaderName] = &[
        header::ACCEPT,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::CONTENT_TYPE,
        header::TRANSFER_ENCODING,
    ];
    RESERVED.contains(key)
        || key.as_str() == name::LAST_EVENT_ID
        || key.as_str().starts_with("mcp-")
}
