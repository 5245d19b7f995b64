//! In the router of a framework, behind a layer that knows who asks.

use std::net::SocketAddr;

use axum::{
    Router,
    extract::{ConnectInfo, Request},
    middleware::{Next, from_fn},
    response::Response,
};
use bowline::server::http::{ClientLimits, HttpOptions, PeerSource, Principal};
use http::StatusCode;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{raw::Connection, rig::initialize, tools::workshop};

/// Knows everybody by their token.
async fn authenticate(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let header = request.headers().get("authorization");
    let token = header.and_then(|value| value.to_str().ok());
    let name = token.and_then(|token| token.strip_prefix("Bearer "));
    let principal = Principal(name.ok_or(StatusCode::UNAUTHORIZED)?.into());
    request.extensions_mut().insert(principal);
    Ok(next.run(request).await)
}

#[tokio::test]
async fn a_router_serves_it_beside_other_things() {
    let it = workshop();
    let app = Router::new()
        .route_service("/mcp", it.service.http(HttpOptions::default()))
        .layer(from_fn(authenticate));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    let mut connection = Connection::to(address).await;
    let anonymous = connection
        .post("/mcp", &[], &initialize("2025-11-25"))
        .await;
    assert_eq!(anonymous.status, 401);
    let ada = ("authorization", "Bearer ada");
    let bob = ("authorization", "Bearer bob");
    let answer = connection.post("/elsewhere", &[ada], "").await;
    assert_eq!(answer.status, 404);

    // A session is its opener's.
    let opened = connection
        .post("/mcp", &[ada], &initialize("2025-11-25"))
        .await;
    assert_eq!(opened.status, 200);
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let session = ("mcp-session-id", &*id);
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    assert_eq!(
        connection.post("/mcp", &[bob, session], &ping).await.status,
        404
    );
    assert_eq!(
        connection.post("/mcp", &[ada, session], &ping).await.status,
        200
    );

    // So is the state of a conversation.
    let mut params = json!({"name": "ask", "arguments": {}});
    let asked = connection.ask(&[ada], "tools/call", &params).await.json();
    params["requestState"] = asked["result"]["requestState"].clone();
    let accept = json!({"action": "accept", "content": {"colour": "red"}});
    params["inputResponses"] = json!({"first": accept});
    let refused = connection.ask(&[bob], "tools/call", &params).await.json();
    assert_eq!(refused["error"]["code"], -32602);
    let asked: Value = connection.ask(&[ada], "tools/call", &params).await.json();
    assert_eq!(asked["result"]["resultType"], "input_required");
    serving.abort();
}

#[tokio::test]
async fn a_router_that_knows_addresses_has_limits_for_each() {
    let it = workshop();
    let http = it.service.http(HttpOptions {
        peer_source: PeerSource::from_request(|parts| {
            let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>()?;
            Some(peer.0.ip())
        }),
        client_limits: ClientLimits {
            max_sessions: 1,
            ..ClientLimits::default()
        },
        ..HttpOptions::default()
    });
    let app = Router::new().route_service("/mcp", http.clone());
    let app = app.into_make_service_with_connect_info::<SocketAddr>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move { axum::serve(listener, app).await });
    for _ in 0..3 {
        let mut connection = Connection::to(address).await;
        let opened = connection
            .post("/mcp", &[], &initialize("2025-11-25"))
            .await;
        assert_eq!(opened.status, 200);
    }
    assert_eq!(http.session_count(), 1);
    serving.abort();
}

#[test]
fn the_service_is_what_frameworks_want() {
    fn check<T: Clone + Send + Sync + 'static>(_: &T) {}
    let it = workshop();
    check(&it.service.http(HttpOptions::default()));
}
