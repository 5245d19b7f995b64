//! Fetching what others publish.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};

use super::https_url;
use crate::transport::BoxFuture;

/// How long those wait for an issuer who wait for its answer.
pub(super) const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
/// The largest answer that is looked at.
pub(super) const MAX_RESPONSE_BYTES: usize = 256 * 1024;

/// Makes requests to authorization servers.
///
/// With the feature `http-client` there is `WebFetch`. Others bring a client of
/// their own, which should neither follow redirects nor read answers without a
/// limit.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request.
    ///
    /// # Errors
    ///
    /// Where there is no answer.
    fn fetch(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>>;
}

impl<T: Fetch + ?Sized> Fetch for Arc<T> {
    fn fetch(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        (**self).fetch(request)
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchError(String);

impl FetchError {
    /// An error with these words.
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

/// Whoever fetches, within the limits that hold for everybody.
pub(super) struct LimitedFetch(Box<dyn Fetch>);

impl LimitedFetch {
    pub(super) fn new(fetch: impl Fetch) -> Self {
        Self(Box::new(fetch))
    }

    /// Makes a request to somewhere safe, and gives a good answer that is not
    /// too large.
    pub(super) async fn fetch(&self, request: Request<Bytes>) -> Result<Bytes, FetchError> {
        https_url::check(request.uri()).map_err(FetchError::new)?;
        let fetched = tokio::time::timeout(FETCH_TIMEOUT, self.0.fetch(request)).await;
        let response = fetched.map_err(|_| FetchError::new("it took too long"))??;
        if response.status() != StatusCode::OK {
            return Err(FetchError::new(format!(
                "the answer is {}",
                response.status()
            )));
        }
        if response.body().len() > MAX_RESPONSE_BYTES {
            return Err(FetchError::new("the answer is too large"));
        }
        Ok(response.into_body())
    }

    pub(super) async fn get(&self, url: &str) -> Result<Bytes, FetchError> {
        let request = Request::builder()
            .method(Method::GET)
            .uri(url)
            .header(header::ACCEPT, "application/json")
            .body(Bytes::new());
        let request = request.map_err(|_| FetchError::new("it is not an address"));
        let fetched = match request {
            Ok(request) => self.fetch(request).await,
            Err(error) => Err(error),
        };
        fetched.map_err(|error| FetchError::new(format!("{url}: {error}")))
    }
}
