//! An issuer, what it publishes, a server that trusts it, and those who ask.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bowline::{
    jose::{KeySet, SigningKey},
    proto::http::sse::{Decoder, Event},
    server::{
        Conversation, Prompt, Resource, ResourceTemplate, Server, Service, Tool,
        auth::{
            Fetch, FetchError, FetchRequest, JwtVerifier, KeySource, Protection, ProtectionBuilder,
            TokenClaims,
        },
        http::{Body, HttpOptions, HttpService, PeerAddr},
        prompt::Argument,
    },
    transport::BoxFuture,
};
use bytes::Bytes;
use http::{Method, Request, Response, request::Builder};
use http_body::{Body as _, Frame};
use serde_json::{Value, json};
use tower_service::Service as _;

pub(super) const RESOURCE: &str = "https://mcp.example.com/mcp";
pub(super) const METADATA: &str =
    "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
pub(super) const ISSUER: &str = "https://login.example.com";

/// Base64url, as tokens have it.
pub(super) fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

pub(super) fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.expect("a clock").as_secs()
}

/// Signs tokens.
pub(super) struct Issuer {
    pub(super) key: SigningKey,
}

impl Issuer {
    pub(super) fn new(id: &str) -> Self {
        let key = SigningKey::generate().expect("random numbers");
        let key = key.with_id(id).expect("a name");
        Self { key }
    }

    pub(super) fn keys(&self) -> KeySet {
        KeySet::from(self.key.public_key().clone())
    }

    /// A good token for this subject.
    pub(super) fn token(&self, subject: &str) -> String {
        self.token_with(|claims| claims["sub"] = subject.into())
    }

    /// A token that is good but for what is changed.
    pub(super) fn token_with(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = claims();
        change(&mut claims);
        self.key.sign("at+jwt", &claims).expect("a token")
    }

    pub(super) fn verifier(&self) -> JwtVerifier {
        JwtVerifier::new(ISSUER, KeySource::fixed(self.keys()))
    }

    /// A server that trusts this issuer.
    pub(super) fn node(&self) -> Node {
        Node::new(protected().verifier(self.verifier()))
    }
}

/// What a good token says.
pub(super) fn claims() -> Value {
    json!({
        "iss": ISSUER, "sub": "ada", "aud": RESOURCE, "exp": now() + 600, "iat": now(),
        "client_id": "app", "scope": "mcp:use", "team": {"id": 7},
    })
}

pub(super) fn protected() -> ProtectionBuilder {
    Protection::builder(RESOURCE).required_scopes(["mcp:use"])
}

/// What is published: key sets, and how often they were asked for.
#[derive(Clone, Default)]
pub(super) struct Published(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// What to answer: a body for those whose path ends so. Others get 404.
    answers: Mutex<Vec<(String, Value)>>,
    pub(super) requests: Mutex<Vec<(String, String, String)>>,
    count: AtomicUsize,
    down: Mutex<bool>,
    /// Whoever asks about what contains this waits for ever.
    stuck: Mutex<Option<String>>,
}

impl Published {
    pub(super) fn put(&self, path: &str, body: Value) {
        let mut answers = self.0.answers.lock().expect("no panic");
        answers.retain(|(known, _)| known != path);
        answers.push((path.to_owned(), body));
    }

    pub(super) fn down(&self, down: bool) {
        *self.0.down.lock().expect("no panic") = down;
    }

    /// Nobody who asks about this gets an answer.
    pub(super) fn never_answer(&self, about: &str) {
        *self.0.stuck.lock().expect("no panic") = Some(about.to_owned());
    }

    pub(super) fn count(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }

    /// The address, the authorization and the body of every request.
    pub(super) fn requests(&self) -> Vec<(String, String, String)> {
        self.0.requests.lock().expect("no panic").clone()
    }
}

impl Fetch for Published {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        let request = request.request;
        self.0.count.fetch_add(1, Ordering::SeqCst);
        let url = request.uri().to_string();
        let authorization = request.headers().get("authorization");
        let authorization = authorization.map(|it| it.to_str().expect("text").to_owned());
        let body = String::from_utf8(request.body().to_vec()).expect("text");
        let stuck = self.0.stuck.lock().expect("no panic").clone();
        let is_stuck = stuck.is_some_and(|about| body.contains(&about));
        let noted = (url.clone(), authorization.unwrap_or_default(), body);
        self.0.requests.lock().expect("no panic").push(noted);
        Box::pin(async move {
            // As over a network: others get their turn meanwhile.
            tokio::task::yield_now().await;
            if is_stuck {
                std::future::pending::<()>().await;
            }
            if *self.0.down.lock().expect("no panic") {
                return Err(FetchError::new("down"));
            }
            let answers = self.0.answers.lock().expect("no panic");
            let answer = answers.iter().find(|(path, _)| url.ends_with(path));
            let mut response = Response::new(Bytes::new());
            match answer {
                Some((_, body)) => *response.body_mut() = body.to_string().into(),
                None => *response.status_mut() = http::StatusCode::NOT_FOUND,
            }
            Ok(response)
        })
    }
}

