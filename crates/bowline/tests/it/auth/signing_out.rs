//! Signing out.

use bowline::auth::{MemoryStore, OAuth};
use serde_json::Value;

use super::{Scene, authority::get, call};
use crate::http_client::rig::within;

#[tokio::test]
async fn who_leaves_takes_back_what_they_had() {
    let mut scene = Scene::set().await;
    let store = MemoryStore::new();
    scene.oauth = scene.oauth.clone().store(store.clone());
    let client = scene.connected().await;
    call(&client).await.expect("they are let in");
    let shown = scene.shop.rig.hits().pop().expect("a request");
    let shown = shown.header("authorization").expect("a token").to_owned();
    let token = shown.trim_start_matches("Bearer ");
    let url = scene.shop.url();
    assert!(scene.guard.scope_of(token, &url).is_some(), "it is good");

    within(scene.oauth.sign_out(&url)).await.expect("out");
    assert_eq!(scene.guard.scope_of(token, &url), None, "it is revoked");
    let asked = scene.guard.asked("/revoke");
    let [asked] = &*asked else {
        panic!("once: {asked:?}");
    };
    let form = super::authority::query(&format!("?{}", String::from_utf8_lossy(&asked.body)));
    assert_eq!(get(&form, "token_type_hint"), Some("refresh_token"));
    assert!(get(&form, "token").is_some_and(|token| token.starts_with("refresh-")));
    assert!(get(&form, "client_id").is_some());
    assert_eq!(
        within(scene.oauth.sign_in_status(&url))
            .await
            .expect("known"),
        None
    );

    let another = OAuth::new("Knots").store(store);
    assert_eq!(
        within(another.sign_in_status(&url)).await.expect("known"),
        None
    );
    within(another.sign_out(&url)).await.expect("nothing to do");
    assert_eq!(scene.guard.asked("/revoke").len(), 1);
}

#[tokio::test]
async fn a_guard_that_cannot_be_told_holds_up_nobody() {
    let changes: [fn(&mut Value); 4] = [
        |said| said["revocation_endpoint"] = Value::Null,
        |said| said["revocation_endpoint"] = "https://169.254.169.254/revoke".into(),
        |said| said["revocation_endpoint"] = "http://as.example/revoke".into(),
        |said| said["issuer"] = "https://attacker.example".into(),
    ];
    for change in changes {
        let scene = Scene::set().await;
        let url = scene.shop.url();
        within(scene.oauth.sign_in(&url)).await.expect("signed in");
        scene.guard.books().metadata = change;
        within(scene.oauth.sign_out(&url)).await.expect("out");
        assert_eq!(
            within(scene.oauth.sign_in_status(&url))
                .await
                .expect("known"),
            None
        );
        assert_eq!(scene.guard.asked("/revoke").len(), 0);
    }
}

#[tokio::test]
async fn what_another_has_renewed_meanwhile_is_forgotten_too() {
    let mut scene = Scene::set().await;
    let (store, url) = (MemoryStore::new(), scene.shop.url());
    scene.oauth = scene.oauth.clone().store(store.clone());
    within(scene.oauth.sign_in(&url)).await.expect("signed in");
    let other = OAuth::new("Knots").store(store.clone());
    within(other.refresh(&url)).await.expect("renewed");
    within(scene.oauth.sign_out(&url)).await.expect("out");
    let third = OAuth::new("Knots").store(store);
    assert_eq!(
        within(third.sign_in_status(&url)).await.expect("known"),
        None
    );
    let error = within(other.refresh(&url))
        .await
        .expect_err("it is revoked");
    assert!(error.to_string().contains("invalid_grant"), "{error}");
    assert_eq!(scene.guard.books().reused, 0, "the newest was shown");
}
