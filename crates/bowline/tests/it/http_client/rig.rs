//! A server that speaks HTTP/1.1 by hand, and can do every bad thing.

use std::{
    fmt::Write as _,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bowline::{
    Client,
    client::ClientBuilder,
    proto::{client::Timeouts, http::resume::ResumptionPolicy},
    transport::Http,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
};

use crate::sync::lock;

/// Far more than any test here takes: it is only there to end one that hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits, but not for ever.
pub(crate) async fn within<T>(what: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(PATIENCE, what).await;
    done.expect("it is done in time")
}

/// One request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) verb: String,
    pub(crate) path: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

impl Hit {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut named = self.headers.iter().filter(|(key, _)| key == name);
        let value = named.next().map(|(_, value)| &**value);
        assert!(named.next().is_none(), "{name} comes once");
        value
    }

    /// The names of the headers that begin like this.
    pub(crate) fn header_names(&self, prefix: &str) -> Vec<&str> {
        let names = self.headers.iter().map(|(key, _)| &**key);
        names.filter(|name| name.starts_with(prefix)).collect()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// The JSON-RPC method, or the verb where there is no body.
    pub(crate) fn rpc(&self) -> String {
        let method = self.json()["method"].as_str().map(str::to_owned);
        method.unwrap_or_else(|| self.verb.clone())
    }

    /// The answer to it, as text.
    pub(crate) fn result(&self, result: &Value) -> String {
        json!({"jsonrpc": "2.0", "id": self.json()["id"], "result": result}).to_string()
    }

    /// Its refusal, as text.
    pub(crate) fn error(&self, code: i64, message: &str) -> String {
        let error = json!({"code": code, "message": message});
        json!({"jsonrpc": "2.0", "id": self.json()["id"], "error": error}).to_string()
    }
}

/// What is answered to a request.
pub(crate) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
}

enum Body {
    Whole(Vec<u8>),
    Parts(Vec<Part>),
    /// The connection is cut before there is an answer.
    None,
}

/// A piece of a body that comes bit by bit.
pub(crate) enum Part {
    Bytes(Vec<u8>),
    /// The same again and again, until the client hangs up.
    Endless(Vec<u8>),
    /// The same so many times.
    Repeated(Vec<u8>, usize),
    /// Nothing, until the client hangs up.
    Hold,
    /// The connection is cut in the middle of the body.
    Cut,
    /// Whatever comes through here, until that is closed.
    Feed(mpsc::UnboundedReceiver<String>),
}

impl Part {
    pub(crate) fn event(data: &str) -> Self {
        Self::Bytes(format!("data: {data}\n\n").into_bytes())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

impl Reply {
    pub(crate) fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: Body::Whole(body.into()),
        }
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", body)
    }

    pub(crate) fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: Body::Whole(Vec::new()),
        }
    }

    /// A body in parts, of any type.
    pub(crate) fn parts(kind: &str, parts: impl Into<Vec<Part>>) -> Self {
        Self {
            body: Body::Parts(parts.into()),
            ..Self::new(200, kind, "")
        }
    }

    pub(crate) fn sse(parts: impl Into<Vec<Part>>) -> Self {
        Self::parts("text/event-stream", parts)
    }

    pub(crate) fn cut() -> Self {
        Self {
            body: Body::None,
            ..Self::status(0)
        }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.unset(name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    pub(crate) fn unset(&mut self, name: &str) {
        self.headers.retain(|(key, _)| key != name);
    }

    pub(crate) fn and_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }
}

type Responder = dyn Fn(&Hit) -> Reply + Send + Sync;

/// The server.
#[derive(Clone)]
pub(crate) struct Rig {
    pub(crate) port: u16,
    log: watch::Sender<Vec<Hit>>,
    connections: Arc<Mutex<usize>>,
    hangups: watch::Sender<usize>,
    respond: Arc<Responder>,
}

impl Rig {
    /// Responds with what the function returns.
    pub(crate) async fn start(respond: impl Fn(&Hit) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("it binds");
        Self::serve(listener, respond)
    }

