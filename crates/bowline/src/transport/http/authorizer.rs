//! Who is asked for credentials, and told when they do not do.

use std::{fmt, sync::Arc};

use reqwest::{
    Method, Url,
    header::{HeaderMap, HeaderValue},
};

use crate::transport::BoxFuture;

/// Gives the requests of an [`Http`](super::Http) transport their credentials.
///
/// It is asked before every request: each POST, the streams, the end of a
/// session. And it is told when the server answers 401 or 403, and decides
/// whether the request is made again. What it does in between may take its
/// time: the calls have deadlines of their own.
///
/// ```
/// use bowline::transport::{
///     Authorizer, BoxFuture, Challenged, Http, Outbound, Unauthorized, Verdict,
///     reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue},
/// };
///
/// struct FromVault;
///
/// impl Authorizer for FromVault {
///     fn headers<'a>(
///         &'a self,
///         _request: Outbound<'a>,
///     ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>> {
///         Box::pin(async {
///             let token = HeaderValue::from_static("Bearer s3cr3t");
///             Ok(HeaderMap::from_iter([(AUTHORIZATION, token)]))
///         })
///     }
///
///     fn challenged<'a>(
///         &'a self,
///         _request: Outbound<'a>,
///         _challenge: Challenged<'a>,
///     ) -> BoxFuture<'a, Result<Verdict, Unauthorized>> {
///         Box::pin(async { Ok(Verdict::Leave) })
///     }
/// }
///
/// # fn main() -> Result<(), bowline::transport::HttpProblem> {
/// let server = Http::new("https://mcp.example.com/mcp")?.authorizer(FromVault);
/// # drop(server);
/// # Ok(()) }
/// ```
pub trait Authorizer: Send + Sync + 'static {
    /// The headers that a request is given. They replace others of the same
    /// names, and go to the origin of the server only.
    ///
    /// # Errors
    ///
    /// Where there are no credentials to be had. The request is not made.
    fn headers<'a>(
        &'a self,
        request: Outbound<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>>;

    /// The server answered 401 or 403. A request is made again a few times at
    /// most, whatever this says.
    ///
    /// # Errors
    ///
    /// Where it is known that trying again is of no use, and why.
    fn challenged<'a>(
        &'a self,
        request: Outbound<'a>,
        challenge: Challenged<'a>,
    ) -> BoxFuture<'a, Result<Verdict, Unauthorized>>;

    /// The server answered, in whatever way.
    fn answered(&self, _request: Outbound<'_>, _headers: &HeaderMap) {}
}

/// A request that needs credentials.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Outbound<'a> {
    /// The server, as the transport was given it.
    pub server: &'a Url,
    /// The method.
    pub method: &'a Method,
    /// Where the request goes, which is on the origin of the server.
    pub url: &'a Url,
}

/// A refusal to let us in.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Challenged<'a> {
    /// The status: 401 or 403.
    pub status: u16,
    /// The headers of the answer.
    pub headers: &'a HeaderMap,
    /// The headers that the authorizer had given the request.
    pub sent: &'a HeaderMap,
    /// How many times this request was refused before.
    pub attempt: u32,
}

/// What is done about a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request is made again, with headers that are asked for anew.
    Again,
    /// The refusal stands, and is reported as any other status.
    Leave,
}

/// Why a request cannot be authorized, in words that hold no secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthorized(String);

impl Unauthorized {
    /// For this reason.
    #[must_use]
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }

    pub(super) fn into_words(self) -> String {
        self.0
    }
}

impl fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unauthorized {}

impl fmt::Debug for Challenged<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Challenged")
            .field("status", &self.status)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}

/// The authorizer of a transport, if it has one.
#[derive(Clone, Default)]
pub(super) struct Credentials(Option<Arc<dyn Authorizer>>);

impl Credentials {
    pub(super) fn from(authorizer: impl Authorizer) -> Self {
        Self(Some(Arc::new(authorizer)))
    }

    pub(super) fn is_some(&self) -> bool {
        self.0.is_some()
    }

    /// The headers for a request. None of them is shown anywhere.
    pub(super) async fn headers(&self, request: Outbound<'_>) -> Result<HeaderMap, Unauthorized> {
        let Some(authorizer) = &self.0 else {
            return Ok(HeaderMap::new());
        };
        let mut headers = authorizer.headers(request).await?;
        let values = headers.values_mut();
        values.for_each(|value: &mut HeaderValue| value.set_sensitive(true));
        Ok(headers)
    }

    pub(super) async fn challenged(
        &self,
        request: Outbound<'_>,
        challenge: Challenged<'_>,
    ) -> Result<Verdict, Unauthorized> {
        match &self.0 {
            Some(authorizer) => authorizer.challenged(request, challenge).await,
            None => Ok(Verdict::Leave),
        }
    }

    pub(super) fn answered(&self, request: Outbound<'_>, headers: &HeaderMap) {
        if let Some(authorizer) = &self.0 {
            authorizer.answered(request, headers);
        }
    }
}
