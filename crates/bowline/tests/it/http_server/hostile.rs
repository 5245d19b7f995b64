//! Values that would be something else if they were believed.

use http::Method;
use serde_json::json;

use super::{
    rig::{Node, Session, initialize, post, stateless},
    tools::workshop,
};

#[tokio::test(start_paused = true)]
async fn texts_of_clients_do_not_break_out_of_events() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let token = "x\n\nevent: endpoint\ndata: /evil\r\nid: 1\r";
    let params = json!({"name": "tell_and_wait", "_meta": {"progressToken": token}});
    let mut answer = node.ask("tools/call", params).await;
    it.started().await;
    let event = answer.event().await.unwrap();
    assert_eq!((event.name, event.id), (None, None));
    let message: serde_json::Value = serde_json::from_slice(&event.data).unwrap();
    assert_eq!(message["params"]["progressToken"], token);
}

#[tokio::test(start_paused = true)]
async fn texts_of_clients_do_not_become_headers() {
    let it = workshop();
    let node = Node::new(&it.service);
    let evil = "2025-11-25\r\nset-cookie: a=b";
    let answer = node.send(post(), initialize(evil)).await;
    assert!(!answer.headers().contains_key("set-cookie"));
    let session = Session::open(&node, "2025-11-25").await;
    let answer = session.ask(1, evil, json!({})).await;
    assert!(!answer.headers().contains_key("set-cookie"));
    let names = ["content-type"];
    let all: Vec<_> = answer
        .headers()
        .keys()
        .map(http::HeaderName::as_str)
        .collect();
    assert_eq!(all, names);
}

#[tokio::test(start_paused = true)]
async fn bytes_that_are_no_text_in_headers_are_refused() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let bad = || http::HeaderValue::from_bytes(b"\xff\xfe").unwrap();
    for name in [
        "mcp-session-id",
        "mcp-protocol-version",
        "last-event-id",
        "host",
        "origin",
    ] {
        let mut request = session.request(Method::GET);
        request.headers_mut().unwrap().insert(name, bad());
        let status = node.send(request, "").await.status();
        assert!([400, 403].contains(&status), "{name}: {status}");
    }
    for name in [
        "mcp-method",
        "mcp-name",
        "mcp-protocol-version",
        "accept",
        "content-type",
    ] {
        let call = json!({"name": "echo", "arguments": {"message": "hi"}});
        let (mut request, body) = stateless("tools/call", call);
        request.headers_mut().unwrap().insert(name, bad());
        let status = node.send(request, body).await.status();
        assert!([400, 406, 415].contains(&status), "{name}: {status}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_of_a_megabyte_is_no_sessions() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let mut request = session.request(Method::POST);
    let long = "x".repeat(1 << 20).parse().unwrap();
    request
        .headers_mut()
        .unwrap()
        .insert("mcp-session-id", long);
    let answer = node.send(request, initialize("2025-11-25")).await;
    assert_eq!(answer.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn an_answer_over_the_limit_is_an_error() {
    let it = workshop();
    let node = Node::new(&it.service);
    let large = json!({"size": 17 * 1024 * 1024});
    let answer = node.call("large", large).await;
    assert_eq!(answer.error().await["code"], -32603);
}
