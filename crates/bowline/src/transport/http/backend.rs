//! The two HTTP backends: our own connection pool, and `reqwest`.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{Request, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{
    Method, Url,
    header::{HOST, HeaderMap, HeaderValue},
};

use super::{
    error_text::reqwest_error_text,
    http_client,
    pool::{FullBody, Pool},
    response::HttpResponse,
};
use crate::transport::{BoxFuture, ConnectionError, ConnectionErrorKind, SendError};

/// How requests are sent to a server.
#[derive(Clone)]
pub(super) enum HttpBackend {
    /// Directly, over our own connections. Covers most servers, for a third of
    /// the work.
    Direct(Arc<Pool>),
    /// Through a client with proxy support, or the application's own client.
    Reqwest(reqwest::Client),
}

/// The target of a request.
pub(super) struct RequestTarget {
    pub(super) url: Url,
    /// The request target, if the URL has a valid one.
    path_and_query: Option<Uri>,
    host: Option<HeaderValue>,
}

impl RequestTarget {
    pub(super) fn new(url: Url) -> Arc<Self> {
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Arc::new(Self {
            path_and_query: target.parse().ok(),
            host: HeaderValue::from_str(url.authority()).ok(),
            url,
        })
    }
}

impl HttpBackend {
    /// Creates the backend for the server at `url`, with the proxies of the
    /// environment.
    pub(super) fn for_url(url: &Url) -> Result<Self, ConnectionError> {
        let origin = format!("{}://{}/", url.scheme(), url.authority()).parse::<Uri>();
        if let Ok(origin) = origin
            && Matcher::from_system().intercept(&origin).is_none()
        {
            let connector = http_client::connector(url.scheme() == "https");
            let connector = connector.map_err(ConnectionErrorKind::Unreachable)?;
            return Ok(Self::Direct(Arc::new(Pool::new(origin, connector))));
        }
        let client = http_client::builder()
            .map_err(ConnectionErrorKind::Unreachable)?
            .build();
        let client =
            client.map_err(|error| ConnectionErrorKind::Unreachable(reqwest_error_text(error)))?;
        Ok(Self::Reqwest(client))
    }

    /// Sends a request to a target on the server. The future does not hold the
    /// request, which keeps it small: there is one for every call.
    pub(super) fn send(
        &self,
        method: Method,
        request_target: &Arc<RequestTarget>,
        headers: HeaderMap,
        body: Bytes,
    ) -> impl Future<Output = Result<HttpResponse, SendError>> + use<> {
        let sending = match self {
            Self::Direct(pool) => {
                let request = request(method, request_target, headers, body.into());
                Sending::Direct(request.map(|request| pool.send(request)))
            }
            Self::Reqwest(client) => {
                let request = client.request(method, request_target.url.clone());
                let request = request.headers(headers).body(body);
                Sending::Reqwest(Box::pin(request.send()))
            }
        };
        let request_target = Arc::clone(request_target);
        async move {
            match sending {
                Sending::Direct(sending) => {
                    Ok(HttpResponse::from_direct(request_target, sending?.await?))
                }
                Sending::Reqwest(sending) => {
                    let response = sending.await.map_err(send_error)?;
                    Ok(HttpResponse::from_reqwest(&request_target, response))
                }
            }
        }
    }
}

/// A request in progress, on either backend.
enum Sending<F> {
    Direct(Result<F, SendError>),
    Reqwest(BoxFuture<'static, reqwest::Result<reqwest::Response>>),
}

fn request(
    method: Method,
    request_target: &RequestTarget,
    mut headers: HeaderMap,
    body: FullBody,
) -> Result<Request<FullBody>, SendError> {
    let (Some(target), Some(host)) = (&request_target.path_and_query, &request_target.host) else {
        let reason = "its URL has a path or query that is not a valid request target";
        return Err(SendError::Failed(
            ConnectionErrorKind::Unreachable(reason.to_owned()).into(),
        ));
    };
    headers.entry(HOST).or_insert_with(|| host.clone());
    let mut request = Request::new(body);
    *request.method_mut() = method;
    *request.uri_mut() = target.clone();
    *request.headers_mut() = headers;
    Ok(request)
}

/// A request that failed to connect was not delivered. For any other, this is
/// unknown.
fn send_error(error: reqwest::Error) -> SendError {
    if error.is_connect() || error.is_builder() || error.is_redirect() {
        SendError::Failed(ConnectionErrorKind::Unreachable(reqwest_error_text(error)).into())
    } else {
        SendError::NoResponse(ConnectionErrorKind::Io(reqwest_error_text(error)).into())
    }
}
