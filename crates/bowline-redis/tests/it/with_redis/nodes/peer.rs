//! A client of the stateless era that sends exactly what a test wants.

use bowline::{server::Service, transport::MemoryLink};
use serde_json::{Value, json};

/// One end of a link, with a node at the other.
pub(super) struct Peer {
    link: MemoryLink,
    next: u64,
}

impl Peer {
    pub(super) fn new<S: Send + Sync + 'static>(service: &Service<S>) -> Self {
        let (link, far) = MemoryLink::pair();
        let service = service.clone();
        tokio::spawn(async move { service.serve(far).await });
        Self { link, next: 0 }
    }

    /// Sends a request and returns the response.
    pub(super) async fn ask(&mut self, method: &str, mut params: Value) -> Value {
        self.next += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "peer", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let id = self.next;
        let frame = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        assert!(self.link.send_frame(frame.to_string().into()).await);
        loop {
            let frame = self.link.recv().await.expect("a frame");
            let frame: Value = serde_json::from_slice(&frame).expect("JSON");
            if frame["id"] == id {
                return frame;
            }
        }
    }

    pub(super) async fn call(&mut self, tool: &str) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": {}}))
            .await
    }

    /// Continues a call of `greet` with this name.
    pub(super) async fn answer(&mut self, state: &Value, name: &str) -> Value {
        let params = json!({
            "name": "greet", "arguments": {}, "requestState": state,
            "inputResponses": {"name": {"action": "accept", "content": {"name": name}}},
        });
        self.ask("tools/call", params).await
    }
}
