//! The HTTP transport, for every HTTP variant the protocol has had.
//!
//! A link runs an exchange for every frame: a POST, whose response is one
//! message or a stream of messages. Messages that the server sends on its own
//! arrive on a GET stream that the link keeps open, if the revision has one.
//! Servers of the first revision, which have two endpoints, are used when the
//! connection asks for that.
//!
//! Requests are sent directly to the server ([`pool`]), or through a client
//! that supports proxies ([`backend`] chooses).
//!
//! This module does the I/O; the meaning of statuses, headers and streams is
//! decided in [`proto::http`](crate::proto::http) and by the connection.

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
mod status_error;
mod tool_headers;

use std::{
    fmt,
    sync::{Arc, Mutex, OnceLock},
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
use crate::{
    proto::{
        http::{header::name, resume::ResumptionPolicy},
        revision::Era,
    },
    sync,
};

pub use authorizer::{AuthChallenge, Authorizer, ChallengeAction, OutboundRequest, Unauthorized};
pub use error::HttpConfigError;

/// A server that is reached by URL.
///
/// Clones share their connections and what is known about the server.
///
/// Connections are kept alive and reused; any number of calls run at the same
/// time. Proxies are taken from `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
/// `NO_PROXY`. Redirects are followed if they keep the method (307 and 308) and
/// stay on the same origin.
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

/// Limits on the data that is read from a server.
///
/// The maximum message size is a client setting, as for every transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpLimits {
    /// Number of bytes of an error body that are kept: 64 KiB.
    pub max_error_body: usize,
    /// Number of bytes of comments and other overhead between two events of a
    /// stream before it is aborted: 8 MiB.
    pub max_comment_bytes: u64,
    /// Number of received bytes that may wait to be processed before reading
    /// pauses: 4 MiB. A single message may be larger.
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
    /// Creates a transport to the server at `url`.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not an `http` or `https` URL with a host, or
    /// contains a user name or password.
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
        // Fragments are never sent.
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

    /// Sends a header with every request, replacing an earlier one of the same
    /// name. Its value is treated as a secret.
    ///
    /// # Errors
    ///
    /// Returns an error if the name or value is invalid, or the transport sets
    /// the header itself.
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
    /// Returns an error if the token contains a line break or another control
    /// character.
    pub fn bearer(self, token: &str) -> Result<Self, HttpConfigError> {
        self.header(header::AUTHORIZATION.as_str(), &format!("Bearer {token}"))
    }

    /// Sets the authorizer, which is asked for the credentials of every
    /// request.
    #[must_use]
    pub fn authorizer(mut self, authorizer: impl Authorizer) -> Self {
        self.credentials.set(authorizer);
        self
    }

    /// Allows credentials to be sent over plain `http` to another machine,
    /// where anyone on the network path can read and use them. Without this,
    /// requests with a token or another credential header are refused. For
    /// networks without third parties, such as between the containers of one
    /// machine.
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

    /// Uses this HTTP client, to share a connection pool or to configure
    /// certificates or proxies. Start from
    /// [`client_builder`](Self::client_builder) to keep the settings that the
    /// transport relies on: a client that follows redirects may send headers
    /// elsewhere.
    #[must_use]
    pub fn client(mut self, client: reqwest::Client) -> Self {
        self.backend = Arc::new(OnceLock::from(HttpBackend::Reqwest(client)));
        self
    }

    /// Returns the settings of the default client: certificates verified by the
    /// system, proxies from the environment, a connect timeout of ten seconds,
    /// no redirects.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no usable certificates.
    pub fn client_builder() -> Result<reqwest::ClientBuilder, ConnectionError> {
        http_client::builder().map_err(|reason| ConnectionErrorKind::Unreachable(reason).into())
    }

    /// Sets the limits on the data that is read from the server.
    #[must_use]
    pub fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how broken streams are resumed.
    #[must_use]
    pub fn resumption(mut self, policy: ResumptionPolicy) -> Self {
        self.resumption = policy;
        self
    }

    /// Returns the backend, which is created on first use: loading the system's
    /// certificates takes a while.
    fn backend(&self) -> Result<HttpBackend, ConnectionError> {
        if let Some(backend) = self.backend.get() {
            return Ok(backend.clone());
        }
        let found = HttpBackend::for_url(&self.url)?;
        Ok(self.backend.get_or_init(|| found).clone())
    }

    /// Returns whether the application's headers hold credentials that others
    /// on the network could read.
    pub(crate) fn exposes_credentials(&self) -> bool {
        authorizer::has_credentials(&self.headers) && self.credentials.must_not_send_to(&self.url)
    }

    /// Returns the URL without its potentially secret parts.
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

/// The last known era of the server, shared by all links to it.
#[derive(Clone, Default)]
struct KnownEra(Arc<Mutex<Option<Era>>>);

impl KnownEra {
    fn get(&self) -> Option<Era> {
        *sync::lock(&self.0)
    }

    fn set(&self, era: Era) {
        *sync::lock(&self.0) = Some(era);
    }
}

/// Returns whether a header is part of the protocol or frames the body.
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
