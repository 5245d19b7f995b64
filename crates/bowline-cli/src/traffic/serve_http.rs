//! Serving a recording over HTTP, to clients on this machine.
//!
//! A request is answered with JSON if its response is all there is, and with an
//! event stream if other messages come first. There are no sessions: all
//! clients share the same recording.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context as TaskContext, Poll, ready},
};

use bowline::{
    model::meta::key,
    proto::http::{Accept, Headers, status_for_error},
    server::http::OriginPolicy,
};
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};

use super::{
    message::Message,
    recorded_server::{RecordedServer, ReplayFrame},
};
use crate::{context::Context, failure::Failure, locks, output::Output, signals};

/// Maximum size of a request body.
const MAX_BODY: usize = 64 * 1024 * 1024;
/// Maximum number of frames queued until a client opens a stream.
const MAX_QUEUED: usize = 1024;

/// Serves on a local address until the user presses Ctrl-C.
pub(super) async fn serve(
    cx: &Context,
    player: RecordedServer,
    address: &str,
) -> Result<(), Failure> {
    let address = parse_address(address)?;
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.map_err(|error| Failure::usage(format!("cannot listen on {address}: {error}")))?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    match cx.json() {
        true => cx.output.json(&json!({ "url": url }))?,
        false => cx.output.line(&url)?,
    }
    cx.output.note("press Ctrl-C to stop");
    let server = Arc::new(PlaybackServer {
        state: Mutex::new(PlaybackState {
            player,
            requests: 0,
            streams: HashMap::new(),
            standalone: None,
            queued: Vec::new(),
        }),
        origins: OriginPolicy::loopback(),
    });
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = signals::received() => return Ok(()),
            // Their results do not matter.
            Some(_) = connections.join_next() => continue,
        };
        // Small responses must not be delayed.
        let _ = stream.set_nodelay(true);
        let server = Arc::clone(&server);
        connections.spawn(async move {
            let service = service_fn(move |request| Arc::clone(&server).handle(request));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // A broken connection only concerns its client.
            let _ = connection.await;
        });
    }
}

/// Parses `8000` or `127.0.0.1:8000`.
fn parse_address(text: &str) -> Result<SocketAddr, Failure> {
    let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let port_text = text.strip_prefix("localhost").unwrap_or(text);
    let port_text = port_text.strip_prefix(':').unwrap_or(port_text);
    let address = port_text.parse().map(loopback).or_else(|_| text.parse());
    let address: SocketAddr = address.map_err(|_| {
        Failure::usage(format!("--http {text}: invalid address"))
            .hint("give a port, such as 8000, or an address, such as 127.0.0.1:8000")
    })?;
    if !IpAddr::is_loopback(&address.ip()) {
        let why = format!("--http {text}: recordings are served to this machine only");
        return Err(Failure::usage(why).hint("use 127.0.0.1 as the address"));
    }
    Ok(address)
}

struct PlaybackServer {
    state: Mutex<PlaybackState>,
    origins: OriginPolicy,
}

struct PlaybackState {
    player: RecordedServer,
    /// The number of requests so far, which numbers them.
    requests: u64,
    /// The streams of the requests in flight.
    streams: HashMap<u64, mpsc::UnboundedSender<String>>,
    /// The stream for everything else.
    standalone: Option<mpsc::UnboundedSender<String>>,
    /// Frames queued until it is opened.
    queued: Vec<String>,
}

type HttpResult = Result<Response<Body>, Infallible>;

impl PlaybackServer {
    async fn handle(self: Arc<Self>, request: Request<Incoming>) -> HttpResult {
        let headers = RequestHeaders(request.headers());
        if self.origins.check(&headers).is_err() {
            return Ok(empty_response(403));
        }
        let wants_events = Accept::from_headers(&headers).event_stream;
        match request.method().as_str() {
            "POST" => Ok(match read_body(request.into_body()).await {
                Some(body) => self.handle_post(&body),
                None => empty_response(413),
            }),
            "GET" if wants_events => Ok(event_stream(self.lock().open_standalone())),
            _ => Ok(empty_response(405)),
        }
    }

