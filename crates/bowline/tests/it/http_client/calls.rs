//! Calls, each of which is an exchange with a fate of its own.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    Backoff,
    proto::{ErrorKind, client::ConnectionErrorKind},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::rig::{Part, Reply, builder, handshake, stateless, within};
use crate::sync::lock;

#[tokio::test]
async fn one_connection_serves_call_after_call_however_they_are_answered() {
    let rig = stateless(|hit| {
        let is_odd = hit.json()["id"].as_u64().is_some_and(|id| id % 2 == 1);
        let result = hit.result(&json!({"content": [], "resultType": "complete"}));
        let streamed = || Reply::sse([Part::text(": hello\n\n"), Part::event(&result)]);
        (hit.rpc() == "tools/call" && is_odd).then(streamed)
    })
    .await;
    let client = rig.client().await;
    for _ in 0..20 {
        within(async { client.tools().call("echo", json!({})).await })
            .await
            .expect("an answer");
    }
    assert_eq!(rig.named("tools/call").len(), 20);
    assert_eq!(rig.connections(), 1);
}

#[tokio::test]
async fn as_many_calls_as_are_made_are_under_way_at_once() {
    const MANY: usize = 64;
    let feeds = Arc::<Mutex<Vec<(String, mpsc::UnboundedSender<String>)>>>::default();
    let kept = Arc::clone(&feeds);
    let rig = stateless(move |hit| {
        if hit.rpc() != "tools/call" {
            return None;
        }
        let (sender, feed) = mpsc::unbounded_channel();
        let result = hit.result(&json!({"content": [], "resultType": "complete"}));
        lock(&kept).push((format!("data: {result}\n\n"), sender));
        Some(Reply::sse([Part::Feed(feed)]))
    })
    .await;
    let client = rig.client().await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..MANY {
        let client = client.clone();
        calls.spawn(async move { client.tools().call("wait", json!({})).await.is_ok() });
    }
    rig.until("tools/call", MANY).await;
    for (answer, feed) in lock(&feeds).drain(..) {
        feed.send(answer).expect("the exchange is there");
    }
    let answered = within(calls.join_all()).await;
    assert_eq!(answered, [true; MANY]);
}

#[tokio::test]
async fn giving_a_call_up_ends_its_exchange() {
    for is_stateless in [true, false] {
        let script =
            |hit: &super::rig::Hit| (hit.rpc() == "tools/call").then(|| Reply::sse([Part::Hold]));
        let rig = match is_stateless {
            true => stateless(script).await,
            false => handshake(script).await,
        };
        let client = rig.client().await;
        let call = async { client.tools().call("wait", json!({})).await };
        tokio::select! {
            answer = call => panic!("{answer:?}"),
            hits = rig.until("tools/call", 1) => assert_eq!(hits.len(), 1),
        }
        rig.until_hung_up(1).await;
        if is_stateless {
            assert!(rig.named("notifications/cancelled").is_empty());
        } else {
            let told = &rig.until("notifications/cancelled", 1).await[0];
            let call = &rig.named("tools/call")[0];
            assert_eq!(told.json()["params"]["requestId"], call.json()["id"]);
        }
    }
}

#[tokio::test]
async fn a_refusal_by_status_is_told_with_the_servers_own_error() {
    for (status, code) in [(404, -32601), (400, -32602), (500, -32603)] {
        let rig = stateless(move |hit| {
            let body = hit.error(code, "no, because");
            (hit.rpc() == "tools/call").then(|| Reply::new(status, "application/json", body))
        })
        .await;
        let client = rig.client().await;
        let error = client
            .tools()
            .call("x", json!({}))
            .await
            .expect_err("refused");
        assert_eq!(error.server_error().map(|error| error.code), Some(code));
        assert_eq!(client.health().sessions, 1);
    }
}

#[tokio::test]
async fn a_refusal_without_one_is_told_by_its_status_and_the_wait_it_asks_for() {
    let rig = stateless(|hit| {
        let page = || Reply::new(503, "text/html", "<html>Down</html>");
        (hit.rpc() == "tools/call").then(|| page().with("retry-after", "120"))
    })
    .await;
    let client = rig.client().await;
    let error = client
        .tools()
        .call("x", json!({}))
        .await
        .expect_err("refused");
    let cause = error.connection_error().expect("a cause");
    assert!(matches!(
        cause.kind(),
        ConnectionErrorKind::Status { status: 503, .. }
    ));
    assert_eq!(cause.retry_after(), Some(Duration::from_secs(120)));
    assert!(error.is_transient());
}

