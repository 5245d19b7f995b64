//! Pages in browsers, which must be told that they may.

use bowline::{proto::http::OriginPolicy, server::http::HttpOptions};
use http::{Request, request::Builder};
use serde_json::json;

use super::{
    rig::{Node, initialize, post, stateless},
    tools::workshop,
};

fn open_to_pages() -> HttpOptions {
    let origins = OriginPolicy::loopback();
    HttpOptions {
        origins: origins
            .allow_origin("https://app.example.com")
            .expect("an origin"),
        cors: true,
        ..HttpOptions::default()
    }
}

fn preflight(origin: &str) -> Builder {
    Request::options("/mcp")
        .header("host", "localhost")
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header(
            "access-control-request-headers",
            "content-type, mcp-method, mcp-param-region",
        )
}

#[tokio::test(start_paused = true)]
async fn browsers_are_told_nothing_unless_asked_for() {
    let it = workshop();
    let node = Node::new(&it.service);
    let (request, body) = stateless("tools/list", json!({}));
    let answer = node
        .send(request.header("origin", "http://localhost:1"), body)
        .await;
    assert_eq!(answer.status(), 200);
    assert!(!answer.headers().contains_key("access-control-allow-origin"));
    let answer = node.send(preflight("http://localhost:1"), "").await;
    assert_eq!(answer.status(), 405);
}

#[tokio::test(start_paused = true)]
async fn pages_of_allowed_origins_may_ask_and_read() {
    let it = workshop();
    let node = Node::with(&it.service, open_to_pages());
    let page = "https://app.example.com";
    let answer = node.send(preflight(page), "").await;
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("content-type, mcp-method, mcp-param-region")
    );
    let methods = answer.header("access-control-allow-methods").unwrap();
    assert!(methods.contains("POST") && methods.contains("DELETE"));
    assert_eq!(answer.header("vary"), Some("origin"));
    let request = post().header("origin", page);
    let answer = node.send(request, initialize("2025-11-25")).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
    let exposed = answer.header("access-control-expose-headers").unwrap();
    for name in [
        "mcp-session-id",
        "www-authenticate",
        "dpop-nonce",
        "retry-after",
    ] {
        assert!(exposed.split(", ").any(|it| it == name), "{exposed}");
    }
    // Refusals can be read, too.
    let request = post().header("origin", page);
    let answer = node.send(request, "nonsense").await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(page));
}

#[tokio::test(start_paused = true)]
async fn other_pages_may_not() {
    let it = workshop();
    let node = Node::with(&it.service, open_to_pages());
    for origin in ["https://evil.example.com", "http://app.example.com", "null"] {
        let answer = node.send(preflight(origin), "").await;
        assert_eq!(answer.status(), 403, "{origin}");
        assert!(!answer.headers().contains_key("access-control-allow-origin"));
    }
}
