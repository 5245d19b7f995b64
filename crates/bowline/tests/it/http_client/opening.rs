//! Finding out what kind of server is there, and how the era is remembered.

use std::sync::{Arc, Mutex};

use bowline::{
    proto::{
        client::ConnectionErrorKind,
        jsonrpc::ErrorObject,
        revision::{Era, Revision},
    },
    transport::Transport as _,
};
use serde_json::json;

use super::rig::{Reply, Rig, builder, handshake, handshake_reply, stateless, within};
use crate::sync::lock;

#[tokio::test]
async fn a_stateless_server_is_found_and_every_request_is_marked() {
    let rig = stateless(|_| None).await;
    let client = rig.client().await;
    assert_eq!(
        client.server_info().map(|server| server.revision),
        Some(Revision::V2026_07_28)
    );
    client
        .tools()
        .call("Ta-dá", json!({}))
        .await
        .expect("an answer");
    client.stop().await;
    assert_eq!(
        rig.asked(),
        ["server/discover", "tools/call"],
        "no GET, no DELETE"
    );
    for hit in rig.hits() {
        assert_eq!(hit.header("mcp-protocol-version"), Some("2026-07-28"));
        assert_eq!(hit.header("mcp-method"), Some(&*hit.rpc()));
        assert_eq!(
            hit.header("accept"),
            Some("application/json, text/event-stream")
        );
        assert_eq!(hit.header("content-type"), Some("application/json"));
        assert_eq!(hit.header("mcp-session-id"), None);
    }
    let call = &rig.named("tools/call")[0];
    assert_eq!(call.header("mcp-name"), Some("=?base64?VGEtZMOh?="));
}

#[tokio::test]
async fn a_handshake_server_is_found_and_its_session_kept_to_the_end() {
    let rig = handshake(|_| None).await;
    let client = rig.client().await;
    client
        .tools()
        .call("echo", json!({}))
        .await
        .expect("an answer");
    rig.until("GET", 1).await;
    client.stop().await;
    let farewell = &rig.until("DELETE", 1).await[0];
    let asked = rig.asked();
    assert_eq!(
        asked[..3],
        ["server/discover", "initialize", "notifications/initialized"]
    );
    for name in ["notifications/initialized", "tools/call", "GET"] {
        let hit = &rig.named(name)[0];
        assert_eq!(hit.header("mcp-session-id"), Some("knot-1"), "{name}");
        assert_eq!(
            hit.header("mcp-protocol-version"),
            Some("2025-11-25"),
            "{name}"
        );
        assert!(hit.header_names("mcp-method").is_empty(), "{name}");
    }
    assert_eq!(rig.named("initialize")[0].header_names("mcp-"), [""; 0]);
    assert_eq!(
        rig.named("GET")[0].header("accept"),
        Some("text/event-stream")
    );
    assert_eq!(farewell.header("mcp-session-id"), Some("knot-1"));
}

#[tokio::test]
async fn the_version_is_not_named_to_servers_that_do_not_know_the_header() {
    let rig = handshake(|_| None).await;
    let only = builder().revisions([Revision::V2025_03_26]);
    let client = only.connect(rig.http()).await.expect("it connects");
    client
        .tools()
        .call("echo", json!({}))
        .await
        .expect("an answer");
    assert_eq!(
        rig.asked()[0],
        "initialize",
        "there is nothing to probe for"
    );
    let names = rig.named("tools/call")[0].header_names("mcp-").join(" ");
    assert_eq!(names, "mcp-session-id");
}

#[tokio::test]
async fn the_era_is_found_by_the_body_and_not_by_the_status() {
    let supported = json!({"supported": ["2025-06-18"], "requested": "2026-07-28"});
    let refusals = [
        (
            400,
            "application/json",
            json!({"jsonrpc": "2.0", "id": 1, "error":
            {"code": -32022, "message": "no", "data": supported}})
            .to_string(),
        ),
        (
            200,
            "application/json",
            json!({"jsonrpc": "2.0", "id": 1, "error":
            {"code": -32601, "message": "no"}})
            .to_string(),
        ),
        (200, "text/html", "<html>Welcome!</html>".to_owned()),
        (200, "application/json", "{}".to_owned()),
        (200, "application/json", "\u{fffd}".to_owned()),
        (202, "text/plain", String::new()),
        (404, "text/html", "<html>".to_owned()),
        (405, "text/plain", String::new()),
    ];
    for (status, kind, body) in refusals {
        let shown = format!("{status} {kind} {body}");
        let rig = handshake(move |hit| {
            (hit.rpc() == "server/discover").then(|| Reply::new(status, kind, body.clone()))
        })
        .await;
        let client = within(builder().connect(rig.http())).await;
        let client = client.unwrap_or_else(|error| panic!("{shown}: {error}"));
        assert_eq!(
            rig.asked()[..2],
            ["server/discover", "initialize"],
            "{shown}"
        );
        client.stop().await;
    }
}

