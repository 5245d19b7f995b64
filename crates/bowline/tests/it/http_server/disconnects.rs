//! Clients that go away: a request is called off in one era, and goes on in the
//! others.

use std::{sync::Arc, time::Duration};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{HttpOptions, SessionStore, StoredSession},
        store::StoreError,
    },
    transport::BoxFuture,
};
use serde_json::json;

use super::{
    rig::{Node, Session, initialize, post},
    tools::workshop,
};

#[tokio::test(start_paused = true)]
async fn a_stateless_request_is_called_off_by_leaving() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    // While there is no answer yet, and while there is a stream.
    let waiting = tokio::spawn({
        let node = node.clone();
        async move { node.call("wait", json!({})).await }
    });
    it.started().await;
    waiting.abort();
    it.dropped().await;
    let params = json!({"name": "tell_and_wait", "_meta": {"progressToken": 1}});
    let mut stream = node.ask("tools/call", params).await;
    it.started().await;
    assert!(stream.message().await.is_some());
    drop(stream);
    it.dropped().await;
    assert_eq!(it.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_sessions_request_goes_on() {
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut it = workshop();
        let node = Node::new(&it.service);
        let session = Session::open(&node, version).await;
        let waiting = tokio::spawn({
            let session = session.clone();
            async move { session.call(1, "wait").await }
        });
        it.started().await;
        waiting.abort();
        assert!(waiting.await.is_err());
        let stream = session.call(2, "tell_and_wait").await;
        it.started().await;
        drop(stream);
        assert_eq!(session.ask(3, "ping", json!({})).await.status(), 200);
        assert_eq!(it.alive(), 2, "{version}");
        it.open();
        it.open();
        it.dropped().await;
        it.dropped().await;
    }
}

#[tokio::test(start_paused = true)]
async fn but_not_longer_than_its_session() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut stream = session.call(1, "tell_and_wait").await;
    it.started().await;
    let mut own = session.get().await;
    assert_eq!(session.delete().await.status(), 204);
    it.dropped().await;
    assert!(stream.message().await.is_some(), "what was said before");
    assert_eq!(stream.event().await, None);
    assert_eq!(own.message().await, None);
}

/// A store that never answers.
struct Stuck;

impl SessionStore for Stuck {
    fn put<'a>(
        &'a self,
        _: &'a SessionId,
        _: StoredSession,
        _: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(std::future::pending())
    }

    fn get<'a>(
        &'a self,
        _: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(std::future::pending())
    }

    fn take_over<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a str,
        _: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(std::future::pending())
    }

    fn remove<'a>(&'a self, _: &'a SessionId, _: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn who_leaves_while_a_session_opens_leaves_it_to_the_clock() {
    let it = workshop();
    let options = HttpOptions {
        session_store: Some(Arc::new(Stuck)),
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let opening = tokio::spawn({
        let node = node.clone();
        async move { node.send(post(), initialize("2025-11-25")).await }
    });
    tokio::task::yield_now().await;
    opening.abort();
    assert!(opening.await.is_err(), "it was still opening");
    assert_eq!(node.http.session_count(), 1, "somebody looks after it");
    tokio::time::sleep(Duration::from_secs(1801)).await;
    assert_eq!(node.http.session_count(), 0);
}