/// How often the tool that needs scopes ran.
pub(super) type Ran = Arc<AtomicUsize>;

pub(super) fn service(ran: &Ran) -> Service {
    let whoami = Tool::new("whoami")
        .description("Says what it knows of its caller")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let claims = cx.claims();
            let said = json!({
                "principal": cx.principal(),
                "subject": claims.and_then(|it| it.subject()),
                "issuer": claims.map(TokenClaims::issuer),
                "client": claims.and_then(|it| it.client_id()),
                "scopes": claims.map(|it| it.scopes().collect::<Vec<_>>()),
                "team": claims.and_then(|it| it.claim::<Team>("team")).map(|team| team.id),
                "wrong": claims.and_then(|it| it.claim::<u32>("team")),
                "shown": format!("{claims:?}"),
            });
            Ok(said.to_string())
        });
    let counted = Arc::clone(ran);
    let write = Tool::new("write")
        .description("Writes")
        .scope("files:read")
        .scope("files:write")
        .no_input()
        .handler(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok("written") }
        });
    let ask = Tool::new("ask")
        .description("Asks")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            cx.confirm("Really?").await?;
            Ok(format!("{:?}", cx.claims().and_then(|it| it.subject())))
        });
    let wait = Tool::new("wait").description("Waits for ever").no_input();
    let wait = wait.handler(|_| std::future::pending::<bowline::server::Result<&str>>());
    let plan = Resource::new("vault:///plan", "plan")
        .scope("files:read")
        .text("the plan");
    let page = ResourceTemplate::new("vault:///pages/{page}", "page")
        .scope("files:read")
        .complete_from("page", ["one"])
        .read(async |_, _: Conversation| Ok("a page"));
    let open = Resource::new("vault:///open", "open").text("open");
    let sum = Prompt::new("sum")
        .scope("files:read")
        .argument(Argument::new("page"))
        .complete_from("page", ["one"])
        .get(async |_, _: Conversation| Ok("Sum it up"));
    let server = Server::new("vault", "1").tool(whoami).tool(write).tool(ask);
    let server = server
        .tool(wait)
        .resource(plan)
        .resource(open)
        .template(page)
        .prompt(sum)
        .resource_subscriptions();
    server.build().expect("a server")
}

#[derive(serde::Deserialize)]
struct Team {
    id: u32,
}

/// A protected server, and the token that it is asked with.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) service: Service,
    pub(super) http: HttpService,
    pub(super) ran: Ran,
    authorization: Option<String>,
    peer: Option<PeerAddr>,
}

impl Node {
    pub(super) fn new(protection: ProtectionBuilder) -> Self {
        Self::with(HttpOptions {
            protection: Some(protection.build().expect("a protection")),
            ..HttpOptions::default()
        })
    }

    pub(super) fn with(options: HttpOptions) -> Self {
        let ran = Ran::default();
        let service = service(&ran);
        Self {
            http: service.http(options),
            service,
            ran,
            authorization: None,
            peer: None,
        }
    }

    /// The same server, asked with this token.
    pub(super) fn bearing(&self, token: &str) -> Self {
        self.authorized(&format!("Bearer {token}"))
    }

    /// The same server, asked from this address.
    pub(super) fn asked_from(&self, address: [u8; 4]) -> Self {
        Self {
            peer: Some(PeerAddr(address.into())),
            ..self.clone()
        }
    }

    pub(super) fn authorized(&self, value: &str) -> Self {
        Self {
            authorization: Some(value.to_owned()),
            ..self.clone()
        }
    }

    pub(super) async fn send(&self, mut request: Builder, body: &str) -> Answer {
        if let Some(value) = &self.authorization {
            request = request.header("authorization", value);
        }
        let body = Bytes::from(body.to_owned());
        let mut request = request.body(Whole(Some(body))).expect("a request");
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        let Ok(response) = self.http.clone().call(request).await;
        Answer {
            response,
            decoder: Decoder::default(),
            rest: Bytes::new(),
        }
    }

