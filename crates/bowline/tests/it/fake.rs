//! A small server in memory that answers as it is told, and counts.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use bowline::{
    Client,
    client::ClientBuilder,
    transport::{Memory, MemoryLink, MemoryListener},
};
use serde_json::{Value, json};
use tokio::{
    sync::{mpsc, watch},
    time::timeout,
};

type Responder = dyn Fn(&str, &Value) -> Result<Value, Value> + Send + Sync;

/// A server, with as many links as are dialled.
#[derive(Clone)]
pub(crate) struct Fake {
    state: Arc<Mutex<State>>,
    seen: watch::Sender<HashMap<String, usize>>,
    respond: Arc<Responder>,
}

#[derive(Default)]
struct State {
    /// The links that are open; dropping the sender ends one.
    links: Vec<mpsc::UnboundedSender<Value>>,
    dials: usize,
    /// New links are dropped at once.
    unreachable: bool,
    /// The era whose sessions it opens.
    modern: bool,
    toolless: bool,
    /// Whether it runs calls as tasks.
    with_tasks: bool,
    /// Whether the question about the era kills it.
    dies_of_probe: bool,
    holding: HashSet<String>,
    held: Vec<(mpsc::UnboundedSender<Value>, Value)>,
}

impl Fake {
    /// A server that answers what is not about sessions by this function: with a
    /// result, or an error.
    pub(crate) fn new(
        respond: impl Fn(&str, &Value) -> Result<Value, Value> + Send + Sync + 'static,
    ) -> Self {
        Self {
            state: Arc::default(),
            seen: watch::Sender::default(),
            respond: Arc::new(respond),
        }
    }

