//! Fetching with the HTTP client that the transport has, too.

use std::{fmt, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use reqwest::{Client, redirect::Policy};

use super::{Fetch, FetchError, fetch::MAX_RESPONSE_BYTES};
use crate::transport::{BoxFuture, Http};

/// How long a connection may take to come up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Fetches over the web: with certificates as the system judges them, without
/// redirects, and not more than is ever needed.
#[derive(Clone)]
pub struct WebFetch(Client);

impl WebFetch {
    /// A client of its own.
    ///
    /// # Errors
    ///
    /// Where the system has no certificates to judge by.
    pub fn new() -> Result<Self, FetchError> {
        let builder = Http::client_builder().map_err(|cause| FetchError::new(cause.to_string()))?;
        let client = builder
            .redirect(Policy::none())
            .connect_timeout(CONNECT_TIMEOUT)
            .build();
        client.map(Self).map_err(|error| fetch_error(&error))
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, FetchError> {
        let request = request.map(reqwest::Body::from);
        let request = request.try_into().map_err(|error| fetch_error(&error))?;
        let sent = self.0.execute(request).await;
        let mut response = sent.map_err(|error| fetch_error(&error))?;
        let mut body = BytesMut::new();
        while let Some(chunk) = response
            .chunk()
            .await
            .map_err(|error| fetch_error(&error))?
        {
            if body.len() + chunk.len() > MAX_RESPONSE_BYTES {
                return Err(FetchError::new("the answer is too large"));
            }
            body.extend_from_slice(&chunk);
        }
        let mut answer = Response::new(body.freeze());
        *answer.status_mut() = response.status();
        *answer.headers_mut() = std::mem::take(response.headers_mut());
        Ok(answer)
    }
}

impl Fetch for WebFetch {
    fn fetch(&self, request: Request<Bytes>) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        Box::pin(self.send(request))
    }
}

/// Without the address, which may hold more than is good for logs.
fn fetch_error(error: &reqwest::Error) -> FetchError {
    FetchError::new(if error.is_connect() {
        "there is no connection"
    } else if error.is_timeout() {
        "it took too long"
    } else {
        "the request failed"
    })
}

impl fmt::Debug for WebFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebFetch")
    }
}
