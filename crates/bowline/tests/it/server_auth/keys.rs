//! The keys of an issuer: fetched, kept, changed, and gone.

use std::time::Duration;

use bowline::server::auth::{JwtVerifier, KeySource};
use serde_json::json;

use super::rig::{ISSUER, Issuer, Node, Published, protected};

const JWKS: &str = "/jwks.json";

fn publish(published: &Published, issuers: &[&Issuer]) {
    let keys: Vec<_> = issuers
        .iter()
        .map(|it| it.key.public_key().to_jwk())
        .collect();
    published.put(JWKS, json!({"keys": keys}));
}

fn node(published: &Published) -> Node {
    let keys = KeySource::from_url("https://login.example.com/jwks.json", published.clone());
    Node::new(protected().verifier(JwtVerifier::new(ISSUER, keys)))
}

#[tokio::test(start_paused = true)]
async fn keys_are_fetched_once_for_many_tokens() {
    let (issuer, published) = (Issuer::new("a"), Published::default());
    publish(&published, &[&issuer]);
    let node = node(&published);
    let calls: Vec<_> = (0..20)
        .map(|number| {
            let node = node.bearing(&issuer.token(&format!("user-{number}")));
            tokio::spawn(async move { node.call("whoami").await.status() })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(published.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_found_and_an_unknown_one_does_not_make_work() {
    let (old, new, forger) = (Issuer::new("old"), Issuer::new("new"), Issuer::new("x"));
    let published = Published::default();
    publish(&published, &[&old]);
    let node = node(&published);
    node.bearing(&old.token("ada")).whoami().await;
    assert_eq!(published.count(), 1);
    // The issuer changes its key. The next look may come half a minute later.
    publish(&published, &[&old, &new]);
    tokio::time::advance(Duration::from_secs(31)).await;
    node.bearing(&new.token("ada")).whoami().await;
    node.bearing(&old.token("ada")).whoami().await;
    assert_eq!(published.count(), 2);
    // Tokens with keys that nobody has.
    tokio::time::advance(Duration::from_secs(31)).await;
    for _ in 0..50 {
        let node = node.bearing(&forger.token("ada"));
        node.refuses("invalid_token", "signed").await;
    }
    assert_eq!(published.count(), 3);
    node.bearing(&new.token("ada")).whoami().await;
}

#[tokio::test(start_paused = true)]
async fn a_key_that_was_withdrawn_is_good_no_longer() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let published = Published::default();
    publish(&published, &[&old]);
    let node = node(&published);
    node.bearing(&old.token("ada")).whoami().await;
    publish(&published, &[&new]);
    tokio::time::advance(Duration::from_secs(10 * 60)).await;
    node.bearing(&old.token("ada"))
        .refuses("invalid_token", "signed")
        .await;
    node.bearing(&new.token("ada")).whoami().await;
}

#[tokio::test(start_paused = true)]
async fn old_keys_do_for_a_while_if_no_others_can_be_had() {
    let (issuer, published) = (Issuer::new("a"), Published::default());
    publish(&published, &[&issuer]);
    let node = node(&published);
    node.bearing(&issuer.token("ada")).whoami().await;
    published.down(true);
    tokio::time::advance(Duration::from_secs(59 * 60)).await;
    node.bearing(&issuer.token("ada")).whoami().await;
    tokio::time::advance(Duration::from_secs(61)).await;
    let answer = node.bearing(&issuer.token("ada")).call("whoami").await;
    assert_eq!(answer.status(), 503);
    // It is not the token's fault.
    assert_eq!(answer.header("www-authenticate"), None);
    assert_eq!(answer.header("retry-after"), Some("5"));
    published.down(false);
    tokio::time::advance(Duration::from_secs(31)).await;
    node.bearing(&issuer.token("ada")).whoami().await;
}

#[tokio::test(start_paused = true)]
async fn who_is_down_is_not_asked_for_every_request() {
    let (issuer, published) = (Issuer::new("a"), Published::default());
    published.down(true);
    let node = node(&published);
    for _ in 0..20 {
        let answer = node.bearing(&issuer.token("ada")).call("whoami").await;
        assert_eq!(answer.status(), 503);
    }
    assert_eq!(published.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_does_not_spoil_the_look_for_others() {
    let (issuer, published) = (Issuer::new("a"), Published::default());
    publish(&published, &[&issuer]);
    let node = node(&published).bearing(&issuer.token("ada"));
    let mut gone = Box::pin(node.call("whoami"));
    // Once: it goes to look, and is dropped there.
    let polled = std::future::poll_fn(|cx| {
        let polled = Future::poll(gone.as_mut(), cx);
        std::task::Poll::Ready(polled.is_pending())
    });
    assert!(polled.await);
    drop(gone);
    node.whoami().await;
    assert_eq!(published.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn keys_are_found_by_the_issuers_metadata() {
    let issuer = Issuer::new("a");
    let places = [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ];
    let name = "https://login.example.com/tenant";
    for place in places {
        let published = Published::default();
        publish(&published, &[&issuer]);
        let jwks = "https://keys.example.com/jwks.json";
        published.put(place, json!({"issuer": name, "jwks_uri": jwks}));
        let verifier = JwtVerifier::new(name, KeySource::discovered(published.clone()));
        let node = Node::new(protected().verifier(verifier));
        let token = issuer.token_with(|claims| claims["iss"] = name.into());
        node.bearing(&token).whoami().await;
        // One that says to be another issuer is not believed; nor are keys
        // fetched from where others can listen.
        for (issuer, jwks) in [(ISSUER, jwks), (name, "http://keys.example.com/jwks.json")] {
            published.put(place, json!({"issuer": issuer, "jwks_uri": jwks}));
            let verifier = JwtVerifier::new(name, KeySource::discovered(published.clone()));
            let node = Node::new(protected().verifier(verifier));
            let answer = node.bearing(&token).call("whoami").await;
            assert_eq!(answer.status(), 503);
        }
        let asked = published.requests();
        assert!(asked.iter().all(|(url, _, _)| url.starts_with("https://")));
    }
}

#[tokio::test(start_paused = true)]
async fn nobody_fetches_keys_for_the_tokens_of_others() {
    let published = Published::default();
    let node = node(&published);
    let stranger = Issuer::new("a").token_with(|it| it["iss"] = "https://evil.example".into());
    node.bearing(&stranger)
        .refuses("invalid_token", "issuer of the token is unknown")
        .await;
    assert_eq!(published.count(), 0);
}
