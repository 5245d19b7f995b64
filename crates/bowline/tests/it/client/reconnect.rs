//! Connections that fall and come back.

use std::{future::IntoFuture, time::Duration};

use bowline::{
    Client,
    client::{Call, Change, Notification},
    proto::{
        ErrorKind, Reason,
        client::{Backoff, ConnectionErrorKind, ConnectionState},
        model::{LogLevel, ToolMode},
    },
    testing::{FakeServer, ServerProfile},
};
use serde_json::json;
use tokio::time::Instant;

use super::{connected, connected_with, said};

#[tokio::test(start_paused = true)]
async fn a_fallen_connection_comes_back_after_its_backoff() {
    let backoff = Backoff::new(Duration::from_secs(4), Duration::from_secs(64), 0.0);
    let builder = Client::builder().backoff(backoff.expect("it is sound"));
    let (client, session, mut server) = connected_with(builder, ServerProfile::handshake()).await;
    let begun = Instant::now();
    session.close();
    let _second = server.session().await;
    assert_eq!(begun.elapsed(), Duration::from_secs(4));
    let mut health = client.watch_health();
    let health = health
        .wait_for(|health| health.state == ConnectionState::Ready && health.sessions == 2)
        .await
        .expect("it lives");
    assert_eq!(health.consecutive_failures, 0);
    let fall = health.last_disconnect.as_ref().expect("it fell");
    assert_eq!(fall.kind(), &ConnectionErrorKind::Eof);
}

#[tokio::test(start_paused = true)]
async fn waits_grow_up_to_the_longest_while_nothing_comes_up() {
    let backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(8), 0.0);
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder()
        .backoff(backoff.expect("it is sound"))
        .connect_in_background(transport);
    let mut waits = Vec::new();
    let mut begun = Instant::now();
    for _ in 0..6 {
        let mut link = server.accept().await;
        waits.push(begun.elapsed().as_secs());
        // The question for the era is answered, so that the end of the link
        // is no evidence about it.
        let probe = link.expect("server/discover").await;
        let error = bowline::proto::jsonrpc::ErrorObject::new(-32601, "no");
        link.respond_error(&probe, error).await;
        link.expect("initialize").await;
        begun = Instant::now();
        link.close();
    }
    assert_eq!(waits, [0, 1, 2, 4, 8, 8]);
    let _session = server.session().await;
    let mut health = client.watch_health();
    let ready = health.wait_for(|health| health.state == ConnectionState::Ready);
    assert_eq!(ready.await.expect("it lives").consecutive_failures, 0);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_of_the_question_for_its_era_is_spared_it() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let begun = Instant::now();
    let serving = async {
        let mut first = server.accept().await;
        first.expect("server/discover").await;
        first.close();
        let mut second = server.accept().await;
        let initialize = second.expect("initialize").await;
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "shy", "version": "1"},
        });
        second.respond(&initialize, result).await;
        second
    };
    let (client, _session) = tokio::join!(Client::builder().connect(transport), serving);
    let client = client.expect("the second attempt succeeds");
    assert_eq!(
        begun.elapsed(),
        Duration::ZERO,
        "there was nothing to wait for"
    );
    assert_eq!(client.health().consecutive_failures, 0);
}

#[tokio::test(start_paused = true)]
async fn calls_under_way_fail_with_the_cause_and_are_not_repeated() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let call = async { client.tools().call("charge", json!({})).await };
    let falling = async {
        session.expect("tools/call").await;
        session.close();
    };
    let (result, ()) = tokio::join!(call, falling);
    let error = result.expect_err("the connection fell");
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.is_connection_error() && error.is_transient());
    assert_eq!(
        format!("{error:#}"),
        "tools/call: the connection was lost: the server closed the connection",
    );
    let mut session = server.session().await;
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("tools/call"), 1, "it was sent once");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_may_be_repeated_is() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let call = async {
        let call = client.tools().call("look", json!({"at": 1}));
        call.map_call(Call::retry_on_disconnect).await
    };
    let serving = async {
        let first = session.expect("tools/call").await;
        session.close();
        let mut session = server.session().await;
        let second = session.expect("tools/call").await;
        assert_ne!(first.id(), second.id(), "an id is never used again");
        assert_eq!(first.params(), second.params());
        session.respond(&second, said("seen")).await;
        session
    };
    let (result, _session) = tokio::join!(call, serving);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("seen")
    );
}

