//! Tokens go no further than to whoever checks them.

use bowline::server::auth::{
    AccessToken, IntrospectionVerifier, Protection, TokenClaims, TokenVerifier, VerifyError,
};
use bowline::transport::BoxFuture;
use serde_json::json;

use super::rig::{ISSUER, Issuer, Node, Published, RESOURCE, Session, protected};

/// All that an answer says.
async fn said(answer: super::rig::Answer) -> String {
    let headers = [
        "www-authenticate",
        "location",
        "set-cookie",
        "mcp-session-id",
    ];
    let mut said: String = headers
        .iter()
        .flat_map(|name| answer.headers(name))
        .map(str::to_owned)
        .collect();
    said.push_str(&answer.text().await);
    said
}

#[tokio::test(start_paused = true)]
async fn no_refusal_repeats_a_token() {
    let issuer = Issuer::new("k");
    let node = issuer.node();
    let expired = issuer.token_with(|claims| claims["exp"] = 1.into());
    let other = issuer.token_with(|claims| claims["aud"] = "https://other.example.com".into());
    let narrow = issuer.token_with(|claims| claims["scope"] = "none".into());
    let forged = Issuer::new("k").token("ada");
    for token in ["hush", "hush.hush.hush", &expired, &other, &narrow, &forged] {
        for scheme in ["Bearer", "DPoP", "Basic", "bearer hush"] {
            let node = node.authorized(&format!("{scheme} {token}"));
            let answer = node.call("whoami").await;
            assert!((400..500).contains(&answer.status()));
            let said = said(answer).await;
            assert!(!said.contains(token), "{said}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_does_not_see_the_token() {
    let issuer = Issuer::new("k");
    let token = issuer.token("ada");
    let node = issuer.node().bearing(&token);
    let signature = token.rsplit('.').next().expect("a signature");
    let shown = node.whoami().await.to_string();
    assert!(
        shown.contains("ada") && !shown.contains(signature),
        "{shown}"
    );
    let session = Session::open(&node, "2025-11-25").await;
    let shown = session.call(1, "whoami").await.text().await;
    assert!(
        shown.contains("ada") && !shown.contains(signature),
        "{shown}"
    );
    assert!(!format!("{:?}", node.http).contains(signature));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_shown_to_its_issuer_and_to_nobody_else() {
    let published = Published::default();
    let active =
        json!({"active": true, "iss": ISSUER, "sub": "ada", "aud": RESOURCE, "scope": "mcp:use"});
    published.put("/introspect", active);
    let place = format!("{ISSUER}/introspect");
    let tokens = IntrospectionVerifier::new(ISSUER, &place, ("vault", "hush"), published.clone());
    let shown = format!("{tokens:?}");
    assert!(!shown.contains("hush"), "{shown}");
    let node = Node::new(protected().verifier(tokens));
    node.bearing("opaque-hush").whoami().await;
    for (url, authorization, body) in published.requests() {
        assert_eq!(url, place);
        assert!(!url.contains("opaque"), "{url}");
        assert!(!authorization.contains("opaque"), "{authorization}");
        assert!(body.contains("token=opaque-hush"), "{body}");
    }
    assert_eq!(published.count(), 1);
}

/// Says what it was shown, as careless code does.
struct Careless;

impl TokenVerifier for Careless {
    fn issuer(&self) -> &str {
        ISSUER
    }

    fn verify<'a>(
        &'a self,
        token: AccessToken<'a>,
    ) -> BoxFuture<'a, Result<TokenClaims, VerifyError>> {
        let words = format!("{token:?}");
        Box::pin(async move {
            let claims = TokenClaims::new(ISSUER, &words).with_audience(RESOURCE);
            Ok(claims.with_scopes(["mcp:use"]))
        })
    }
}

#[tokio::test(start_paused = true)]
async fn what_holds_a_token_does_not_print_it() {
    let protection = Protection::builder(RESOURCE)
        .verifier(Careless)
        .required_scopes(["mcp:use"]);
    assert!(!format!("{protection:?}").contains("hush"));
    let shown = Node::new(protection).bearing("hush").whoami().await;
    assert!(!shown.to_string().contains("hush"), "{shown}");
}
