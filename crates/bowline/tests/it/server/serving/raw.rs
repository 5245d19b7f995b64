//! Clients for tests: one of the library's, and one that sees every frame.

use std::collections::VecDeque;

use bowline::{
    Client, client::ClientBuilder, proto::revision::Revision, server::Service,
    transport::MemoryLink,
};
use serde_json::{Value, json};

/// A client of the library's, in one revision.
pub(in crate::server) async fn connect<S: Send + Sync + 'static>(
    service: &Service<S>,
    revision: Revision,
    configure: impl FnOnce(ClientBuilder) -> ClientBuilder,
) -> Client {
    configure(Client::builder().revisions([revision]))
        .connect(service.in_memory())
        .await
        .expect("it connects")
}

/// A client that sees every frame.
pub(in crate::server) struct Raw {
    peer: MemoryLink,
    /// What each request carries.
    meta: Option<Value>,
    declared: Value,
    last: u64,
    pub(in crate::server) aside: VecDeque<Value>,
}

impl Raw {
    /// One of the stateless era, which can show forms.
    pub(in crate::server) fn stateless<S: Send + Sync + 'static>(service: &Service<S>) -> Self {
        let mut raw = Self::dial(service);
        raw.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
        }));
        raw
    }

    /// One of the handshake era, which can do nothing.
    pub(in crate::server) async fn session<S: Send + Sync + 'static>(
        service: &Service<S>,
        version: &str,
    ) -> Self {
        let mut raw = Self::dial(service);
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        });
        let opened = raw.result("initialize", params).await;
        raw.declared = opened["capabilities"].clone();
        raw.notify("notifications/initialized", json!({})).await;
        raw
    }

    fn dial<S: Send + Sync + 'static>(service: &Service<S>) -> Self {
        let (near, far) = MemoryLink::pair();
        let service = service.clone();
        tokio::spawn(async move { service.serve(far).await });
        Self {
            peer: near,
            meta: None,
            declared: Value::Null,
            last: 0,
            aside: VecDeque::new(),
        }
    }

    /// What the server declared.
    pub(in crate::server) fn capabilities(&self) -> &Value {
        &self.declared
    }

    /// Sends a request; gives its id.
    pub(in crate::server) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.send_with(method, params, json!({})).await
    }

    /// Sends a request with more in its `_meta`.
    pub(in crate::server) async fn send_with(
        &mut self,
        method: &str,
        mut params: Value,
        more: Value,
    ) -> u64 {
        self.last += 1;
        let mut meta = self.meta.clone().unwrap_or_else(|| json!({}));
        let all = meta.as_object_mut().expect("an object");
        all.extend(more.as_object().expect("an object").clone());
        if !all.is_empty() {
            params["_meta"] = meta;
        }
        let frame = json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params});
        assert!(
            self.peer.send_frame(frame.to_string().into()).await,
            "the server is gone"
        );
        self.last
    }

    pub(in crate::server) async fn notify(&mut self, method: &str, params: Value) {
        let frame = json!({"jsonrpc": "2.0", "method": method, "params": params});
        assert!(self.peer.send_frame(frame.to_string().into()).await);
    }

    /// Sends something as it is.
    pub(in crate::server) async fn send_frame(&mut self, frame: &Value) {
        assert!(self.peer.send_frame(frame.to_string().into()).await);
    }

    /// The next frame.
    pub(in crate::server) async fn frame(&mut self) -> Value {
        self.try_frame().await.expect("the server has more to say")
    }

    pub(in crate::server) async fn try_frame(&mut self) -> Option<Value> {
        if let Some(frame) = self.aside.pop_front() {
            return Some(frame);
        }
        let frame = self.peer.recv().await?;
        Some(serde_json::from_slice(&frame).expect("frames are JSON"))
    }

    /// The answer to a request. What comes before it is kept for later.
    pub(in crate::server) async fn answer(&mut self, id: u64) -> Value {
        let mut kept = VecDeque::new();
        loop {
            let frame = self.frame().await;
            if frame["id"] == id && frame.get("method").is_none() {
                self.aside = kept;
                return frame;
            }
            kept.push_back(frame);
        }
    }

    pub(in crate::server) async fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        assert_eq!(answer.get("error"), None, "{method}");
        answer["result"].clone()
    }

    pub(in crate::server) async fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        assert_eq!(answer.get("result"), None, "{method}");
        answer["error"].clone()
    }

    pub(in crate::server) async fn call(&mut self, tool: &str) -> u64 {
        self.send("tools/call", json!({"name": tool, "arguments": {}}))
            .await
    }
}
