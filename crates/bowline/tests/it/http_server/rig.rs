//! A client that builds every request by hand, and calls the service itself.

use std::{
    collections::VecDeque,
    convert::Infallible,
    future::poll_fn,
    net::IpAddr,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bowline::{
    proto::http::{
        parse_retry_after,
        sse::{Decoder, Event},
    },
    server::{
        Service,
        http::{Body, HttpOptions, HttpService, PeerAddr, Principal},
    },
};
use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, request::Builder};
use http_body::{Body as _, Frame};
use serde_json::{Value, json};
use tower_service::Service as _;

/// How long an event is waited for: no time at all where the clock is paused.
const PATIENCE: Duration = Duration::from_secs(3600);

pub(super) const BOTH: &str = "application/json, text/event-stream";

/// A node that serves, and who asks it.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) http: HttpService,
    principal: Option<Principal>,
    peer: Option<PeerAddr>,
}

impl Node {
    pub(super) fn new<S: Send + Sync + 'static>(service: &Service<S>) -> Self {
        Self::with(service, HttpOptions::default())
    }

    pub(super) fn with<S: Send + Sync + 'static>(
        service: &Service<S>,
        options: HttpOptions,
    ) -> Self {
        Self {
            http: service.http(options),
            principal: None,
            peer: None,
        }
    }

    /// The same node, asked by somebody whom it knows.
    pub(super) fn asked_by(&self, name: &str) -> Self {
        Self {
            principal: Some(Principal(name.into())),
            ..self.clone()
        }
    }

    /// The same node, asked from this address.
    pub(super) fn asked_from(&self, address: impl Into<IpAddr>) -> Self {
        Self {
            peer: Some(PeerAddr(address.into())),
            ..self.clone()
        }
    }

    /// Sends a request with this body.
    pub(super) async fn send(&self, request: Builder, body: impl Into<Chunks>) -> Answer {
        let request = request.body(body.into()).expect("a request");
        self.send_body(request).await
    }

    pub(super) async fn send_body<B>(&self, mut request: Request<B>) -> Answer
    where
        B: http_body::Body + Send + 'static,
        B::Data: Send,
    {
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        let Ok(response) = self.http.clone().call(request).await;
        Answer::new(response)
    }

    /// A request of the stateless era.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        let (request, body) = stateless(method, params);
        self.send(request, body).await
    }

    /// The result of a request of the stateless era.
    pub(super) async fn result(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert_eq!(answer.status(), 200);
        let answer = answer.json().await;
        assert_eq!(answer.get("error"), None);
        answer["result"].clone()
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Answer {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments}))
            .await
    }
}

/// A POST, with the headers that all of them have.
pub(super) fn post() -> Builder {
    Request::post("/mcp")
        .header("host", "localhost:3000")
        .header("content-type", "application/json")
        .header("accept", BOTH)
}

/// A request of the stateless era, with all that it must bring.
pub(super) fn stateless(method: &str, mut params: Value) -> (Builder, String) {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    if let Some(more) = params["_meta"].as_object() {
        meta.as_object_mut()
            .expect("an object")
            .extend(more.clone());
    }
    params["_meta"] = meta;
    let mut request = post()
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    (request, body.to_string())
}

/// The body of a request, in pieces.
#[derive(Default)]
pub(super) struct Chunks {
    chunks: VecDeque<Bytes>,
    /// It never ends.
    endless: bool,
}

impl Chunks {
    pub(super) fn new(chunks: impl IntoIterator<Item = Bytes>) -> Self {
        Self {
            chunks: chunks.into_iter().collect(),
            endless: false,
        }
    }

    /// The same, and then nothing, for ever.
    pub(super) fn endless(mut self) -> Self {
        self.endless = true;
        self
    }
}

impl<T: Into<Bytes>> From<T> for Chunks {
    fn from(body: T) -> Self {
        Self::new([body.into()])
    }
}

impl http_body::Body for Chunks {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.chunks.pop_front() {
            None if self.endless => Poll::Pending,
            chunk => Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk)))),
        }
    }
}

/// An answer, as far as it was read.
pub(super) struct Answer {
    response: Response<Body>,
    decoder: Decoder,
    rest: Bytes,
    /// How many comments were seen.
    pub(super) comments: usize,
}

