//! Authorizers, which supply the credentials of HTTP requests.

use std::{fmt, net::IpAddr, sync::Arc};

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderValue},
};

use crate::transport::BoxFuture;

/// Supplies the credentials for the requests of an [`Http`](super::Http)
/// transport.
///
/// It is asked before every request: each POST, each stream, and the DELETE
/// that ends a session. It is notified when the server responds with 401 or
/// 403, and decides whether the request is retried. It may take its time: calls
/// have their own timeouts.
///
/// ```
/// use bowline::transport::{
///     AuthChallenge, Authorizer, BoxFuture, ChallengeAction, Http, OutboundRequest, Unauthorized,
///     reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue},
/// };
///
/// struct FromVault;
///
/// impl Authorizer for FromVault {
///     fn headers<'a>(
///         &'a self,
///         _request: OutboundRequest<'a>,
///     ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>> {
///         Box::pin(async {
///             let token = HeaderValue::from_static("Bearer s3cr3t");
///             Ok(HeaderMap::from_iter([(AUTHORIZATION, token)]))
///         })
///     }
///
///     fn on_challenge<'a>(
///         &'a self,
///         _request: OutboundRequest<'a>,
///         _challenge: AuthChallenge<'a>,
///     ) -> BoxFuture<'a, Result<ChallengeAction, Unauthorized>> {
///         Box::pin(async { Ok(ChallengeAction::Fail) })
///     }
/// }
///
/// # fn main() -> Result<(), bowline::transport::HttpConfigError> {
/// let server = Http::new("https://mcp.example.com/mcp")?.authorizer(FromVault);
/// # drop(server);
/// # Ok(()) }
/// ```
pub trait Authorizer: Send + Sync + 'static {
    /// Returns the headers to add to a request. They replace other headers of
    /// the same names, and are sent only to the origin of the server.
    ///
    /// # Errors
    ///
    /// Returns an error if no credentials are available. The request is not
    /// sent.
    fn headers<'a>(
        &'a self,
        request: OutboundRequest<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>>;

    /// Handles a 401 or 403 response. A request is retried a few times at most,
    /// whatever this returns.
    ///
    /// # Errors
    ///
    /// Returns an error, with the reason, if retrying is known to be useless.
    fn on_challenge<'a>(
        &'a self,
        request: OutboundRequest<'a>,
        challenge: AuthChallenge<'a>,
    ) -> BoxFuture<'a, Result<ChallengeAction, Unauthorized>>;

    /// Called with the headers of every response, whatever its status.
    fn on_response(&self, _request: OutboundRequest<'_>, _headers: &HeaderMap) {}
}

/// A request that needs credentials.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OutboundRequest<'a> {
    /// The server URL, as given to the transport.
    pub server: &'a Url,
    /// The HTTP method.
    pub method: &'a Method,
    /// The URL of the request, which is on the server's origin.
    pub url: &'a Url,
}

/// A 401 or 403 response.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct AuthChallenge<'a> {
    /// The status: 401 or 403.
    pub status: u16,
    /// The headers of the response.
    pub headers: &'a HeaderMap,
    /// The headers that the authorizer supplied for the request.
    pub sent: &'a HeaderMap,
    /// Number of times this request was refused before.
    pub attempt: u32,
}

/// What to do after a challenge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeAction {
    /// Retries the request, with newly requested headers.
    Retry,
    /// Reports the response like any other error status.
    Fail,
}

/// Why a request cannot be authorized, in words that hold no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthorized(String);

impl Unauthorized {
    /// Creates an error with this reason.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    pub(super) fn into_message(self) -> String {
        self.0
    }
}

impl fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unauthorized {}

impl fmt::Debug for AuthChallenge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthChallenge")
            .field("status", &self.status)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// The authorizer of a transport, if it has one.
#[derive(Clone, Default)]
pub(super) struct Credentials {
    authorizer: Option<Arc<dyn Authorizer>>,
    /// Whether credentials may be sent over plain `http` to another machine.
    pub(super) allow_plain_http: bool,
}

impl Credentials {
    pub(super) fn set(&mut self, authorizer: impl Authorizer) {
        self.authorizer = Some(Arc::new(authorizer));
    }

