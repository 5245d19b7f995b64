//! Requests that speak for themselves: JSON, or a stream where it is needed.

use std::time::Duration;

use bowline::server::http::HttpOptions;
use serde_json::{Value, json};

use super::{
    rig::{Node, stateless, text_of},
    tools::{workshop, workshop_with},
};

#[tokio::test(start_paused = true)]
async fn one_answer_is_json() {
    let it = workshop();
    let node = Node::new(&it.service);
    let answer = node.call("echo", json!({"message": "hi"})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.header("mcp-session-id"), None, "there is no session");
    let answer = answer.json().await;
    assert_eq!(text_of(&answer), "hi");
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(node.http.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn lists_and_discovery_are_json() {
    let it = workshop();
    let node = Node::new(&it.service);
    let tools = node.result("tools/list", json!({})).await;
    assert!(tools["tools"].as_array().unwrap().len() > 5);
    assert_eq!(tools["cacheScope"], "private");
    let found = node.result("server/discover", json!({})).await;
    let versions = found["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")));
}

#[tokio::test(start_paused = true)]
async fn what_is_told_on_the_way_makes_a_stream() {
    let it = workshop();
    let node = Node::new(&it.service);
    let meta = json!({"progressToken": "p", "io.modelcontextprotocol/logLevel": "info"});
    let params = json!({"name": "chatty", "_meta": meta});
    let answer = node.ask("tools/call", params).await;
    assert_eq!(answer.status(), 200);
    assert!(answer.is_stream());
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert_eq!(
        answer.header("cache-control"),
        Some("no-cache, no-transform")
    );
    let messages = answer.messages().await;
    let told: Vec<_> = messages.iter().map(|it| &it["method"]).collect();
    let progress = json!("notifications/progress");
    let message = json!("notifications/message");
    assert_eq!(
        told,
        [&progress, &progress, &progress, &message, &Value::Null]
    );
    assert_eq!(text_of(&messages[4]), "done");
}

#[tokio::test(start_paused = true)]
async fn what_nobody_asked_to_hear_makes_none() {
    let it = workshop();
    let node = Node::new(&it.service);
    let answer = node.call("chatty", json!({})).await;
    assert_eq!(text_of(&answer.json().await), "done");
}

