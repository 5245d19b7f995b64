//! A [`Fetch`] over the network, which connects only to allowed addresses.

use std::{
    collections::HashMap,
    error::Error as _,
    fmt,
    sync::{Arc, Mutex},
};

use bytes::{Bytes, BytesMut};
use http::Response;

use super::{
    AddressScope, Fetch, FetchError, FetchRequest, Resolver, SystemResolver,
    resolver::{AddressBlocked, FilteringResolver},
};
use crate::{
    sync,
    transport::{BoxFuture, http::http_client, reqwest},
};

/// Makes requests over the network: verifies certificates as the system does, follows no
/// redirects, and keeps to the policy of each request.
///
/// A proxy resolves names itself, so the proxies of the environment are used only for
/// requests that may connect to any address.
#[derive(Clone)]
pub struct WebFetch(Arc<Inner>);

struct Inner {
    resolver: Arc<dyn Resolver>,
    proxies: ProxyUse,
    /// One client per scope: neither their connection pools nor their resolved names must
    /// mix.
    clients: Mutex<HashMap<AddressScope, reqwest::Client>>,
}

/// Which requests go through the proxies of the environment.
#[derive(Clone, Copy)]
pub(crate) enum ProxyUse {
    Never,
    Always,
    /// Those that may connect to any address.
    Unfiltered,
}

impl WebFetch {
    /// Creates an HTTP client.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no root certificates.
    pub fn new() -> Result<Self, FetchError> {
        let fetch = Self::with(Arc::new(SystemResolver), ProxyUse::Unfiltered);
        fetch.client(AddressScope::Anywhere)?;
        Ok(fetch)
    }

    /// Creates an HTTP client that resolves names with `resolver`.
    pub(crate) fn with(resolver: Arc<dyn Resolver>, proxies: ProxyUse) -> Self {
        Self(Arc::new(Inner {
            resolver,
            proxies,
            clients: Mutex::default(),
        }))
    }

    fn client(&self, scope: AddressScope) -> Result<reqwest::Client, FetchError> {
        let mut clients = sync::lock(&self.0.clients);
        if let Some(client) = clients.get(&scope) {
            return Ok(client.clone());
        }
        let filter = FilteringResolver {
            resolver: Arc::clone(&self.0.resolver),
            scope,
        };
        let mut builder = http_client::builder().map_err(FetchError::Failed)?;
        let use_proxies = match self.0.proxies {
            ProxyUse::Never => false,
            ProxyUse::Always => true,
            ProxyUse::Unfiltered => scope == AddressScope::Anywhere,
        };
        if !use_proxies {
            builder = builder.no_proxy();
        }
        let client = builder
            .dns_resolver(Arc::new(filter))
            .build()
            .map_err(fetch_error)?;
        clients.insert(scope, client.clone());
        Ok(client)
    }

    async fn send(&self, request: FetchRequest) -> Result<Response<Bytes>, FetchError> {
        let FetchRequest { request, policy } = request;
        let request = request.map(reqwest::Body::from);
        let mut request: reqwest::Request = request.try_into().map_err(fetch_error)?;
        *request.timeout_mut() = Some(policy.timeout);
        let client = self.client(policy.addresses)?;
        let mut response = client.execute(request).await.map_err(fetch_error)?;
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(fetch_error)? {
            if body.len() + chunk.len() > policy.max_response_bytes {
                return Err(policy.too_large());
            }
            body.extend_from_slice(&chunk);
        }
        let mut fetched = Response::new(body.freeze());
        *fetched.status_mut() = response.status();
        *fetched.headers_mut() = std::mem::take(response.headers_mut());
        Ok(fetched)
    }
}

impl Fetch for WebFetch {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        Box::pin(self.send(request))
    }
}

impl fmt::Debug for WebFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebFetch")
    }
}

/// Returns the innermost error, without the URL. Recognizes the error of our
/// own filter.
fn fetch_error(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.is::<AddressBlocked>() {
            return FetchError::Blocked(inner.to_string());
        }
        message = inner.to_string();
        source = inner.source();
    }
    FetchError::Failed(message)
}

#[cfg(test)]
mod tests {
    use std::{io, net::IpAddr};

    use http::Request;
    use tokio::net::TcpListener;

    use super::*;
    use crate::fetch::FetchPolicy;

    struct LocalhostResolver;

    impl Resolver for LocalhostResolver {
        fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
        }
    }

    async fn fetch(scope: AddressScope) -> (Result<Response<Bytes>, FetchError>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let request = Request::get(format!("http://innocent.example:{port}/"));
        let request = request.body(Bytes::new()).unwrap();
        let request = FetchRequest::new(request, FetchPolicy::new(scope));
        let fetch = WebFetch::with(Arc::new(LocalhostResolver), ProxyUse::Never);
        let dialled = async {
            // Connections are closed right away, so the fetch ends.
            listener.accept().await.unwrap();
        };
        let mut fetching = Box::pin(fetch.fetch(request));
        tokio::select! {
            result = &mut fetching => (result, false),
            () = dialled => {
                drop(listener);
                (fetching.await, true)
            }
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_not_dialled() {
        let (result, dialled) = fetch(AddressScope::Public).await;
        assert!(matches!(result, Err(FetchError::Blocked(_))), "{result:?}");
        assert!(!dialled);
    }

    #[tokio::test]
    async fn unless_it_may() {
        for scope in [AddressScope::PublicAndLoopback, AddressScope::Anywhere] {
            let (result, dialled) = fetch(scope).await;
            assert!(matches!(result, Err(FetchError::Failed(_))), "{result:?}");
            assert!(dialled);
        }
    }
}
