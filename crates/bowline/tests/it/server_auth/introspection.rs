//! Tokens that only their issuer can read.

use std::time::Duration;

use bowline::server::auth::{IntrospectionVerifier, Protection};
use serde_json::{Value, json};

use super::rig::{ISSUER, Issuer, Node, Published, RESOURCE, claims, now, protected};

const ENDPOINT: &str = "https://login.example.com/introspect";

fn introspection(published: &Published) -> IntrospectionVerifier {
    IntrospectionVerifier::new(ISSUER, ENDPOINT, ("vault", "s:cret/+"), published.clone())
}

fn node(published: &Published) -> Node {
    Node::new(protected().verifier(introspection(published)))
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
    let assuming = introspection(&published).default_audience(RESOURCE);
    let node = Node::new(protected().verifier(assuming));
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
        .verifier(issuer.verifier())
        .verifier(introspection(&published));
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

const OTHER: &str = "https://id.example.org";

/// A second issuer, which knows what is published there.
fn other(published: &Published) -> IntrospectionVerifier {
    let endpoint = "https://id.example.org/introspect";
    IntrospectionVerifier::new(OTHER, endpoint, ("vault", "x"), published.clone())
}

#[tokio::test(start_paused = true)]
async fn a_token_is_shown_to_its_own_issuer_only() {
    let (ours, theirs) = (Published::default(), Published::default());
    ours.put("/introspect", json!({"active": false}));
    theirs.put("/introspect", active(|it| it["iss"] = OTHER.into()));
    let issuer = Issuer::new("k");
    let signed = issuer.token_with(|claims| claims["iss"] = OTHER.into());
    let stranger = issuer.token_with(|claims| claims["iss"] = "https://x.example".into());
    let both = protected()
        .verifier(introspection(&ours).token_prefix("own_"))
        .verifier(other(&theirs).token_prefix("org_"));
    let node = Node::new(both);
    // The second one's, by what it says of itself, and by how it begins.
    assert_eq!(node.bearing(&signed).whoami().await["issuer"], OTHER);
    assert_eq!(node.bearing("org_1").whoami().await["issuer"], OTHER);
    assert_eq!((ours.count(), theirs.count()), (0, 2));
    node.bearing("own_1")
        .refuses("invalid_token", "not active")
        .await;
    assert_eq!((ours.count(), theirs.count()), (1, 2));
    for token in [&*stranger, "nobodys"] {
        node.bearing(token)
            .refuses("invalid_token", "issuer of the token is unknown")
            .await;
    }
    assert_eq!((ours.count(), theirs.count()), (1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_token_is_shown_to_several_issuers_only_if_that_is_allowed() {
    let (ours, theirs) = (Published::default(), Published::default());
    ours.put("/introspect", json!({"active": false}));
    theirs.put("/introspect", active(|it| it["iss"] = OTHER.into()));
    let both = || {
        let both = Protection::builder(RESOURCE).verifier(introspection(&ours));
        both.verifier(other(&theirs))
    };
    let error = both()
        .build()
        .expect_err("it is not said whose tokens are whose");
    assert!(error.to_string().contains("token_prefix"), "{error}");
    let node = Node::new(both().share_opaque_tokens());
    assert_eq!(node.bearing("opaque").whoami().await["issuer"], OTHER);
    assert_eq!((ours.count(), theirs.count()), (1, 1));
    theirs.put("/introspect", json!({"active": false}));
    node.bearing("other")
        .refuses("invalid_token", "not active")
        .await;
    theirs.down(true);
    assert_eq!(node.bearing("third").call("whoami").await.status(), 503);
}

#[tokio::test(start_paused = true)]
async fn many_requests_with_one_token_are_one_question() {
    let published = Published::default();
    published.put("/introspect", active(|_| ()));
    let node = node(&published).bearing("opaque");
    let asked: Vec<_> = (0..20)
        .map(|_| {
            let node = node.clone();
            tokio::spawn(async move { node.call("whoami").await.status() })
        })
        .collect();
    for status in asked {
        assert_eq!(status.await.expect("an answer"), 200);
    }
    assert_eq!(published.count(), 1);
    // One that could not be answered is not kept.
    published.down(true);
    let node = node.bearing("another");
    let (one, two) = tokio::join!(node.call("whoami"), node.call("whoami"));
    assert_eq!((one.status(), two.status()), (503, 503));
    assert_eq!(published.count(), 2);
    published.down(false);
    node.whoami().await;
}

#[tokio::test(start_paused = true)]
async fn whoever_makes_tokens_up_does_not_have_the_issuer_asked_for_ever() {
    let published = Published::default();
    published.put("/introspect", active(|_| ()));
    let node = node(&published);
    node.bearing("good").whoami().await;
    published.put("/introspect", json!({"active": false}));
    for number in 0..500 {
        let made_up = node.bearing(&format!("made-up-{number}"));
        let status = made_up.call("whoami").await.status();
        assert_eq!(status, if number < 99 { 401 } else { 503 }, "{number}");
    }
    assert_eq!(published.count(), 100);
    // A token that was good is asked about all the same.
    published.put("/introspect", active(|_| ()));
    tokio::time::advance(Duration::from_secs(16)).await;
    for number in 0..100 {
        let made_up = node.bearing(&format!("more-{number}"));
        made_up.call("whoami").await;
    }
    node.bearing("good").whoami().await;
    assert_eq!(published.count(), 201);
    assert_eq!(node.bearing("late").call("whoami").await.status(), 503);
    tokio::time::advance(Duration::from_secs(1)).await;
    node.bearing("later").whoami().await;
}

#[tokio::test(start_paused = true)]
async fn one_caller_with_made_up_tokens_leaves_room_for_others() {
    let published = Published::default();
    published.put("/introspect", json!({"active": false}));
    let node = node(&published);
    let mallory = node.asked_from([192, 0, 2, 1]);
    let mut asked = 0;
    for number in 0..500 {
        let made_up = mallory.bearing(&format!("made-up-{number}"));
        asked += usize::from(made_up.call("whoami").await.status() == 401);
    }
    assert_eq!(asked, 25, "a quarter of what all may ask in a second");
    published.put("/introspect", active(|_| ()));
    let ada = node.asked_from([192, 0, 2, 2]);
    for number in 0..20 {
        ada.bearing(&format!("new-{number}")).whoami().await;
    }
    tokio::time::advance(Duration::from_secs(1)).await;
    mallory.bearing("honest").whoami().await;
}

#[tokio::test(start_paused = true)]
async fn made_up_tokens_do_not_hold_the_places_of_good_ones() {
    let published = Published::default();
    published.put("/introspect", active(|_| ()));
    let few = introspection(&published).max_concurrent_calls(4);
    let node = Node::new(protected().verifier(few));
    node.bearing("good").whoami().await;
    tokio::time::advance(Duration::from_secs(16)).await;
    // The issuer takes its time over these.
    published.never_answer("made-up");
    let made_up: Vec<_> = (0..50)
        .map(|number| {
            let node = node.bearing(&format!("made-up-{number}"));
            tokio::spawn(async move { node.call("whoami").await.status() })
        })
        .collect();
    tokio::task::yield_now().await;
    let began = tokio::time::Instant::now();
    node.bearing("good").whoami().await;
    assert_eq!(began.elapsed(), Duration::ZERO, "it had to wait");
    for status in made_up {
        assert_eq!(status.await.expect("an answer"), 503);
    }
}
