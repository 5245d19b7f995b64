//! Sessions that nobody uses any more, and what is left of them: nothing.

use std::{sync::Arc, time::Duration};

use bowline::server::{Server, Tool, http::HttpOptions};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    rig::{Node, Session},
    tools::workshop,
};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn a_session_that_nobody_uses_is_closed() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    sleep(29 * MINUTE).await;
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 200);
    sleep(29 * MINUTE).await;
    assert_eq!(node.http.session_count(), 1, "it was used");
    sleep(2 * MINUTE).await;
    assert_eq!(node.http.session_count(), 0);
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_used_while_somebody_is_connected() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let own = session.get().await;
    sleep(300 * MINUTE).await;
    assert_eq!(node.http.session_count(), 1);
    let call = session.call(1, "tell_and_wait").await;
    it.started().await;
    drop(own);
    sleep(300 * MINUTE).await;
    assert_eq!(node.http.session_count(), 1);
    // Work alone does not keep it: nobody would come for the answer.
    drop(call);
    let began = Instant::now();
    it.dropped().await;
    assert!(began.elapsed() <= 31 * MINUTE);
    assert_eq!(node.http.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_over_leaves_nothing() {
    let count = Arc::new(());
    let held = Arc::clone(&count);
    let hold = Tool::new("hold")
        .description("Holds something for ever")
        .no_input()
        .handler(move |_| {
            let held = Arc::clone(&held);
            async move {
                std::future::pending::<()>().await;
                drop(held);
                Ok("unreached")
            }
        });
    let deaf = Arc::clone(&count);
    let service = Server::new("test", "1")
        .tool(hold)
        .on_roots_changed(move |_| {
            let deaf = Arc::clone(&deaf);
            async move {
                std::future::pending::<()>().await;
                drop(deaf);
            }
        })
        .max_concurrent_calls(1)
        .build()
        .unwrap();
    let node = Node::new(&service);
    let baseline = Arc::strong_count(&count);
    let ends: [fn(Session) -> _; 2] = [
        |session: Session| -> tokio::task::JoinHandle<()> {
            tokio::spawn(async move { drop(session.delete().await) })
        },
        |session: Session| -> tokio::task::JoinHandle<()> {
            drop(session);
            tokio::spawn(sleep(61 * MINUTE))
        },
    ];
    for end in ends {
        let session = Session::open(&node, "2025-11-25").await;
        let own = session.get().await;
        let mut calls = Vec::new();
        for id in 1..=3 {
            calls.push(session.call(id, "hold").await);
        }
        session
            .notify("notifications/roots/list_changed", json!({}))
            .await;
        tokio::task::yield_now().await;
        assert!(
            Arc::strong_count(&count) >= baseline + 2,
            "one call, one notice"
        );
        drop((own, calls));
        end(session).await.unwrap();
        // What was aborted is dropped in its own turn.
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        assert_eq!(Arc::strong_count(&count), baseline);
        assert_eq!(node.http.session_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn many_sessions_leave_nothing() {
    let mut it = workshop();
    let options = HttpOptions {
        max_sessions: 300,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    for _ in 0..3 {
        let mut streams = Vec::new();
        for _ in 0..300 {
            let session = Session::open(&node, "2025-11-25").await;
            streams.push(session.call(1, "tell_and_wait").await);
            it.started().await;
        }
        assert_eq!((node.http.session_count(), it.alive()), (300, 300));
        assert!(node.http.replay_bytes() > 0);
        drop(streams);
        sleep(61 * MINUTE).await;
        for _ in 0..300 {
            it.dropped().await;
        }
        assert_eq!((node.http.session_count(), it.alive()), (0, 0));
        assert_eq!(node.http.replay_bytes(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_dropped_drops_its_sessions() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    drop((session, node));
    it.dropped().await;
    assert!(call.message().await.is_some());
    assert_eq!(call.message().await, None);
}

#[tokio::test(start_paused = true)]
async fn times_that_never_come_are_times_too() {
    let mut it = workshop();
    let options = HttpOptions {
        idle_timeout: Duration::MAX,
        keep_alive_interval: Duration::MAX,
        stream_after: Duration::MAX,
        body_timeout: Duration::MAX,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    assert!(call.message().await.is_some());
    sleep(300 * MINUTE).await;
    it.open();
    assert!(call.message().await.is_some());
    // Whoever looks after the session has not panicked.
    assert_eq!(session.delete().await.status(), 204);
    assert_eq!(node.http.session_count(), 0);
}