    /// A request of the stateless era.
    pub(super) async fn ask(&self, method: &str, params: Value) -> Answer {
        let (request, body) = stateless(method, params);
        self.send(request, &body).await
    }

    pub(super) async fn call(&self, tool: &str) -> Answer {
        self.ask("tools/call", json!({"name": tool, "arguments": {}}))
            .await
    }

    /// What a tool knows of its caller.
    pub(super) async fn whoami(&self) -> Value {
        let answer = self.call("whoami").await;
        assert_eq!(answer.status(), 200);
        let answer = answer.json().await;
        let text = answer["result"]["content"][0]["text"].as_str();
        serde_json::from_str(text.expect("a text")).expect("JSON")
    }

    /// Checks that the token is refused, for this reason.
    pub(super) async fn refuses(&self, error: &str, why: &str) {
        let answer = self.call("whoami").await;
        let challenge = answer.header("www-authenticate").unwrap_or_default();
        assert_eq!(answer.status(), 401, "{challenge}");
        assert!(
            challenge.contains(&format!("error=\"{error}\"")),
            "{challenge}"
        );
        assert!(challenge.contains(why), "{challenge}");
    }
}

pub(super) fn post() -> Builder {
    Request::post("/mcp")
        .header("host", "localhost:3000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
}

/// A request of the stateless era, with all that it must bring.
pub(super) fn stateless(method: &str, mut params: Value) -> (Builder, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let mut request = post()
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        request = request.header("mcp-name", name);
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    (request, body.to_string())
}

/// A body in one piece.
struct Whole(Option<Bytes>);

impl http_body::Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        std::task::Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}

pub(super) struct Answer {
    response: Response<Body>,
    decoder: Decoder,
    rest: Bytes,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let value = self.response.headers().get(name)?;
        Some(value.to_str().expect("text"))
    }

    pub(super) fn headers(&self, name: &str) -> Vec<&str> {
        let values = self.response.headers().get_all(name).iter();
        values.map(|value| value.to_str().expect("text")).collect()
    }

    async fn chunk(&mut self) -> Option<Bytes> {
        let body = self.response.body_mut();
        let frame = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await;
        Some(frame?.expect("no fault").into_data().expect("data"))
    }

    pub(super) async fn text(mut self) -> String {
        let mut text = Vec::new();
        while let Some(chunk) = self.chunk().await {
            text.extend_from_slice(&chunk);
        }
        String::from_utf8(text).expect("text")
    }

    pub(super) async fn json(self) -> Value {
        serde_json::from_str(&self.text().await).expect("JSON")
    }

    pub(super) async fn event(&mut self) -> Option<Event> {
        loop {
            let mut rest = &*self.rest;
            let event = self.decoder.push(&mut rest).expect("events");
            self.rest = self.rest.slice_ref(rest);
            if event.is_some() {
                return event;
            }
            self.rest = self.chunk().await?;
        }
    }
}

/// A session of the older revisions.
#[derive(Clone)]
pub(super) struct Session {
    node: Node,
    pub(super) id: String,
    version: &'static str,
}

impl Session {
    pub(super) async fn open(node: &Node, version: &'static str) -> Self {
        let params = json!({
            "protocolVersion": version,
            "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "raw", "version": "1"},
        });
        let open = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer = node.send(post(), &open.to_string()).await;
        assert_eq!(answer.status(), 200);
        let id = answer.header("mcp-session-id").expect("an id").to_owned();
        let node = node.clone();
        let session = Self { node, id, version };
        let opened = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(session.post(&opened).await.status(), 202);
        session
    }

    /// The same session, with another token.
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
            .header("host", "localhost:3000")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", self.version)
    }

    pub(super) async fn post(&self, message: &Value) -> Answer {
        let request = self.request(Method::POST);
        self.node.send(request, &message.to_string()).await
    }

    pub(super) async fn call(&self, id: u32, tool: &str) -> Answer {
        let params = json!({"name": tool, "arguments": {}});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        self.post(&call).await
    }

    pub(super) async fn get(&self, last: Option<&str>) -> Answer {
        let mut request = self.request(Method::GET);
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        self.node.send(request, "").await
    }

    pub(super) async fn delete(&self) -> Answer {
        self.node.send(self.request(Method::DELETE), "").await
    }
}
