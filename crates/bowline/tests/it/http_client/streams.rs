//! Event streams: in order, taken up where they broke, kept open.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    client::{Change, progress_channel},
    proto::{client::ConnectionErrorKind, http::resume::ResumptionPolicy, model::ElicitResult},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::rig::{Hit, Part, Reply, builder, handshake, stateless, within};
use crate::sync::lock;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The script's memory of how often something came.
fn counter() -> impl Fn() -> usize {
    let count = Mutex::new(0);
    move || {
        let mut count = lock(&count);
        *count += 1;
        *count
    }
}

#[tokio::test]
async fn what_comes_before_the_answer_arrives_before_it_and_in_order() {
    let rig = handshake(|hit| {
        if hit.rpc() != "tools/call" {
            return None;
        }
        let token = hit.json()["params"]["_meta"]["progressToken"].clone();
        let mut parts = Vec::new();
        for step in 1..=5 {
            let params = json!({"progressToken": token, "progress": step});
            let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress",
                "params": params});
            parts.push(Part::event(&progress.to_string()));
        }
        parts.push(Part::event(&hit.result(&json!({"content": []}))));
        Some(Reply::sse(parts))
    })
    .await;
    let client = rig.client().await;
    let (sender, mut progress) = progress_channel();
    let call = client.tools().call("work", json!({})).progress_to(sender);
    call.await.expect("an answer");
    let mut steps = Vec::new();
    while let Some(step) = progress.recv().await {
        steps.push(step.progress.as_f64());
    }
    assert_eq!(steps, [1.0, 2.0, 3.0, 4.0, 5.0]);
}

#[tokio::test]
async fn a_stream_that_began_as_a_post_is_taken_up_by_get_after_the_wait_that_was_asked_for() {
    let answer = Arc::<Mutex<String>>::default();
    let kept = Arc::clone(&answer);
    let attempt = counter();
    let rig = handshake(
        move |hit| match (&*hit.rpc(), hit.header("last-event-id")) {
            ("tools/call", _) => {
                *lock(&kept) = hit.result(&json!({"content": [{"type": "text", "text": "late"}]}));
                let priming = Part::text("id: e-1\nretry: 300\ndata:\n\n");
                Some(Reply::sse([priming, Part::Cut]))
            }
            ("GET", Some(_)) => Some(match attempt() {
                1 => Reply::status(503),
                2 => Reply::sse([Part::text("id: e-2\nretry: 1\ndata: \n\n"), Part::Cut]),
                _ => Reply::sse([Part::event(&lock(&kept))]),
            }),
            _ => None,
        },
    )
    .await;
    let client = rig.client().await;
    let result = within(async { client.tools().call("slow", json!({})).await }).await;
    assert_eq!(result.expect("an answer").all_text(), "late");
    let calls = rig.named("tools/call");
    assert_eq!(calls.len(), 1, "a request is never repeated");
    let mut resumed = rig.named("GET");
    resumed.retain(|hit| hit.header("last-event-id").is_some());
    let places: Vec<_> = resumed
        .iter()
        .map(|hit| hit.header("last-event-id"))
        .collect();
    assert_eq!(places, [Some("e-1"), Some("e-1"), Some("e-2")]);
    let waited = resumed[0].at - calls[0].at;
    assert!(waited >= Duration::from_millis(300), "{waited:?}");
    for hit in resumed {
        assert_eq!(hit.header("mcp-session-id"), Some("knot-1"));
        assert_eq!(hit.header("mcp-protocol-version"), Some("2025-11-25"));
    }
}