#[tokio::test(start_paused = true)]
async fn calls_that_wait_for_the_connection_go_out_when_it_is_back() {
    let (client, session, mut server) = connected(ServerProfile::handshake()).await;
    session.close();
    let mut health = client.watch_health();
    let down = health.wait_for(|health| health.state == ConnectionState::Backoff);
    down.await.expect("it lives");

    let error = client
        .tools()
        .call("now", json!({}))
        .await
        .expect_err("there is no connection");
    assert_eq!(error.kind(), ErrorKind::State);
    assert!(error.is_transient());

    let waiting = (0..3).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            let call = client.tools().call("later", json!({"n": number}));
            call.map_call(Call::wait_for_connection).await
        })
    });
    let waiting: Vec<_> = waiting.collect();
    let mut session = server.session().await;
    for number in 0..3 {
        let request = session.expect("tools/call").await;
        assert_eq!(request.params()["arguments"]["n"], number, "in their order");
        session.respond(&request, said("here")).await;
    }
    for call in waiting {
        call.await.expect("no panic").expect("an answer");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_in_vain_ends_at_its_deadline() {
    let (transport, _server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    let begun = Instant::now();
    let call = client
        .tools()
        .call("later", json!({}))
        .map_call(|call| call.wait_for_connection().timeout(Duration::from_secs(7)));
    assert!(call.await.expect_err("nobody is there").is_timeout());
    assert_eq!(begun.elapsed(), Duration::from_secs(7));
}

#[tokio::test(start_paused = true)]
async fn subscriptions_and_the_log_level_are_restored() {
    let builder = Client::builder().log_level(LogLevel::Error);
    let (client, mut session, mut server) =
        connected_with(builder, ServerProfile::handshake()).await;
    let mut notifications = client.subscribe_to_list_changes();
    let first = async {
        let level = session.expect("logging/setLevel").await;
        session.respond(&level, json!({})).await;
        let subscribe = session.expect("resources/subscribe").await;
        assert_eq!(subscribe.params()["uri"], "file:///notes");
        session.respond(&subscribe, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.resources().subscribe("file:///notes"), first);
    let mut subscription = subscribed.expect("it has subscriptions");
    session.close();

    let mut session = server.session().await;
    let level = session.expect("logging/setLevel").await;
    assert_eq!(level.params()["level"], "error");
    session.respond(&level, json!({})).await;
    let subscribe = session.expect("resources/subscribe").await;
    assert_eq!(subscribe.params()["uri"], "file:///notes");
    session.respond(&subscribe, json!({})).await;
    let uris = vec!["file:///notes".into()];
    assert_eq!(
        notifications.next().await,
        Some(Notification::Resubscribed { uris })
    );
    assert_eq!(subscription.next().await, Some(Change::Missed));
    session
        .notify(
            "notifications/resources/updated",
            json!({"uri": "file:///notes/a"}),
        )
        .await;
    match subscription.next().await {
        Some(Change::Updated(update)) => assert_eq!(update.uri, "file:///notes/a"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_not_taken_again_is_lost() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let mut notifications = client.subscribe_to_list_changes();
    let first = async {
        let subscribe = session.expect("resources/subscribe").await;
        session.respond(&subscribe, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.resources().subscribe("u:x"), first);
    let mut subscription = subscribed.expect("it has subscriptions");
    session.close();
    let mut session = server.session().await;
    let subscribe = session.expect("resources/subscribe").await;
    let error = bowline::proto::jsonrpc::ErrorObject::new(-32002, "gone");
    session.respond_error(&subscribe, error).await;
    assert_eq!(
        notifications.next().await,
        Some(Notification::SubscriptionLost { uri: "u:x".into() })
    );
    assert_eq!(subscription.next().await, Some(Change::Lost));
    assert_eq!(subscription.next().await, None, "nothing follows");
}

#[tokio::test(start_paused = true)]
async fn an_unsubscribed_resource_is_not_restored() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let first = async {
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            let request = session.expect(method).await;
            session.respond(&request, json!({})).await;
        }
    };
    let both = async {
        let subscription = client.resources().subscribe("u:x").await;
        let subscription = subscription.expect("subscribed");
        subscription.unsubscribe().await.expect("unsubscribed");
    };
    tokio::join!(both, first);
    session.close();
    let mut session = server.session().await;
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("resources/subscribe"), 1);
}

#[tokio::test(start_paused = true)]
async fn attempts_can_be_limited() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder()
        .max_connect_attempts(2)
        .connect_in_background(transport);
    let waiting = tokio::spawn({
        let client = client.clone();
        async move {
            let call = client.tools().call("any", json!({}));
            call.map_call(Call::wait_for_connection).await
        }
    });
    // Three links: the first is no attempt that counts, but shows that the
    // server does not survive the question for its era.
    for _ in 0..3 {
        let mut link = server.accept().await;
        link.recv().await;
        link.close();
    }
    let error = waiting
        .await
        .expect("no panic")
        .expect_err("it was given up");
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(error.connection_error().is_some(), "{error}");
    assert!(client.health().ended);
    client.wait_first_attempt().await.expect_err("it is over");
    client.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_call_of_an_earlier_session_is_refused_in_the_next() {
    let (client, session, mut server) = connected(ServerProfile::handshake()).await;
    let first = client.session().expect("a session is open");
    session.close();
    let _second = server.session().await;
    let back = client.wait_ready(Duration::from_secs(60)).await;
    back.expect("it is back");
    let call = client.tools().call("pay", json!({})).in_session(first);
    let error = call.await.expect_err("the basket is gone");
    assert_eq!(error.reason(), Reason::SessionLost);
    assert_eq!(
        format!("{error:#}"),
        "tools/call: the session that the call belongs to has ended"
    );
    assert_ne!(client.session(), Some(first));
    client.stop().await;
    assert_eq!(server.count("tools/call"), 0, "nothing was sent");
}

#[tokio::test(start_paused = true)]
async fn a_stateful_call_is_not_repeated_in_another_session() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let call = client.tools().call("add", json!({}));
    let call = call.mode(ToolMode::Stateful).retry_on_disconnect();
    let serve = async {
        session.expect("tools/call").await;
        session.close();
        server.session().await
    };
    let (answer, _second) = tokio::join!(call.into_future(), serve);
    assert!(answer.expect_err("it is lost").is_connection_error());
    client.stop().await;
    assert_eq!(server.count("tools/call"), 1, "it was sent once");
}
