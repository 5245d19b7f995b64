//! Batches, which one revision has.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
};

use bowline::server::{
    Server, Tool,
    http::{ClientLimits, HttpOptions},
};
use serde_json::{Value, json};

use super::{
    rig::{Node, Session, post},
    tools::{workshop, workshop_with},
};

fn ask(id: u32, method: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method})
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_answered_in_one_stream() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    let echo = json!({"name": "echo", "arguments": {"message": "hi"}});
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": echo});
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let batch = json!([
        ask(1, "ping"),
        notice,
        ask(2, "tools/list"),
        call,
        ask(4, "no/such")
    ]);
    let answer = session.post(&batch).await;
    assert!(answer.is_stream());
    let mut ids: Vec<_> = answer
        .messages()
        .await
        .iter()
        .map(|message| message["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [1, 2, 3, 4]);
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_one_request_has_one_answer() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    for method in ["ping", "tools/list"] {
        let answer = session.post(&json!([ask(7, method)])).await.json().await;
        assert_eq!(answer["id"], 7);
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_notifications_has_none() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    let notice = json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"});
    let answer = json!({"jsonrpc": "2.0", "id": 5, "result": {}});
    let taken = session.post(&json!([notice, answer])).await;
    assert_eq!(taken.status(), 202);
}

#[tokio::test(start_paused = true)]
async fn a_batch_may_call_off_what_another_asked() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    let call = |id: u32| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "wait"}});
    let mut first = session.post(&json!([call(1), call(2)])).await;
    it.started().await;
    it.started().await;
    let off = |id: u32| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    let answer = session.post(&json!([off(1), ask(3, "ping")])).await;
    assert_eq!(answer.json().await["id"], 3);
    it.dropped().await;
    it.open();
    assert_eq!(first.message().await.unwrap()["id"], 2);
    assert_eq!(first.event().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_batch_may_call_off_what_it_asks_itself() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    let call =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}});
    let off =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let answer = session.post(&json!([call, off])).await;
    assert_eq!(answer.status(), 202, "there is nothing to answer");
    let answer = session.post(&json!([call, off, ask(2, "ping")])).await;
    assert_eq!(answer.json().await["id"], 2);
    assert_eq!(it.alive(), 0);
}

#[tokio::test(start_paused = true)]
async fn elsewhere_there_are_no_batches() {
    let it = workshop();
    let node = Node::new(&it.service);
    let batch = json!([ask(1, "ping"), ask(2, "ping")]);
    for version in ["2025-06-18", "2025-11-25"] {
        let session = Session::open(&node, version).await;
        let answer = session.post(&batch).await;
        assert_eq!(answer.status(), 400);
        assert_eq!(answer.error().await["code"], -32600);
    }
    let modern = post().header("mcp-protocol-version", "2026-07-28");
    assert_eq!(node.send(modern, batch.to_string()).await.status(), 400);
    assert_eq!(node.send(post(), batch.to_string()).await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn a_batch_holds_no_more_than_a_client_may_ask_at_once() {
    let it = workshop_with(|server| server.configure(|config| config.max_requests = 8));
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    // Each of these is short, and its refusal is not.
    let many = Value::from(vec![1; 9]);
    let answer = session.post(&many).await.json().await;
    assert_eq!(answer["error"]["code"], -32600);
    assert_eq!(answer.get("id"), Some(&Value::Null));
    let few = Value::from(vec![1; 8]);
    assert_eq!(session.post(&few).await.messages().await.len(), 8);
}

/// A schema that holds a value against others again and again: twice as often
/// with each level.
fn laborious(levels: usize) -> Value {
    let mut defs = serde_json::Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let twice = json!({"anyOf": [next, {"allOf": [next, true]}]});
        defs.insert(format!("d{level}"), twice);
    }
    defs.insert(format!("d{levels}"), json!({"type": "string"}));
    json!({"type": "object", "not": {"$ref": "#/$defs/d0"}, "$defs": defs})
}

fn calls(count: u32, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}});
    let call =
        |id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params.clone()});
    (0..count).map(call).collect()
}

#[tokio::test(start_paused = true)]
async fn the_checks_of_a_batch_have_one_budget_together() {
    let laborious = Tool::new("laborious")
        .description("Takes work to check")
        .input_schema(laborious(19))
        .handler(async |_| Ok("fits"));
    let server = Server::new("test", "1").tool(laborious);
    let node = Node::new(&server.build().expect("the server is sound"));
    let session = Session::open(&node, "2025-03-26").await;
    let alone = session.post(&calls(1, "laborious")).await.json().await;
    assert_eq!(alone["result"]["content"][0]["text"], "fits", "{alone}");
    let answers = session.post(&calls(20, "laborious")).await.messages().await;
    assert_eq!(answers.len(), 20);
    let too_much = |answer: &&Value| answer.to_string().contains("too much to check");
    let refused = answers.iter().filter(too_much).count();
    assert!((1..20).contains(&refused), "{refused} of 20 were refused");
    // The next one is as good as the first.
    let alone = session.post(&calls(1, "laborious")).await.json().await;
    assert_eq!(alone["result"]["content"][0]["text"], "fits", "{alone}");
}

/// Lets all run that can, once. `yield_now` would let them run until they have
/// nothing to do.
async fn turn() {
    let mut waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn others_get_their_turn_while_a_batch_is_looked_at() {
    let answered = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&answered);
    let it = workshop_with(|server| {
        server.observer(move |seen| {
            if seen.name() == "request.stop" {
                counts.fetch_add(1, Ordering::Relaxed);
            }
        })
    });
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    answered.store(0, Ordering::Relaxed);
    // What there is no tool for is answered where it is read.
    let batch = calls(500, "no such tool");
    let others = tokio::spawn(async move {
        let mut turns = Vec::new();
        while turns.last() != Some(&500) {
            turns.push(answered.load(Ordering::Relaxed));
            turn().await;
        }
        turns
    });
    let answers = session.post(&batch).await.messages().await;
    assert_eq!(answers.len(), 500);
    let turns = others.await.expect("no panic");
    let ids = answers.iter().map(|it| it["id"].as_u64());
    assert!(ids.eq((0..500).map(Some)), "they are answered in order");
    let longest = turns.windows(2).map(|it| it[1] - it[0]).max();
    assert!(longest <= Some(32), "so many without a pause: {longest:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_batch_asks_can_be_called_off_before_it_is_looked_at() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-03-26").await;
    let batch = calls(100, "no such tool");
    let off =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}});
    let reading = async { session.post(&batch).await.messages().await };
    let calling_off = async { session.post(&off).await.status() };
    let (answers, status) = tokio::join!(reading, calling_off);
    assert_eq!((answers.len(), status), (99, 202));
}

#[tokio::test(start_paused = true)]
async fn a_batch_is_charged_for_each_of_its_requests() {
    let it = workshop();
    let few = ClientLimits {
        max_request_bytes: 100_000,
        ..ClientLimits::default()
    };
    let options = HttpOptions {
        client_limits: few,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options).asked_by("mallory");
    let session = Session::open(&node, "2025-03-26").await;
    let few = calls(30, "no such tool");
    assert_eq!(session.post(&few).await.messages().await.len(), 30);
    let many = session.post(&calls(60, "no such tool")).await;
    assert_eq!(many.status(), 429);
    // What was refused, or answered, is not charged for any longer.
    assert_eq!(session.post(&few).await.messages().await.len(), 30);
}
