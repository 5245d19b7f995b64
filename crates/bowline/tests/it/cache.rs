//! What is remembered, for how long, for whom, and what makes it forgotten.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::{
    Client,
    cache::{Cache, CacheConfig, CachedClient},
    proto::{client::CallOptions, model::ElicitResult},
};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::fake::Fake;

const READ: &str = "resources/read";

/// A server whose every answer is another, with these hints.
fn changing(hints: Value) -> Fake {
    let version = AtomicUsize::new(0);
    Fake::new(move |method, params| {
        let version = version.fetch_add(1, Ordering::Relaxed);
        let mut result = match (method, params["uri"].as_str()) {
            (_, Some("note:missing")) => return Err(json!({"code": -32002, "message": "none"})),
            (READ, Some(uri)) => {
                json!({"contents": [{"uri": uri, "text": format!("v{version}")}]})
            }
            ("resources/list", _) if params["cursor"].is_null() => {
                json!({"resources": [{"uri": "note:1", "name": "one"}], "nextCursor": ""})
            }
            ("resources/list", _) => {
                json!({"resources": [{"uri": "note:2", "name": "two"}], "ttlMs": 1000})
            }
            ("tools/list", _) => json!({"tools": []}),
            ("prompts/list", _) => json!({"prompts": []}),
            ("resources/templates/list", _) => json!({"resourceTemplates": []}),
            _ => {
                let failed = params["name"] == "fail";
                json!({"content": [], "isError": failed, "structuredContent": version})
            }
        };
        for (name, value) in hints.as_object().into_iter().flatten() {
            result[name] = value.clone();
        }
        Ok(result)
    })
}

async fn over(fake: &Fake, config: CacheConfig) -> CachedClient {
    let client = fake.client();
    client
        .wait_first_attempt()
        .await
        .expect("the fake opens sessions");
    Cache::new(config).wrap(client)
}

async fn plain(fake: &Fake) -> CachedClient {
    over(fake, CacheConfig::default()).await
}

#[tokio::test(start_paused = true)]
async fn resources_last_five_minutes_and_lists_one() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    for _ in 0..3 {
        cached.read("note:1").await.unwrap();
        cached.tools().await.unwrap();
        cached.prompts().await.unwrap();
        cached.templates().await.unwrap();
    }
    assert_eq!((fake.count(READ), fake.count("tools/list")), (1, 1));
    assert_eq!((cached.stats().hits, cached.stats().misses), (8, 4));
    assert_eq!(cached.cached_resources(), 1);

    advance(Duration::from_secs(60)).await;
    cached.read("note:1").await.unwrap();
    cached.tools().await.unwrap();
    assert_eq!((fake.count(READ), fake.count("tools/list")), (1, 2));
    advance(Duration::from_secs(240)).await;
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 2);
}

#[tokio::test(start_paused = true)]
async fn the_servers_hints_come_first() {
    let fake = changing(json!({"ttlMs": 2000}));
    let cached = plain(&fake).await;
    cached.read("note:1").await.unwrap();
    advance(Duration::from_millis(1999)).await;
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 1);
    advance(Duration::from_millis(1)).await;
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 2);

    let fake = changing(json!({"ttlMs": 0}));
    let cached = plain(&fake).await;
    cached.read("note:1").await.unwrap();
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 2, "nought means not at all");
}

#[tokio::test(start_paused = true)]
async fn a_list_lasts_as_long_as_its_shortest_page() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    assert_eq!(cached.resources().await.unwrap().len(), 2);
    assert_eq!(fake.count("resources/list"), 2, "an empty cursor is one");
    cached.resources().await.unwrap();
    assert_eq!(fake.count("resources/list"), 2);
    advance(Duration::from_secs(1)).await;
    cached.resources().await.unwrap();
    assert_eq!(fake.count("resources/list"), 4);
}

#[tokio::test(start_paused = true)]
async fn those_who_ask_together_share_one_request() {
    let fake = changing(json!({"ttlMs": 0}));
    let cached = plain(&fake).await;
    fake.hold(READ);
    let reads: Vec<_> = (0..5)
        .map(|_| {
            let cached = cached.clone();
            tokio::spawn(async move { cached.read("note:1").await })
        })
        .collect();
    fake.seen(READ, 1).await;
    fake.release();
    let mut results = Vec::new();
    for read in reads {
        results.push(read.await.unwrap().unwrap());
    }
    assert!(
        results
            .iter()
            .all(|result| Arc::ptr_eq(result, &results[0]))
    );
    assert_eq!(fake.count(READ), 1);
    assert_eq!((cached.stats().misses, cached.stats().joined), (1, 4));
}

