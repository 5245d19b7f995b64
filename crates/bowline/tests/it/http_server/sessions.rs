//! Sessions of the older revisions: how they begin, live and end.

use bowline::{proto::revision::Revision, server::http::HttpOptions};
use http::Method;
use serde_json::{Value, json};

use super::{
    rig::{Node, Session, initialize, post, text_of},
    tools::{workshop, workshop_with},
};

const VERSIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

#[tokio::test(start_paused = true)]
async fn a_session_lives_from_its_opening_to_its_deletion() {
    let it = workshop();
    let node = Node::new(&it.service);
    for version in VERSIONS {
        let answer = node.send(post(), initialize(version)).await;
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        assert!(id.len() >= 32 && id.bytes().all(|byte| byte.is_ascii_graphic()));
        assert_eq!(answer.json().await["result"]["protocolVersion"], version);
        let session = Session::open(&node, version).await;
        assert_eq!(node.http.session_count(), 2);
        let params = json!({"name": "echo", "arguments": {"message": "hi"}});
        let answer = session.ask(1, "tools/call", params).await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(text_of(&answer.json().await), "hi");
        let answer = session.ask(2, "ping", json!({})).await;
        assert_eq!(answer.json().await["result"], json!({}));
        for session in [
            &session,
            &Session {
                id,
                ..session.clone()
            },
        ] {
            assert_eq!(session.delete().await.status(), 204);
            assert_eq!(session.ask(3, "ping", json!({})).await.status(), 404);
            assert_eq!(session.get().await.status(), 404);
            assert_eq!(session.delete().await.status(), 404);
        }
        assert_eq!(node.http.session_count(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn requests_must_name_a_session_that_there_is() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let mut request = session.request(method.clone());
        request.headers_mut().unwrap().remove("mcp-session-id");
        let answer = node.send(request, body.clone()).await;
        assert_eq!(answer.status(), 400, "{method}");
        let (start, end) = session.id.split_at(session.id.len() - 1);
        let one_off = format!("{start}{}", if end == "0" { "1" } else { "0" });
        for guess in ["guess", &session.id[1..], &one_off, "*"] {
            let mut request = session.request(method.clone());
            let headers = request.headers_mut().unwrap();
            headers.insert("mcp-session-id", guess.parse().unwrap());
            let status = node.send(request, body.clone()).await.status();
            assert_eq!(status, 404, "{method} {guess}");
        }
        let twice = session
            .request(method.clone())
            .header("mcp-session-id", "x");
        assert_eq!(
            node.send(twice, body.clone()).await.status(),
            400,
            "{method}"
        );
    }
    assert_eq!(node.http.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_there_is_not_is_a_400() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-06-18").await;
    for method in [Method::POST, Method::GET, Method::DELETE] {
        let mut request = session.request(method.clone());
        let headers = request.headers_mut().unwrap();
        headers.insert("mcp-protocol-version", "1999-01-01".parse().unwrap());
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        let answer = node.send(request, body.to_string()).await;
        assert_eq!(answer.status(), 400, "{method}");
        let mut request = session.request(method.clone());
        request
            .headers_mut()
            .unwrap()
            .remove("mcp-protocol-version");
        let answer = node.send(request, body.to_string()).await;
        assert_ne!(answer.status(), 400, "{method}: none is fine");
    }
}

#[tokio::test(start_paused = true)]
async fn another_principals_session_is_not_there() {
    let it = workshop();
    let node = Node::new(&it.service);
    let (ada, bob) = (node.asked_by("ada"), node.asked_by("bob"));
    let session = Session::open(&ada, "2025-11-25").await;
    for thief in [&bob, &node] {
        let stolen = session.at(thief);
        assert_eq!(stolen.ask(1, "tools/list", json!({})).await.status(), 404);
        assert_eq!(stolen.get().await.status(), 404);
        assert_eq!(stolen.delete().await.status(), 404);
    }
    assert_eq!(session.ask(1, "tools/list", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn there_are_no_more_sessions_than_places() {
    let it = workshop();
    let options = HttpOptions {
        max_sessions: 2,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let one = Session::open(&node, "2025-11-25").await;
    let two = Session::open(&node, "2025-11-25").await;
    // The one that was idle for longest gives way.
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert_eq!(one.ask(1, "ping", json!({})).await.status(), 200);
    Session::open(&node, "2025-11-25").await;
    assert_eq!(node.http.session_count(), 2);
    tokio::time::advance(std::time::Duration::from_secs(1)).await;
    assert_eq!(one.ask(2, "ping", json!({})).await.status(), 200);
    assert_eq!(two.ask(1, "ping", json!({})).await.status(), 404);
    // Who is connected stays, and then there is no room.
    let three = Session::open(&node, "2025-11-25").await;
    let _streams = (one.get().await, three.get().await);
    let refused = node.send(post(), initialize("2025-11-25")).await;
    assert_eq!(refused.status(), 503);
    one.delete().await;
    Session::open(&node, "2025-11-25").await;
}

#[tokio::test(start_paused = true)]
async fn an_opening_that_fails_leaves_nothing() {
    let it = workshop();
    let options = HttpOptions {
        max_sessions: 1,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    for _ in 0..3 {
        let bad = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}});
        let answer = node.send(post(), bad.to_string()).await;
        assert_eq!(answer.header("mcp-session-id"), None);
        assert_eq!(answer.error().await["code"], -32602);
    }
    assert_eq!(node.http.session_count(), 0);
    let session = Session::open(&node, "2025-11-25").await;
    let again = node
        .send(session.request(Method::POST), initialize("2025-11-25"))
        .await;
    assert_eq!(again.error().await["code"], -32600, "a session opens once");
}

#[tokio::test(start_paused = true)]
async fn notifications_and_answers_are_taken_without_an_answer() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let answers = [
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}),
        json!({"jsonrpc": "2.0", "method": "no/such"}),
    ];
    for message in answers {
        let answer = session.post(&message).await;
        assert_eq!(answer.status(), 202);
        assert_eq!(answer.text().await, "");
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_many_calls_of_a_session_run_at_once() {
    let mut it = workshop_with(|server| server.max_concurrent_calls(2));
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let other = Session::open(&node, "2025-11-25").await;
    let mut answers = Vec::new();
    for id in 1..=4 {
        answers.push(session.call(id, "wait").await);
    }
    assert_eq!(it.alive(), 2);
    let mine = other.call(1, "wait").await;
    assert_eq!(it.alive(), 3, "one client's calls do not hold up another's");
    drop(mine);
    for _ in 0..5 {
        it.open();
    }
    for mut answer in answers {
        assert_eq!(text_of(&answer.message().await.unwrap()), "waited");
    }
    it.started().await;
}

#[tokio::test(start_paused = true)]
async fn calls_that_arrive_together_are_answered_each_in_its_place() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let one = |id: u32| {
        let session = session.clone();
        async move {
            let message = format!("number {id}");
            let params = json!({"name": "echo", "arguments": {"message": message}});
            let answer = session.ask(id, "tools/call", params).await.json().await;
            assert_eq!((&answer["id"], text_of(&answer)), (&json!(id), &*message));
        }
    };
    let all: Vec<_> = (0..200).map(|id| tokio::spawn(one(id))).collect();
    for task in all {
        task.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn even_from_several_threads() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let one = |lane: u32| {
        let session = session.clone();
        async move {
            for number in 0..200 {
                let id = lane * 1000 + number;
                let message = format!("number {id}");
                let params = json!({"name": "echo", "arguments": {"message": message}});
                let answer = session.ask(id, "tools/call", params).await.json().await;
                assert_eq!((&answer["id"], text_of(&answer)), (&json!(id), &*message));
            }
        }
    };
    let lanes: Vec<_> = (0..4).map(|lane| tokio::spawn(one(lane))).collect();
    for lane in lanes {
        lane.await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_called_off_ends_its_stream_without_an_answer() {
    let mut it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    // Once as a stream, once before there is one.
    let mut shown = session.call(1, "tell_and_wait").await;
    it.started().await;
    shown.message().await.unwrap();
    let waiting = tokio::spawn({
        let session = session.clone();
        async move { session.call(2, "wait").await }
    });
    it.started().await;
    for id in [1, 2] {
        let off = json!({"requestId": id});
        let answer = session.notify("notifications/cancelled", off).await;
        assert_eq!(answer.status(), 202);
        it.dropped().await;
    }
    assert_eq!(shown.event().await, None);
    let answer = waiting.await.unwrap();
    assert!(answer.is_stream());
    assert_eq!(answer.text().await, "");
}

#[tokio::test(start_paused = true)]
async fn a_version_that_the_server_does_not_speak_is_a_400() {
    let spoken = [Revision::V2025_11_25, Revision::V2026_07_28];
    let it = workshop_with(|server| server.revisions(spoken));
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    for method in [Method::POST, Method::GET, Method::DELETE] {
        for version in ["2025-03-26", "2024-11-05"] {
            let mut request = session.request(method.clone());
            let headers = request.headers_mut().unwrap();
            headers.insert("mcp-protocol-version", version.parse().unwrap());
            let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
            let answer = node.send(request, body.to_string()).await;
            assert_eq!(answer.status(), 400, "{method} {version}");
        }
    }
    assert_eq!(node.http.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_client_introduces_itself_in_few_words() {
    let it = workshop();
    let node = Node::new(&it.service);
    let mut opening: Value = serde_json::from_str(&initialize("2025-11-25")).unwrap();
    // What a session is opened with is kept as long as the session.
    opening["params"]["capabilities"]["experimental"] = json!({"x": {"y": "z".repeat(1 << 20)}});
    let answer = node.send(post(), opening.to_string()).await;
    assert_eq!(answer.status(), 413);
    assert_eq!(node.http.session_count(), 0);
}
