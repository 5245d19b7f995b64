//! Sessions over HTTP that move to another node.

use std::net::SocketAddr;

use bowline::server::{Service, http::HttpOptions};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::{App, node};
use crate::with_redis::rig::Redis;

async fn serve(service: &Service<App>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let http = service.http(HttpOptions::default());
    tokio::spawn(async move { http.serve(listener).await });
    address
}

/// Posts a message and returns the whole response.
async fn post(address: SocketAddr, session: Option<&str>, message: &Value) -> String {
    let body = message.to_string();
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n"));
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\n{}\r\n{body}",
        body.len(),
        session.unwrap_or_default(),
    );
    let mut stream = TcpStream::connect(address).await.expect("it runs");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it reads");
    let mut response = String::new();
    stream
        .read_to_string(&mut response)
        .await
        .expect("it answers");
    response
}

fn session_id(response: &str) -> String {
    let mut lines = response.lines();
    let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.expect("a session").to_owned()
}

#[tokio::test]
async fn a_session_goes_on_at_another_node_and_cannot_be_read() {
    let (redis, app) = (Redis::start(), App::default());
    let (one, other) = (node(&redis, &app).await, node(&redis, &app).await);
    let (one, other) = (serve(&one).await, serve(&other).await);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "recognizable", "version": "1"},
        }
    });
    let id = session_id(&post(one, None, &initialize).await);
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    post(one, Some(&id), &initialized).await;

    let call = json!({
        "jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "hello", "arguments": {}}
    });
    let response = post(other, Some(&id), &call).await;
    assert!(response.contains("Hello!"), "{response}");
    let unknown = post(other, Some("0123456789abcdef"), &call).await;
    assert!(unknown.starts_with("HTTP/1.1 404"), "{unknown}");

    let keys: Vec<String> = redis.run(&["KEYS", "{bowline}:h:*"]);
    assert_eq!(keys.len(), 1);
    assert!(
        !keys[0].contains(&id),
        "whoever reads keys could use the session"
    );
    let stored: Vec<Vec<u8>> = redis.run(&["HGETALL", &keys[0]]);
    let stored = stored.concat();
    let stored = String::from_utf8_lossy(&stored);
    assert!(stored.contains("value") && !stored.contains("recognizable"));
}