#[tokio::test(start_paused = true)]
async fn who_asked_first_may_leave_and_the_last_cancels() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    fake.hold(READ);
    let (one, two) = (cached.clone(), cached.clone());
    let first = tokio::spawn(async move { one.read("note:1").await });
    fake.seen(READ, 1).await;
    let second = tokio::spawn(async move { two.read("note:1").await });
    tokio::task::yield_now().await;
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    cached.client().ping().await.unwrap();
    assert_eq!(fake.count("notifications/cancelled"), 0);
    fake.release();
    second.await.unwrap().unwrap();
    assert_eq!(fake.count(READ), 1);

    fake.hold(READ);
    let third = cached.clone();
    let third = tokio::spawn(async move { third.read("note:2").await });
    fake.seen(READ, 2).await;
    third.abort();
    fake.seen("notifications/cancelled", 1).await;
    fake.release();
    cached.read("note:2").await.unwrap();
    assert_eq!(fake.count(READ), 3, "asked anew");
}

#[tokio::test(start_paused = true)]
async fn failures_are_shared_but_not_kept() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    let (one, two) = tokio::join!(cached.read("note:missing"), cached.read("note:missing"));
    assert!(Arc::ptr_eq(&one.unwrap_err(), &two.unwrap_err()));
    assert_eq!(fake.count(READ), 1);
    cached.read("note:missing").await.unwrap_err();
    assert_eq!(fake.count(READ), 2);
}

#[tokio::test(start_paused = true)]
async fn changes_that_the_server_tells_of_are_heard() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    cached.read("file:///a/b").await.unwrap();
    cached.read("file:///a/c").await.unwrap();
    cached.tools().await.unwrap();
    cached.prompts().await.unwrap();
    fake.notify(
        "notifications/resources/updated",
        &json!({"uri": "file:///a/b"}),
    );
    fake.notify("notifications/tools/list_changed", &json!({}));
    cached.client().ping().await.unwrap();

    cached.read("file:///a/c").await.unwrap();
    cached.prompts().await.unwrap();
    assert_eq!((fake.count(READ), fake.count("prompts/list")), (2, 1));
    cached.read("file:///a/b").await.unwrap();
    cached.tools().await.unwrap();
    assert_eq!((fake.count(READ), fake.count("tools/list")), (3, 2));
    assert_eq!(cached.stats().invalidated, 2);
}

#[tokio::test(start_paused = true)]
async fn what_becomes_stale_on_the_way_is_not_kept() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    fake.hold(READ);
    let early = cached.clone();
    let early = tokio::spawn(async move { early.read("note:1").await });
    fake.seen(READ, 1).await;
    fake.notify("notifications/resources/updated", &json!({"uri": "note:1"}));
    cached.client().ping().await.unwrap();
    // Who asks after the change does not get what was asked for before it.
    let late = cached.clone();
    let late = tokio::spawn(async move { late.read("note:1").await });
    fake.seen(READ, 2).await;
    fake.release();
    let early = early.await.unwrap().unwrap();
    let late = late.await.unwrap().unwrap();
    assert_ne!(early, late);
    let now = cached.read("note:1").await.unwrap();
    assert!(Arc::ptr_eq(&now, &late), "the later one is kept");
    assert_eq!(fake.count(READ), 2);
}

#[tokio::test(start_paused = true)]
async fn a_new_session_begins_with_nothing() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    cached.read("note:1").await.unwrap();
    let mut health = cached.client().watch_health();
    fake.hang_up();
    let _ = health
        .wait_for(|health| health.consecutive_failures > 0)
        .await
        .unwrap();
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 1, "while it is down, memory serves");
    let _ = health
        .wait_for(|health| health.sessions == 2)
        .await
        .unwrap();
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 2);
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_before_the_first_session_is_kept() {
    let fake = changing(json!({}));
    let cached = Cache::default().wrap(fake.client());
    assert!(cached.read("note:1").await.is_err(), "not open yet");
    let cached = cached.wait_for_connection(Duration::from_secs(1));
    cached.read("note:1").await.unwrap();
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 1);
}

#[tokio::test(start_paused = true)]
async fn by_hand_and_around_calls_that_change_things() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    cached.read("note:1").await.unwrap();
    cached.read("note:2").await.unwrap();
    cached.invalidate("note:1");
    cached.read("note:2").await.unwrap();
    assert_eq!(fake.count(READ), 2);
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 3);

    cached.call_and_invalidate("sync", json!({})).await.unwrap();
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 4);

    fake.hold("tools/call");
    let syncing = cached.clone();
    let sync = tokio::spawn(async move { syncing.call_and_invalidate("sync", json!({})).await });
    fake.seen("tools/call", 2).await;
    cached.read("note:1").await.unwrap();
    assert_eq!(fake.count(READ), 4);
    sync.abort();
    assert!(sync.await.unwrap_err().is_cancelled());
    cached.read("note:1").await.unwrap();
    assert_eq!(
        fake.count(READ),
        5,
        "a sync that was given up may have worked"
    );

    cached.tools().await.unwrap();
    cached.invalidate_lists();
    cached.read("note:1").await.unwrap();
    cached.tools().await.unwrap();
    assert_eq!((fake.count(READ), fake.count("tools/list")), (5, 2));
    cached.invalidate_all();
    assert_eq!(cached.cached_resources(), 0);
}

