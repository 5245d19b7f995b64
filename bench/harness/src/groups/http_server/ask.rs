//! What is asked of the servers, in both eras.

use serde_json::{Value, json};

/// What is said there and back: 100 bytes.
pub(crate) const TEXT: &str = "0123456789012345678901234567890123456789012345678901234567890123456789\
                               012345678901234567890123456789";

/// Stands for a number that no other request has.
pub(super) const NUMBER: &str = "@@@@@@@@";

/// A request.
pub(crate) struct Ask {
    pub(super) method: &'static str,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: String,
}

impl Ask {
    /// A request of 2026-07-28, which speaks for itself. The client has no
    /// capabilities, unless the params say otherwise.
    pub(crate) fn modern(method: &'static str, name: Option<&str>, mut params: Value) -> Self {
        let version = "2026-07-28";
        let meta = &mut params["_meta"];
        meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
        meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "bench", "version": "1.0.0"});
        let capabilities = &mut meta["io.modelcontextprotocol/clientCapabilities"];
        if capabilities.is_null() {
            *capabilities = json!({});
        }
        let mut ask = Self::post(&json!(1), method, &params);
        ask.headers
            .push(("Mcp-Protocol-Version", version.to_owned()));
        ask.headers.push(("Mcp-Method", method.to_owned()));
        ask.headers
            .extend(name.map(|name| ("Mcp-Name", name.to_owned())));
        ask
    }

    /// A call of a tool in 2026-07-28.
    pub(crate) fn modern_call(tool: &str) -> Self {
        let params = json!({
            "name": tool, "arguments": {"message": TEXT}, "_meta": {"progressToken": 1},
        });
        Self::modern("tools/call", Some(tool), params)
    }

    /// A stream of changes in 2026-07-28.
    pub(super) fn modern_listen() -> Self {
        let params = json!({"notifications": {"toolsListChanged": true}});
        Self::modern("subscriptions/listen", None, params)
    }

    /// What opens a session of 2025-11-25.
    pub(super) fn initialize() -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "1.0.0"},
        });
        Self::post(&json!(0), "initialize", &params)
    }

    /// What is said once a session is open.
    pub(super) fn initialized(session: &str) -> Self {
        let body = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let mut ask = Self::post(&json!(0), "", &json!({}));
        ask.body = body.to_string();
        ask.in_session(session)
    }

    /// A call in a session; its number is to be filled in.
    pub(super) fn session_call(tool: &str) -> Self {
        let params = json!({
            "name": tool, "arguments": {"message": TEXT}, "_meta": {"progressToken": NUMBER},
        });
        let mut ask = Self::post(&json!(NUMBER), "tools/call", &params);
        ask.body = ask.body.replace(&format!("\"{NUMBER}\""), NUMBER);
        ask.headers
            .push(("Mcp-Protocol-Version", "2025-11-25".to_owned()));
        ask
    }

    /// The stream of a session, for what belongs to no request.
    pub(super) fn session_stream(session: &str) -> Self {
        let mut ask = Self::bare("GET");
        ask.headers.push(("Accept", "text/event-stream".to_owned()));
        ask.in_session(session)
    }

    /// What closes a session.
    pub(super) fn close(session: &str) -> Self {
        Self::bare("DELETE").in_session(session)
    }

    /// The same with a number of its own.
    pub(super) fn numbered(mut self, number: u32) -> Self {
        self.body = self.body.replace(NUMBER, &number.to_string());
        self
    }

    /// The same in a session.
    pub(super) fn of_session(mut self, session: &str) -> Self {
        self.headers.push(("Mcp-Session-Id", session.to_owned()));
        self
    }

    fn in_session(self, session: &str) -> Self {
        let mut ask = self.of_session(session);
        ask.headers
            .push(("Mcp-Protocol-Version", "2025-11-25".to_owned()));
        ask
    }

    fn post(id: &Value, method: &str, params: &Value) -> Self {
        let mut ask = Self::bare("POST");
        let both = "application/json, text/event-stream";
        ask.headers.push(("Accept", both.to_owned()));
        ask.headers
            .push(("Content-Type", "application/json".to_owned()));
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        ask.body = body.to_string();
        ask
    }

    fn bare(method: &'static str) -> Self {
        Self {
            method,
            headers: Vec::new(),
            body: String::new(),
        }
    }
}
