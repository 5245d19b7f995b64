//! Sessions that the server forgets, or names badly.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use bowline::proto::client::CauseKind;
use serde_json::json;

use super::rig::{Reply, builder, handshake, handshake_reply, within};

#[tokio::test]
async fn a_session_that_is_gone_is_replaced_and_the_call_sent_again() {
    let opened = Arc::new(AtomicU32::new(0));
    let rig = handshake(move |hit| {
        let session = hit.header("mcp-session-id");
        match &*hit.rpc() {
            "initialize" => {
                let number = opened.fetch_add(1, Ordering::Relaxed) + 1;
                let mut reply = handshake_reply(hit);
                reply.set("mcp-session-id", &format!("session-{number}"));
                Some(reply)
            }
            "tools/call" if session == Some("session-1") => Some(Reply::new(
                404,
                "application/json",
                hit.error(-32001, "Session not found"),
            )),
            _ => None,
        }
    })
    .await;
    let client = rig.client().await;
    let call = within(async { client.tools().call("again", json!({})).await }).await;
    call.expect("an answer, in the next session");
    let sessions: Vec<_> = rig
        .named("tools/call")
        .iter()
        .map(|hit| hit.header("mcp-session-id").map(str::to_owned))
        .collect();
    assert_eq!(
        sessions,
        [Some("session-1".to_owned()), Some("session-2".to_owned())]
    );
    for hit in rig.named("initialize") {
        assert_eq!(
            hit.header("mcp-session-id"),
            None,
            "the old one is not named"
        );
    }
    assert_eq!(rig.named("server/discover").len(), 1, "the era is known");
    assert!(
        rig.named("DELETE").is_empty(),
        "there is nothing left to end"
    );
}

#[tokio::test]
async fn a_session_id_that_cannot_be_sent_back_is_not_taken() {
    for bad in ["two words", "caf\u{e9}", "\u{1}", &"x".repeat(5000)] {
        let id = bad.to_owned();
        let rig = handshake(move |hit| {
            let mut reply = handshake_reply(hit);
            reply.set("mcp-session-id", &id);
            (hit.rpc() == "initialize").then_some(reply)
        })
        .await;
        let error = builder().connect(rig.http()).await.expect_err("refused");
        let kind = error.cause().expect("a cause").kind().clone();
        assert!(
            matches!(kind, CauseKind::Violation(_) | CauseKind::Io(_)),
            "{bad:?}: {kind:?}"
        );
    }
}

#[tokio::test]
async fn a_server_without_sessions_is_not_told_of_any() {
    let rig = handshake(|hit| {
        let mut reply = handshake_reply(hit);
        reply.unset("mcp-session-id");
        (hit.rpc() == "initialize").then_some(reply)
    })
    .await;
    let client = rig.client().await;
    client
        .tools()
        .call("echo", json!({}))
        .await
        .expect("an answer");
    client.stop().await;
    for hit in rig.hits() {
        assert_eq!(hit.header("mcp-session-id"), None);
        assert_ne!(hit.verb, "DELETE");
    }
}
