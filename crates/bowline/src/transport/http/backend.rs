//! The two ways to a server: connections of our own, and a client that can do more.

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

/// How requests reach a server.
#[derive(Clone)]
pub(super) enum HttpBackend {
    /// Straight there. It can do what most servers need, for a third of the work.
    Direct(Arc<Pool>),
    /// By a client that knows of proxies, or that the application brought.
    Reqwest(reqwest::Client),
}

/// Where a request goes.
pub(super) struct RequestTarget {
    pub(super) url: Url,
    /// What the request asks for, if it can be asked for.
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
    /// The way to the server at `url`, as the environment has it.
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

    /// Sends a request to a place on the server. The future has no room for the
    /// request: there is one of these for every call.
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

/// A request that is on its way, in one way or the other.
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
        let reason = "its URL holds what cannot be asked for";
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

/// A request that met no server was not delivered. Of any other, nobody knows.
fn send_error(error: reqwest::Error) -> SendError {
    if error.is_connect() || error.is_builder() || error.is_redirect() {
        SendError::Failed(ConnectionErrorKind::Unreachable(reqwest_error_text(error)).into())
    } else {
        SendError::NoResponse(ConnectionErrorKind::Io(reqwest_error_text(error)).into())
    }
}
