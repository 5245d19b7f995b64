//! Authorization servers that have forgotten who we are.

use bowline::auth::{MemoryStore, OAuth};

use super::{Scene, call};
use crate::http_client::rig::within;

#[tokio::test]
async fn who_is_forgotten_registers_again_before_the_user_is_sent() {
    let mut scene = Scene::set().await;
    let (store, url) = (MemoryStore::new(), scene.shop.url());
    scene.oauth = scene.oauth.clone().store(store.clone());
    within(scene.oauth.sign_in(&url)).await.expect("signed in");
    within(scene.oauth.sign_out(&url)).await.expect("out");
    scene.guard.forget_all();

    // A new process, which has what is in the store.
    scene.oauth = OAuth::new("Knots")
        .user_agent(scene.user.clone())
        .store(store);
    within(scene.oauth.sign_in(&url)).await.expect("signed in");
    assert_eq!(scene.guard.asked("/register").len(), 2);
    assert_eq!(scene.user.visits(), 2, "the page is shown once each time");
}

#[tokio::test]
async fn a_connection_survives_that_we_are_forgotten() {
    let scene = Scene::set().await;
    let client = scene.connected().await;
    scene.guard.forget_all();
    call(&client).await.expect("they sign in again");
    assert_eq!(scene.guard.asked("/register").len(), 2);
}

#[tokio::test]
async fn who_is_known_is_registered_once_and_looked_up_apart_from_the_user() {
    let mut scene = Scene::set().await;
    let (store, url) = (MemoryStore::new(), scene.shop.url());
    scene.oauth = scene.oauth.clone().store(store.clone());
    within(scene.oauth.sign_in(&url)).await.expect("signed in");
    within(scene.oauth.sign_out(&url)).await.expect("out");
    within(scene.oauth.sign_in(&url)).await.expect("signed in");
    assert_eq!(scene.guard.asked("/register").len(), 1);
    let visits = scene.guard.visits();
    let states: Vec<_> = visits
        .iter()
        .map(|visit| super::authority::get(visit, "state"))
        .collect();
    assert_eq!(states.len(), 3, "two by the user, one by us");
    assert_ne!(states[1], states[2]);
    assert_eq!(scene.guard.grants("authorization_code").len(), 2);
}

#[tokio::test]
async fn a_registration_can_be_forgotten_signed_in_or_not() {
    for signed_in in [true, false] {
        let mut scene = Scene::set().await;
        let (store, url) = (MemoryStore::new(), scene.shop.url());
        scene.oauth = scene.oauth.clone().store(store.clone());
        if signed_in {
            within(scene.oauth.sign_in(&url)).await.expect("signed in");
            within(scene.oauth.sign_out(&url)).await.expect("out");
        } else {
            scene.guard.books().redirect = |back| {
                *back = vec![("error".to_owned(), "access_denied".to_owned())];
            };
            within(scene.oauth.sign_in(&url))
                .await
                .expect_err("refused");
            scene.guard.books().redirect = |_| {};
        }
        let forgetting = scene.oauth.forget_registration(&url);
        within(forgetting).await.expect("forgotten");
        within(scene.oauth.sign_in(&url)).await.expect("signed in");
        assert_eq!(scene.guard.asked("/register").len(), 2, "{signed_in}");
    }
}
