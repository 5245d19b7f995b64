//! Subscriptions as values: kept, shared, dropped.

use bowline::{client::Change, testing::Profile};
use serde_json::json;

use super::connected;

#[tokio::test(start_paused = true)]
async fn dropping_the_last_subscription_to_a_resource_ends_it() {
    let (client, mut session, server) = connected(Profile::handshake()).await;
    let serving = async {
        for _ in 0..2 {
            let request = session.expect("resources/subscribe").await;
            session.answer(&request, json!({})).await;
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
    let (client, mut session, server) = connected(Profile::handshake()).await;
    let refusing = async {
        let request = session.expect("resources/subscribe").await;
        let error = bowline::proto::jsonrpc::ErrorObject::new(-32002, "no such thing");
        session.refuse(&request, error).await;
    };
    let (refused, ()) = tokio::join!(client.resources().subscribe("u:x"), refusing);
    refused.expect_err("there is no such resource");
    client.stop().await;
    session.closed().await;
    assert_eq!(server.count("resources/unsubscribe"), 0);
}

#[tokio::test(start_paused = true)]
async fn only_news_of_the_resource_and_of_what_is_below_arrive() {
    let (client, mut session, _server) = connected(Profile::handshake()).await;
    let serving = async {
        let request = session.expect("resources/subscribe").await;
        session.answer(&request, json!({})).await;
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
