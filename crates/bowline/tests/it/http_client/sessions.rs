//! Sessions that the server forgets, or names badly.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use bowline::{Client, proto::client::ConnectionErrorKind, transport::StopOutcome};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use super::rig::{Hit, Reply, builder, handshake, handshake_reply, within};
use crate::sync::lock;

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
        let kind = error.connection_error().expect("a cause").kind().clone();
        assert!(
            matches!(
                kind,
                ConnectionErrorKind::ProtocolViolation(_) | ConnectionErrorKind::Io(_)
            ),
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

/// Does something on a runtime of one thread, of which nothing is left when
/// this is done.
async fn on_one_thread<W>(work: impl FnOnce() -> W + Send + 'static)
where
    W: Future<Output = ()>,
{
    let (done, over) = oneshot::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(work());
        let _ = done.send(());
    });
    within(over).await.expect("no panic");
}

/// More than any server here takes that answers.
const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn the_session_was_deleted_when_the_wait_is_over() {
    let rig = handshake(|_| None).await;
    for _ in 0..20 {
        let http = rig.http();
        on_one_thread(|| async move {
            let client = builder().connect(http).await.expect("it opens");
            assert_eq!(client.stop_and_wait(LIMIT).await, StopOutcome::Graceful);
        })
        .await;
    }
    assert_eq!(rig.named("initialize").len(), 20);
    assert_eq!(rig.named("DELETE").len(), 20, "each session was ended");
}

#[tokio::test]
async fn what_was_said_last_arrives_before_the_session_ends() {
    let rig = handshake(|_| None).await;
    let http = rig.http();
    on_one_thread(|| async move {
        let client = Client::builder()
            .roots([])
            .connect(http)
            .await
            .expect("it opens");
        client.set_roots([]);
        client.stop_and_wait(LIMIT).await;
    })
    .await;
    let asked = rig.asked();
    let told = "notifications/roots/list_changed";
    let told = asked.iter().position(|asked| asked == told);
    let deleted = asked.iter().position(|asked| asked == "DELETE");
    assert!(told.is_some() && told < deleted, "{asked:?}");
}

/// The server has opened a session, and its answer is still on its way when the
/// client stops.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_that_is_just_being_opened_is_ended_too() {
    let (asked, mut was_asked) = mpsc::unbounded_channel();
    let (answer, may_answer) = std::sync::mpsc::channel::<()>();
    let may_answer = Mutex::new(may_answer);
    let rig = handshake(move |hit| {
        if hit.rpc() == "initialize" {
            asked.send(()).expect("the test waits for it");
            // Until the other end is dropped.
            let held = tokio::task::block_in_place(|| lock(&may_answer).recv());
            held.expect_err("nothing is sent");
        }
        None
    })
    .await;
    let client = builder().connect_in_background(rig.http());
    within(was_asked.recv()).await.expect("it is asked");
    let stopping = tokio::spawn({
        let client = client.clone();
        async move { client.stop_and_wait(LIMIT).await }
    });
    let mut health = client.watch_health();
    let ended = within(health.wait_for(|health| health.ended)).await;
    drop(ended.expect("it lives"));
    drop(answer);
    let stopped = within(stopping).await.expect("no panic");
    assert_eq!(stopped, StopOutcome::Graceful);
    let deleted = rig.named("DELETE");
    assert_eq!(deleted.len(), 1);
    assert_eq!(deleted[0].header("mcp-session-id"), Some("knot-1"));
}

/// A session that the server did not let go of is not ended in good order.
#[tokio::test]
async fn how_it_was_stopped_depends_on_whether_the_session_is_over() {
    for (status, expected) in [
        (200, StopOutcome::Graceful),
        (204, StopOutcome::Graceful),
        // It was gone already, or the server ends sessions itself.
        (404, StopOutcome::Graceful),
        (405, StopOutcome::Graceful),
        (400, StopOutcome::Forced),
        (500, StopOutcome::Forced),
        (503, StopOutcome::Forced),
    ] {
        let delete = move |hit: &Hit| (hit.verb == "DELETE").then(|| Reply::status(status));
        let rig = handshake(delete).await;
        let client = builder().connect(rig.http()).await.expect("it opens");
        assert_eq!(client.stop_and_wait(LIMIT).await, expected, "{status}");
    }
}
