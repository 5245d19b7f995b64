//! Sends requests to other nodes and passes their responses on.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, StatusCode, Uri, header, request::Parts};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use super::{super::Body, forwarded_request::FORWARDED};
use crate::transport::http::http_client;

/// The status of a node that does not have the session.
pub(super) const NOT_HERE: StatusCode = StatusCode::MISDIRECTED_REQUEST;

/// The connections to other nodes.
pub(super) struct Forwarder {
    client: Option<Client<HttpsConnector<HttpConnector>, Body>>,
}

/// What became of a forwarded request.
pub(super) enum Forwarded {
    Response(Response<Incoming>),
    /// The node does not have the session (any more).
    NotHere,
    /// The node could not be reached: it knows nothing of the request.
    NotSent,
    /// The connection broke before the response: whether the request was processed is
    /// unknown.
    Lost,
}

impl Forwarder {
    /// Creates a forwarder to nodes with addresses of the same scheme as this one.
    pub(super) fn new(address: &str) -> Self {
        let connector = http_client::connector(address.starts_with("https:"));
        let client = connector.ok().map(|connector| {
            Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(http_client::IDLE_TIMEOUT)
                // A request that was sent is never sent again.
                .retry_canceled_requests(false)
                .build(connector)
        });
        Self { client }
    }

    /// Sends a request with the sealed header to the node at this address.
    pub(super) async fn forward(
        &self,
        address: &str,
        parts: &Parts,
        sealed: http::HeaderValue,
        body: Bytes,
    ) -> Forwarded {
        let (Some(client), Ok(uri)) = (&self.client, address.parse::<Uri>()) else {
            return Forwarded::NotSent;
        };
        let mut request = Request::new(Body::full(body));
        *request.method_mut() = parts.method.clone();
        *request.uri_mut() = uri;
        *request.headers_mut() = forwarded_headers(&parts.headers);
        request.headers_mut().insert(FORWARDED, sealed);
        match client.request(request).await {
            Ok(response) if response.status() == NOT_HERE => Forwarded::NotHere,
            Ok(response) => Forwarded::Response(response),
            Err(error) if error.is_connect() => Forwarded::NotSent,
            Err(_) => Forwarded::Lost,
        }
    }
}

/// The headers that are about one connection, or that the receiving node has checked.
fn is_forwarded(name: &HeaderName) -> bool {
    const OWN: [HeaderName; 14] = [
        header::AUTHORIZATION,
        header::CONNECTION,
        header::CONTENT_LENGTH,
        header::COOKIE,
        header::EXPECT,
        header::HOST,
        header::ORIGIN,
        header::PROXY_AUTHENTICATE,
        header::PROXY_AUTHORIZATION,
        header::TE,
        header::TRAILER,
        header::TRANSFER_ENCODING,
        header::UPGRADE,
        FORWARDED,
    ];
    !OWN.contains(name) && !matches!(name.as_str(), "dpop" | "keep-alive" | "proxy-connection")
}

fn forwarded_headers(headers: &HeaderMap) -> HeaderMap {
    let kept = headers.iter().filter(|(name, _)| is_forwarded(name));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Removes what is about the connection between the nodes.
pub(super) fn remove_connection_headers(headers: &mut HeaderMap) {
    for name in [header::CONNECTION, header::TRANSFER_ENCODING, header::DATE] {
        headers.remove(name);
    }
}
