//! Many servers: started when used, listed together, called by name.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::{
    Client,
    cache::Cache,
    proto::model::{CallToolResult, ContentBlock},
    registry::{ConnectionSummary, NameError, Registry, RegistryError, call_many, read_many},
};
use serde_json::json;

use crate::fake::Fake;

fn add(registry: &Registry, name: &str, fake: &Fake) {
    let fake = fake.clone();
    let added = registry.add(name, move |_| fake.client());
    added.expect("the name is free");
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(text)] => &text.text,
        other => panic!("{other:?}"),
    }
}

fn summaries(registry: &Registry) -> Vec<(Box<str>, ConnectionSummary)> {
    let status = registry.status().into_iter();
    status.map(|server| (server.name, server.summary)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_server_is_started_once_however_many_come_first() {
    let fake = Fake::with_tools(&["echo"]);
    let starts = Arc::new(AtomicUsize::new(0));
    let registry = Registry::new();
    let (server, started) = (fake.clone(), Arc::clone(&starts));
    registry
        .add("one", move |_| {
            started.fetch_add(1, Ordering::Relaxed);
            server.client()
        })
        .unwrap();
    assert_eq!(starts.load(Ordering::Relaxed), 0, "not before it is used");

    let calls = (0..10).map(|number| ("one__echo", json!({ "n": number })));
    let results = registry.call_many(calls).max_concurrent(10).await;
    for (number, result) in results.iter().enumerate() {
        let expected = format!(r#""echo" {{"n":{number}}}"#);
        assert_eq!(text(result.as_ref().unwrap()), expected);
    }
    assert_eq!((starts.load(Ordering::Relaxed), fake.dials()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn tools_of_all_are_listed_although_one_is_down() {
    let registry = Registry::new();
    let down = Fake::with_tools(&["lost"]);
    down.set_unreachable(true);
    add(&registry, "b-down", &down);
    let toolless = Fake::with_tools(&[]);
    toolless.offer_no_tools();
    add(&registry, "toolless", &toolless);
    add(&registry, "c", &Fake::with_tools(&["zeta", "alpha"]));
    add(&registry, "a", &Fake::with_tools(&["__odd"]));

    let catalog = registry.tools().await;
    let names: Vec<_> = catalog.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["a____odd", "c__alpha", "c__zeta"]);
    let [(server, error)] = &catalog.unavailable[..] else {
        panic!("{:?}", catalog.unavailable);
    };
    assert_eq!(&**server, "b-down");
    assert!(matches!(error, RegistryError::Unavailable { .. }));
    assert_eq!(error.to_string(), "server `b-down` is unavailable");
    let levels = format!("{error:#}");
    assert!(
        levels.starts_with("server `b-down` is unavailable: not connected: "),
        "{levels}"
    );

    let result = registry.call("a____odd", json!({})).await.unwrap();
    assert_eq!(
        text(&result),
        r#""__odd" {}"#,
        "the name leads back to its tool"
    );
    assert_eq!(catalog.into_tools()[1].name, "c__alpha");
}

#[tokio::test(start_paused = true)]
async fn names_that_lead_nowhere() {
    let registry = Registry::new();
    add(&registry, "weather", &Fake::with_tools(&["forecast"]));
    let taken = registry.add("weather", |_| unreachable!());
    assert_eq!(taken, Err(NameError::Taken("weather".into())));
    let invalid = registry.add("my__server", |_| unreachable!());
    assert_eq!(invalid, Err(NameError::Invalid("my__server".into())));

    let error = registry
        .call("wether__forecast", json!({}))
        .await
        .unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "no server `wether`; did you mean `weather`?"
    );
    let error = registry.call("forecast", json!({})).await.unwrap_err();
    assert!(matches!(
        error,
        RegistryError::Name(NameError::Unqualified(_))
    ));
    assert!(registry.resolve("weather__forecast").is_ok());
    assert!(registry.stop("x").await.is_err());
    assert!(registry.remove("x").is_err());
}

#[tokio::test(start_paused = true)]
async fn servers_come_and_go_at_run_time() {
    let registry = Registry::new();
    let fake = Fake::with_tools(&["echo"]);
    add(&registry, "server-1", &fake);
    let server = fake.clone();
    let unnamed = registry.add_unnamed(move |name| {
        assert_eq!(name, "server-2", "it is told its name");
        server.client()
    });
    assert_eq!(&*unnamed, "server-2", "the first name that is free");
    assert_eq!(summaries(&registry)[0].1, ConnectionSummary::Disconnected);

    registry.start("server-1").await.unwrap();
    let second = registry.start("server-2").await.unwrap();
    assert_eq!(
        summaries(&registry),
        [
            ("server-1".into(), ConnectionSummary::Connected),
            ("server-2".into(), ConnectionSummary::Connected)
        ]
    );
    registry.stop("server-1").await.unwrap();
    assert_eq!(summaries(&registry)[0].1, ConnectionSummary::Disconnected);
    registry.call("server-1__echo", json!({})).await.unwrap();
    assert_eq!(fake.dials(), 3, "it was started again");

    registry.remove("server-2").unwrap();
    assert_eq!(registry.names(), ["server-1".into()]);
    second.ping().await.unwrap();

    registry.stop_all().await;
    assert_eq!(summaries(&registry)[0].1, ConnectionSummary::Disconnected);
}

#[tokio::test(start_paused = true)]
async fn the_status_says_why() {
    let registry = Registry::new();
    let fake = Fake::with_tools(&[]);
    fake.set_unreachable(true);
    let server = fake.clone();
    registry
        .add("down", move |_| {
            let client = Client::builder().seed(1).max_connect_attempts(1);
            server.connect(client)
        })
        .unwrap();
    registry.start("down").await.unwrap_err();
    let status = &registry.status()[0];
    assert_eq!(status.summary, ConnectionSummary::Error);
    assert!(status.last_error.is_some());
    let at = status.last_error_at;
    assert!(at.is_some());

    // The connection is over for good, so that the next use is a new start.
    fake.set_unreachable(false);
    registry.start("down").await.unwrap();
    let status = &registry.status()[0];
    assert_eq!(status.summary, ConnectionSummary::Connected);
    assert!(status.last_error.is_some(), "what was before is remembered");
    assert_eq!(status.last_error_at, at);
}

#[tokio::test(start_paused = true)]
async fn a_slow_starter_is_waited_for_as_long_as_it_may_take() {
    let registry = Registry::new();
    let fake = Fake::with_tools(&["echo"]);
    fake.hold("initialize");
    add(&registry, "slow", &fake);
    let caller = registry.clone();
    let call = tokio::spawn(async move { caller.call("slow__echo", json!({})).await });
    fake.seen("initialize", 1).await;
    fake.release();
    call.await.unwrap().unwrap();

    fake.hold("initialize");
    registry.stop("slow").await.unwrap();
    let error = registry.call("slow__echo", json!({})).await.unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "server `slow` is unavailable: not connected: timed out after 10s while opening the session \
         (a server that downloads or prepares something first needs a longer opening timeout)"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_fell_is_waited_for() {
    let registry = Registry::new();
    let fake = Fake::with_tools(&["echo"]);
    add(&registry, "flaky", &fake);
    let client = registry.start("flaky").await.unwrap();
    let mut health = client.watch_health();
    fake.hang_up();
    health
        .wait_for(|health| health.consecutive_failures == 1)
        .await
        .unwrap();
    registry.call("flaky__echo", json!({})).await.unwrap();
    assert_eq!(fake.dials(), 2);
}

#[tokio::test(start_paused = true)]
async fn patience_ends() {
    let registry = Registry::builder()
        .connect_timeout(Duration::from_millis(1))
        .build();
    let fake = Fake::with_tools(&["echo"]);
    fake.set_unreachable(true);
    add(&registry, "down", &fake);
    registry.start("down").await.unwrap_err();
    let dials = fake.dials();
    registry.start("down").await.unwrap_err();
    assert_eq!(fake.dials(), dials, "the next attempt was too far off");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_probe_is_reached() {
    let registry = Registry::new();
    let fake = Fake::with_tools(&["echo"]);
    fake.die_of_probe();
    add(&registry, "old", &fake);
    registry.start("old").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn starting_one_may_look_into_the_registry() {
    let registry = Registry::new();
    let (inside, fake) = (registry.clone(), Fake::with_tools(&[]));
    registry
        .add("curious", move |name| {
            assert_eq!(inside.names(), [name.into()]);
            fake.client()
        })
        .unwrap();
    registry.start("curious").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn one_cache_serves_all() {
    let registry = Registry::builder().cache(Cache::default()).build();
    let fake = Fake::new(|method, params| match method {
        "tools/list" => Ok(json!({"tools": []})),
        _ => Ok(json!({"contents": [{"uri": params["uri"], "text": "x"}]})),
    });
    add(&registry, "notes", &fake);
    for _ in 0..2 {
        let notes = registry.cached_client("notes").unwrap();
        notes.read("note:1").await.unwrap();
        registry.tools().await;
    }
    assert_eq!(fake.count("resources/read"), 1);
    assert_eq!(fake.count("tools/list"), 1);
    assert_eq!(registry.status()[0].cached_resources, 1);
}

#[tokio::test(start_paused = true)]
async fn many_calls_are_bounded_ordered_and_independent() {
    let fake = Fake::with_tools(&[]);
    let client = fake.client();
    client.wait_first_attempt().await.unwrap();
    fake.hold("tools/call");
    let server = fake.clone();
    let calls = ["a", "fail", "c", "d", "e"].map(|tool| (tool, json!({})));
    let run = tokio::spawn(async move { call_many(&client, calls).max_concurrent(2).await });
    server.seen("tools/call", 2).await;
    assert_eq!(fake.count("tools/call"), 2, "no more than two at once");
    fake.release();
    let results = run.await.unwrap();
    let texts: Vec<_> = results
        .iter()
        .map(|result| result.as_ref().map_or("-", text))
        .collect();
    assert_eq!(
        texts,
        [r#""a" {}"#, "-", r#""c" {}"#, r#""d" {}"#, r#""e" {}"#]
    );
}

#[tokio::test(start_paused = true)]
async fn many_are_cancelled_by_dropping_them() {
    let fake = Fake::new(|_, _| Ok(json!({"contents": []})));
    let client = fake.client();
    client.wait_first_attempt().await.unwrap();
    fake.hold("resources/read");
    let reader = client.clone();
    let uris: Vec<String> = (0..20).map(|number| format!("note:{number}")).collect();
    let run = tokio::spawn(async move { read_many(&reader, uris).await.len() });
    fake.seen("resources/read", 8).await;
    run.abort();
    fake.seen("notifications/cancelled", 8).await;
    client.ping().await.unwrap();
    assert_eq!(fake.count("resources/read"), 8, "the rest never began");
}
