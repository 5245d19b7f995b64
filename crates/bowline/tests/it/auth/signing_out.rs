//! Signing out.

use bowline::auth::{MemoryStore, OAuth};
use serde_json::Value;

use super::{Setup, authority::get, call};
use crate::http_client::rig::within;

#[tokio::test]
async fn who_leaves_takes_back_what_they_had() {
    let mut setup = Setup::new().await;
    let store = MemoryStore::new();
    setup.oauth = setup.oauth.clone().store(store.clone());
    let client = setup.connected().await;
    call(&client).await.expect("they are let in");
    let shown = setup.shop.rig.hits().pop().expect("a request");
    let shown = shown.header("authorization").expect("a token").to_owned();
    let token = shown.trim_start_matches("Bearer ");
    let url = setup.shop.url();
    assert!(setup.guard.scope_of(token, &url).is_some(), "it is good");

    within(setup.oauth.sign_out(&url)).await.expect("out");
    assert_eq!(setup.guard.scope_of(token, &url), None, "it is revoked");
    let asked = setup.guard.asked("/revoke");
    let [asked] = &*asked else {
        panic!("once: {asked:?}");
    };
    let form = super::authority::query(&format!("?{}", String::from_utf8_lossy(&asked.body)));
    assert_eq!(get(&form, "token_type_hint"), Some("refresh_token"));
    assert!(get(&form, "token").is_some_and(|token| token.starts_with("refresh-")));
    assert!(get(&form, "client_id").is_some());
    assert_eq!(
        within(setup.oauth.sign_in_status(&url))
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
    assert_eq!(setup.guard.asked("/revoke").len(), 1);
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
        let setup = Setup::new().await;
        let url = setup.shop.url();
        within(setup.oauth.sign_in(&url)).await.expect("signed in");
        setup.guard.books().metadata = change;
        within(setup.oauth.sign_out(&url)).await.expect("out");
        assert_eq!(
            within(setup.oauth.sign_in_status(&url))
                .await
                .expect("known"),
            None
        );
        assert_eq!(setup.guard.asked("/revoke").len(), 0);
    }
}

#[tokio::test]
async fn what_another_has_renewed_meanwhile_is_forgotten_too() {
    let mut setup = Setup::new().await;
    let (store, url) = (MemoryStore::new(), setup.shop.url());
    setup.oauth = setup.oauth.clone().store(store.clone());
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    let other = OAuth::new("Knots").store(store.clone());
    within(other.refresh(&url)).await.expect("renewed");
    within(setup.oauth.sign_out(&url)).await.expect("out");
    let third = OAuth::new("Knots").store(store);
    assert_eq!(
        within(third.sign_in_status(&url)).await.expect("known"),
        None
    );
    let error = within(other.refresh(&url))
        .await
        .expect_err("it is revoked");
    assert!(format!("{error:#}").contains("invalid_grant"), "{error}");
    assert_eq!(setup.guard.books().reused, 0, "the newest was shown");
}