    pub(super) fn is_some(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Returns the headers for a request, all marked as sensitive.
    pub(super) async fn headers(
        &self,
        request: OutboundRequest<'_>,
    ) -> Result<HeaderMap, Unauthorized> {
        let Some(authorizer) = &self.authorizer else {
            return Ok(HeaderMap::new());
        };
        let mut headers = authorizer.headers(request).await?;
        if !headers.is_empty() && self.must_not_send_to(request.url) {
            return Err(Unauthorized::new(PLAIN_HTTP_MESSAGE));
        }
        let values = headers.values_mut();
        values.for_each(|value: &mut HeaderValue| value.set_sensitive(true));
        Ok(headers)
    }

    /// Returns whether credentials must not be sent to this URL.
    pub(super) fn must_not_send_to(&self, url: &Url) -> bool {
        !self.allow_plain_http && is_insecure(url)
    }

    pub(super) async fn on_challenge(
        &self,
        request: OutboundRequest<'_>,
        challenge: AuthChallenge<'_>,
    ) -> Result<ChallengeAction, Unauthorized> {
        match &self.authorizer {
            Some(authorizer) => authorizer.on_challenge(request, challenge).await,
            None => Ok(ChallengeAction::Fail),
        }
    }

    pub(super) fn on_response(&self, request: OutboundRequest<'_>, headers: &HeaderMap) {
        if let Some(authorizer) = &self.authorizer {
            authorizer.on_response(request, headers);
        }
    }
}

/// The error message if credentials would be sent over plain `http`.
pub(super) const PLAIN_HTTP_MESSAGE: &str = "credentials would be sent over plain http to another machine, where \
     others can read them; use https, or allow it on a trusted network \
     (`allow_plain_http`, or `allowPlainHttp` in a configuration file)";

/// Substrings that mark a header name as holding credentials.
const CREDENTIAL_PARTS: [&str; 8] = [
    "authorization",
    "cookie",
    "credential",
    "token",
    "secret",
    "passw",
    "apikey",
    "dpop",
];

/// Whole words that do the same.
const CREDENTIAL_WORDS: [&str; 6] = ["auth", "key", "jwt", "bearer", "pat", "login"];

/// Exceptions: header names that do not hold credentials.
const NOT_CREDENTIALS: [&str; 2] = ["idempotency-key", "x-idempotency-key"];

/// Returns whether some of these headers hold credentials. Every vendor has its
/// own header names, so this goes by parts of the name. Values cannot tell: all
/// of them are marked as sensitive to keep them out of logs.
pub(super) fn has_credentials(headers: &HeaderMap) -> bool {
    headers
        .keys()
        .any(|name| is_credential_header(name.as_str()))
}

/// Expects a header name in lower case.
fn is_credential_header(name: &str) -> bool {
    let mut words = name.split(['-', '_', '.']);
    let names_credential = CREDENTIAL_PARTS.iter().any(|part| name.contains(part))
        || words.any(|word| CREDENTIAL_WORDS.contains(&word));
    names_credential && !NOT_CREDENTIALS.contains(&name)
}

/// Returns whether traffic to a URL can be read on the way: it is not encrypted
/// and leaves this machine.
fn is_insecure(url: &Url) -> bool {
    if url.scheme() != "http" {
        return false;
    }
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<IpAddr>() {
        Ok(address) => !address.to_canonical().is_loopback(),
        Err(_) => {
            let host = host.trim_end_matches('.');
            host != "localhost" && !host.ends_with(".localhost")
        }
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    #[test]
    fn headers_that_carry_credentials_are_known_by_their_names() {
        for (name, carries) in [
            ("authorization", true),
            ("proxy-authorization", true),
            ("cookie", true),
            ("x-api-key", true),
            ("api-key", true),
            ("apikey", true),
            ("x-auth-token", true),
            ("x-auth", true),
            ("private-token", true),
            ("x-vault-token", true),
            ("x-amz-security-token", true),
            ("x-goog-api-key", true),
            ("ocp-apim-subscription-key", true),
            ("x-functions-key", true),
            ("cf-access-client-secret", true),
            ("x_access_token", true),
            ("dpop", true),
            ("accept-language", false),
            ("x-author", false),
            ("x-keyboard", false),
            ("idempotency-key", false),
            ("traceparent", false),
            ("user-agent", false),
        ] {
            let mut headers = HeaderMap::new();
            let name = HeaderName::from_static(name);
            headers.insert(name.clone(), HeaderValue::from_static("x"));
            assert_eq!(has_credentials(&headers), carries, "{name}");
        }
    }

    #[test]
    fn what_leaves_this_machine_unencrypted_can_be_read_by_others() {
        for (url, readable) in [
            ("http://mcp.example.com/mcp", true),
            ("http://server:8000/mcp", true),
            ("http://10.0.0.7/mcp", true),
            ("http://[2001:db8::1]/mcp", true),
            ("http://localhost.example.com/mcp", true),
            ("https://mcp.example.com/mcp", false),
            ("http://127.0.0.1:3000/mcp", false),
            ("http://127.1/mcp", false),
            ("http://[::1]/mcp", false),
            ("http://[::ffff:127.0.0.1]/mcp", false),
            ("http://LOCALHOST./mcp", false),
            ("http://app.localhost/mcp", false),
        ] {
            let url = Url::parse(url).expect("a URL");
            assert_eq!(is_insecure(&url), readable, "{url}");
        }
    }
}
