//! Streams of changes, without a session.

use std::sync::{Arc, Mutex};

use bowline::server::http::HttpOptions;
use serde_json::{Value, json};

use super::{
    rig::{Answer, Node},
    tools::{workshop, workshop_with},
};

async fn listen(node: &Node, wanted: Value) -> Answer {
    let answer = node
        .ask("subscriptions/listen", json!({"notifications": wanted}))
        .await;
    assert_eq!(answer.status(), 200);
    assert!(answer.is_stream());
    answer
}

#[tokio::test(start_paused = true)]
async fn a_stream_says_what_it_brings_and_brings_it() {
    let it = workshop();
    let node = Node::new(&it.service);
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]});
    let mut stream = listen(&node, wanted.clone()).await;
    let first = stream.message().await.unwrap();
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(first["params"]["notifications"], wanted);
    it.service.prompts_changed();
    it.service.resource_updated("a:2");
    it.service.tools_changed();
    it.service.resource_updated("a:1");
    for method in ["tools/list_changed", "resources/updated"] {
        let message = stream.message().await.unwrap();
        assert_eq!(message["method"], format!("notifications/{method}"));
        let id = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(id, 1);
    }
    assert_eq!(node.http.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_refused_is_json() {
    let it = workshop();
    let node = Node::new(&it.service);
    let answer = node
        .ask("subscriptions/listen", json!({"notifications": 7}))
        .await;
    assert_eq!(answer.error().await["code"], -32602);
}

#[tokio::test(start_paused = true)]
async fn a_quiet_stream_is_kept_alive() {
    let it = workshop();
    let node = Node::new(&it.service);
    let mut stream = listen(&node, json!({"toolsListChanged": true})).await;
    stream.message().await.unwrap();
    for _ in 0..3 {
        assert_eq!(stream.chunk().await.unwrap(), ":\n\n");
    }
    it.service.tools_changed();
    assert!(stream.message().await.is_some());
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_streams_than_places_and_who_leaves_makes_room() {
    let it = workshop();
    let options = HttpOptions {
        max_listen_streams: 1,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let wanted = json!({"toolsListChanged": true});
    for _ in 0..3 {
        let _stream = listen(&node, wanted.clone()).await;
        let params = json!({"notifications": wanted});
        let refused = node.ask("subscriptions/listen", params).await;
        assert_eq!(refused.status(), 503);
        let answer = node.result("tools/list", json!({})).await;
        assert!(answer["tools"].is_array(), "others are served");
    }
}

#[tokio::test(start_paused = true)]
async fn the_application_hears_what_is_watched_and_what_is_not_any_more() {
    let heard: Arc<Mutex<Vec<Vec<String>>>> = Arc::default();
    let log = Arc::clone(&heard);
    let it = workshop_with(|server| {
        server.on_subscriptions_changed(move |watched| {
            let watched = watched.iter().cloned().collect();
            log.lock().unwrap().push(watched);
        })
    });
    let node = Node::new(&it.service);
    let stream = listen(&node, json!({"resourceSubscriptions": ["a:1"]})).await;
    assert_eq!(*heard.lock().unwrap(), [vec!["a:1".to_owned()]]);
    drop(stream);
    assert_eq!(*heard.lock().unwrap(), [vec!["a:1".to_owned()], vec![]]);
    // In a session, too.
    heard.lock().unwrap().clear();
    let session = super::rig::Session::open(&node, "2025-11-25").await;
    session
        .ask(1, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    tokio::task::yield_now().await;
    assert_eq!(*heard.lock().unwrap(), [vec!["a:1".to_owned()]]);
    session.delete().await;
    assert_eq!(*heard.lock().unwrap(), [vec!["a:1".to_owned()], vec![]]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_costs_little_and_misses_nothing() {
    let it = workshop();
    let node = Node::new(&it.service);
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]});
    let mut stream = listen(&node, wanted).await;
    for _ in 0..50_000 {
        it.service.tools_changed();
        it.service.resource_updated("a:1");
    }
    it.service.stop(std::time::Duration::ZERO);
    let mut methods = Vec::new();
    while let Some(message) = stream.message().await {
        methods.push(message["method"].as_str().unwrap_or("end").to_owned());
    }
    assert_eq!(
        methods,
        [
            "notifications/subscriptions/acknowledged",
            "notifications/tools/list_changed",
            "notifications/resources/updated",
            "end",
        ]
    );
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "there is an event, or an end")]
async fn a_test_that_waits_for_what_never_comes_fails() {
    let it = workshop();
    let node = Node::new(&it.service);
    let mut stream = listen(&node, json!({"toolsListChanged": true})).await;
    stream.message().await.unwrap();
    stream.message().await;
}

/// A client that watches much must not make it dear for others to watch.
#[tokio::test(start_paused = true)]
async fn what_others_watch_is_not_looked_through() {
    let it = workshop_with(|server| server.on_subscriptions_changed(|_| {}));
    let node = Node::new(&it.service);
    let uris: Vec<_> = (0..4000).map(|number| format!("a:{number}")).collect();
    let _many = listen(&node, json!({"resourceSubscriptions": uris})).await;
    let handle = tokio::runtime::Handle::current();
    let (request, body) = super::rig::stateless(
        "subscriptions/listen",
        json!({"notifications": {"resourceSubscriptions": ["a:1"]}}),
    );
    let mut asking = Box::pin(node.send(request, body));
    let measured = allocation_counter::measure(|| {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        let _inside = handle.enter();
        while asking.as_mut().poll(&mut cx).is_pending() {}
    });
    assert!(measured.count_total < 1000, "{}", measured.count_total);
}
