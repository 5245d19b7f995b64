//! Subscriptions as values: kept, shared, dropped.

use std::time::Duration;

use bowline::{
    Client,
    client::Change,
    proto::{ErrorKind, model::LogLevel},
    testing::{FakeServer, ServerProfile},
};
use serde_json::json;
use tokio::time::Instant;

use super::connected;

#[tokio::test(start_paused = true)]
async fn dropping_the_last_subscription_to_a_resource_ends_it() {
    let (client, mut session, server) = connected(ServerProfile::handshake()).await;
    let serving = async {
        for _ in 0..2 {
            let request = session.expect("resources/subscribe").await;
            session.respond(&request, json!({})).await;
        }
        session
    };
    let both = async {
        let first = client.resources().subscribe("u:x").await;
        let second = client.resources().subscribe("u:x").await;
        (first.expect("subscribed"), second.expect("subscribed"))
    };
    let ((first, second), mut session) = tokio::join!(both, serving);
    drop(first);
    assert_eq!(server.count("resources/unsubscribe"), 0, "one is left");
    drop(second);
    session.expect("resources/unsubscribe").await;
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_was_refused_is_not_ended() {
    let (client, mut session, server) = connected(ServerProfile::handshake()).await;
    let refusing = async {
        let request = session.expect("resources/subscribe").await;
        let error = bowline::proto::jsonrpc::ErrorObject::new(-32002, "no such thing");
        session.respond_error(&request, error).await;
    };
    let (refused, ()) = tokio::join!(client.resources().subscribe("u:x"), refusing);
    refused.expect_err("there is no such resource");
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("resources/unsubscribe"), 0);
}

#[tokio::test(start_paused = true)]
async fn only_news_of_the_resource_and_of_what_is_below_arrive() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let serving = async {
        let request = session.expect("resources/subscribe").await;
        session.respond(&request, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.resources().subscribe("u:a"), serving);
    let mut changes = subscribed.expect("subscribed");
    for uri in ["u:b", "u:ab", "u:a/1", "u:a"] {
        let params = json!({"uri": uri});
        session
            .notify("notifications/resources/updated", params)
            .await;
    }
    for expected in ["u:a/1", "u:a"] {
        match changes.next().await {
            Some(Change::Updated(update)) => assert_eq!(update.uri, expected),
            other => panic!("{other:?}"),
        }
    }
    client.stop().await;
    assert_eq!(changes.next().await, None, "it ends with the connection");
}

#[tokio::test(start_paused = true)]
async fn wishes_can_wait_for_the_connection() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    let error = client.resources().subscribe("u:x").await;
    assert_eq!(error.expect_err("not open").kind(), ErrorKind::State);
    let error = client.set_log_level(LogLevel::Debug).await;
    assert_eq!(error.expect_err("not open").kind(), ErrorKind::State);
    let serving = async {
        let mut session = server.session().await;
        for method in ["resources/subscribe", "logging/setLevel"] {
            let request = session.expect(method).await;
            session.respond(&request, json!({})).await;
        }
        session
    };
    let wishing = async {
        let subscribing = client.resources().subscribe("u:x").wait_for_connection();
        let setting = client.set_log_level(LogLevel::Debug).wait_for_connection();
        tokio::join!(subscribing, setting)
    };
    let ((subscribed, set), _session) = tokio::join!(wishing, serving);
    assert_eq!(subscribed.expect("it came up").uri(), "u:x");
    set.expect("it came up");
}

#[tokio::test(start_paused = true)]
async fn wishes_have_the_time_that_they_are_given() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let begun = Instant::now();
    let second = Duration::from_secs(1);
    let error = client.resources().subscribe("u:x").timeout(second).await;
    assert!(error.expect_err("silence").is_timeout());
    assert_eq!(begun.elapsed(), second);
    let error = client.set_log_level(LogLevel::Debug).timeout(second).await;
    assert!(error.expect_err("silence").is_timeout());
    assert_eq!(begun.elapsed(), 2 * second);
    let serving = async {
        let request = session.find("resources/subscribe").await;
        session.respond(&request, json!({})).await;
        let request = session.find("resources/subscribe").await;
        session.respond(&request, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.resources().subscribe("u:y"), serving);
    let error = subscribed
        .expect("subscribed")
        .unsubscribe()
        .timeout(second)
        .await;
    assert!(error.expect_err("silence").is_timeout());
    assert_eq!(begun.elapsed(), 3 * second);
}
