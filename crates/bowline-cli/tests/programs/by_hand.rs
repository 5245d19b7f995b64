//! A server for the tests of the command that is written by hand, because its
//! tools are such as the framework refuses: one has parentheses in its name, one
//! publishes as required what it fills in itself. Each returns its arguments.
//!
//! ```sh
//! cargo build -p bowline-cli --examples
//! cargo run -p bowline-cli -- list -- target/debug/examples/by_hand
//! ```

use std::io::{self, BufRead as _, Write as _};

use serde_json::{Value, json};

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        let Some(id) = message.get("id") else {
            continue;
        };
        let answer = match answer(&message) {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
        };
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(message: &Value) -> Result<Value, Value> {
    match message["method"].as_str() {
        Some("initialize") => Ok(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "by hand", "version": "1"},
        })),
        Some("ping") => Ok(json!({})),
        Some("tools/list") => Ok(json!({"tools": tools()})),
        Some("tools/call") => {
            let text = format!(
                "{} {}",
                message["params"]["name"], message["params"]["arguments"]
            );
            Ok(json!({"content": [{"type": "text", "text": text}]}))
        }
        _ => Err(json!({"code": -32601, "message": "Method not found"})),
    }
}

fn tools() -> Value {
    let odd = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let filled_in = json!({
        "type": "object",
        "properties": {
            "level": {"enum": ["error", "info"], "default": "info"},
            "all": {"type": ["boolean", "null"], "default": null},
            "url": {"type": "string"},
        },
        "required": ["level", "all", "url"],
    });
    json!([
        {"name": "get(x)", "inputSchema": odd},
        {"name": "get.(", "inputSchema": odd},
        {"name": "-get", "inputSchema": odd},
        {"name": "messages", "inputSchema": filled_in},
    ])
}
