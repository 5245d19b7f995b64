//! Playing a recording over HTTP, to any client on this machine.
//!
//! A request is answered with JSON where its answer is all that there is, and
//! with a stream of events where more comes before it. There are no sessions:
//! all clients hear the same recording.

use std::{
    collections::HashMap,
    convert::Infallible,
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context as TaskContext, Poll, ready},
};

use bowline::proto::{
    http::{Accept, Headers, OriginPolicy, status_of},
    model::meta::key,
};
use bytes::{Bytes, BytesMut};
use http_body::{Body as _, Frame};
use hyper::{Request, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::mpsc, task::JoinSet};

use super::{
    message::Message,
    player::{Player, Said},
};
use crate::{context::Context, failure::Failure, output::Output, signals};

/// The largest body that is taken.
const MAX_BODY: usize = 64 * 1024 * 1024;
/// How much is kept for a client that has not asked for a stream yet.
const MOST_KEPT: usize = 1024;

/// Serves at an address of this machine, until the user has enough.
pub(super) async fn serve(cx: &Context, player: Player, address: &str) -> Result<(), Failure> {
    let address = parse(address)?;
    let listener = TcpListener::bind(address).await;
    let listener =
        listener.map_err(|error| Failure::usage(format!("cannot listen at {address}: {error}")))?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    match cx.json() {
        true => cx.output.json(&json!({ "url": url }))?,
        false => cx.output.line(&url)?,
    }
    cx.output.remark("Ctrl-C stops it");
    let stage = Arc::new(Stage {
        state: Mutex::new(State {
            player,
            requests: 0,
            streams: HashMap::new(),
            standing: None,
            kept: Vec::new(),
        }),
        origins: OriginPolicy::loopback(),
    });
    let mut connections = JoinSet::new();
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted?,
            _ = signals::received() => return Ok(()),
            // They report to nobody.
            Some(_) = connections.join_next() => continue,
        };
        // Small answers must not wait for more to come.
        let _ = stream.set_nodelay(true);
        let stage = Arc::clone(&stage);
        connections.spawn(async move {
            let answer = service_fn(move |request| Arc::clone(&stage).answer(request));
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), answer);
            // A connection that breaks is its client's business.
            let _ = connection.await;
        });
    }
}

/// Reads `8000` or `127.0.0.1:8000`.
fn parse(text: &str) -> Result<SocketAddr, Failure> {
    let here = |port| SocketAddr::from(([127, 0, 0, 1], port));
    let bare = text.strip_prefix("localhost").unwrap_or(text);
    let bare = bare.strip_prefix(':').unwrap_or(bare);
    let address = bare.parse().map(here).or_else(|_| text.parse());
    let address: SocketAddr = address.map_err(|_| {
        Failure::usage(format!("--http {text}: this is not an address"))
            .hint("write a port, such as 8000, or an address, such as 127.0.0.1:8000")
    })?;
    if !IpAddr::is_loopback(&address.ip()) {
        let why = format!("--http {text}: recordings are served to this machine only");
        return Err(Failure::usage(why).hint("write 127.0.0.1 for the address"));
    }
    Ok(address)
}

struct Stage {
    state: Mutex<State>,
    origins: OriginPolicy,
}

struct State {
    player: Player,
    /// How many there were, which numbers them.
    requests: u64,
    /// Where the requests under way are answered.
    streams: HashMap<u64, mpsc::UnboundedSender<String>>,
    /// Where the rest goes.
    standing: Option<mpsc::UnboundedSender<String>>,
    /// The rest, while nobody wants it.
    kept: Vec<String>,
}

type Answered = Result<Response<Body>, Infallible>;

impl Stage {
    async fn answer(self: Arc<Self>, request: Request<Incoming>) -> Answered {
        let headers = Received(request.headers());
        if self.origins.check(&headers).is_err() {
            return Ok(plain(403));
        }
        let wants_events = Accept::read(&headers).event_stream;
        match request.method().as_str() {
            "POST" => Ok(match read(request.into_body()).await {
                Some(body) => self.posted(&body),
                None => plain(413),
            }),
            "GET" if wants_events => Ok(events(self.lock().stand())),
            _ => Ok(plain(405)),
        }
    }

