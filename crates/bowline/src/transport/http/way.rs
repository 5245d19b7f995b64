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
    answer::Answer,
    pool::{Pool, Whole},
    secure,
    words::words_of,
};
use crate::transport::{BoxFuture, Cause, CauseKind, Refusal};

/// How requests reach a server.
#[derive(Clone)]
pub(super) enum Way {
    /// Straight there. It can do what most servers need, for a third of the work.
    Direct(Arc<Pool>),
    /// By a client that knows of proxies, or that the application brought.
    Client(reqwest::Client),
}

/// Where a request goes.
pub(super) struct Place {
    pub(super) url: Url,
    /// What the request asks for, if it can be asked for.
    target: Option<Uri>,
    host: Option<HeaderValue>,
}

impl Place {
    pub(super) fn new(url: Url) -> Arc<Self> {
        let target = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Arc::new(Self {
            target: target.parse().ok(),
            host: HeaderValue::from_str(url.authority()).ok(),
            url,
        })
    }
}

impl Way {
    /// The way to the server at `url`, as the environment has it.
    pub(super) fn to(url: &Url) -> Result<Self, Cause> {
        let origin = format!("{}://{}/", url.scheme(), url.authority()).parse::<Uri>();
        if let Ok(origin) = origin
            && Matcher::from_system().intercept(&origin).is_none()
        {
            let connector = secure::connector(url.scheme() == "https");
            let connector = connector.map_err(CauseKind::Unreachable)?;
            return Ok(Self::Direct(Arc::new(Pool::new(origin, connector))));
        }
        let built = secure::builder().map_err(CauseKind::Unreachable)?.build();
        let built = built.map_err(|error| CauseKind::Unreachable(words_of(error)))?;
        Ok(Self::Client(built))
    }

    /// Sends a request to a place on the server. The future has no room for the
    /// request: there is one of these for every call.
    pub(super) fn send(
        &self,
        method: Method,
        place: &Arc<Place>,
        headers: HeaderMap,
        body: Bytes,
    ) -> impl Future<Output = Result<Answer, Refusal>> + use<> {
        let sending = match self {
            Self::Direct(pool) => {
                let request = request(method, place, headers, body.into());
                Sending::Direct(request.map(|request| pool.send(request)))
            }
            Self::Client(client) => {
                let request = client.request(method, place.url.clone());
                let request = request.headers(headers).body(body);
                Sending::ByClient(Box::pin(request.send()))
            }
        };
        let place = Arc::clone(place);
        async move {
            match sending {
                Sending::Direct(sending) => Ok(Answer::direct(place, sending?.await?)),
                Sending::ByClient(sending) => {
                    let response = sending.await.map_err(refusal_of)?;
                    Ok(Answer::by_client(&place, response))
                }
            }
        }
    }
}

/// A request that is on its way, in one way or the other.
enum Sending<F> {
    Direct(Result<F, Refusal>),
    ByClient(BoxFuture<'static, reqwest::Result<reqwest::Response>>),
}

fn request(
    method: Method,
    place: &Place,
    mut headers: HeaderMap,
    body: Whole,
) -> Result<Request<Whole>, Refusal> {
    let (Some(target), Some(host)) = (&place.target, &place.host) else {
        let why = "its URL holds what cannot be asked for";
        return Err(Refusal::Failed(
            CauseKind::Unreachable(why.to_owned()).into(),
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
fn refusal_of(error: reqwest::Error) -> Refusal {
    if error.is_connect() || error.is_builder() || error.is_redirect() {
        Refusal::Failed(CauseKind::Unreachable(words_of(error)).into())
    } else {
        Refusal::Unanswered(CauseKind::Io(words_of(error)).into())
    }
}
