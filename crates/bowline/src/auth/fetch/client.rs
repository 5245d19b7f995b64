//! Fetching with an HTTP client that dials only what may be dialled.

use std::{
    collections::HashMap,
    error::Error as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    Fetch, FetchError, FetchRequest, FetchResponse, Reach, Resolver,
    resolver::{Filter, OutOfReach},
};
use crate::transport::{BoxFuture, http::secure, reqwest};

/// How long a request may take, with its answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The largest answer that is read.
const LARGEST: usize = 256 * 1024;

/// The usual way to fetch.
pub(in crate::auth) struct ReqwestFetch {
    names: Arc<dyn Resolver>,
    proxies: bool,
    /// One client for each reach: their pools must not mix, and neither must
    /// what they resolve.
    clients: Mutex<HashMap<Reach, reqwest::Client>>,
}

impl ReqwestFetch {
    /// Resolves names by `names`. A proxy resolves them by itself, so that one
    /// is used only if the application wants it.
    pub(in crate::auth) fn new(names: Arc<dyn Resolver>, proxies: bool) -> Self {
        Self {
            names,
            proxies,
            clients: Mutex::default(),
        }
    }

    fn client(&self, reach: Reach) -> Result<reqwest::Client, FetchError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&reach) {
            return Ok(client.clone());
        }
        let filter = Filter {
            names: Arc::clone(&self.names),
            reach,
        };
        let mut builder = secure::builder().map_err(FetchError::Failed)?;
        if !self.proxies {
            builder = builder.no_proxy();
        }
        let client = builder
            .timeout(PATIENCE)
            .dns_resolver(Arc::new(filter))
            .build()
            .map_err(|error| FetchError::Failed(error.without_url().to_string()))?;
        clients.insert(reach, client.clone());
        Ok(client)
    }
}

impl Fetch for ReqwestFetch {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<FetchResponse, FetchError>> {
        Box::pin(async move {
            let client = self.client(request.reach)?;
            let builder = match request.body {
                Some(body) => client.post(request.url).body(body),
                None => client.get(request.url),
            };
            let sent = builder.headers(request.headers).send().await;
            let mut response = sent.map_err(failure)?;
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await.map_err(failure)? {
                if body.len() + chunk.len() > LARGEST {
                    let why = "an answer on the way to authorization is too large";
                    return Err(FetchError::Failed(why.to_owned()));
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

/// The innermost reason, without the URL. That of our own filter is told apart.
fn failure(error: reqwest::Error) -> FetchError {
    let error = error.without_url();
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        if inner.is::<OutOfReach>() {
            return FetchError::Blocked(inner.to_string());
        }
        words = inner.to_string();
        source = inner.source();
    }
    FetchError::Failed(words)
}

#[cfg(test)]
mod tests {
    use std::{io, net::IpAddr};

    use reqwest::header::HeaderMap;
    use tokio::net::TcpListener;

    use super::*;

    struct Here;

    impl Resolver for Here {
        fn resolve<'a>(&'a self, _host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            Box::pin(async { Ok(vec![IpAddr::from([127, 0, 0, 1])]) })
        }
    }

    async fn fetch(reach: Reach) -> (Result<FetchResponse, FetchError>, bool) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let request = FetchRequest {
            url: format!("http://innocent.example:{port}/").parse().unwrap(),
            reach,
            headers: HeaderMap::new(),
            body: None,
        };
        let fetch = ReqwestFetch::new(Arc::new(Here), false);
        let dialled = async {
            // Whoever comes is turned away, so that the fetch ends.
            listener.accept().await.unwrap();
        };
        let mut fetching = Box::pin(fetch.fetch(request));
        tokio::select! {
            done = &mut fetching => (done, false),
            () = dialled => {
                drop(listener);
                (fetching.await, true)
            }
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_to_this_machine_is_not_dialled() {
        let (done, dialled) = fetch(Reach::Public).await;
        assert!(matches!(done, Err(FetchError::Blocked(_))), "{done:?}");
        assert!(!dialled);
    }

    #[tokio::test]
    async fn unless_it_may() {
        for reach in [Reach::PublicAndLoopback, Reach::Anywhere] {
            let (done, dialled) = fetch(reach).await;
            assert!(matches!(done, Err(FetchError::Failed(_))), "{done:?}");
            assert!(dialled);
        }
    }
}
