//! A [`Fetch`] that uses the HTTP client of the transport.

use std::{fmt, time::Duration};

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use reqwest::{Client, redirect::Policy};

use super::{Fetch, FetchError, fetch::MAX_RESPONSE_BYTES};
use crate::transport::{BoxFuture, Http};

/// The timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes requests over the network: verifies certificates as the system does,
/// follows no redirects and limits the response size.
#[derive(Clone)]
pub struct WebFetch(Client);

impl WebFetch {
    /// Creates an HTTP client.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no root certificates.
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
                return Err(FetchError::new(format!(
                    "the response exceeds the limit of {MAX_RESPONSE_BYTES} bytes"
                )));
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

/// Omits the URL, which may contain sensitive data.
fn fetch_error(error: &reqwest::Error) -> FetchError {
    FetchError::new(if error.is_connect() {
        "the connection failed"
    } else if error.is_timeout() {
        "the request timed out"
    } else {
        "the request failed"
    })
}

impl fmt::Debug for WebFetch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebFetch")
    }
}
