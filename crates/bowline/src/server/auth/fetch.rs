//! HTTP requests to authorization servers.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};

use super::https_url;
use crate::transport::BoxFuture;

/// The maximum time to wait for an issuer's response.
pub(super) const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum size of a response.
pub(super) const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Makes requests to authorization servers.
///
/// The feature `http-client` provides `WebFetch`. Other implementations should
/// neither follow redirects nor read responses without a limit.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response.
    fn fetch(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>>;
}

impl<T: Fetch + ?Sized> Fetch for Arc<T> {
    fn fetch(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        (**self).fetch(request)
    }
}

/// The reason a request got no usable response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError(String);

impl FetchError {
    /// Creates an error with this message.
    pub fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FetchError {}

/// A [`Fetch`] within the limits that hold for every implementation.
pub(super) struct LimitedFetch(Box<dyn Fetch>);

impl LimitedFetch {
    pub(super) fn new(fetch: impl Fetch) -> Self {
        Self(Box::new(fetch))
    }

    /// Makes a request to a secure address and returns the body of a successful
    /// response that is not too large.
    pub(super) async fn fetch(&self, request: Request<Bytes>) -> Result<Bytes, FetchError> {
        https_url::check(request.uri()).map_err(FetchError::new)?;
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.0.fetch(request)).await;
        let response = fetched.map_err(|_| FetchError::new("the request timed out after 5s"))??;
        if response.status() != StatusCode::OK {
            return Err(FetchError::new(format!(
                "the response status is {}",
                response.status()
            )));
        }
        if response.body().len() > MAX_RESPONSE_BYTES {
            return Err(FetchError::new(format!(
                "the response exceeds the limit of {MAX_RESPONSE_BYTES} bytes"
            )));
        }
        Ok(response.into_body())
    }

    pub(super) async fn get(&self, url: &str) -> Result<Bytes, FetchError> {
        let request = Request::builder()
            .method(Method::GET)
            .uri(url)
            .header(header::ACCEPT, "application/json")
            .body(Bytes::new());
        let request = request.map_err(|_| FetchError::new("the URL is invalid"));
        let fetched = match request {
            Ok(request) => self.fetch(request).await,
            Err(error) => Err(error),
        };
        fetched.map_err(|error| FetchError::new(format!("{url}: {error}")))
    }
}
