//! Who gets in, and what those are told who do not: in both eras, in order.

use std::time::Duration;

use bowline::{
    proto::{http::OriginPolicy, revision::Revision},
    server::http::HttpOptions,
};
use bytes::Bytes;
use http::{Method, Request, request::Builder};
use serde_json::{Value, json};

use super::{
    rig::{BOTH, Chunks, Node, Session, initialize, post, stateless},
    tools::{workshop, workshop_with},
};

const LIST: &str = "tools/list";

/// The request with other headers, by name; an empty value takes one away.
fn with(request: Builder, changes: &[(&'static str, &str)]) -> Builder {
    let mut request = request;
    let headers = request.headers_mut().expect("headers");
    for (name, value) in changes {
        headers.remove(*name);
        if !value.is_empty() {
            headers.insert(*name, value.parse().expect("a value"));
        }
    }
    request
}

/// What a stateless request with other headers is told.
async fn told(
    node: &Node,
    method: &str,
    params: Value,
    changes: &[(&'static str, &str)],
) -> (u16, Value) {
    let (request, body) = stateless(method, params);
    let answer = node.send(with(request, changes), body).await;
    let status = answer.status();
    let body = answer.json().await;
    (status, body["error"]["code"].clone())
}

#[tokio::test(start_paused = true)]
async fn hosts_and_origins_of_others_are_refused_whatever_they_ask() {
    let it = workshop();
    let node = Node::new(&it.service);
    let session = Session::open(&node, "2025-11-25").await;
    let forged: &[&[(&str, &str)]] = &[
        &[("host", "evil.example.com")],
        &[("host", "localhost.evil.example.com")],
        &[("host", "localhost@evil.example.com")],
        &[("host", "")],
        &[("origin", "http://evil.example.com")],
        &[("origin", "null")],
        &[("origin", "http://localhost.evil.example.com")],
        &[("origin", "http://localhost:3000/path")],
    ];
    for changes in forged {
        let (status, code) = told(&node, LIST, json!({}), changes).await;
        assert_eq!((status, code), (403, json!(-32600)), "{changes:?}");
        for method in [
            Method::POST,
            Method::GET,
            Method::DELETE,
            Method::OPTIONS,
            Method::PUT,
        ] {
            let request = with(session.request(method), changes);
            let answer = node.send(request, initialize("2025-11-25")).await;
            assert_eq!(answer.status(), 403, "{changes:?}");
        }
    }
    assert_eq!(node.http.session_count(), 1, "nothing was ended or opened");
    for changes in [
        &[
            ("host", "127.0.0.1:8080"),
            ("origin", "http://localhost:5173"),
        ][..],
        &[("host", "[::1]:1"), ("origin", "https://[::1]")],
    ] {
        let (request, body) = stateless(LIST, json!({}));
        assert_eq!(node.send(with(request, changes), body).await.status(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn two_hosts_are_none() {
    let it = workshop();
    let node = Node::new(&it.service);
    let (request, body) = stateless(LIST, json!({}));
    let answer = node.send(request.header("host", "localhost"), body).await;
    assert_eq!(answer.status(), 403);
}

#[tokio::test(start_paused = true)]
async fn a_server_behind_a_proxy_names_its_host() {
    let it = workshop();
    let origins = OriginPolicy::deny_all()
        .allow_host("mcp.example.com")
        .unwrap();
    let options = HttpOptions {
        origins,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let ask = async |host: &str| {
        let (request, body) = stateless(LIST, json!({}));
        node.send(with(request, &[("host", host)]), body)
            .await
            .status()
    };
    assert_eq!(ask("mcp.example.com").await, 200);
    assert_eq!(ask("localhost").await, 403);
    // With HTTP/2, the host stands in the address.
    let (request, body) = stateless(LIST, json!({}));
    let request = with(request, &[("host", "")]).uri("https://mcp.example.com/mcp");
    assert_eq!(node.send(request, body).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn only_three_methods_are_served() {
    let it = workshop();
    let node = Node::new(&it.service);
    for method in [
        Method::PUT,
        Method::PATCH,
        Method::HEAD,
        Method::OPTIONS,
        Method::TRACE,
    ] {
        let request = Request::builder()
            .method(method)
            .header("host", "localhost");
        let answer = node.send(request, "").await;
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.header("allow"), Some("POST, GET, DELETE"));
    }
}

#[tokio::test(start_paused = true)]
async fn bodies_are_json_and_clients_read_both() {
    let it = workshop();
    let node = Node::new(&it.service);
    for kind in [
        "",
        "text/plain",
        "application/jsonp",
        "application/json; charset=latin1",
    ] {
        let (request, body) = stateless(LIST, json!({}));
        let answer = node
            .send(with(request, &[("content-type", kind)]), body)
            .await;
        assert_eq!(answer.status(), 415, "{kind}");
    }
    for accept in [
        "",
        "application/json",
        "text/event-stream",
        "text/html",
        "*/*;q=0",
    ] {
        let (request, body) = stateless(LIST, json!({}));
        let answer = node.send(with(request, &[("accept", accept)]), body).await;
        assert_eq!(answer.status(), 406, "{accept}");
    }
    let changes = [
        ("content-type", "Application/JSON; charset=utf-8"),
        ("accept", "text/event-stream;q=0.1, */*"),
    ];
    let (request, body) = stateless(LIST, json!({}));
    assert_eq!(node.send(with(request, &changes), body).await.status(), 200);
    let session = Session::open(&node, "2025-06-18").await;
    let get = with(
        session.request(Method::GET),
        &[("accept", "application/json")],
    );
    assert_eq!(node.send(get, "").await.status(), 406);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_a_message_is_a_400() {
    let it = workshop();
    let node = Node::new(&it.service);
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{deep}}}"#);
    let cases: [(Bytes, i64); 10] = [
        ("".into(), -32700),
        ("{".into(), -32700),
        ("{nonsense}".into(), -32700),
        ("{} {}".into(), -32700),
        ("{}".into(), -32600),
        ("[]".into(), -32600),
        ("7".into(), -32600),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#.into(),
            -32600,
        ),
        (
            Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}"),
            -32600,
        ),
        (nested.into(), -32600),
    ];
    for (body, code) in cases {
        for request in [post(), stateless(LIST, json!({})).0] {
            let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
            let answer = node.send(request, body.clone()).await;
            assert_eq!(answer.status(), 400, "{shown}");
            assert_eq!(answer.error().await["code"], code, "{shown}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn deep_arguments_are_refused_and_nothing_else_happens() {
    let it = workshop();
    let node = Node::new(&it.service);
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let (request, body) = stateless(
        "tools/call",
        json!({"name": "echo", "arguments": {"message": 7}}),
    );
    let body = body.replace("\"message\":7", &format!("\"message\":{deep}"));
    let answer = node.send(request, body).await;
    assert!([200, 400].contains(&answer.status()));
    let answer = answer.json().await;
    assert!(
        answer["error"].is_object() || answer["result"]["isError"] == true,
        "{answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn large_bodies_are_refused_before_they_are_kept() {
    let it = workshop_with(|server| server.configure(|config| config.max_frame_size = 4096));
    let node = Node::new(&it.service);
    let (request, _) = stateless(LIST, json!({}));
    // As many as it takes: each piece is dropped when it is counted.
    let pieces = std::iter::repeat_n(Bytes::from(vec![b' '; 1024]), 100_000);
    let answer = node.send(request, Chunks::new(pieces)).await;
    assert_eq!(answer.status(), 413);
    let session = Session::open(&node, "2025-11-25").await;
    let answer = node
        .send(session.request(Method::POST), " ".repeat(5000))
        .await;
    assert_eq!(answer.status(), 413);
    let alive = session.ask(1, LIST, json!({})).await;
    assert_eq!(alive.status(), 200, "the session does not suffer for it");
}

#[tokio::test(start_paused = true)]
async fn slow_bodies_are_given_up() {
    let it = workshop();
    let options = HttpOptions {
        min_bytes_per_second: 0,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let (request, _) = stateless(LIST, json!({}));
    let began = tokio::time::Instant::now();
    let answer = node.send(request, Chunks::from("{").endless()).await;
    assert_eq!(answer.status(), 408);
    assert_eq!(began.elapsed(), Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn a_stateless_request_says_all_that_it_must() {
    let it = workshop();
    let node = Node::new(&it.service);
    let body = |meta: Value| {
        let params = json!({"_meta": meta});
        json!({"jsonrpc": "2.0", "id": "x", "method": LIST, "params": params}).to_string()
    };
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    for meta in [
        json!({}),
        json!({version: "2026-07-28"}),
        json!({capabilities: {}}),
    ] {
        let (request, _) = stateless(LIST, json!({}));
        let answer = node.send(request, body(meta)).await;
        assert_eq!(answer.status(), 400);
        let answer = answer.json().await;
        assert_eq!(answer["error"]["code"], -32602);
        assert_eq!(answer["id"], "x", "the id comes back");
    }
    let (request, _) = stateless(LIST, json!({}));
    let answer = node
        .send(request, body(json!({version: "v999", capabilities: {}})))
        .await;
    assert_eq!(answer.error().await["code"], -32020, "the header differs");
    let (request, _) = stateless(LIST, json!({}));
    let request = with(request, &[("mcp-protocol-version", "v999")]);
    let answer = node
        .send(request, body(json!({version: "v999", capabilities: {}})))
        .await;
    assert_eq!(answer.status(), 400);
    let error = answer.error().await;
    assert_eq!(
        (&error["code"], &error["data"]["requested"]),
        (&json!(-32022), &json!("v999"))
    );
}

#[tokio::test(start_paused = true)]
async fn headers_say_what_the_body_says() {
    let it = workshop();
    let node = Node::new(&it.service);
    let call = || json!({"name": "echo", "arguments": {"message": "hi"}});
    for changes in [
        ("mcp-protocol-version", ""),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", ""),
        ("mcp-method", "tools/list"),
        ("mcp-method", "TOOLS/CALL"),
        ("mcp-name", ""),
        ("mcp-name", "other"),
        ("mcp-name", "=?base64?!!?="),
    ] {
        let answer = told(&node, "tools/call", call(), &[changes]).await;
        assert_eq!(answer, (400, json!(-32020)), "{changes:?}");
    }
    let (request, body) = stateless("tools/call", call());
    let request = with(request, &[("mcp-name", "=?base64?ZWNobw==?=")]);
    assert_eq!(node.send(request, body).await.status(), 200);
    let (request, body) = stateless("tools/call", call());
    let twice = request.header("mcp-name", "echo");
    assert_eq!(node.send(twice, body).await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn methods_of_other_eras_and_none_are_404() {
    let it = workshop();
    let node = Node::new(&it.service);
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "no/such",
    ] {
        let answer = told(&node, method, json!({}), &[]).await;
        assert_eq!(answer, (404, json!(-32601)), "{method}");
    }
    let answer = told(&node, "tools/call", json!({"name": "none"}), &[]).await;
    assert_eq!(
        answer,
        (200, json!(-32602)),
        "a tool that is not there is no place"
    );
}

#[tokio::test(start_paused = true)]
async fn a_server_without_sessions_says_so() {
    let it = workshop_with(|server| server.revisions([Revision::V2026_07_28]));
    let node = Node::new(&it.service);
    let answer = node.send(post(), initialize("2025-11-25")).await;
    assert_eq!(answer.status(), 400);
    let error = answer.error().await;
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["supported"], json!(["2026-07-28"]));
    for method in [Method::GET, Method::DELETE] {
        let request = Request::builder()
            .method(method)
            .header("host", "localhost");
        let request = request.header("accept", BOTH).header("mcp-session-id", "x");
        let answer = node.send(request, "").await;
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    let old = json!({"jsonrpc": "2.0", "id": 1, "method": LIST}).to_string();
    let answer = node.send(post().header("mcp-session-id", "x"), old).await;
    assert_eq!(
        (answer.status(), answer.error().await["code"].clone()),
        (400, json!(-32602))
    );
    let batch = node.send(post(), "[{},{}]").await;
    assert_eq!(batch.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn a_server_of_sessions_alone_makes_newer_clients_fall_back() {
    let it = workshop_with(|server| server.revisions([Revision::V2025_11_25]));
    let node = Node::new(&it.service);
    let answer = told(&node, "server/discover", json!({}), &[]).await;
    assert_eq!(answer, (404, json!(-32601)));
    Session::open(&node, "2025-11-25").await;
}

#[tokio::test(start_paused = true)]
async fn of_several_faults_the_first_is_told() {
    let it = workshop();
    let options = HttpOptions {
        max_body_bytes: 10,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let faults = [
        ("host", "evil.example.com", 403),
        ("content-type", "text/plain", 415),
        ("accept", "text/html", 406),
    ];
    for number in 0..faults.len() {
        let changes: Vec<_> = faults[number..].iter().map(|it| (it.0, it.1)).collect();
        let request = with(post(), &changes);
        let answer = node.send(request, "{ this is not JSON").await;
        assert_eq!(answer.status(), faults[number].2);
    }
    assert_eq!(node.send(post(), "{ this is not JSON").await.status(), 413);
    assert_eq!(node.send(post(), "{").await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn bodies_that_are_compressed_are_refused() {
    let it = workshop();
    let node = Node::new(&it.service);
    for (encoding, status) in [("gzip", 415), ("br, identity", 415), ("identity", 200)] {
        let (request, body) = stateless(LIST, json!({}));
        let request = request.header("content-encoding", encoding);
        let answer = node.send(request, body).await;
        assert_eq!(answer.status(), status, "{encoding}");
        let accepted = (status == 415).then_some("identity");
        assert_eq!(answer.header("accept-encoding"), accepted);
    }
}