#[tokio::test(start_paused = true)]
async fn private_things_stay_with_whom_they_were_for() {
    for (scope, requests) in [
        (json!({}), 3),
        (json!({"cacheScope": "private"}), 3),
        (json!({"cacheScope": "public"}), 1),
    ] {
        let fake = changing(scope.clone());
        let cached = plain(&fake).await;
        for _ in 0..2 {
            cached.for_principal("ann").read("note:1").await.unwrap();
            cached.for_principal("bob").read("note:1").await.unwrap();
            cached.read("note:1").await.unwrap();
        }
        assert_eq!(fake.count(READ), requests, "{scope}");
    }
}

#[tokio::test(start_paused = true)]
async fn tool_results_are_kept_only_where_wanted() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    cached.call("add", json!({"a": 1})).await.unwrap();
    cached.call("add", json!({"a": 1})).await.unwrap();
    assert_eq!(fake.count("tools/call"), 2, "off by default");

    let fake = changing(json!({}));
    let config = CacheConfig::default().tool_ttl(Duration::from_secs(60));
    let cached = over(&fake, config).await;
    cached.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    let other_order: Value = serde_json::from_str(r#"{"b": 2, "a": 1}"#).unwrap();
    cached.call("add", other_order).await.unwrap();
    assert_eq!(fake.count("tools/call"), 1);
    cached.call("add", json!({"a": 1, "b": 3})).await.unwrap();
    cached.call("sub", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(fake.count("tools/call"), 3);
    cached.call("fail", json!({})).await.unwrap();
    cached.call("fail", json!({})).await.unwrap();
    assert_eq!(fake.count("tools/call"), 5, "failures are not kept");
    advance(Duration::from_secs(60)).await;
    cached.call("add", json!({"a": 1, "b": 2})).await.unwrap();
    assert_eq!(fake.count("tools/call"), 6);
}

#[tokio::test(start_paused = true)]
async fn what_took_a_question_is_not_kept() {
    let fake = Fake::new(|_, params| match params["inputResponses"].is_null() {
        true => Ok(json!({
            "resultType": "input_required",
            "inputRequests": {"who": {
                "method": "elicitation/create",
                "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
            }},
        })),
        false => Ok(json!({
            "contents": [{"uri": "note:1", "text": "for you"}],
            "ttlMs": 60_000,
            "cacheScope": "public",
        })),
    });
    fake.speak_modern();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let client = Client::builder().seed(1).on_elicit(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { serde_json::from_value::<ElicitResult>(json!({"action": "decline"})).unwrap() }
    });
    let cached = Cache::default().wrap(fake.connect(client));
    let cached = cached.wait_for_connection(Duration::from_secs(1));
    for round in 1..3 {
        cached.read("note:1").await.unwrap();
        assert_eq!(asked.load(Ordering::Relaxed), round);
    }
    assert_eq!(cached.cached_resources(), 0);
}

#[tokio::test(start_paused = true)]
async fn one_memory_for_several_servers_keeps_them_apart() {
    let cache = Cache::new(CacheConfig::default().max_entries(2));
    let (one, two) = (changing(json!({})), changing(json!({})));
    let patience = Duration::from_secs(1);
    let first = cache.wrap(one.client()).wait_for_connection(patience);
    let second = cache.wrap(two.client()).wait_for_connection(patience);
    first.read("note:1").await.unwrap();
    second.read("note:1").await.unwrap();
    assert_eq!((one.count(READ), two.count(READ)), (1, 1));
    second.read("note:2").await.unwrap();
    assert_eq!((cache.len(), cache.stats().evicted), (2, 1));
    first.read("note:1").await.unwrap();
    assert_eq!(one.count(READ), 2, "it had made room");

    drop(second);
    assert_eq!(cache.len(), 1, "what nobody can ask for is not kept");
    cache.clear();
    assert!(cache.is_empty());
    assert_eq!(cache.bytes(), 0);
}

#[tokio::test(start_paused = true)]
async fn requests_are_made_as_told() {
    let fake = changing(json!({}));
    let cached = plain(&fake).await;
    fake.hold(READ);
    let hasty = cached.with_options(CallOptions {
        timeout: Some(Duration::from_millis(20)),
        ..CallOptions::default()
    });
    assert!(hasty.read("note:1").await.unwrap_err().is_timeout());
}
