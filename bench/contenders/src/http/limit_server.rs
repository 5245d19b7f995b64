//! The least that serves over HTTP: bare hyper, which reads the whole body,
//! finds the number and the tool in it, and answers what was made before.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering},
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Body, Frame, Incoming, SizeHint},
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};

use super::canned::{self, Canned};
use crate::Failure;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Serves for ever.
pub(super) async fn serve(listener: TcpListener) -> Result<(), Failure> {
    loop {
        let (stream, _) = listener.accept().await.map_err(|error| error.to_string())?;
        tokio::spawn(connection(stream));
    }
}

async fn connection(stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(stream);
    let serving = http1::Builder::new().serve_connection(stream, service_fn(answer));
    // Clients go as they like.
    let _ = serving.await;
}

/// What is looked at.
#[derive(Deserialize)]
struct Asked<'a> {
    id: Option<u64>,
    method: &'a str,
    #[serde(borrow, default)]
    params: Named<'a>,
}

#[derive(Default, Deserialize)]
struct Named<'a> {
    #[serde(borrow, default)]
    name: Option<&'a str>,
}

async fn answer(request: Request<Incoming>) -> Result<Response<Pieces>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    match head.method {
        Method::POST => {}
        Method::DELETE => return Ok(empty(StatusCode::NO_CONTENT)),
        _ => return Ok(empty(StatusCode::METHOD_NOT_ALLOWED)),
    }
    let Ok(asked) = serde_json::from_slice::<Asked<'_>>(&body) else {
        return Ok(empty(StatusCode::BAD_REQUEST));
    };
    let Some(id) = asked.id else {
        return Ok(empty(StatusCode::ACCEPTED));
    };
    let version = head.headers.get(VERSION).map(HeaderValue::as_bytes);
    let modern = version == Some(b"2026-07-28");
    let canned = match (asked.method, asked.params.name) {
        ("tools/call", Some("echo")) if modern => canned::MODERN,
        ("tools/call", Some("tell")) if modern => canned::MODERN_STREAM,
        ("tools/call", Some("echo")) => canned::SESSION,
        ("tools/call", Some("tell")) => canned::SESSION_STREAM,
        ("server/discover", _) => canned::DISCOVER,
        ("initialize", _) => return Ok(session(canned::INITIALIZE, id)),
        _ => return Ok(empty(StatusCode::NOT_FOUND)),
    };
    Ok(whole(canned, id))
}

fn empty(status: StatusCode) -> Response<Pieces> {
    let mut response = Response::new(Pieces::default());
    *response.status_mut() = status;
    response
}

fn whole(canned: Canned, id: u64) -> Response<Pieces> {
    let pieces = canned.pieces.iter();
    let pieces = pieces.map(|piece| piece.replace('@', &id.to_string()).into());
    let mut response = Response::new(Pieces {
        rest: pieces.rev().collect(),
        whole: !canned.stream,
    });
    let headers = response.headers_mut();
    let constant = HeaderValue::from_static;
    if canned.stream {
        headers.insert(CONTENT_TYPE, constant("text/event-stream"));
        headers.insert(CACHE_CONTROL, constant("no-cache, no-transform"));
        headers.insert(BUFFERING, constant("no"));
    } else {
        headers.insert(CONTENT_TYPE, constant("application/json"));
    }
    response
}

/// Opens a session, of which nothing is kept.
fn session(canned: Canned, id: u64) -> Response<Pieces> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut response = whole(canned, id);
    let name = format!("{:032x}", NEXT.fetch_add(1, Ordering::Relaxed));
    if let Ok(name) = HeaderValue::from_str(&name) {
        response.headers_mut().insert(SESSION, name);
    }
    response
}

/// A body in a few pieces, the next one last.
#[derive(Default)]
struct Pieces {
    rest: Vec<Bytes>,
    /// Its length is known when it begins.
    whole: bool,
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.rest.pop().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        match self.whole || self.rest.is_empty() {
            true => SizeHint::with_exact(self.rest.iter().map(|piece| piece.len() as u64).sum()),
            false => SizeHint::default(),
        }
    }
}