/// Some servers do not say whose error it is.
#[tokio::test]
async fn an_error_without_an_id_is_that_of_the_call_it_answers() {
    let body = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "no"}});
    for status in [200, 400] {
        let body = body.to_string();
        let rig = handshake(move |hit| {
            let reply = Reply::new(status, "application/json", body.clone());
            (hit.rpc() == "tools/call").then_some(reply)
        })
        .await;
        let client = rig.client().await;
        let error = client
            .tools()
            .call("x", json!({}))
            .await
            .expect_err("refused");
        assert_eq!(error.server_error().map(|error| error.code), Some(-32000));
    }
}

#[tokio::test]
async fn an_exchange_that_breaks_off_loses_its_own_call_only() {
    let rig = stateless(|hit| {
        let tool = hit.json()["params"]["name"].clone();
        let half = hit.result(&json!({}))[..9].to_owned();
        match tool.as_str()? {
            "cut" => Some(Reply::cut()),
            "half" => Some(Reply::parts(
                "application/json",
                [Part::text(&half), Part::Cut],
            )),
            "stream" => Some(Reply::sse([Part::text(": soon\n\n"), Part::Cut])),
            "early" => Some(Reply::sse([Part::event(
                r#"{"jsonrpc":"2.0","method":"x"}"#,
            )])),
            _ => None,
        }
    })
    .await;
    let client = rig.client().await;
    for tool in ["cut", "half", "stream", "early"] {
        let error = client
            .tools()
            .call(tool, json!({}))
            .await
            .expect_err("lost");
        assert_eq!(error.kind(), ErrorKind::Transport, "{tool}: {error}");
        assert_eq!(rig.named("GET").len(), 0, "nothing is resumed in this era");
    }
    client
        .tools()
        .call("fine", json!({}))
        .await
        .expect("an answer");
    assert_eq!(client.health().sessions, 1);
}

#[tokio::test]
async fn a_call_that_was_not_answered_is_not_sent_again() {
    let rig = handshake(|hit| (hit.rpc() == "tools/call").then(Reply::cut)).await;
    let client = rig.client().await;
    client
        .tools()
        .call("charge", json!({}))
        .await
        .expect_err("lost");
    client.tools().list().await.expect("the session is there");
    assert_eq!(rig.named("tools/call").len(), 1);
}

#[tokio::test]
async fn a_call_that_may_be_repeated_is_sent_again_when_its_exchange_breaks() {
    let cuts = Arc::new(Mutex::new(2));
    let rig = handshake(move |hit| {
        let mut cuts = lock(&cuts);
        let is_cut = hit.rpc() == "tools/call" && *cuts > 0;
        is_cut.then(|| {
            *cuts -= 1;
            Reply::cut()
        })
    })
    .await;
    let (min, max) = (Duration::from_millis(1), Duration::from_millis(2));
    let backoff = Backoff::new(min, max, 0.0).expect("good delays");
    let client = builder().backoff(backoff).connect(rig.http()).await;
    let client = client.expect("it connects");
    let call = client.tools().call("look", json!({}));
    call.retry_on_disconnect().await.expect("an answer");
    assert_eq!(rig.named("tools/call").len(), 3);
    assert_eq!(client.health().sessions, 1, "the session stays");
}

#[tokio::test]
async fn a_call_that_is_denied_is_unauthorized_even_if_the_body_is_an_error() {
    for status in [401, 403] {
        let rig = stateless(move |hit| {
            let body = hit.error(-32001, "not you");
            (hit.rpc() == "tools/call").then(|| Reply::new(status, "application/json", body))
        })
        .await;
        let client = rig.client().await;
        let denied = client.tools().call("x", json!({})).await;
        let error = denied.expect_err("denied");
        assert!(error.is_unauthorized(), "{error:#}");
        assert!(!error.is_transient());
        assert_eq!(error.code(), Some(-32001));
        assert_eq!(
            format!("{error:#}"),
            format!(
                "tools/call: the request was not delivered: \
                 the server answered with HTTP {status}: not you"
            ),
        );
    }
}

#[tokio::test]
async fn headers_of_the_applications_go_with_every_request_and_into_no_error() {
    let rig = handshake(|hit| (hit.rpc() == "tools/call").then(Reply::cut)).await;
    let http = rig
        .http()
        .bearer("s3cr3t")
        .and_then(|http| http.header("X-Team", "knots"));
    let http = http.expect("good headers");
    let shown = format!("{http:?}");
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("knots"),
        "{shown}"
    );
    let client = builder().connect(http).await.expect("it connects");
    let error = client.tools().call("x", json!({})).await.expect_err("lost");
    rig.until("GET", 1).await;
    client.stop().await;
    rig.until("DELETE", 1).await;
    for hit in rig.hits() {
        assert_eq!(
            hit.header("authorization"),
            Some("Bearer s3cr3t"),
            "{}",
            hit.rpc()
        );
        assert_eq!(hit.header("x-team"), Some("knots"));
    }
    let told = format!("{error} {error:?} {client:?}");
    assert!(
        !told.contains("s3cr3t") && !told.contains("knot-1"),
        "{told}"
    );
}
