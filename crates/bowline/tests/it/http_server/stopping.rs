//! The end of a service: nothing new, and time for what is under way.

use std::time::Duration;

use bowline::transport::MemoryLink;
use serde_json::json;
use tokio::time::Instant;

use super::{
    rig::{Node, Session, initialize, post, text_of},
    tools::workshop,
};

const GRACE: Duration = Duration::from_secs(60);

#[tokio::test(start_paused = true)]
async fn requests_under_way_finish_and_new_ones_are_refused() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut theirs = session.call(1, "tell_and_wait").await;
    it.started().await;
    let mut ours = node.call("wait", json!({})).await;
    it.started().await;
    node.http.stop(GRACE);
    let refused = node.call("echo", json!({"message": "hi"})).await;
    assert_eq!(refused.status(), 503);
    assert_eq!(
        refused.error().await["message"],
        "The server is shutting down"
    );
    let refused = node.send(post(), initialize("2025-11-25")).await;
    assert_eq!(refused.status(), 503);
    let refused = session.ask(2, "tools/list", json!({})).await;
    assert_eq!(
        refused.error().await["message"],
        "The server is shutting down"
    );
    it.open();
    it.open();
    assert_eq!(text_of(&ours.message().await.unwrap()), "waited");
    assert_eq!(ours.event().await, None);
    theirs.message().await.unwrap();
    assert_eq!(text_of(&theirs.message().await.unwrap()), "waited");
    assert_eq!(theirs.event().await, None);
    tokio::task::yield_now().await;
    assert_eq!(node.http.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_question_can_still_be_answered_within_the_grace() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut call = session.call(1, "ask").await;
    node.http.stop(GRACE);
    for colour in ["red", "blue"] {
        let question = call.message().await.unwrap();
        session.accept(&question, json!({"colour": colour})).await;
    }
    assert_eq!(text_of(&call.message().await.unwrap()), "red and blue");
}

#[tokio::test(start_paused = true)]
async fn what_takes_longer_than_the_grace_is_told_so() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let theirs = session.call(1, "wait").await;
    it.started().await;
    let ours = node.call("wait", json!({})).await;
    it.started().await;
    let began = Instant::now();
    node.http.stop(GRACE);
    // Doing it again can only shorten the time.
    node.http.stop(GRACE * 2);
    for answer in [ours, theirs] {
        let messages = answer.messages().await;
        let error = &messages.last().unwrap()["error"];
        assert_eq!(error["message"], "The server is shutting down");
    }
    assert_eq!(began.elapsed(), GRACE);
    it.dropped().await;
    it.dropped().await;
}

#[tokio::test(start_paused = true)]
async fn the_grace_of_the_whole_server_is_that_of_every_request() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let theirs = session.call(1, "wait").await;
    it.started().await;
    let ours = node.call("wait", json!({})).await;
    it.started().await;
    let began = Instant::now();
    it.service.stop(GRACE);
    for answer in [ours, theirs] {
        let messages = answer.messages().await;
        let error = &messages.last().unwrap()["error"];
        assert_eq!(error["message"], "The server is shutting down");
    }
    assert_eq!(began.elapsed(), GRACE);
}

#[tokio::test(start_paused = true)]
async fn who_comes_after_the_end_is_not_served() {
    let it = workshop();
    it.service.stop(GRACE);
    let node = Node::new(&it.service);
    let refused = node.call("echo", json!({"message": "hi"})).await;
    assert_eq!(refused.status(), 503);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    node.http.serve(listener).await.unwrap();
    let (mut near, far) = MemoryLink::pair();
    it.service.serve(far).await;
    assert_eq!(near.recv().await, None);
}

#[tokio::test(start_paused = true)]
async fn streams_of_changes_end_with_their_result_and_idle_sessions_at_once() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut own = session.get().await;
    let params = json!({"notifications": {"toolsListChanged": true}});
    let mut stream = node.ask("subscriptions/listen", params).await;
    stream.message().await.unwrap();
    let began = Instant::now();
    node.http.stop(GRACE);
    let end = stream.message().await.unwrap();
    assert_eq!(end["id"], 1);
    assert_eq!(end["result"]["resultType"], "complete");
    assert_eq!(stream.event().await, None, "nothing follows a result");
    assert_eq!(own.message().await, None);
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn stopping_one_front_leaves_the_others() {
    let it = workshop();
    let (one, two) = (Node::new(&it.service), Node::new(&it.service));
    let session = Session::open(&two, "2025-11-25").await;
    one.http.stop(GRACE);
    assert_eq!(
        one.call("echo", json!({"message": "hi"})).await.status(),
        503
    );
    assert_eq!(
        two.call("echo", json!({"message": "hi"})).await.status(),
        200
    );
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 200);
    it.service.stop(GRACE);
    assert_eq!(
        two.call("echo", json!({"message": "hi"})).await.status(),
        503
    );
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 404);
}
