//! Streams end with the tokens that opened them.

use std::time::Duration;

use http::{Method, Request};
use serde_json::json;
use tokio::time::Instant;

use super::rig::{Answer, Issuer, Node, now, post};

const MINUTE: Duration = Duration::from_secs(60);

/// When a stream ends in which nothing is said.
async fn end(mut stream: Answer) -> Duration {
    let began = Instant::now();
    assert_eq!(stream.status(), 200);
    while stream.event().await.is_some() {}
    began.elapsed()
}

/// Somebody whose token is good for some minutes.
fn somebody(issuer: &Issuer, minutes: u64) -> Node {
    let expires = now() + 60 * minutes;
    let token = issuer.token_with(|claims| claims["exp"] = expires.into());
    issuer.node().bearing(&token)
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_changes_ends_with_its_token() {
    let issuer = Issuer::new("k");
    let params = json!({"notifications": {"toolsListChanged": true}});
    for minutes in [5, 50] {
        let node = somebody(&issuer, minutes);
        let stream = node.ask("subscriptions/listen", params.clone()).await;
        let took = end(stream).await.as_secs();
        // Clocks differ, and seconds are rounded.
        assert!((60 * minutes..60 * (minutes + 2)).contains(&took), "{took}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_session_ends_with_its_token() {
    let issuer = Issuer::new("k");
    let node = somebody(&issuer, 5);
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "raw", "version": "1"},
    });
    let opening = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
    let opened = node.send(post(), &opening.to_string()).await;
    let id = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let within = |request: http::request::Builder| request.header("mcp-session-id", &id);
    node.send(within(post()), &initialized.to_string()).await;
    let get = Request::builder().method(Method::GET).uri("/mcp");
    let get = get
        .header("host", "localhost")
        .header("accept", "text/event-stream");
    let own = node.send(within(get), "").await;
    // A call that asks, and is never answered.
    let call = json!({"name": "ask", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
    let asking = node.send(within(post()), &call.to_string()).await;
    let (own, asking) = tokio::join!(end(own), end(asking));
    for took in [own, asking] {
        assert!((5 * MINUTE..7 * MINUTE).contains(&took), "{took:?}");
    }
}
