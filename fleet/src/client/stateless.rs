//! Requests of revision 2026-07-28.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::wire::{self, HttpRequest, Lost};

const REVISION: &str = "2026-07-28";

/// Sends requests that carry everything.
#[derive(Clone, Copy)]
pub(crate) struct Stateless {
    address: SocketAddr,
}

/// What became of a request.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    Result(Value),
    /// An error that stands: it is no use to repeat the request.
    Refused(String),
    /// The request may be repeated. It may have been processed.
    Retry,
    /// The request may be repeated. It was not processed.
    NotProcessed,
}

impl Stateless {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Sends a request once.
    pub(crate) async fn ask(self, method: &str, mut params: Value) -> Reply {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": REVISION,
            "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {
                "elicitation": {"form": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
        });
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("mcp-protocol-version", REVISION.to_owned()),
            ("mcp-method", method.to_owned()),
        ];
        let name = params["name"].as_str().or(params["taskId"].as_str());
        headers.extend(name.map(|name| ("mcp-name", name.to_owned())));
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = HttpRequest {
            method: "POST",
            headers,
            body: message.to_string(),
        };
        let mut response = match wire::send(self.address, &request).await {
            Ok(response) => response,
            Err(Lost::NotSent) => return Reply::NotProcessed,
            Err(Lost::Cut) => return Reply::Retry,
        };
        if matches!(response.status, 429 | 503) {
            return Reply::NotProcessed;
        }
        while let Some(message) = response.message().await {
            if message["id"] == 1 {
                return Reply::of(&message);
            }
        }
        Reply::Retry
    }
}

impl Reply {
    fn of(message: &Value) -> Self {
        let error = &message["error"];
        if error.is_null() {
            return Self::Result(message["result"].clone());
        }
        // Internal errors, among them those of the store, end a round and not a call.
        match error["code"].as_i64() {
            Some(-32603) => Self::Retry,
            code => {
                let text = error["message"].as_str().unwrap_or_default();
                Self::Refused(format!("{}: {text}", code.unwrap_or_default()))
            }
        }
    }
}