#[tokio::test]
async fn the_weather_and_the_keeper_are_no_evidence_of_the_era() {
    for status in [401, 403, 429, 500, 503] {
        let rig = Rig::start(move |_| Reply::status(status).with("retry-after", "7")).await;
        let error = builder().connect(rig.http()).await.expect_err("refused");
        let cause = error.connection_error().expect("a cause").kind().clone();
        let retry_after = Some(std::time::Duration::from_secs(7));
        assert_eq!(
            cause,
            ConnectionErrorKind::Status {
                status,
                retry_after
            }
        );
        assert_eq!(rig.asked(), ["server/discover"], "{status}");
    }
}

#[tokio::test]
async fn a_second_client_of_the_same_transport_does_not_probe_again() {
    let rig = handshake(|_| None).await;
    let http = rig.http();
    let clone = http.clone();
    assert_eq!(clone.known_era(), None);
    let first = builder().connect(http).await.expect("it connects");
    assert_eq!(clone.known_era(), Some(Era::Handshake));
    let second = builder().connect(clone).await.expect("it connects");
    assert_eq!(rig.named("server/discover").len(), 1);
    assert_eq!(rig.named("initialize").len(), 2);
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn a_server_that_changed_its_era_is_found_again() {
    let upgraded = Arc::new(Mutex::new(false));
    let seen = Arc::clone(&upgraded);
    let rig = Rig::start(move |hit| {
        if *lock(&seen) && hit.rpc() == "initialize" {
            let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
            let error = json!({"code": -32022, "message": "no", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": hit.json()["id"], "error": error});
            return Reply::new(400, "application/json", body.to_string());
        }
        match *lock(&seen) {
            true => super::rig::stateless_reply(hit),
            false => handshake_reply(hit),
        }
    })
    .await;
    let http = rig.http();
    let first = builder().connect(http.clone()).await.expect("it connects");
    first.stop().await;
    *lock(&upgraded) = true;
    let second = builder().connect(http.clone()).await.expect("it connects");
    let server = second.server_info().expect("a server");
    assert_eq!(server.revision, Revision::V2026_07_28);
    assert_eq!(http.known_era(), Some(Era::Stateless));
}

#[tokio::test]
async fn nothing_overtakes_the_end_of_the_handshake() {
    let (release, held) = tokio::sync::mpsc::unbounded_channel();
    let held = Mutex::new(Some(held));
    let rig = handshake(move |hit| {
        let is_last = hit.rpc() == "notifications/initialized";
        let feed = is_last.then(|| lock(&held).take()).flatten()?;
        Some(Reply::parts("text/plain", [super::rig::Part::Feed(feed)]).and_status(202))
    })
    .await;
    let client = rig.client().await;
    let calls = async { client.tools().call("echo", json!({})).await };
    let late = async {
        rig.until("notifications/initialized", 1).await;
        // Its answer has begun, and has not ended.
        assert_eq!(rig.named("tools/call").len(), 0);
        drop(release);
    };
    let (called, ()) = within(async { tokio::join!(calls, late) }).await;
    called.expect("an answer");
    let asked = rig.asked();
    let place = |name: &str| asked.iter().position(|rpc| rpc == name);
    assert!(place("notifications/initialized") < place("tools/call"));
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_without_the_url() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let port = listener.local_addr().expect("bound").port();
    drop(listener);
    let url = format!("http://127.0.0.1:{port}/mcp?key=hush");
    let http = bowline::transport::Http::new(&url).expect("a URL");
    let error = builder().connect(http).await.expect_err("nobody is there");
    let text = format!("{error} {error:?}");
    assert!(text.contains("refused"), "{text}");
    assert!(!text.contains("hush"), "{text}");
    let kind = error.connection_error().expect("a cause").kind().clone();
    assert!(
        matches!(kind, ConnectionErrorKind::Unreachable(_)),
        "{kind:?}"
    );
}

#[tokio::test]
async fn a_refused_handshake_keeps_the_servers_own_words() {
    let rig = handshake(|hit| {
        let body = hit.error(-32602, "not on Sundays");
        (hit.rpc() == "initialize").then(|| Reply::new(400, "application/json", body))
    })
    .await;
    let error = builder().connect(rig.http()).await.expect_err("refused");
    let kind = error.connection_error().expect("a cause").kind().clone();
    let refused = ErrorObject::new(-32602, "not on Sundays");
    assert_eq!(kind, ConnectionErrorKind::Refused(refused));
}