#[tokio::test]
async fn a_stream_that_cannot_be_taken_up_loses_its_call() {
    let refuse: [fn(&Hit) -> Option<Reply>; 3] = [
        // No place to resume from.
        |hit| (hit.rpc() == "tools/call").then(|| Reply::sse([Part::text(": x\n\n"), Part::Cut])),
        // The server keeps nothing.
        |hit| {
            let priming = || Part::text("id: 1\ndata:\n\n");
            (hit.rpc() == "tools/call").then(|| Reply::sse([priming(), Part::Cut]))
        },
        // It lets the client come back, and says nothing.
        |hit| match &*hit.rpc() {
            "tools/call" => Some(Reply::sse([Part::text("id: 1\ndata:\n\n"), Part::Cut])),
            "GET" => Some(Reply::sse([Part::text(": nothing yet\n\n")])),
            _ => None,
        },
    ];
    for script in refuse {
        let rig = handshake(script).await;
        let client = rig.client().await;
        let lost = within(async { client.tools().call("slow", json!({})).await }).await;
        let error = lost.expect_err("lost");
        let cause = error.connection_error().expect("a cause");
        assert!(
            matches!(
                cause.kind(),
                ConnectionErrorKind::Eof | ConnectionErrorKind::Io(_)
            ),
            "{error}"
        );
        assert_eq!(rig.named("tools/call").len(), 1);
        client.tools().list().await.expect("the session is there");
        client.stop().await;
    }
}

#[tokio::test]
async fn the_stream_that_a_server_speaks_on_unasked_is_kept_open() {
    let (hold, feed) = mpsc::unbounded_channel::<String>();
    let feed = Mutex::new(Some(feed));
    let attempt = counter();
    let rig = handshake(move |hit| {
        if hit.rpc() != "GET" {
            return None;
        }
        let changed = |id: &str| Part::text(&format!("id: {id}\ndata: {CHANGED}\n\n"));
        Some(match attempt() {
            1 => Reply::sse([changed("a"), Part::Cut]),
            2 => Reply::status(502),
            3 => Reply::status(400),
            4 => Reply::sse([changed("b")]),
            _ => Reply::sse([changed("c"), Part::Feed(lock(&feed).take().expect("once"))]),
        })
    })
    .await;
    let client = builder().connect(rig.http()).await.expect("it connects");
    let mut notices = client.subscribe_to_list_changes();
    for _ in 0..2 {
        let notice = within(notices.next()).await.expect("a notice");
        assert_eq!(notice.method(), "notifications/tools/list_changed");
    }
    let gets = rig.until("GET", 5).await;
    let places: Vec<_> = gets.iter().map(|hit| hit.header("last-event-id")).collect();
    // A place that is refused is forgotten.
    assert_eq!(places, [None, Some("a"), Some("a"), None, Some("b")]);
    assert_eq!(client.health().sessions, 1);
    drop(hold);
}

#[tokio::test]
async fn a_server_asks_on_its_stream_and_is_answered_by_post() {
    let ask = json!({"jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create",
        "params": {"message": "Which?", "requestedSchema":
            {"type": "object", "properties": {"it": {"type": "string"}}}}})
    .to_string();
    let rig = handshake(move |hit| {
        (hit.rpc() == "GET").then(|| Reply::sse([Part::event(&ask), Part::Hold]))
    })
    .await;
    let builder = builder().on_elicit(|_| async { ElicitResult::decline() });
    let client = builder.connect(rig.http()).await.expect("it connects");
    let answer = rig.until("POST", 1).await.remove(0);
    assert_eq!(answer.json()["id"], "q-1");
    assert_eq!(answer.json()["result"]["action"], "decline");
    assert_eq!(answer.header("mcp-session-id"), Some("knot-1"));
    client.stop().await;
}

