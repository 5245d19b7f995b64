//! Subscriptions to resources.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
};

use bowline::{
    client::Change,
    proto::revision::Revision,
    server::{Conversation, Resource, ResourceTemplate, Server},
};
use serde_json::json;

use super::{
    resources::Numbers,
    serving::{Raw, connect},
};

#[tokio::test]
async fn changes_reach_those_who_watch_in_both_eras() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let service = Server::new("test", "1")
            .resource(Resource::new("a:1", "one").text("1"))
            .resource_subscriptions()
            .build()
            .unwrap();
        let client = connect(&service, revision, |builder| builder).await;
        let mut changes = client.resources().subscribe("a:1").await.unwrap();
        assert_eq!(
            service.subscribed_resources(),
            BTreeSet::from(["a:1".to_owned()])
        );
        assert!(service.resource_updated("a:1"), "{revision}");
        assert!(!service.resource_updated("a:2"), "nobody watches that");
        let Some(Change::Updated(update)) = changes.next().await else {
            panic!("there is news on {revision}");
        };
        assert_eq!(update.uri, "a:1");
        changes.unsubscribe().await.unwrap();
    }
}

#[tokio::test]
async fn only_what_there_is_can_be_watched_in_a_session() {
    let service = Server::new("test", "1")
        .resource(Resource::new("a:1", "one").text("1"))
        .template(ResourceTemplate::new("b:{x}", "b").read(async |_, _cx: Conversation| Ok("b")))
        .resource_source(Numbers)
        .resource_subscriptions()
        .build()
        .unwrap();
    let client = connect(&service, Revision::V2025_11_25, |builder| builder).await;
    let mut kept = Vec::new();
    for uri in ["a:1", "b:2", "set:99999"] {
        kept.push(client.resources().subscribe(uri).await.expect(uri));
    }
    let error = client.resources().subscribe("c:1").await.unwrap_err();
    assert_eq!(error.server_error().unwrap().code, -32002);
    assert_eq!(service.subscribed_resources().len(), 3);
}

#[tokio::test]
async fn the_application_hears_of_what_is_watched() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::new(AtomicU32::new(0));
    let (log, count) = (Arc::clone(&seen), Arc::clone(&calls));
    let service = Server::new("test", "1")
        .resource(Resource::new("a:1", "one").text("1"))
        .resource(Resource::new("a:2", "two").text("2"))
        .on_subscriptions_changed(move |watched| {
            log.lock()
                .unwrap()
                .push(watched.iter().cloned().collect::<Vec<_>>());
            if count.fetch_add(1, Ordering::SeqCst) == 0 {
                panic!("its panics are its own");
            }
        })
        .build()
        .unwrap();
    let one = connect(&service, Revision::V2025_11_25, |builder| builder).await;
    let two = connect(&service, Revision::V2026_07_28, |builder| builder).await;
    let first = one.resources().subscribe("a:1").await.unwrap();
    let same = two.resources().subscribe("a:1").await.unwrap();
    let second = two.resources().subscribe("a:2").await.unwrap();
    first.unsubscribe().await.unwrap();
    drop(same);
    drop(second);
    one.stop().await;
    two.stop().await;
    // The ends of the connections arrive by themselves.
    let is_over = || seen.lock().unwrap().last().is_some_and(Vec::is_empty);
    while !is_over() {
        tokio::task::yield_now().await;
    }
    let seen = seen.lock().unwrap();
    assert_eq!(seen[0], ["a:1"]);
    assert_eq!(seen[1], ["a:1", "a:2"], "the same again is no news");
    assert!(seen.windows(2).all(|pair| pair[0] != pair[1]), "{seen:?}");
}

#[tokio::test]
async fn a_client_that_goes_away_watches_no_longer() {
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    let service = Server::new("test", "1")
        .resource(Resource::new("a:1", "one").text("1"))
        .on_subscriptions_changed(move |watched| {
            let _ = sender.send(watched.len());
        })
        .build()
        .unwrap();
    let mut raw = Raw::session(&service, "2025-11-25").await;
    raw.result("resources/subscribe", json!({"uri": "a:1"}))
        .await;
    assert_eq!(receiver.recv().await, Some(1));
    drop(raw);
    assert_eq!(receiver.recv().await, Some(0));
    assert!(service.subscribed_resources().is_empty());
}

#[tokio::test]
async fn watching_is_declared_only_where_it_is_offered() {
    let resource = || Resource::new("a:1", "one").text("1");
    let plain = Server::new("test", "1")
        .resource(resource())
        .build()
        .unwrap();
    let mut raw = Raw::session(&plain, "2025-11-25").await;
    let declared = raw.capabilities();
    assert_eq!(declared["resources"], json!({"listChanged": true}));
    assert_eq!(declared.get("tools"), None);
    assert_eq!(declared.get("prompts"), None);
    assert_eq!(declared.get("completions"), None);
    let error = raw
        .error("resources/subscribe", json!({"uri": "a:1"}))
        .await;
    assert_eq!(error["code"], -32601);
    let watchable = Server::new("test", "1")
        .resource(resource())
        .resource_subscriptions();
    let watchable = watchable.build().unwrap();
    let raw = Raw::session(&watchable, "2025-11-25").await;
    let expected = json!({"listChanged": true, "subscribe": true});
    assert_eq!(raw.capabilities()["resources"], expected);
}