    /// A server with these tools, each of which says its name and arguments;
    /// one called `fail` is refused.
    pub(crate) fn with_tools(names: &'static [&'static str]) -> Self {
        Self::new(move |method, params| match method {
            "tools/list" => {
                let tools = names.iter();
                let tools =
                    tools.map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
                Ok(json!({"tools": tools.collect::<Vec<_>>()}))
            }
            "tools/call" if params["name"] == "fail" => {
                Err(json!({"code": -32603, "message": "out of order"}))
            }
            "tools/call" => {
                let text = format!("{} {}", params["name"], params["arguments"]);
                Ok(json!({"content": [{"type": "text", "text": text}]}))
            }
            _ => Ok(json!({})),
        })
    }

    /// A client of this server's that is on its way.
    pub(crate) fn client(&self) -> Client {
        self.connect(Client::builder().seed(1))
    }

    /// As [`client`](Self::client), with settings.
    pub(crate) fn connect(&self, builder: ClientBuilder) -> Client {
        let (transport, listener) = Memory::new();
        tokio::spawn(self.clone().listen(listener));
        builder.connect_in_background(transport)
    }

    pub(crate) fn set_unreachable(&self, unreachable: bool) {
        self.lock().unreachable = unreachable;
    }

    pub(crate) fn speak_modern(&self) {
        self.lock().modern = true;
    }

    pub(crate) fn offer_no_tools(&self) {
        self.lock().toolless = true;
    }

    pub(crate) fn offer_tasks(&self) {
        self.lock().with_tasks = true;
    }

    pub(crate) fn die_of_probe(&self) {
        self.lock().dies_of_probe = true;
    }

    /// Keeps answers to this method back until they are released.
    pub(crate) fn hold(&self, method: &str) {
        self.lock().holding.insert(method.to_owned());
    }

    /// Gives all answers that were kept back, and keeps none back any more.
    pub(crate) fn release(&self) {
        let mut state = self.lock();
        state.holding.clear();
        for (link, answer) in state.held.drain(..) {
            let _ = link.send(answer);
        }
    }

    /// Drops all links.
    pub(crate) fn hang_up(&self) {
        self.lock().links.clear();
        self.lock().held.clear();
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        for link in &self.lock().links {
            let _ = link.send(message.clone());
        }
    }

    /// How many links were dialled.
    pub(crate) fn dials(&self) -> usize {
        self.lock().dials
    }

    /// How many messages of this method arrived.
    pub(crate) fn count(&self, method: &str) -> usize {
        self.seen.borrow().get(method).copied().unwrap_or(0)
    }

    /// Waits until so many messages of this method have arrived.
    pub(crate) async fn seen(&self, method: &str, times: usize) {
        let mut seen = self.seen.subscribe();
        let enough = |seen: &HashMap<String, usize>| seen.get(method).is_some_and(|n| *n >= times);
        // Time is paused, so that this ends at once when nothing else happens.
        let waited = timeout(Duration::from_secs(3600), seen.wait_for(enough)).await;
        assert!(waited.is_ok(), "{method} came {} times", self.count(method));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panicked")
    }

    async fn listen(self, mut listener: MemoryListener) {
        while let Some(peer) = listener.accept().await {
            let mut state = self.lock();
            state.dials += 1;
            if state.unreachable {
                continue;
            }
            let (link, messages) = mpsc::unbounded_channel();
            state.links.push(link.clone());
            tokio::spawn(self.clone().serve(peer, link.downgrade(), messages));
        }
    }

    async fn serve(
        self,
        mut peer: MemoryLink,
        link: mpsc::WeakUnboundedSender<Value>,
        mut messages: mpsc::UnboundedReceiver<Value>,
    ) {
        loop {
            tokio::select! {
                biased;
                message = messages.recv() => {
                    let Some(message) = message else { return };
                    peer.send_frame(message.to_string().into()).await;
                }
                frame = peer.recv() => {
                    let (Some(frame), Some(link)) = (frame, link.upgrade()) else { return };
                    let message: Value = serde_json::from_slice(&frame).expect("JSON");
                    let method = message["method"].as_str().unwrap_or("").to_owned();
                    self.seen.send_modify(|seen| *seen.entry(method.clone()).or_default() += 1);
                    if method == "server/discover" && self.lock().dies_of_probe {
                        return;
                    }
                    if !message["id"].is_null() {
                        self.answer(&method, &message, &link);
                    }
                }
            }
        }
    }

    fn answer(&self, method: &str, message: &Value, link: &mpsc::UnboundedSender<Value>) {
        let answer = self.session(method).or_else(|| {
            let params = &message["params"];
            (method != "subscriptions/listen").then(|| (self.respond)(method, params))
        });
        let Some(answer) = answer else { return };
        let mut reply = json!({"jsonrpc": "2.0", "id": message["id"]});
        match answer {
            Ok(result) => reply["result"] = result,
            Err(error) => reply["error"] = error,
        }
        let mut state = self.lock();
        if state.modern && reply["result"].is_object() && reply["result"]["resultType"].is_null() {
            reply["result"]["resultType"] = "complete".into();
        }
        if state.holding.contains(method) {
            state.held.push((link.clone(), reply));
        } else {
            let _ = link.send(reply);
        }
    }

    /// The answer to what is about sessions.
    fn session(&self, method: &str) -> Option<Result<Value, Value>> {
        let resources = json!({"subscribe": true, "listChanged": true});
        let mut capabilities = json!({"resources": resources, "prompts": {}});
        if !self.lock().toolless {
            capabilities["tools"] = json!({});
        }
        if self.lock().with_tasks {
            capabilities["tasks"] =
                json!({"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}});
            capabilities["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
        }
        match method {
            "server/discover" if self.lock().modern => Some(Ok(json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "ttlMs": 0,
                "cacheScope": "private",
            }))),
            "server/discover" => Some(Err(json!({"code": -32601, "message": "what?"}))),
            "initialize" => Some(Ok(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "serverInfo": {"name": "fake", "version": "1"},
            }))),
            "ping" | "resources/subscribe" => Some(Ok(json!({}))),
            _ => None,
        }
    }
}
