//! Connections: how many there are, and when one is used again.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{Client, proto::client::ConnectionErrorKind, transport::Http};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpListener, sync::mpsc};

use super::rig::{Part, Reply, Rig, builder, stateless, within};
use crate::sync::lock;

/// Answers that wait to be let go, each with what it waits for.
type Held = Arc<Mutex<Vec<(String, mpsc::UnboundedSender<String>)>>>;

async fn call(client: &Client) {
    within(async { client.tools().call("echo", json!({})).await })
        .await
        .expect("an answer");
}

/// Makes so many calls at once, and has them answered when all have arrived.
async fn all_at_once(rig: &Rig, client: &Client, held: &Held, count: usize) {
    let before = rig.named("tools/call").len();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..count {
        let client = client.clone();
        calls.spawn(async move { call(&client).await });
    }
    rig.until("tools/call", before + count).await;
    for (answer, feed) in lock(held).drain(..) {
        feed.send(answer).expect("the exchange is there");
    }
    within(calls.join_all()).await;
}

#[tokio::test]
async fn calls_at_once_have_a_connection_each_and_the_next_ones_use_them_again() {
    const MANY: usize = 16;
    let held = Held::default();
    let kept = Arc::clone(&held);
    let rig = stateless(move |hit| {
        if hit.rpc() != "tools/call" {
            return None;
        }
        let (sender, feed) = mpsc::unbounded_channel();
        let result = hit.result(&json!({"content": [], "resultType": "complete"}));
        lock(&kept).push((result, sender));
        Some(Reply::parts("application/json", [Part::Feed(feed)]))
    })
    .await;
    let client = rig.client().await;
    for _ in 0..3 {
        all_at_once(&rig, &client, &held, MANY).await;
        assert_eq!(rig.connections(), MANY);
    }
}

#[tokio::test]
async fn a_connection_that_the_server_closed_costs_no_call() {
    let rig = stateless(|hit| {
        let result = hit.result(&json!({"content": [], "resultType": "complete"}));
        let length = result.len().to_string();
        // The rig hangs up after an answer that names its own length.
        (hit.rpc() == "tools/call").then(|| Reply::json(result).with("content-length", &length))
    })
    .await;
    let client = rig.client().await;
    for round in 1..=3 {
        call(&client).await;
        rig.until_hung_up(round).await;
        // Word of that has come once another has come after it.
        let other = stateless(|_| None).await;
        other.client().await;
    }
    assert_eq!(rig.named("tools/call").len(), 3, "none was sent twice");
    assert_eq!(rig.connections(), 3);
}

#[tokio::test]
async fn a_connection_that_nobody_comes_back_for_is_closed() {
    let rig = stateless(|_| None).await;
    let client = rig.client().await;
    call(&client).await;
    assert_eq!(rig.connections(), 1);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(5)).await;
    rig.until_hung_up(1).await;
    tokio::time::resume();
    call(&client).await;
    assert_eq!(rig.connections(), 2);
}

#[tokio::test]
async fn clones_of_a_transport_share_their_connections() {
    let rig = stateless(|_| None).await;
    let http = rig.http();
    for _ in 0..3 {
        let client = builder().connect(http.clone()).await.expect("it connects");
        call(&client).await;
        client.stop().await;
    }
    assert_eq!(rig.connections(), 1);
}

#[tokio::test]
async fn a_client_of_the_applications_own_carries_calls_and_streams() {
    let rig = stateless(|hit| {
        let is_odd = hit.json()["id"].as_u64().is_some_and(|id| id % 2 == 1);
        let result = hit.result(&json!({"content": [], "resultType": "complete"}));
        let streamed = || Reply::sse([Part::event(&result)]);
        (hit.rpc() == "tools/call" && is_odd).then(streamed)
    })
    .await;
    let own = Http::client_builder().expect("certificates");
    let own = own.user_agent("own/1").build().expect("a client");
    let http = rig.http().client(own).bearer("s3cr3t").expect("a token");
    let client = builder().connect(http).await.expect("it connects");
    for _ in 0..4 {
        call(&client).await;
    }
    assert_eq!(rig.connections(), 1);
    for hit in rig.hits() {
        assert_eq!(hit.header("user-agent"), Some("own/1"));
        assert_eq!(hit.header("authorization"), Some("Bearer s3cr3t"));
    }
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_told_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let served = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let answer = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer).await.expect("it is read");
        stream
    });
    let url = format!("https://127.0.0.1:{port}/mcp");
    let http = Http::new(&url).and_then(|http| http.bearer("s3cr3t"));
    let refused = within(builder().connect(http.expect("a URL"))).await;
    let error = refused.expect_err("no TLS");
    let kind = error.connection_error().expect("a cause").kind();
    assert!(
        matches!(kind, ConnectionErrorKind::Unreachable(_)),
        "{kind:?}"
    );
    within(served).await.expect("it was asked");
}
