//! What the server tells unasked.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bowline::{
    Client, client::Notification, proto::client::TelemetryEvent, testing::ServerProfile,
};
use serde_json::json;

use super::{connected, connected_with};

#[tokio::test(start_paused = true)]
async fn notifications_are_sorted_by_their_method() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let mut notifications = client.subscribe_to_list_changes();
    for kind in ["tools", "prompts", "resources"] {
        let method = format!("notifications/{kind}/list_changed");
        session.notify(&method, json!({})).await;
    }
    session
        .notify("notifications/resources/updated", json!({"uri": "u:x"}))
        .await;
    let log = json!({"level": "info", "data": {"a": 1}});
    session.notify("notifications/message", log).await;
    // Not the shape of its method: handed on as it is.
    session
        .notify("notifications/message", json!({"level": 7}))
        .await;
    session
        .notify("notifications/custom", json!({"b": 2}))
        .await;

    assert_eq!(notifications.next().await, Some(Notification::ToolsChanged));
    assert_eq!(
        notifications.next().await,
        Some(Notification::PromptsChanged)
    );
    assert_eq!(
        notifications.next().await,
        Some(Notification::ResourcesChanged)
    );
    match notifications.next().await {
        Some(Notification::ResourceUpdated(params)) => assert_eq!(params.uri, "u:x"),
        other => panic!("{other:?}"),
    }
    match notifications.next().await {
        Some(Notification::Log(params)) => assert_eq!(params.data.get(), r#"{"a":1}"#),
        other => panic!("{other:?}"),
    }
    for expected in ["notifications/message", "notifications/custom"] {
        match notifications.next().await {
            Some(Notification::Other { method, .. }) => assert_eq!(&*method, expected),
            other => panic!("{other:?}"),
        }
    }
}

fn number(notification: Option<Notification>) -> String {
    match notification {
        Some(Notification::Other { params, .. }) => {
            String::from_utf8_lossy(&params.expect("there are some")).into_owned()
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn every_listener_hears_everything_in_order() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let mut listeners = [
        client.subscribe_to_list_changes(),
        client.subscribe_to_list_changes(),
    ];
    for n in 0..500 {
        session.notify("notifications/count", json!(["n", n])).await;
    }
    for listener in &mut listeners {
        for n in 0..500 {
            assert_eq!(number(listener.next().await), format!(r#"["n",{n}]"#));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_lags_is_told_and_goes_on() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let mut slow = client.subscribe_to_list_changes();
    for n in 0..1500 {
        session.notify("notifications/count", json!(["n", n])).await;
    }
    let ping = async {
        // All that was sent before has been taken in by then.
        client.ping().await.expect("an answer");
    };
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    tokio::join!(ping, answering);
    assert_eq!(slow.next().await, Some(Notification::Lost(1500 - 1024)));
    for n in 1500 - 1024..1500 {
        assert_eq!(number(slow.next().await), format!(r#"["n",{n}]"#));
    }
}

#[tokio::test(start_paused = true)]
async fn large_notifications_make_room_by_their_size() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let mut slow = client.subscribe_to_list_changes();
    let large = "x".repeat(1024 * 1024);
    let flooding = async {
        for _ in 0..50 {
            let log = json!({"level": "info", "data": large});
            session.notify("notifications/message", log).await;
        }
        session.notify("notifications/last", json!(["n"])).await;
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    // All that was sent before has been taken in by then.
    let (pong, ()) = tokio::join!(client.ping(), flooding);
    pong.expect("an answer");
    let Some(Notification::Lost(lost)) = slow.next().await else {
        panic!("some were lost");
    };
    let mut kept = 0;
    while let Some(Notification::Log(_)) = slow.next().await {
        kept += 1;
    }
    assert_eq!(lost + kept, 50, "none is lost without a word");
    assert!((1..=4).contains(&kept), "{kept} are kept");
}

#[tokio::test(start_paused = true)]
async fn notifications_end_with_the_connection() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let mut notifications = client.subscribe_to_list_changes();
    session.notify("notifications/last", json!({})).await;
    assert!(notifications.next().await.is_some());
    client.stop().await;
    assert_eq!(notifications.next().await, None);
    assert_eq!(
        client.subscribe_to_list_changes().next().await,
        None,
        "and begin no more"
    );
}

#[tokio::test(start_paused = true)]
async fn notifications_go_on_across_a_reconnection() {
    let (client, mut session, mut server) = connected(ServerProfile::handshake()).await;
    let mut notifications = client.subscribe_to_list_changes();
    session.notify("notifications/n", json!([1])).await;
    assert_eq!(number(notifications.next().await), "[1]");
    session.close();
    let mut session = server.session().await;
    session.notify("notifications/n", json!([2])).await;
    assert_eq!(number(notifications.next().await), "[2]");
}

#[tokio::test(start_paused = true)]
async fn handlers_are_called_in_order_and_one_that_panics_harms_nobody() {
    let (heard, mut hearing) = tokio::sync::mpsc::unbounded_channel();
    let failed = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&failed);
    let builder = Client::builder()
        .observer(move |seen| {
            if matches!(&seen.event, TelemetryEvent::HandlerException { error, .. }
                if **error == *"this handler always does")
            {
                counting.fetch_add(1, Ordering::Relaxed);
            }
        })
        .on_notification(async |_| panic!("this handler always does"))
        .on_notification(move |notification| {
            let heard = heard.clone();
            async move {
                heard.send(notification).expect("the test listens");
            }
        });
    let (client, mut session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    for number in 0..3 {
        let params = json!({"number": number});
        session.notify("notifications/example", params).await;
    }
    for number in 0..3 {
        match hearing.recv().await {
            Some(Notification::Other { params, .. }) => {
                let params = params.expect("they have params");
                assert_eq!(&params[..], format!(r#"{{"number":{number}}}"#).as_bytes());
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(failed.load(Ordering::Relaxed), 3, "each is reported");
    client.stop().await;
    assert_eq!(
        hearing.recv().await,
        None,
        "handlers end with the connection"
    );
}

#[tokio::test(start_paused = true)]
async fn whoever_only_listens_asks_for_nothing() {
    let (client, mut session, _server) = connected(ServerProfile::stateless()).await;
    let mut heard = client.notifications();
    let answering = async {
        // The first that comes: a wish to be told of changes would be before it.
        let request = session.expect("tools/call").await;
        let log = json!({"level": "info", "data": "working"});
        session.notify("notifications/message", log).await;
        session.respond(&request, super::said("done")).await;
    };
    let call = async { client.tools().call("work", json!({})).await };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(result.expect("an answer").all_text(), "done");
    let log = heard.next().await;
    assert!(matches!(log, Some(Notification::Log(_))), "{log:?}");
}
