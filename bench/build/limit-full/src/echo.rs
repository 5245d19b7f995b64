//! What is answered to a request, in as few words as possible.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: &'a str,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Say,
}

#[derive(Deserialize)]
struct Say {
    message: String,
}

/// The answer to a request; none to a notification.
pub(crate) fn answer(frame: &[u8]) -> Option<Vec<u8>> {
    let request: Request<'_> = serde_json::from_slice(frame).ok()?;
    let id = request.id?;
    let result = match request.method {
        "initialize" => Some(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1.0.0"},
        })),
        "tools/list" => Some(json!({"tools": [{
            "name": "echo",
            "description": "Says it again",
            "inputSchema": {
                "type": "object",
                "properties": {"message": {"type": "string"}},
                "required": ["message"],
            },
        }]})),
        "tools/call" => called(request.params),
        _ => None,
    };
    let answer = match result {
        Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        None => json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}),
    };
    serde_json::to_vec(&answer).ok()
}

fn called(params: Option<&RawValue>) -> Option<serde_json::Value> {
    let call: Call = serde_json::from_str(params?.get()).ok()?;
    let text = call.arguments.message;
    (call.name == "echo").then(|| json!({"content": [{"type": "text", "text": text}]}))
}