    fn posted(&self, body: &[u8]) -> Response<Body> {
        let messages = Message::all(&String::from_utf8_lossy(body));
        if messages.is_empty() {
            return plain(400);
        }
        let mut state = self.lock();
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut asked = 0;
        let mut modern = false;
        for message in messages {
            let mut to = 0;
            if let Message::Request(request) = &message {
                state.requests += 1;
                to = state.requests;
                state.streams.insert(to, sender.clone());
                asked += 1;
                modern |= speaks_for_itself(&request.params);
            }
            let said = state.player.receive(to, message);
            state.say(said);
        }
        drop(sender);
        tell(&state.player.remarks());
        drop(state);
        if asked == 0 {
            return plain(202);
        }
        // The answer alone is no stream.
        match (
            receiver.try_recv(),
            receiver.is_closed() && receiver.is_empty(),
        ) {
            (Ok(frame), true) if asked == 1 => whole(frame, modern),
            (Ok(first), _) => events_from(Some(first), receiver),
            (Err(_), _) => events_from(None, receiver),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn say(&mut self, said: Vec<Said>) {
        for Said { to, frame, ends } in said {
            match to {
                Some(to) => {
                    if let Some(stream) = self.streams.get(&to) {
                        // Who has gone misses the rest.
                        let _ = stream.send(frame);
                    }
                    if ends {
                        self.streams.remove(&to);
                    }
                }
                None => self.say_unasked(frame),
            }
        }
    }

    fn say_unasked(&mut self, frame: String) {
        let unsent = match &self.standing {
            Some(standing) => standing.send(frame).err().map(|unsent| unsent.0),
            None => Some(frame),
        };
        if let Some(frame) = unsent {
            self.standing = None;
            self.kept.push(frame);
            self.kept.truncate(MOST_KEPT);
        }
    }

    /// Opens the stream for what belongs to no request.
    fn stand(&mut self) -> mpsc::UnboundedReceiver<String> {
        let (sender, receiver) = mpsc::unbounded_channel();
        for frame in self.kept.drain(..) {
            // The receiver is right here.
            let _ = sender.send(frame);
        }
        self.standing = Some(sender);
        receiver
    }
}

/// Whether a request names its revision itself: then the status counts.
fn speaks_for_itself(params: &Value) -> bool {
    let meta = params.get("_meta");
    meta.is_some_and(|meta| meta.get(key::PROTOCOL_VERSION).is_some())
}

fn tell(remarks: &[String]) {
    let output = Output::new(crate::args::Color::Never);
    for remark in remarks {
        output.remark(format!("replay: {remark}"));
    }
}

async fn read(mut body: Incoming) -> Option<Vec<u8>> {
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

/// The headers of a request, as the rules want to see them.
struct Received<'a>(&'a hyper::HeaderMap);

impl Headers for Received<'_> {
    fn values<'h>(&'h self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        let values = self.0.get_all(name).into_iter();
        values.map(hyper::header::HeaderValue::as_bytes)
    }
}

/// The body of an answer: texts, one after another.
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
        Poll::Ready(next.map(|frame| Ok(Frame::data(event(&frame)))))
    }
}

fn event(frame: &str) -> Bytes {
    format!("event: message\ndata: {frame}\n\n").into()
}

fn events(rest: mpsc::UnboundedReceiver<String>) -> Response<Body> {
    events_from(None, rest)
}

fn events_from(first: Option<String>, rest: mpsc::UnboundedReceiver<String>) -> Response<Body> {
    // A comment makes the head of the answer go out at once.
    let first = first.map_or(Bytes::from_static(b":\n\n"), |first| event(&first));
    let body = Body {
        first: Some(first),
        rest: Some(rest),
    };
    response(200, "text/event-stream", body)
}

fn whole(frame: String, modern: bool) -> Response<Body> {
    let answer: Value = serde_json::from_str(&frame).unwrap_or_default();
    let status = match answer["error"]["code"].as_i64() {
        Some(code) if modern => status_of(code, false),
        _ => 200,
    };
    let body = Body {
        first: Some(frame.into()),
        rest: None,
    };
    response(status, "application/json", body)
}

fn plain(status: u16) -> Response<Body> {
    let body = Body {
        first: None,
        rest: None,
    };
    response(status, "text/plain", body)
}

fn response(status: u16, kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or_default();
    let kind = hyper::header::HeaderValue::from_static(kind);
    response.headers_mut().insert("content-type", kind);
    response
}