#[tokio::test(start_paused = true)]
async fn events_have_no_ids_in_this_era() {
    let it = workshop();
    let node = Node::new(&it.service);
    let params = json!({"name": "chatty", "_meta": {"progressToken": 1}});
    let mut answer = node.ask("tools/call", params).await;
    while let Some(event) = answer.event().await {
        assert_eq!((event.id, event.retry), (None, None));
        assert!(!event.data.is_empty(), "there is no priming either");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_long_becomes_a_stream_that_is_kept_alive() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let mut answer = node.call("wait", json!({})).await;
    it.started().await;
    assert!(answer.is_stream(), "patience has an end");
    for _ in 0..3 {
        assert_eq!(answer.chunk().await.unwrap(), ":\n\n");
    }
    it.open();
    assert_eq!(text_of(&answer.message().await.unwrap()), "waited");
    assert_eq!(answer.event().await, None, "the answer is the end");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_an_answer_in_json() {
    let it = workshop();
    let node = Node::new(&it.service);
    let asked = node.call("ask", json!({})).await.json().await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    let request = &asked["result"]["inputRequests"]["first"];
    assert_eq!(request["method"], "elicitation/create");
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_an_error_of_its_own_request() {
    let it = workshop();
    let node = Node::new(&it.service);
    let answer = node.call("fail", json!({})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.error().await["code"], -32603);
    let answer = node.call("echo", json!({"message": "still here"})).await;
    assert_eq!(text_of(&answer.json().await), "still here");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_read_costs_little() {
    let it = workshop();
    let node = Node::new(&it.service);
    let params = json!({"name": "flood", "_meta": {"progressToken": 1}});
    let answer = node.ask("tools/call", params).await;
    let messages = answer.messages().await;
    let told: usize = text_of(messages.last().unwrap()).parse().unwrap();
    assert_eq!(told + 1, messages.len());
    assert!((900..1_100).contains(&told), "the rest is dropped: {told}");
}

#[tokio::test(start_paused = true)]
async fn nothing_follows_the_answer() {
    let it = workshop_with(|server| {
        let tool = bowline::server::Tool::new("linger").description("Talks on");
        let tool = tool.no_input();
        server.tool(
            tool.handler_with_conversation(async |_, cx: bowline::server::Conversation| {
                cx.progress(1.0, None);
                let later = bowline::server::HandlerContext::clone(&cx);
                tokio::spawn(async move {
                    for step in 2..100 {
                        later.progress(f64::from(step), None);
                        tokio::task::yield_now().await;
                    }
                });
                tokio::task::yield_now().await;
                Ok("done")
            }),
        )
    });
    let node = Node::new(&it.service);
    let params = json!({"name": "linger", "_meta": {"progressToken": 1}});
    let mut answer = node.ask("tools/call", params).await;
    loop {
        let message = answer.message().await.expect("an answer");
        tokio::task::yield_now().await;
        if message.get("result").is_some() {
            break;
        }
    }
    assert_eq!(answer.event().await, None);
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_many_requests_are_worked_on_at_once() {
    let mut it = workshop();
    let options = HttpOptions {
        max_requests: 2,
        stream_after: Duration::from_millis(1),
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let one = node.call("wait", json!({})).await;
    let mut two = node.call("wait", json!({})).await;
    it.started().await;
    it.started().await;
    let refused = node.call("echo", json!({"message": "hi"})).await;
    assert_eq!(refused.status(), 503);
    drop(one);
    it.dropped().await;
    let answer = node.call("echo", json!({"message": "hi"})).await;
    assert_eq!(answer.status(), 200, "who goes away makes room");
    it.open();
    assert_eq!(text_of(&two.message().await.unwrap()), "waited");
    drop(two);
    let (one, two) = (node.call("wait", json!({})), node.call("wait", json!({})));
    let (one, two) = tokio::join!(one, two);
    assert_eq!((one.status(), two.status()), (200, 200), "who is done, too");
}

#[tokio::test(start_paused = true)]
async fn extensions_are_notified_without_a_session() {
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let it = workshop_with(|server| {
        server.on_notification("acme/news", move |notice| {
            let _ = sender.send((
                notice.method().to_owned(),
                notice.principal().map(Into::into),
            ));
            async {}
        })
    });
    let node = Node::new(&it.service).asked_by("ada");
    let notify = |method: &'static str| {
        let (request, body) = stateless(method, json!({}));
        let mut body: Value = serde_json::from_str(&body).unwrap();
        body.as_object_mut().unwrap().remove("id");
        node.send(request, body.to_string())
    };
    for method in ["acme/news", "acme/other", "notifications/cancelled"] {
        let answer = notify(method).await;
        assert_eq!(answer.status(), 202);
        assert_eq!(answer.text().await, "");
    }
    let ada: Option<Box<str>> = Some("ada".into());
    assert_eq!(heard.try_recv().unwrap(), ("acme/news".to_owned(), ada));
    assert!(heard.try_recv().is_err());
}

/// There are clients that forget a request when its answer is there, before they
/// look at what came in the same piece.
#[tokio::test(start_paused = true)]
async fn the_answer_comes_in_a_piece_of_its_own() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = super::rig::Session::open(&node, "2025-11-25").await;
    let params = json!({"name": "chatty", "_meta": {"progressToken": 1}});
    for mut answer in [
        node.ask("tools/call", params).await,
        session.call(1, "chatty").await,
    ] {
        assert!(answer.is_stream());
        let mut pieces = Vec::new();
        while let Some(piece) = answer.chunk().await {
            pieces.push(String::from_utf8(piece.to_vec()).unwrap());
        }
        let last = pieces.pop().unwrap();
        assert!(
            last.contains("\"result\"") && !last.contains("\"method\""),
            "{last}"
        );
        let before = pieces.concat();
        assert!(before.contains("notifications/progress") && !before.contains("\"result\""));
    }
}
