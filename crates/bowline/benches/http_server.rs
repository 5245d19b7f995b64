//! What serving over HTTP costs: the memory of sessions and streams that do
//! nothing, and echoes over a socket beside a server that does nothing else.
//!
//! ```sh
//! cargo bench -p bowline --all-features --bench http_server
//! ```
#![expect(clippy::print_stdout, reason = "a benchmark says what it measured")]

use std::{
    convert::Infallible,
    future::poll_fn,
    net::SocketAddr,
    pin::{Pin, pin},
    time::{Duration, Instant},
};

use allocation_counter::measure;
use bowline::server::{
    Server, Service, Tool,
    http::{HttpOptions, HttpService},
};
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
};
use tower_service::Service as _;

/// How many sessions and streams are opened.
const MANY: usize = 1000;
/// How many connections ask at once.
const CONNECTIONS: usize = 8;
/// How many requests each of them makes in a round.
const REQUESTS: usize = 2500;
const ROUNDS: usize = 7;

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

fn main() {
    memory();
    speed();
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn service() -> Service {
    let echo = Tool::new("echo")
        .description("Says it again")
        .input::<Say>()
        .headless(async |say| Ok(say.message));
    let server = Server::new("bench", "1").tool(echo);
    server.build().expect("the server is sound")
}

// Memory.

fn memory() {
    let service = service();
    let http = service.http(HttpOptions::default());
    println!("memory, over {MANY} that do nothing:");
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    });
    let session = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize});
    report("session", &http, &post(&[]), &session);
    let mut params = json!({"notifications": {"toolsListChanged": true}});
    params["_meta"] = meta();
    let listen = json!({
        "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params,
    });
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "subscriptions/listen"),
    ];
    report("stream of changes", &http, &post(&headers), &listen);
}

/// Opens many of something, and says what each of them keeps.
fn report(what: &str, http: &HttpService, request: &Request<()>, body: &Value) {
    let runtime = runtime();
    let body = Bytes::from(body.to_string());
    let mut held = Vec::with_capacity(2 * MANY);
    let mut open = || {
        runtime.block_on(async {
            for _ in 0..MANY {
                let request = request.clone().map(|()| Whole(body.clone()));
                let Ok(mut response) = http.clone().call(request).await;
                assert_eq!(response.status(), 200, "{what}");
                let first = next(response.body_mut()).await;
                assert!(first.is_some());
                // A stream lives as long as it is held, a session by itself.
                held.push(response);
            }
        });
    };
    // Tables that grow have grown then.
    open();
    let kept = measure(open);
    let bytes = kept.bytes_current / MANY as i64;
    let count = kept.count_current / MANY as i64;
    println!("  {what:<18} {bytes:>6} bytes in {count:>3} pieces");
}

async fn next<B: Body<Data = Bytes> + Unpin>(body: &mut B) -> Option<Bytes> {
    let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await?;
    frame.ok()?.into_data().ok()
}

/// A body in one piece.
struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = std::mem::take(&mut self.0);
        let frame = (!bytes.is_empty()).then(|| Ok(Frame::data(bytes)));
        std::task::Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

fn post(headers: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).expect("a request")
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

// Speed.

fn speed() {
    let params = json!({"name": "echo", "arguments": {"message": "hi"}, "_meta": meta()});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = wire(&call);
    let ours = start(|listener| async move {
        let http = service().http(HttpOptions::default());
        let _ = http.serve(listener).await;
    });
    let runtime = runtime();
    let answer = runtime.block_on(async {
        let mut stream = TcpStream::connect(ours).await.expect("a connection");
        ask(&mut stream, &request, &mut Vec::new()).await
    });
    let bare = start(move |listener| do_nothing_else(listener, answer.into()));
    println!("echoes without a session, {CONNECTIONS} connections, median of {ROUNDS} rounds:");
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(runtime.block_on(round(bare, &request)));
        with.push(runtime.block_on(round(ours, &request)));
    }
    let (with, without) = (median(with), median(without));
    let rate = |time: Duration| (CONNECTIONS * REQUESTS) as f64 / time.as_secs_f64();
    println!("  bare hyper {:>8.0} per second", rate(without));
    println!("  bowline    {:>8.0} per second", rate(with));
    println!("  ratio      {:>8.2}", rate(with) / rate(without));
}

/// A server in a thread of its own.
fn start<F, W>(serve: F) -> SocketAddr
where
    F: FnOnce(TcpListener) -> W + Send + 'static,
    W: Future<Output = ()>,
{
    let (sender, bound) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let address = listener.local_addr().expect("an address");
            sender.send(address).expect("somebody waits for it");
            serve(listener).await;
        });
    });
    bound.recv().expect("an address")
}

/// Reads every body, and answers with the same bytes.
async fn do_nothing_else(listener: TcpListener, answer: Bytes) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            return;
        };
        let _ = stream.set_nodelay(true);
        let answer = answer.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request: Request<Incoming>| {
                let answer = answer.clone();
                async move {
                    let mut body = request.into_body();
                    while next(&mut body).await.is_some() {}
                    let response = Response::new(Whole(answer));
                    Ok::<_, Infallible>(response)
                }
            });
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            let _ = pin!(connection).await;
        });
    }
}

fn wire(call: &Value) -> Bytes {
    let body = call.to_string();
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: echo\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into()
}

async fn round(server: SocketAddr, request: &Bytes) -> Duration {
    let mut streams = Vec::new();
    for _ in 0..CONNECTIONS {
        streams.push(TcpStream::connect(server).await.expect("a connection"));
    }
    let began = Instant::now();
    let asking = streams.into_iter().map(|mut stream| {
        let request = request.clone();
        tokio::spawn(async move {
            let mut buffer = Vec::new();
            for _ in 0..REQUESTS {
                ask(&mut stream, &request, &mut buffer).await;
            }
        })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.expect("answers");
    }
    began.elapsed()
}

/// Sends a request, and reads the body of its answer.
async fn ask(stream: &mut TcpStream, request: &[u8], buffer: &mut Vec<u8>) -> Vec<u8> {
    stream.write_all(request).await.expect("a server");
    buffer.clear();
    loop {
        let read = stream.read_buf(buffer).await.expect("an answer");
        assert!(read > 0, "the server is gone");
        if let Some(body) = whole(buffer) {
            return body.to_vec();
        }
    }
}

/// The body of an answer, if all of it is there.
fn whole(answer: &[u8]) -> Option<&[u8]> {
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n")?;
    let (head, body) = answer.split_at(end + 4);
    let head = std::str::from_utf8(head).ok()?;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let mut lines = head.split("\r\n");
    let length = lines.find_map(|line| line.strip_prefix("content-length: "))?;
    (body.len() >= length.parse().ok()?).then_some(body)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