    fn handle_post(&self, body: &[u8]) -> Response<Body> {
        let messages = Message::parse_all(&String::from_utf8_lossy(body));
        if messages.is_empty() {
            return empty_response(400);
        }
        let mut state = self.lock();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut request_count = 0;
        let mut stateless = false;
        for message in messages {
            let mut request_number = 0;
            if let Message::Request(request) = &message {
                state.requests += 1;
                request_number = state.requests;
                state.streams.insert(request_number, sender.clone());
                request_count += 1;
                stateless |= is_stateless(&request.params);
            }
            let frames = state.player.receive(request_number, message);
            state.send(frames);
        }
        drop(sender);
        print_notes(&state.player.take_notes());
        drop(state);
        if request_count == 0 {
            return empty_response(202);
        }
        // A single response needs no stream.
        match (
            receiver.try_recv(),
            receiver.is_closed() && receiver.is_empty(),
        ) {
            (Ok(frame), true) if request_count == 1 => json_response(frame, stateless),
            (Ok(first), _) => event_stream_from(Some(first), receiver),
            (Err(_), _) => event_stream_from(None, receiver),
        }
    }

    fn lock(&self) -> MutexGuard<'_, PlaybackState> {
        locks::lock(&self.state)
    }
}

impl PlaybackState {
    fn send(&mut self, frames: Vec<ReplayFrame>) {
        for ReplayFrame {
            request_number,
            frame,
            is_response,
        } in frames
        {
            match request_number {
                Some(request_number) => {
                    if let Some(stream) = self.streams.get(&request_number) {
                        // The client may have disconnected.
                        let _ = stream.send(frame);
                    }
                    if is_response {
                        self.streams.remove(&request_number);
                    }
                }
                None => self.send_standalone(frame),
            }
        }
    }

    fn send_standalone(&mut self, frame: String) {
        let unsent = match &self.standalone {
            Some(sender) => sender.send(frame).err().map(|unsent| unsent.0),
            None => Some(frame),
        };
        if let Some(frame) = unsent {
            self.standalone = None;
            self.queued.push(frame);
            self.queued.truncate(MAX_QUEUED);
        }
    }

    /// Opens the stream for messages that belong to no request.
    fn open_standalone(&mut self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded_channel();
        for frame in self.queued.drain(..) {
            // The receiver is still open.
            let _ = sender.send(frame);
        }
        self.standalone = Some(sender);
        receiver
    }
}

/// Returns whether a request names its revision itself, so the HTTP status
/// matters.
fn is_stateless(params: &Value) -> bool {
    let meta = params.get("_meta");
    meta.is_some_and(|meta| meta.get(key::PROTOCOL_VERSION).is_some())
}

fn print_notes(notes: &[String]) {
    let output = Output::new(crate::args::Color::Never);
    for note in notes {
        output.note(format!("replay: {note}"));
    }
}

async fn read_body(mut body: Incoming) -> Option<Vec<u8>> {
    let mut all = BytesMut::new();
    loop {
        let frame = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await;
        let Some(frame) = frame else {
            return Some(all.to_vec());
        };
        if let Ok(data) = frame.ok()?.into_data() {
            all.extend_from_slice(&data);
        }
        if all.len() > MAX_BODY {
            return None;
        }
    }
}

/// The headers of a request, for the rules.
struct RequestHeaders<'a>(&'a hyper::HeaderMap);

impl Headers for RequestHeaders<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let values = self.0.get_all(name).into_iter();
        values.map(hyper::header::HeaderValue::as_bytes)
    }
}

/// A response body of consecutive chunks.
struct Body {
    first: Option<Bytes>,
    rest: Option<mpsc::UnboundedReceiver<String>>,
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        let next = ready!(rest.poll_recv(cx));
        Poll::Ready(next.map(|frame| Ok(Frame::data(sse_event(&frame)))))
    }
}

fn sse_event(frame: &str) -> Bytes {
    format!("event: message\ndata: {frame}\n\n").into()
}

fn event_stream(rest: mpsc::UnboundedReceiver<String>) -> Response<Body> {
    event_stream_from(None, rest)
}

fn event_stream_from(
    first: Option<String>,
    rest: mpsc::UnboundedReceiver<String>,
) -> Response<Body> {
    // A comment flushes the response head immediately.
    let first = first.map_or(Bytes::from_static(b":\n\n"), |first| sse_event(&first));
    let body = Body {
        first: Some(first),
        rest: Some(rest),
    };
    response(200, "text/event-stream", body)
}

fn json_response(frame: String, stateless: bool) -> Response<Body> {
    let answer: Value = serde_json::from_str(&frame).unwrap_or_default();
    let status = match answer["error"]["code"].as_i64() {
        Some(code) if stateless => status_for_error(code, false),
        _ => 200,
    };
    let body = Body {
        first: Some(frame.into()),
        rest: None,
    };
    response(status, "application/json", body)
}

fn empty_response(status: u16) -> Response<Body> {
    let body = Body {
        first: None,
        rest: None,
    };
    response(status, "text/plain", body)
}

fn response(status: u16, content_type: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let content_type = hyper::header::HeaderValue::from_static(content_type);
    response.headers_mut().insert("content-type", content_type);
    response
}
