//! Tokens that only their issuer can read.

use std::time::Duration;

use bowline::server::auth::Introspection;
use serde_json::{Value, json};

use super::rig::{ISSUER, Issuer, Node, Published, RESOURCE, claims, now, protected};

const ENDPOINT: &str = "https://login.example.com/introspect";

fn introspection(published: &Published) -> Introspection {
    Introspection::new(ISSUER, ENDPOINT, ("vault", "s:cret/+"), published.clone())
}

fn node(published: &Published) -> Node {
    Node::new(protected().accept(introspection(published)))
}

fn active(change: impl FnOnce(&mut Value)) -> Value {
    let mut said = claims();
    said["active"] = json!(true);
    change(&mut said);
    said
}

#[tokio::test(start_paused = true)]
async fn the_issuer_is_asked_and_believed_for_a_while() {
    let published = Published::default();
    published.put("/introspect", active(|_| ()));
    let node = node(&published).bearing("opaque~1+/=");
    for _ in 0..5 {
        assert_eq!(node.whoami().await["subject"], "ada");
    }
    assert_eq!(published.count(), 1);
    let asked = &published.requests()[0];
    assert_eq!(asked.0, ENDPOINT);
    // "vault:s%3Acret%2F%2B", as Basic has it.
    assert_eq!(asked.1, "Basic dmF1bHQ6cyUzQWNyZXQlMkYlMkI=");
    assert_eq!(
        asked.2,
        "token=opaque%7E1%2B%2F%3D&token_type_hint=access_token"
    );
    // It was revoked meanwhile.
    published.put("/introspect", json!({"active": false}));
    tokio::time::advance(Duration::from_secs(16)).await;
    node.refuses("invalid_token", "not active").await;
    assert_eq!(published.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_the_issuer_says_must_hold() {
    let cases = [
        (
            json!({"active": false, "sub": "ada", "aud": RESOURCE}),
            "not active",
        ),
        (
            json!({"active": "true", "sub": "ada", "aud": RESOURCE}),
            "not active",
        ),
        (json!({"sub": "ada", "aud": RESOURCE}), "not active"),
        (
            active(|it| it["aud"] = "https://x.example".into()),
            "audience",
        ),
        (
            active(|it| drop(it.as_object_mut().unwrap().remove("aud"))),
            "audience",
        ),
        (
            active(|it| it["iss"] = "https://x.example".into()),
            "issuer",
        ),
        (active(|it| it["exp"] = json!(now() - 1)), "expired"),
        (active(|it| it["cnf"] = json!({"jkt": "x"})), "bound"),
    ];
    for (said, why) in cases {
        let published = Published::default();
        published.put("/introspect", said);
        node(&published)
            .bearing("opaque")
            .refuses("invalid_token", why)
            .await;
    }
}

#[tokio::test(start_paused = true)]
async fn answers_are_for_one_token_each_and_outlive_none() {
    let published = Published::default();
    published.put("/introspect", json!({"active": false}));
    let node = node(&published);
    node.bearing("one")
        .refuses("invalid_token", "not active")
        .await;
    node.bearing("one")
        .refuses("invalid_token", "not active")
        .await;
    assert_eq!(published.count(), 1);
    published.put("/introspect", active(|it| it["exp"] = json!(now() + 3)));
    node.bearing("two").whoami().await;
    node.bearing("two").whoami().await;
    assert_eq!(published.count(), 2);
    tokio::time::advance(Duration::from_secs(4)).await;
    node.bearing("two").whoami().await;
    assert_eq!(published.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_down_is_not_the_tokens_fault() {
    let published = Published::default();
    published.down(true);
    let node = node(&published).bearing("opaque");
    assert_eq!(node.call("whoami").await.status(), 503);
    published.down(false);
    // No answer at all, either.
    assert_eq!(node.call("whoami").await.status(), 503);
    published.put("/introspect", active(|_| ()));
    node.whoami().await;
}

#[tokio::test(start_paused = true)]
async fn an_audience_may_be_assumed_where_the_issuer_names_none() {
    let published = Published::default();
    published.put(
        "/introspect",
        active(|it| drop(it.as_object_mut().unwrap().remove("aud"))),
    );
    let assuming = introspection(&published).audience_unless_named(RESOURCE);
    let node = Node::new(protected().accept(assuming));
    node.bearing("one").whoami().await;
    published.put(
        "/introspect",
        active(|it| it["aud"] = "https://x.example".into()),
    );
    node.bearing("two")
        .refuses("invalid_token", "audience")
        .await;
}

#[tokio::test(start_paused = true)]
async fn signed_tokens_stand_beside_those_that_only_the_issuer_reads() {
    let (issuer, published) = (Issuer::new("k"), Published::default());
    published.put("/introspect", active(|it| it["sub"] = "bob".into()));
    let both = protected()
        .accept(issuer.verifier())
        .accept(introspection(&published));
    let node = Node::new(both);
    assert_eq!(
        node.bearing(&issuer.token("ada")).whoami().await["subject"],
        "ada"
    );
    assert_eq!(published.count(), 0);
    assert_eq!(node.bearing("opaque").whoami().await["subject"], "bob");
    // A signed token that is bad does not get a second chance.
    let expired = issuer.token_with(|claims| claims["exp"] = json!(now() - 60));
    node.bearing(&expired)
        .refuses("invalid_token", "expired")
        .await;
    assert_eq!(published.count(), 1);
}
