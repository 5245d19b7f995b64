//! HTTP requests to authorization servers.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};

use crate::fetch::{AddressScope, Fetch, FetchError, FetchPolicy, FetchRequest};

/// The maximum time to wait for an issuer's response: the client's request waits, too.
pub(super) const FETCH_TIMEOUT: Duration = Duration::from_secs(5);

/// Fetches from issuers that the application trusts.
pub(super) struct IssuerFetch(Box<dyn Fetch>);

impl IssuerFetch {
    pub(super) fn new(fetch: impl Fetch) -> Self {
        Self(Box::new(fetch))
    }

    /// Makes a request to a secure address and returns the body of a successful
    /// response that is not too large.
    pub(super) async fn fetch(&self, request: Request<Bytes>) -> Result<Bytes, FetchError> {
        // The operator names the issuers, so they may be on a private network.
        let mut policy = FetchPolicy::new(AddressScope::Anywhere);
        policy.timeout = FETCH_TIMEOUT;
        let request = FetchRequest::new(request, policy);
        let response = request.send(&*self.0).await?;
        match response.status() {
            StatusCode::OK => Ok(response.into_body()),
            status => Err(FetchError::new(format!("the response status is {status}"))),
        }
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