#[tokio::test]
async fn a_server_that_has_lost_the_stream_has_lost_the_session() {
    for status in [404, 400] {
        let attempt = counter();
        let rig = handshake(move |hit| {
            (hit.rpc() == "GET").then(|| match attempt() {
                1 => Reply::sse([Part::text(": hello\n\n"), Part::Cut]),
                2 => Reply::status(status),
                _ => Reply::sse([Part::Hold]),
            })
        })
        .await;
        let client = rig.client().await;
        let mut health = client.watch_health();
        let came_back = within(health.wait_for(|health| health.sessions == 2)).await;
        came_back.map(drop).expect("it comes back");
        assert_eq!(rig.named("initialize").len(), 2);
        client.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_stays_away_takes_the_link_along() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let address = listener.local_addr().expect("bound");
    let (cut, feed) = mpsc::unbounded_channel();
    let feed = Mutex::new(Some(feed));
    // One thread's worth of server, which ends with its runtime.
    let server = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async move {
            let listener = listener
                .into_std()
                .and_then(tokio::net::TcpListener::from_std);
            let (stop, mut stopped) = mpsc::unbounded_channel::<()>();
            super::rig::Rig::serve(listener.expect("a port"), move |hit| {
                let stop = stop.clone();
                match &*hit.rpc() {
                    "GET" => match lock(&feed).take() {
                        Some(feed) => Reply::sse([Part::Feed(feed)]),
                        None => {
                            let _ = stop.send(());
                            Reply::cut()
                        }
                    },
                    _ => super::rig::handshake_reply(hit),
                }
            });
            stopped.recv().await;
        });
    });
    let policy = ResumptionPolicy {
        initial_delay: Duration::from_millis(1),
        min_delay: Duration::from_millis(1),
        ..ResumptionPolicy::default()
    };
    let url = format!("http://{address}/mcp");
    let http = bowline::transport::Http::new(&url)
        .expect("a URL")
        .resumption(policy);
    let client = builder().connect(http).await.expect("it connects");
    drop(cut);
    let mut health = client.watch_health();
    let fell = within(health.wait_for(|health| health.last_disconnect.is_some())).await;
    let cause = fell
        .expect("it fell")
        .last_disconnect
        .clone()
        .expect("a cause");
    assert!(
        matches!(
            cause.kind(),
            ConnectionErrorKind::Unreachable(_) | ConnectionErrorKind::Io(_)
        ),
        "{cause}"
    );
    server.join().expect("it ended");
    client.stop().await;
}

#[tokio::test]
async fn the_stream_of_changes_comes_back_and_says_that_something_may_be_missing() {
    let attempt = counter();
    let rig = stateless(move |hit| {
        if hit.rpc() != "subscriptions/listen" {
            return None;
        }
        let id = hit.json()["id"].clone();
        let meta = json!({"io.modelcontextprotocol/subscriptionId": id});
        let told = |method: &str, mut params: serde_json::Value| {
            params["_meta"] = meta.clone();
            Part::event(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string())
        };
        let wanted = hit.json()["params"]["notifications"].clone();
        let acknowledged = "notifications/subscriptions/acknowledged";
        let acknowledged = told(acknowledged, json!({"notifications": wanted}));
        let updated = "notifications/resources/updated";
        Some(match attempt() {
            1 => Reply::sse([acknowledged, Part::Cut]),
            _ => {
                let updated = told(updated, json!({"uri": "file:///a"}));
                Reply::sse([acknowledged, updated, Part::Hold])
            }
        })
    })
    .await;
    let backoff = bowline::proto::client::Backoff::new(
        Duration::from_millis(1),
        Duration::from_millis(2),
        0.0,
    );
    let builder = builder().backoff(backoff.expect("a backoff"));
    let client = builder.connect(rig.http()).await.expect("it connects");
    let mut changes = client
        .resources()
        .subscribe("file:///a")
        .await
        .expect("subscribed");
    let mut seen = Vec::new();
    while seen.len() < 2 {
        seen.push(within(changes.next()).await.expect("a change"));
    }
    assert!(matches!(seen[0], Change::Missed), "{seen:?}");
    assert!(matches!(seen[1], Change::Updated(_)), "{seen:?}");
    let streams = rig.named("subscriptions/listen");
    assert_eq!(
        streams[0].header("mcp-method"),
        Some("subscriptions/listen")
    );
    assert_eq!(streams.len(), 2);
    client.stop().await;
}
