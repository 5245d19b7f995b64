//! How a token is brought, and what those are told who bring it otherwise.

use http::Request;
use serde_json::json;

use super::rig::{ISSUER, Issuer, METADATA, Node, protected, stateless};
use bowline::{
    server::{
        auth::{AccessToken, TokenClaims, TokenVerifier, VerifyError},
        http::HttpOptions,
    },
    transport::BoxFuture,
};

#[tokio::test]
async fn who_brings_nothing_is_told_where_to_go() {
    let answer = Issuer::new("k").node().call("whoami").await;
    assert_eq!(answer.status(), 401);
    let expected = format!("Bearer resource_metadata=\"{METADATA}\", scope=\"mcp:use\"");
    assert_eq!(answer.headers("www-authenticate"), [expected]);
    let error = answer.json().await;
    assert_eq!(error["error"]["code"], -32600);
}

#[tokio::test]
async fn every_way_in_asks_for_a_token() {
    let node = Issuer::new("k").node();
    for method in ["POST", "GET", "DELETE"] {
        let request = Request::builder().method(method).uri("/mcp");
        let request = request
            .header("host", "localhost")
            .header("mcp-session-id", "guess");
        assert_eq!(node.send(request, "{").await.status(), 401, "{method}");
    }
    for method in [
        "server/discover",
        "tools/list",
        "subscriptions/listen",
        "no/such",
    ] {
        let answer = node.ask(method, json!({"notifications": {}})).await;
        assert_eq!(answer.status(), 401, "{method}");
    }
}

#[tokio::test]
async fn another_scheme_is_no_token() {
    let issuer = Issuer::new("k");
    let token = issuer.token("ada");
    for value in [
        format!("Basic {token}"),
        format!("DPoP {token}"),
        token.clone(),
    ] {
        let answer = issuer.node().authorized(&value).call("whoami").await;
        assert_eq!(answer.status(), 401);
        assert!(!answer.header("www-authenticate").unwrap().contains("error"));
    }
    for value in [format!("bearer {token}"), format!("BEARER  {token}")] {
        let answer = issuer.node().authorized(&value).call("whoami").await;
        assert_eq!(answer.status(), 200, "{value}");
    }
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_is_malformed() {
    let issuer = Issuer::new("k");
    let (node, token) = (issuer.node(), issuer.token("ada"));
    let malformed = [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {token} {token}"),
        format!("Bearer {token}, Bearer {token}"),
        format!("Bearer \"{token}\""),
        "Bearer =".to_owned(),
    ];
    for value in malformed {
        let answer = node.authorized(&value).call("whoami").await;
        assert_eq!(answer.status(), 400, "{value}");
        let challenge = answer.header("www-authenticate").unwrap();
        assert!(
            challenge.contains("error=\"invalid_request\""),
            "{challenge}"
        );
    }
    let (request, body) = stateless("tools/list", json!({}));
    let twice = request.header("authorization", format!("Bearer {token}"));
    assert_eq!(node.bearing(&token).send(twice, &body).await.status(), 400);
}

#[tokio::test]
async fn a_token_in_the_query_is_none() {
    let issuer = Issuer::new("k");
    let (node, token) = (issuer.node(), issuer.token("ada"));
    let at = |query: &str| {
        let (request, body) = stateless("tools/list", json!({}));
        (request.uri(format!("/mcp?{query}")), body)
    };
    let (request, body) = at(&format!("access_token={token}"));
    let answer = node.send(request, &body).await;
    assert_eq!(answer.status(), 401);
    assert!(!answer.header("www-authenticate").unwrap().contains("error"));
    let (request, body) = at(&format!("a=b&access_token={token}"));
    assert_eq!(
        node.bearing(&token).send(request, &body).await.status(),
        400
    );
    let (request, body) = at("a=b");
    assert_eq!(
        node.bearing(&token).send(request, &body).await.status(),
        200
    );
}

#[tokio::test]
async fn what_is_no_token_at_all_is_invalid() {
    let node = Issuer::new("k").node();
    for token in ["x", "a.b.c", "....", "e30.e30.e30"] {
        node.bearing(token)
            .refuses("invalid_token", "issuer of the token is unknown")
            .await;
    }
    let long = "a".repeat(40_000);
    node.bearing(&long)
        .refuses("invalid_token", "issuer of the token is unknown")
        .await;
}

/// Believes everybody, in words that do not fit into a header.
struct Talkative;

impl TokenVerifier for Talkative {
    fn issuer(&self) -> &str {
        ISSUER
    }

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        assert_eq!(format!("{token:?}"), "AccessToken(…)");
        let verified = match token.secret() {
            "quotes" => Err(VerifyError::Invalid("a \"b\"\r\nX-Evil: é, scope=\\")),
            "stranger" => Ok(TokenClaims::new("https://elsewhere.example", "ada")),
            _ => Ok(TokenClaims::new(ISSUER, "ada")),
        };
        Box::pin(std::future::ready(verified))
    }
}

#[tokio::test]
async fn a_verifier_of_ones_own_cannot_break_the_rules() {
    let node = Node::new(protected().verifier(Talkative));
    let answer = node.bearing("quotes").call("whoami").await;
    let challenge = answer.header("www-authenticate").unwrap();
    assert!(
        challenge.contains("error_description=\"a bX-Evil: , scope=\""),
        "{challenge}"
    );
    node.bearing("stranger")
        .refuses("invalid_token", "issuer")
        .await;
    // It forgot to say whom the token is for.
    node.bearing("x").refuses("invalid_token", "audience").await;
}

#[tokio::test]
async fn pages_can_ask_whether_they_may_ask_and_read_the_refusal() {
    let issuer = Issuer::new("k");
    let protection = protected().verifier(issuer.verifier()).build().unwrap();
    let node = Node::with(HttpOptions {
        protection: Some(protection),
        cors: true,
        ..HttpOptions::default()
    });
    let browser = |method: &str| {
        let request = Request::builder().method(method).uri("/mcp");
        request
            .header("host", "localhost")
            .header("origin", "http://localhost:5000")
    };
    let preflight = node.send(browser("OPTIONS"), "").await;
    assert_eq!(preflight.status(), 204);
    let refused = node.send(browser("POST"), "").await;
    assert_eq!(refused.status(), 401);
    let allowed = refused.header("access-control-allow-origin");
    assert_eq!(allowed, Some("http://localhost:5000"));
}
