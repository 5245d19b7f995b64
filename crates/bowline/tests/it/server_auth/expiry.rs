//! Streams end with the tokens that opened them.

use std::time::Duration;

use bowline::server::auth::IntrospectionVerifier;
use http::{Method, Request};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::rig::{Answer, ISSUER, Issuer, Node, Published, claims, now, post, protected};

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

/// The messages of a stream, to its end.
async fn messages(mut stream: Answer) -> Vec<Value> {
    let mut messages = Vec::new();
    while let Some(event) = stream.event().await {
        messages.push(serde_json::from_slice(&event.data).expect("JSON"));
    }
    messages
}

/// Opens a stream of changes to tools.
async fn listen(node: &Node) -> Answer {
    let params = json!({"notifications": {"toolsListChanged": true}});
    node.ask("subscriptions/listen", params).await
}

#[tokio::test(start_paused = true)]
async fn what_is_ready_is_delivered_although_the_token_has_ended() {
    let issuer = Issuer::new("k");
    let node = somebody(&issuer, 5);
    let mut stream = listen(&node).await;
    assert!(stream.event().await.is_some(), "it is open");
    tokio::time::advance(10 * MINUTE).await;
    node.service.tools_changed();
    let messages = messages(stream).await;
    let changed = "notifications/tools/list_changed";
    assert_eq!(messages[0]["method"], changed, "{messages:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_with_its_token_says_so() {
    let issuer = Issuer::new("k");
    let node = somebody(&issuer, 5);
    let messages = messages(listen(&node).await).await;
    let last = messages.last().expect("a message");
    assert_eq!(last["id"], 1, "{last}");
    let said = last["error"]["message"].as_str().expect("an error");
    assert!(said.starts_with("Unauthorized: the token"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_outlives_its_token_ends_with_an_error() {
    let issuer = Issuer::new("k");
    let node = somebody(&issuer, 5);
    let messages = messages(node.call("wait").await).await;
    let [last] = &messages[..] else {
        panic!("{messages:?}");
    };
    assert_eq!(last["id"], 1, "{last}");
    let said = last["error"]["message"].as_str().expect("an error");
    assert!(said.starts_with("Unauthorized: the token"), "{said}");
}

/// Somebody whose token says nothing of its end, and their issuer.
fn endless() -> (Node, Published) {
    let published = Published::default();
    let mut said = claims();
    said["active"] = json!(true);
    said.as_object_mut().expect("an object").remove("exp");
    published.put("/introspect", said);
    let endpoint = "https://login.example.com/introspect";
    let verifier = IntrospectionVerifier::new(ISSUER, endpoint, ("vault", "x"), published.clone());
    (
        Node::new(protected().verifier(verifier)).bearing("opaque"),
        published,
    )
}

#[tokio::test(start_paused = true)]
async fn a_token_without_an_end_is_asked_about_again() {
    let (node, published) = endless();
    let stream = listen(&node).await;
    assert_eq!(published.count(), 1);
    let watching = tokio::spawn(end(stream));
    tokio::time::sleep(30 * MINUTE).await;
    let asked = published.count();
    assert!((4..=10).contains(&asked), "{asked} times");
    assert!(!watching.is_finished(), "it is still good");
    published.put("/introspect", json!({"active": false}));
    let took = watching.await.expect("an end");
    assert!((30 * MINUTE..36 * MINUTE).contains(&took), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_away_for_a_moment_ends_no_stream() {
    let (node, published) = endless();
    let watching = tokio::spawn(end(listen(&node).await));
    tokio::time::sleep(4 * MINUTE).await;
    published.down(true);
    tokio::time::sleep(3 * MINUTE).await;
    published.down(false);
    tokio::time::sleep(30 * MINUTE).await;
    assert!(!watching.is_finished(), "it was away for three minutes");
    published.down(true);
    let took = watching.await.expect("an end");
    assert!((37 * MINUTE..50 * MINUTE).contains(&took), "{took:?}");
}
