//! In the router of a framework, beside its metadata.

use axum::Router;
use bowline::server::http::HttpOptions;
use http::Request;
use serde_json::{Value, json};
use tower_service::Service as _;

use super::rig::{Issuer, METADATA, Ran, protected, service, stateless};

async fn send(app: &mut Router, request: Request<axum::body::Body>) -> (u16, Value) {
    let Ok(response) = app.as_service().call(request).await;
    let status = response.status().as_u16();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    let body = body.expect("a body");
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

#[tokio::test]
async fn a_router_serves_the_metadata_and_the_server() {
    let issuer = Issuer::new("k");
    let protection = protected().verifier(issuer.verifier()).build().unwrap();
    let mcp = service(&Ran::default()).http(HttpOptions {
        protection: Some(protection.clone()),
        ..HttpOptions::default()
    });
    let mut app = Router::new()
        .route_service("/mcp", mcp)
        .route_service(protection.metadata_path(), protection.metadata());
    let path = METADATA.strip_prefix("https://mcp.example.com").unwrap();
    let request = Request::get(path).body(axum::body::Body::empty()).unwrap();
    let (status, document) = send(&mut app, request).await;
    assert_eq!(
        (status, &document["resource"]),
        (200, &json!("https://mcp.example.com/mcp"))
    );
    let (request, body) = stateless("tools/call", json!({"name": "whoami", "arguments": {}}));
    let request = request.header("authorization", format!("Bearer {}", issuer.token("ada")));
    let (status, _) = send(&mut app, request.body(body.clone().into()).unwrap()).await;
    assert_eq!(status, 200);
    let (request, _) = stateless("tools/call", json!({"name": "whoami", "arguments": {}}));
    let (status, _) = send(&mut app, request.body(body.into()).unwrap()).await;
    assert_eq!(status, 401);
}
