//! The HTTP requests of authorization, by clients and by servers: small, and each
//! within a policy.

mod address_scope;
mod policy;
#[cfg(feature = "http-client")]
mod resolver;
#[cfg(feature = "http-client")]
mod web_fetch;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};

use crate::transport::BoxFuture;

pub use address_scope::AddressScope;
pub use policy::FetchPolicy;
#[cfg(feature = "http-server")]
pub(crate) use policy::check_confidential;
#[cfg(feature = "http-client")]
pub use {resolver::Resolver, web_fetch::WebFetch};
#[cfg(feature = "http-client")]
pub(crate) use {resolver::SystemResolver, web_fetch::ProxyUse};

/// Makes the requests of authorization, for applications that bring their own HTTP
/// client: to authorization servers, and to servers that publish where theirs are.
///
/// An implementation must not follow redirects, since each target is checked first. It
/// should keep to the [policy](FetchRequest::policy) of a request. The URL, the timeout
/// and the size of the response are checked for every implementation; the addresses that
/// a name resolves to are known to the implementation alone. The feature `http-client`
/// has `WebFetch`, which checks them.
pub trait Fetch: Send + Sync + 'static {
    /// Makes one request.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no response.
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>>;
}

impl<T: Fetch + ?Sized> Fetch for Arc<T> {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        (**self).fetch(request)
    }
}

/// A request of authorization.
#[non_exhaustive]
pub struct FetchRequest {
    /// The request. Its headers and its body may be secret.
    pub request: Request<Bytes>,
    /// The limits it is made within.
    pub policy: FetchPolicy,
}

impl FetchRequest {
    /// Creates a request.
    #[must_use]
    pub fn new(request: Request<Bytes>, policy: FetchPolicy) -> Self {
        Self { request, policy }
    }

    /// Makes the request, and checks what can be checked for every implementation.
    pub(crate) async fn send(self, fetch: &dyn Fetch) -> Result<Response<Bytes>, FetchError> {
        let policy = self.policy;
        policy.check_url(self.request.uri())?;
        let fetched = tokio::time::timeout(policy.timeout, fetch.fetch(self)).await;
        let response = fetched.map_err(|_| policy.timed_out())??;
        match response.body().len() > policy.max_response_bytes {
            true => Err(policy.too_large()),
            false => Ok(response),
        }
    }
}

/// Why there is no response.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FetchError {
    /// The policy does not allow the request.
    Blocked(String),
    /// The request failed.
    Failed(String),
}

impl FetchError {
    /// Creates the error of a request that failed. The message must not contain secrets.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Failed(message.into())
    }
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
            .field("host", &self.request.uri().host())
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Answers with this many bytes, or never.
    struct Bytewise(Option<usize>);

    impl Fetch for Bytewise {
        fn fetch(&self, _: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
            Box::pin(async {
                match self.0 {
                    Some(size) => Ok(Response::new(vec![b' '; size].into())),
                    None => std::future::pending().await,
                }
            })
        }
    }

    async fn send(url: &str, size: Option<usize>) -> Result<usize, FetchError> {
        let policy = FetchPolicy {
            max_response_bytes: 10,
            timeout: Duration::from_secs(5),
            ..FetchPolicy::new(AddressScope::Anywhere)
        };
        let request = Request::get(url).body(Bytes::new()).unwrap();
        let response = FetchRequest::new(request, policy)
            .send(&Bytewise(size))
            .await;
        response.map(|response| response.body().len())
    }

    #[tokio::test(start_paused = true)]
    async fn the_policy_holds_for_every_implementation() {
        let url = "https://a.example/";
        assert_eq!(send(url, Some(10)).await, Ok(10));
        let error = send(url, Some(11)).await.unwrap_err().to_string();
        assert_eq!(error, "the response exceeds the limit of 10 bytes");
        let error = send(url, None).await.unwrap_err().to_string();
        assert_eq!(error, "the request timed out after 5s");
        for (url, allowed) in [
            ("http://a.example/", false),
            ("https://u@a.example/", false),
            ("http://localhost.example/", false),
            ("http://127.0.0.1:80/", true),
            ("http://[::1]/", true),
            ("http://localhost/", true),
        ] {
            let sent = send(url, Some(1)).await;
            assert_eq!(sent.is_ok(), allowed, "{url}: {sent:?}");
            assert_eq!(matches!(sent, Err(FetchError::Blocked(_))), !allowed);
        }
    }
}
