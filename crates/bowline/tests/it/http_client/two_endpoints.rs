//! The transport of the first revision, which is tried last.

use std::sync::{Arc, Mutex};

use bowline::proto::{
    client::ConnectionErrorKind,
    revision::{Era, Revision},
};
use bowline::transport::Transport as _;
use serde_json::json;
use tokio::sync::mpsc;

use super::rig::{Hit, Part, Reply, Rig, builder, within};
use crate::sync::lock;

type Stream = Arc<Mutex<Option<mpsc::UnboundedSender<String>>>>;

/// A server with two endpoints, the second of which it names like this.
async fn server(endpoint: &'static str) -> (Rig, Stream) {
    let stream = Stream::default();
    let kept = Arc::clone(&stream);
    let rig = Rig::start(move |hit| match (&*hit.verb, &*hit.path) {
        ("GET", _) => {
            let (sender, feed) = mpsc::unbounded_channel();
            let named = format!("event: endpoint\ndata: {endpoint}\n\n");
            sender.send(named).expect("it is there");
            *lock(&kept) = Some(sender);
            Reply::sse([Part::Feed(feed)])
        }
        ("POST", "/messages?s=1") if hit.rpc() == "ping" => Reply::status(500),
        ("POST", "/messages?s=1") => {
            let stream = lock(&kept);
            let stream = stream.as_ref().expect("a stream");
            if let Some(answer) = answer(hit) {
                let _ = stream.send(format!("event: message\ndata: {answer}\n\n"));
            }
            Reply::new(202, "text/plain", "Accepted")
        }
        _ => Reply::new(404, "text/html", "<html>Cannot POST"),
    })
    .await;
    (rig, stream)
}

fn answer(hit: &Hit) -> Option<String> {
    let result = match &*hit.rpc() {
        "initialize" => json!({
            "protocolVersion": "2024-11-05",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"},
        }),
        "tools/call" => json!({"content": [{"type": "text", "text": "ahoy"}]}),
        _ => return None,
    };
    Some(hit.result(&result))
}

#[tokio::test]
async fn a_server_of_the_first_revision_is_found_and_spoken_to() {
    let (rig, _stream) = server("/messages?s=1").await;
    let http = rig.http().bearer("s3cr3t").expect("a token");
    let eras = http.clone();
    let client = builder().connect(http).await.expect("it connects");
    let server = client.server_info().expect("a server");
    assert_eq!(server.revision, Revision::V2024_11_05);
    assert_eq!(eras.known_era(), Some(Era::Handshake));
    let result = client.tools().call("hail", json!({})).await;
    assert_eq!(result.expect("an answer").all_text(), "ahoy");
    assert_eq!(
        rig.asked(),
        [
            "server/discover",
            "initialize",
            "GET",
            "initialize",
            "notifications/initialized",
            "tools/call"
        ]
    );
    for hit in rig.hits() {
        assert_eq!(hit.header("authorization"), Some("Bearer s3cr3t"));
    }
    assert!(rig.named("tools/call")[0].header_names("mcp-").is_empty());
    client.stop().await;
    rig.until_hung_up(1).await;
}

#[tokio::test]
async fn a_stream_that_ends_takes_the_link_along_and_comes_back() {
    let (rig, stream) = server("/messages?s=1").await;
    let client = rig.client().await;
    lock(&stream).take();
    let mut health = client.watch_health();
    let came_back = within(health.wait_for(|health| health.sessions == 2)).await;
    came_back.map(drop).expect("it comes back");
    assert_eq!(rig.named("GET").len(), 2);
    assert_eq!(rig.named("server/discover").len(), 1, "the way is known");
}

#[tokio::test]
async fn an_endpoint_of_another_origin_is_not_posted_to() {
    let other = Rig::start(|_| Reply::status(202)).await;
    let endpoint = other.url().leak();
    for endpoint in [
        endpoint,
        "//evil.example/m",
        "https://127.0.0.1/m",
        "not a url at all:",
        "\\\\evil",
    ] {
        let (rig, _stream) = server(endpoint).await;
        let refused = within(builder().connect(rig.http())).await;
        let error = refused.expect_err("refused");
        let kind = error.connection_error().expect("a cause").kind().clone();
        assert!(
            matches!(kind, ConnectionErrorKind::ProtocolViolation(_)),
            "{endpoint}: {kind:?}"
        );
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_place_that_has_no_stream_either_is_a_failure() {
    for reply in [
        || Reply::status(404),
        || Reply::new(200, "text/html", "<html>"),
        || Reply::sse([Part::text("data: {}\n\n")]),
    ] {
        let rig = Rig::start(move |hit| match &*hit.verb {
            "GET" => reply(),
            _ => Reply::status(405),
        })
        .await;
        let error = within(builder().connect(rig.http())).await;
        error.expect_err("there is nothing");
        assert_eq!(rig.asked(), ["server/discover", "initialize", "GET"]);
    }
}

#[tokio::test]
async fn a_post_that_is_refused_ends_its_own_call() {
    let (rig, _stream) = server("/messages?s=1").await;
    let client = rig.client().await;
    let error = client.ping().await.expect_err("refused");
    let kind = error.connection_error().expect("a cause").kind().clone();
    assert!(
        matches!(kind, ConnectionErrorKind::Status { status: 500, .. }),
        "{kind:?}"
    );
    client
        .tools()
        .call("hail", json!({}))
        .await
        .expect("an answer");
}
