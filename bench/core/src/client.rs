//! Calls of a client in memory.

use bowline::{Client, transport::Memory, transport::MemoryListener};
use bowline_proto::{
    jsonrpc::{Envelope, scan},
    model::ContentBlock,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::server::TEXT;

/// Calls one after the other.
pub(crate) fn call(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        let echo = json!({"content": [{"type": "text", "text": TEXT}]});
        let client = connect("tools/call", echo.to_string()).await;
        let arguments = json!({"text": TEXT});
        for _ in 0..times {
            let result = client.tools().call("echo", &arguments).await;
            let result = result.expect("an answer");
            assert!(matches!(&result.content[..], [ContentBlock::Text(text)] if text.text == TEXT));
        }
        client.stop().await;
    });
}

/// A client of a server that answers one method, always with the same result.
pub(crate) async fn connect(method: &'static str, result: String) -> Client {
    let (transport, listener) = Memory::new();
    tokio::spawn(answer(listener, method, result));
    Client::builder()
        .connect(transport)
        .await
        .expect("a client")
}

async fn answer(mut listener: MemoryListener, known: &str, result: String) {
    let tools = json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}).to_string();
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "core", "version": "1"},
    });
    let initialize = initialize.to_string();
    while let Some(mut peer) = listener.accept().await {
        while let Some(frame) = peer.recv().await {
            let Ok(Envelope::Request { id, method, .. }) = scan(&frame) else {
                continue;
            };
            let answered = match &*method {
                method if method == known => format!(r#""result":{result}"#),
                "initialize" => format!(r#""result":{initialize}"#),
                "tools/list" => format!(r#""result":{tools}"#),
                _ => r#""error":{"code":-32601,"message":"no"}"#.to_owned(),
            };
            let id = serde_json::to_string(&id).expect("an id is JSON");
            let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},{answered}}}"#);
            peer.send_frame(frame.into()).await;
        }
    }
}
