//! Authorization servers that have forgotten who we are.

use bowline::auth::{MemoryStore, OAuth};

use super::{Setup, call};
use crate::http_client::rig::within;

#[tokio::test]
async fn who_is_forgotten_registers_again_before_the_user_is_sent() {
    let mut setup = Setup::new().await;
    let (store, url) = (MemoryStore::new(), setup.shop.url());
    setup.oauth = setup.oauth.clone().store(store.clone());
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    within(setup.oauth.sign_out(&url)).await.expect("out");
    setup.guard.forget_all();

    // A new process, which has what is in the store.
    setup.oauth = OAuth::new("Knots")
        .user_agent(setup.user.clone())
        .store(store);
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    assert_eq!(setup.guard.asked("/register").len(), 2);
    assert_eq!(setup.user.visits(), 2, "the page is shown once each time");
}

#[tokio::test]
async fn a_connection_survives_that_we_are_forgotten() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    setup.guard.forget_all();
    call(&client).await.expect("they sign in again");
    assert_eq!(setup.guard.asked("/register").len(), 2);
}

#[tokio::test]
async fn who_is_known_is_registered_once_and_looked_up_apart_from_the_user() {
    let mut setup = Setup::new().await;
    let (store, url) = (MemoryStore::new(), setup.shop.url());
    setup.oauth = setup.oauth.clone().store(store.clone());
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    within(setup.oauth.sign_out(&url)).await.expect("out");
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    assert_eq!(setup.guard.asked("/register").len(), 1);
    let visits = setup.guard.visits();
    let states: Vec<_> = visits
        .iter()
        .map(|visit| super::authority::get(visit, "state"))
        .collect();
    assert_eq!(states.len(), 3, "two by the user, one by us");
    assert_ne!(states[1], states[2]);
    assert_eq!(setup.guard.grants("authorization_code").len(), 2);
}

#[tokio::test]
async fn a_registration_can_be_forgotten_signed_in_or_not() {
    for signed_in in [true, false] {
        let mut setup = Setup::new().await;
        let (store, url) = (MemoryStore::new(), setup.shop.url());
        setup.oauth = setup.oauth.clone().store(store.clone());
        if signed_in {
            within(setup.oauth.sign_in(&url)).await.expect("signed in");
            within(setup.oauth.sign_out(&url)).await.expect("out");
        } else {
            setup.guard.books().redirect = |back| {
                *back = vec![("error".to_owned(), "access_denied".to_owned())];
            };
            within(setup.oauth.sign_in(&url))
                .await
                .expect_err("refused");
            setup.guard.books().redirect = |_| {};
        }
        let forgetting = setup.oauth.forget_registration(&url);
        within(forgetting).await.expect("forgotten");
        within(setup.oauth.sign_in(&url)).await.expect("signed in");
        assert_eq!(setup.guard.asked("/register").len(), 2, "{signed_in}");
    }
}
