//! The whole way, over sockets: an issuer that publishes its keys, a server
//! that fetches them, and a client with a token.

use std::net::SocketAddr;

use axum::{
    Router,
    response::Redirect,
    routing::{any, get},
};
use bowline::{
    Client,
    server::{
        auth::{
            AddressScope, Fetch as _, FetchPolicy, FetchRequest, JwtVerifier, KeySource,
            Protection, WebFetch,
        },
        http::HttpOptions,
    },
    transport::Http,
};
use bytes::Bytes;
use http::Request;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::rig::{Issuer, Ran, service};

/// Serves an issuer's keys, and things that a good issuer does not do.
async fn publish(issuer: &Issuer) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let metadata = json!({
        "issuer": format!("http://{address}"), "jwks_uri": format!("http://{address}/keys?v=2"),
    });
    let keys = issuer.keys().to_json();
    let json = |value: Value| get(value.to_string());
    let app = Router::new()
        .route("/.well-known/openid-configuration", json(metadata))
        .route("/keys", json(keys))
        .route("/moved", any(Redirect::temporary("/keys")))
        .route("/large", get("x".repeat(300 * 1024)));
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

#[tokio::test]
async fn a_client_with_a_token_gets_in() {
    let issuer = Issuer::new("k");
    let login = format!("http://{}", publish(&issuer).await);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let resource = format!("http://{}/mcp", listener.local_addr().unwrap());
    let tokens = JwtVerifier::discover(&login).unwrap();
    tokens.prefetch_keys().await.unwrap();
    let protection = Protection::builder(&resource)
        .verifier(tokens)
        .build()
        .unwrap();
    let metadata = protection.metadata_url().to_owned();
    let http = service(&Ran::default()).http(HttpOptions {
        protection: Some(protection),
        ..HttpOptions::default()
    });
    tokio::spawn(async move { http.serve(listener).await });
    let token = issuer.token_with(|claims| {
        claims["iss"] = login.clone().into();
        claims["aud"] = resource.clone().into();
    });
    let way = Http::new(&resource).unwrap().bearer(&token).unwrap();
    let client = Client::builder().connect(way).await.unwrap();
    let said = client.tools().call("whoami", json!({})).await.unwrap();
    let said = serde_json::to_string(&said).unwrap();
    assert!(said.contains(&format!("{login} sub ada")), "{said}");
    client.stop().await;
    // Others do not, but learn where to go.
    let anonymous = Client::builder().connect(Http::new(&resource).unwrap());
    assert!(anonymous.await.is_err());
    let fetch = WebFetch::new().unwrap();
    let asked = Request::get(&metadata).body(Bytes::new()).unwrap();
    let asked = FetchRequest::new(asked, FetchPolicy::new(AddressScope::Anywhere));
    let document = fetch.fetch(asked).await.unwrap().into_body();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["authorization_servers"], json!([login]));
}

#[tokio::test]
async fn who_waits_for_the_keys_learns_what_is_wrong() {
    let issuer = Issuer::new("k");
    let address = publish(&issuer).await;
    let trouble = async |issuer: &str, keys: KeySource| {
        let verifier = JwtVerifier::new(issuer, keys);
        let trouble = verifier.prefetch_keys().await.unwrap_err();
        trouble.to_string()
    };
    let fetch = || WebFetch::new().unwrap();
    let login = format!("http://{address}");
    let at = |path: &str| KeySource::from_url(&format!("http://{address}/{path}"), fetch());
    // A redirect is not followed, and an answer without an end not read to it.
    assert!(trouble(&login, at("moved")).await.contains("307"));
    assert!(
        trouble(&login, at("large"))
            .await
            .contains("exceeds the limit")
    );
    assert!(trouble(&login, at("nothing")).await.contains("404"));
    let alias = format!("http://localhost:{}", address.port());
    let why = trouble(&alias, KeySource::discovered(fetch())).await;
    assert!(
        why.contains(&format!("another issuer: \"{login}\"")),
        "{why}"
    );
    let why = trouble(
        &login,
        KeySource::from_url("http://login.example.com/keys", fetch()),
    )
    .await;
    assert!(why.contains("https"), "{why}");
    assert!(
        JwtVerifier::new(&login, at("keys"))
            .prefetch_keys()
            .await
            .is_ok()
    );
}
