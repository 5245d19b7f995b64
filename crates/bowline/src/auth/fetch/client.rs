//! The default `Fetch`: an HTTP client that connects only to allowed addresses.

use std::{
    collections::HashMap,
    error::Error as _,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::{
    AddressScope, Fetch, FetchError, FetchRequest, FetchResponse, Resolver,
    resolver::{AddressBlocked, FilteringResolver},
};
use crate::{
    sync,
    transport::{BoxFuture, http::http_client, reqwest},
};

/// Timeout for a request including its response.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum size of a response.
const MAX_RESPONSE: usize = 256 * 1024;

/// The default implementation of `Fetch`.
pub(in crate::auth) struct ReqwestFetch {
    resolver: Arc<dyn Resolver>,
    use_proxies: bool,
    /// One client per scope: neither their connection pools nor their resolved
    /// names must mix.
    clients: Mutex<HashMap<AddressScope, reqwest::Client>>,
}

impl ReqwestFetch {
    /// Creates a client that resolves names with `resolver`. A proxy resolves
    /// names itself, so one is used only if the application wants it.
    pub(in crate::auth) fn new(resolver: Arc<dyn Resolver>, use_proxies: bool) -> Self {
        Self {
            resolver,
            use_proxies,
            clients: Mutex::default(),
        }
    }

    fn client(&self, scope: AddressScope) -> Result<reqwest::Client, FetchError> {
        let mut clients = sync::lock(&self.clients);
        if let Some(client) = clients.get(&scope) {
            return Ok(client.clone());
        }
        let filter = FilteringResolver {
            resolver: Arc::clone(&self.resolver),
            scope,
        };
        let mut builder = http_client::builder().map_err(FetchError::Failed)?;
        if !self.use_proxies {
            builder = builder.no_proxy();
        }
        let client = builder
            .timeout(TIMEOUT)
            .dns_resolver(Arc::new(filter))
            .build()
            .map_err(|error| FetchError::Failed(error.without_url().to_string()))?;
        clients.insert(scope, client.clone());
        Ok(client)
    }
}

impl Fetch for ReqwestFetch {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        Box::pin(async move {
            let client = self.client(request.scope)?;
            let builder = match request.body {
                Some(body) => client.post(request.url).body(body),
                None => client.get(request.url),
            };
            let sent = builder.headers(request.headers).send().await;
            let mut response = sent.map_err(fetch_error)?;
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(fetch_error)? {
                if body.len() + chunk.len() > MAX_RESPONSE {
                    let reason = "a response during authorization exceeds the limit of 256 KiB";
                    return Err(FetchError::Failed(reason.to_owned()));
                }
                body.extend_from_slice(&chunk);
            }
            let headers = std::mem::take(response.headers_mut());
            Ok(FetchResponse::new(
                response.status().as_u16(),
                headers,
                body,
            ))
        })
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

    use reqwest::header::HeaderMap;
    use tokio::net::TcpListener;

    use super::*;

    struct LocalhostResolver;

    impl Resolver for LocalhostResolver {
        fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
        }
    }

    async fn fetch(scope: AddressScope) -> (Result<FetchResponse, FetchError>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let request = FetchRequest {
            url: format!("http://innocent.example:{port}/").parse().unwrap(),
            scope,
            headers: HeaderMap::new(),
            body: None,
        };
        let fetch = ReqwestFetch::new(Arc::new(LocalhostResolver), false);
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
