//! Batches, which one revision has.

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
