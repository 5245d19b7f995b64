//! The requests that authorization makes: small ones, to places that were vetted.

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

/// Makes the requests of authorization, for applications that want to do that
/// themselves. Redirects are not to be followed: they are vetted first.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request.
    ///
    /// # Errors
    ///
    /// Where there is no answer.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>>;
}

/// A request of authorization.
#[non_exhaustive]
pub struct FetchRequest {
    /// Where it goes.
    pub url: Url,
    /// How far it may reach, whatever the name in the URL resolves to.
    pub scope: AddressScope,
    /// Its headers. Some are secret.
    pub headers: HeaderMap,
    /// What is posted; nothing for a GET.
    pub body: Option<Vec<u8>>,
}

/// Its answer.
#[non_exhaustive]
pub struct FetchResponse {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Vec<u8>,
}

impl FetchResponse {
    /// An answer.
    #[must_use]
    pub fn new(status: u16, headers: HeaderMap, body: Vec<u8>) -> Self {
        Self {
            status,
            headers,
            body,
        }
    }
}

/// Which addresses a request may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressScope {
    /// Those of the whole Internet.
    Public,
    /// Those, and this machine.
    PublicAndLoopback,
    /// All.
    Anywhere,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The request would have gone further than it may.
    Blocked(String),
    /// It failed.
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