    pub(crate) fn serve(
        listener: TcpListener,
        respond: impl Fn(&Hit) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let rig = Self {
            port: listener.local_addr().expect("it is bound").port(),
            log: watch::Sender::new(Vec::new()),
            connections: Arc::default(),
            hangups: watch::Sender::new(0),
            respond: Arc::new(respond),
        };
        let serving = rig.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                *lock(&serving.connections) += 1;
                let rig = serving.clone();
                tokio::spawn(async move {
                    // A client that goes away is nothing to complain of.
                    let _ = rig.talk(stream).await;
                    rig.hangups.send_modify(|count| *count += 1);
                });
            }
        });
        rig
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// A transport to it that does not wait long before it comes back.
    pub(crate) fn http(&self) -> Http {
        let policy = ResumptionPolicy {
            initial_delay: Duration::from_millis(1),
            min_delay: Duration::from_millis(1),
            ..ResumptionPolicy::default()
        };
        let http = Http::new(&self.url()).expect("a good URL");
        http.resumption(policy)
    }

    pub(crate) async fn client(&self) -> Client {
        let connected = builder().connect(self.http()).await;
        connected.expect("it connects")
    }

    pub(crate) fn hits(&self) -> Vec<Hit> {
        self.log.borrow().clone()
    }

    /// What was asked, by JSON-RPC method or verb.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.log.borrow().iter().map(Hit::rpc).collect()
    }

    /// The requests of this JSON-RPC method or verb.
    pub(crate) fn named(&self, rpc: &str) -> Vec<Hit> {
        let mut hits = self.hits();
        hits.retain(|hit| hit.rpc() == rpc);
        hits
    }

    /// Waits until so many requests of this kind have come.
    pub(crate) async fn until(&self, rpc: &str, count: usize) -> Vec<Hit> {
        let mut log = self.log.subscribe();
        let enough = |hits: &Vec<Hit>| hits.iter().filter(|hit| hit.rpc() == rpc).count() >= count;
        let waited = within(log.wait_for(enough)).await.map(drop);
        waited.expect("the rig lives");
        self.named(rpc)
    }

    /// How many connections there have been.
    pub(crate) fn connections(&self) -> usize {
        *lock(&self.connections)
    }

    /// Waits until so many connections have ended.
    pub(crate) async fn until_hung_up(&self, count: usize) {
        let mut hangups = self.hangups.subscribe();
        let waited = within(hangups.wait_for(|hung_up| *hung_up >= count)).await;
        waited.map(drop).expect("the rig lives");
    }

    async fn talk(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(hit) = read_request(&mut stream, &mut buffer).await? {
            let reply = (self.respond)(&hit);
            self.log.send_modify(|log| log.push(hit));
            if !write_reply(&mut stream, reply).await? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Reads one request; `None` where the client is done.
async fn read_request(
    stream: &mut TcpStream,
    buffer: &mut Vec<u8>,
) -> std::io::Result<Option<Hit>> {
    let end = loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let mut word = || first.next().unwrap_or_default().to_owned();
    let (verb, path) = (word(), word());
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let headers: Vec<_> = pairs
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(0, |(_, value)| value.parse().expect("a length"));
    while buffer.len() < end + 4 + length {
        if stream.read_buf(buffer).await? == 0 {
            return Ok(None);
        }
    }
    let body = buffer[end + 4..end + 4 + length].to_vec();
    buffer.drain(..end + 4 + length);
    Ok(Some(Hit {
        verb,
        path,
        headers,
        body,
        at: Instant::now(),
    }))
}

/// Writes a reply; says whether the connection can be used again.
async fn write_reply(stream: &mut TcpStream, reply: Reply) -> std::io::Result<bool> {
    let mut head = format!("HTTP/1.1 {} Status\r\n", reply.status);
    for (name, value) in &reply.headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    match reply.body {
        Body::None => Ok(false),
        Body::Whole(body) => {
            let announced = reply
                .headers
                .iter()
                .any(|(name, _)| name == "content-length");
            if !announced {
                let _ = write!(head, "content-length: {}\r\n", body.len());
            }
            head.push_str("\r\n");
            let whole = [head.as_bytes(), &body].concat();
            stream.write_all(&whole).await?;
            Ok(!announced)
        }
        Body::Parts(parts) => {
            head.push_str("transfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await?;
            for part in parts {
                if !write_part(stream, part).await? {
                    return Ok(false);
                }
            }
            stream.write_all(b"0\r\n\r\n").await?;
            Ok(true)
        }
    }
}

async fn write_part(stream: &mut TcpStream, part: Part) -> std::io::Result<bool> {
    match part {
        Part::Bytes(bytes) => write_chunk(stream, &bytes).await?,
        Part::Endless(bytes) => loop {
            write_chunk(stream, &bytes).await?;
        },
        Part::Repeated(bytes, times) => {
            for _ in 0..times {
                write_chunk(stream, &bytes).await?;
            }
        }
        Part::Hold => {
            let _ = stream.read_u8().await;
            return Ok(false);
        }
        Part::Cut => return Ok(false),
        Part::Feed(mut feed) => loop {
            tokio::select! {
                fed = feed.recv() => match fed {
                    Some(text) => write_chunk(stream, text.as_bytes()).await?,
                    None => break,
                },
                _ = stream.read_u8() => return Ok(false),
            }
        },
    }
    Ok(true)
}

async fn write_chunk(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let head = format!("{:x}\r\n", bytes.len());
    stream
        .write_all(&[head.as_bytes(), bytes, b"\r\n"].concat())
        .await
}

pub(crate) fn builder() -> ClientBuilder {
    let mut timeouts = Timeouts::standard();
    timeouts.connect = PATIENCE;
    timeouts.probe = PATIENCE;
    Client::builder()
        .client_info("rigged", "1")
        .timeouts(timeouts)
}

/// A server of the handshake era, with a session, where `respond` returns
/// nothing.
pub(crate) async fn handshake(
    respond: impl Fn(&Hit) -> Option<Reply> + Send + Sync + 'static,
) -> Rig {
    Rig::start(move |hit| respond(hit).unwrap_or_else(|| handshake_reply(hit))).await
}

pub(crate) fn handshake_reply(hit: &Hit) -> Reply {
    match &*hit.rpc() {
        "server/discover" => Reply::new(400, "text/plain", "Bad Request: no session"),
        "initialize" => {
            let capabilities = json!({"tools": {}, "resources": {"subscribe": true}});
            let result = json!({
                "protocolVersion": hit.json()["params"]["protocolVersion"],
                "capabilities": capabilities,
                "serverInfo": {"name": "rig", "version": "1"},
            });
            Reply::json(hit.result(&result)).with("mcp-session-id", "knot-1")
        }
        "GET" => Reply::status(405),
        "DELETE" => Reply::status(200),
        "tools/list" => Reply::json(hit.result(&json!({"tools": []}))),
        "tools/call" => Reply::json(hit.result(&json!({"content": []}))),
        "POST" | "notifications/initialized" | "notifications/cancelled" => Reply::status(202),
        _ => Reply::json(hit.error(-32601, "no such method")),
    }
}

/// A server of the stateless era, where `respond` returns nothing.
pub(crate) async fn stateless(
    respond: impl Fn(&Hit) -> Option<Reply> + Send + Sync + 'static,
) -> Rig {
    Rig::start(move |hit| respond(hit).unwrap_or_else(|| stateless_reply(hit))).await
}

pub(crate) fn stateless_reply(hit: &Hit) -> Reply {
    let complete = |mut result: Value| {
        result["resultType"] = json!("complete");
        Reply::json(hit.result(&result))
    };
    match &*hit.rpc() {
        "server/discover" => complete(json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}},
            "ttlMs": 0,
            "cacheScope": "public",
        })),
        "tools/list" => complete(json!({"tools": [], "ttlMs": 0, "cacheScope": "public"})),
        "tools/call" => complete(json!({"content": []})),
        _ => Reply::new(404, "application/json", hit.error(-32601, "no such method")),
    }
}