impl Answer {
    /// Every answer that sends the client away for a while says for how long.
    pub(super) fn new(response: Response<Body>) -> Self {
        if matches!(response.status().as_u16(), 429 | 503) {
            let wait = response.headers().get("retry-after");
            let wait = wait.and_then(|wait| parse_retry_after(wait.as_bytes(), 0));
            assert!(wait > Some(Duration::ZERO), "no wait: {response:?}");
        }
        Self {
            response,
            decoder: Decoder::default(),
            rest: Bytes::new(),
            comments: 0,
        }
    }

    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let value = self.headers().get(name)?;
        Some(value.to_str().expect("text"))
    }

    pub(super) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The next piece of the body.
    pub(super) async fn chunk(&mut self) -> Option<Bytes> {
        let body = self.response.body_mut();
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        let frame = frame?.expect("bodies do not fail");
        Some(frame.into_data().expect("data"))
    }

    pub(super) async fn text(mut self) -> String {
        let mut text = Vec::new();
        while let Some(chunk) = self.chunk().await {
            text.extend_from_slice(&chunk);
        }
        String::from_utf8(text).expect("UTF-8")
    }

    pub(super) async fn json(self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"));
        serde_json::from_str(&self.text().await).expect("JSON")
    }

    /// The error that is the whole answer.
    pub(super) async fn error(self) -> Value {
        self.json().await["error"].take()
    }

    /// The next event; `None` at the end of the stream. A stream in which
    /// nothing comes but comments fails the test.
    pub(super) async fn event(&mut self) -> Option<Event> {
        let next = tokio::time::timeout(PATIENCE, self.next_event()).await;
        next.expect("there is an event, or an end")
    }

    async fn next_event(&mut self) -> Option<Event> {
        loop {
            let mut rest = &*self.rest;
            let event = self.decoder.push(&mut rest).expect("events");
            self.rest = self.rest.slice_ref(rest);
            if event.is_some() {
                return event;
            }
            let chunk = self.chunk().await?;
            self.comments += usize::from(chunk.starts_with(b":"));
            self.rest = chunk;
        }
    }

    /// The next message; events without one are passed over.
    pub(super) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if let Some(message) = event.message() {
                return Some(serde_json::from_slice(message).expect("JSON"));
            }
        }
    }

    /// All messages up to the end of the stream.
    pub(super) async fn messages(mut self) -> Vec<Value> {
        let mut all = Vec::new();
        while let Some(message) = self.message().await {
            all.push(message);
        }
        all
    }
}

/// A session of the older revisions.
#[derive(Clone)]
pub(super) struct Session {
    pub(super) node: Node,
    pub(super) id: String,
    pub(super) version: &'static str,
}

impl Session {
    /// Opens a session whose client shows forms.
    pub(super) async fn open(node: &Node, version: &'static str) -> Self {
        let answer = node.send(post(), initialize(version)).await;
        assert_eq!(answer.status(), 200);
        let id = answer
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let node = node.clone();
        let session = Self { node, id, version };
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.post(&initialized).await.status(), 202);
        session
    }

    /// The same session, as somebody else tries it.
    pub(super) fn at(&self, node: &Node) -> Self {
        let node = node.clone();
        Self {
            node,
            ..self.clone()
        }
    }

    pub(super) fn request(&self, method: Method) -> Builder {
        let request = Request::builder().method(method).uri("/mcp");
        request
            .header("host", "127.0.0.1:3000")
            .header("content-type", "application/json")
            .header("accept", BOTH)
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", self.version)
    }

    pub(super) async fn post(&self, message: &Value) -> Answer {
        let request = self.request(Method::POST);
        self.node.send(request, message.to_string()).await
    }

    pub(super) async fn ask(&self, id: u32, method: &str, params: Value) -> Answer {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.post(&message).await
    }

    pub(super) async fn call(&self, id: u32, tool: &str) -> Answer {
        let params = json!({
            "name": tool, "arguments": {}, "_meta": {"progressToken": id},
        });
        self.ask(id, "tools/call", params).await
    }

    pub(super) async fn notify(&self, method: &str, params: Value) -> Answer {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.post(&message).await
    }

    /// Accepts a question with this content.
    pub(super) async fn accept(&self, question: &Value, content: Value) -> Answer {
        let result = json!({"action": "accept", "content": content});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
        self.post(&answer).await
    }

    pub(super) async fn get(&self) -> Answer {
        self.node.send(self.request(Method::GET), "").await
    }

    pub(super) async fn resume(&self, last: &str) -> Answer {
        let request = self.request(Method::GET).header("last-event-id", last);
        self.node.send(request, "").await
    }

    pub(super) async fn delete(&self) -> Answer {
        self.node.send(self.request(Method::DELETE), "").await
    }
}

pub(super) fn initialize(version: &str) -> String {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "raw", "version": "1"},
    });
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

/// The first text of a result.
pub(super) fn text_of(answer: &Value) -> &str {
    let text = &answer["result"]["content"][0]["text"];
    text.as_str().unwrap_or_else(|| panic!("no text: {answer}"))
}
