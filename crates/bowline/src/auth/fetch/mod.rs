//! The HTTP requests of authorization: small, and only to allowed URLs.

mod client;
mod policy_fetcher;
mod resolver;

use std::fmt;

use reqwest::{Url, header::HeaderMap};

use crate::transport::BoxFuture;

pub(super) use client::ReqwestFetch;
pub(super) use policy_fetcher::PolicyFetcher;
pub use resolver::Resolver;
pub(super) use resolver::SystemResolver;

/// Makes the requests of authorization, for applications that bring their own
/// HTTP client. Must not follow redirects: they are checked first.
pub trait Fetch: Send + Sync + 'static {
    /// Sends one request.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>>;
}

/// A request of authorization.
#[non_exhaustive]
pub struct FetchRequest {
    /// The target URL.
    pub url: Url,
    /// The addresses it may connect to, whatever the name in the URL resolves
    /// to.
    pub scope: AddressScope,
    /// The headers, some of which are secret.
    pub headers: HeaderMap,
    /// The POST body; `None` for a GET.
    pub body: Option<Vec<u8>>,
}

/// The response to a [`FetchRequest`].
#[non_exhaustive]
pub struct FetchResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The complete body.
    pub body: Vec<u8>,
}

impl FetchResponse {
    /// Creates a response.
    #[must_use]
    pub fn new(status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body,
        }
    }
}

/// The addresses that a request may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressScope {
    /// Public Internet addresses.
    Public,
    /// Public addresses and this machine.
    PublicAndLoopback,
    /// All addresses.
    Anywhere,
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The request would have left its [`AddressScope`].
    Blocked(String),
    /// The request failed.
    Failed(String),
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blocked(reason) | Self::Failed(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for FetchError {}

impl fmt::Debug for FetchRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Queries, headers and bodies may hold secrets.
        f.debug_struct("FetchRequest")
            .field("host", &self.url.host_str())
            .field("reach", &self.scope)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for FetchResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FetchResponse")
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}
