//! Calls of a client in memory.

use bowline::{
    Client,
    transport::{
        BoxFuture, ConnectionError, DialOptions, Link, Memory, MemoryListener, StreamLink,
        Transport,
    },
};
use bowline_proto::{
    jsonrpc::{Envelope, scan},
    model::ContentBlock,
};
use serde_json::json;
use tokio::runtime::Runtime;

use crate::server::{TEXT, large_text, service};

/// Calls one after the other.
pub(crate) fn call(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        let client = connect_to_echo(TEXT).await;
        repeat(&client, TEXT, times).await;
        client.stop().await;
    });
}

/// Calls with a long text.
pub(crate) fn large(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        let text = large_text();
        let client = connect_to_echo(&text).await;
        repeat(&client, &text, times).await;
        client.stop().await;
    });
}

/// Calls over byte streams, with the server at the other end.
pub(crate) fn stream(runtime: &Runtime, times: usize) {
    runtime.block_on(async {
        let client = Client::builder().connect(Streams).await.expect("a client");
        repeat(&client, TEXT, times).await;
        client.stop().await;
    });
}

async fn repeat(client: &Client, text: &str, times: usize) {
    let arguments = json!({"text": text});
    for _ in 0..times {
        let result = client.tools().call("echo", &arguments).await;
        let result = result.expect("an answer");
        assert!(matches!(&result.content[..], [ContentBlock::Text(it)] if it.text == text));
    }
}

async fn connect_to_echo(text: &str) -> Client {
    let echo = json!({"content": [{"type": "text", "text": text}]});
    connect("tools/call", echo.to_string()).await
}

/// Byte streams in memory to a new server.
struct Streams;

impl Transport for Streams {
    fn dial(
        &mut self,
        options: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        Box::pin(async move {
            let link = |stream| {
                let (reader, writer) = tokio::io::split(stream);
                StreamLink::new(reader, writer, options.max_frame_size, 1 << 20)
            };
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let theirs = link(theirs);
            tokio::spawn(async move { service().serve(theirs).await });
            Ok(Box::new(link(ours)) as Box<dyn Link>)
        })
    }

    fn describe(&self) -> String {
        "byte streams in memory".to_owned()
    }
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
