//! Signing in, staying signed in, and asking for more.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bowline::{
    auth::{
        AuthErrorKind, MemoryStore, OAuth, Secret, TokenStore, TokenStoreError, TokenStoreKey,
        TokenStoreLock,
    },
    transport::BoxFuture,
};
use tokio::sync::mpsc;

use super::{
    Setup,
    authority::{Authority, get},
    call,
};
use crate::http_client::rig::within;

#[tokio::test]
async fn a_user_signs_in_once_and_every_request_shows_the_token() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    call(&client).await.expect("they are let in");
    client.tools().list().await.expect("still");
    assert_eq!(setup.user.visits(), 1);
    let resource = setup.shop.url();
    let visit = &setup.guard.visits()[0];
    assert_eq!(get(visit, "resource"), Some(&*resource));
    assert_eq!(get(visit, "scope"), None, "nobody named one");
    let grant = &setup.guard.grants("authorization_code")[0];
    assert_eq!(get(grant, "resource"), Some(&*resource));
    let registration = setup.guard.asked("/register")[0].json();
    assert_eq!(registration["application_type"], "native");
    assert_eq!(registration["client_name"], "Knots");
    let served = setup.shop.rig.hits();
    let shown = served.iter().filter(|hit| hit.verb == "POST").skip(1);
    assert!(shown.clone().count() >= 3);
    for hit in shown {
        let header = hit.header("authorization").expect("a token");
        assert!(header.starts_with("Bearer access-hush-"));
        assert!(!hit.path.contains("hush"), "never in the query");
    }
}

#[tokio::test]
async fn the_resource_is_sent_as_it_is_written() {
    let setup = Setup::new().await;
    // The origin, without a slash at its end.
    setup.shop.counter().metadata = |metadata| {
        let resource = metadata["resource"].as_str().expect("one");
        metadata["resource"] = resource.trim_end_matches("/mcp").into();
    };
    // The shop itself does not know its tokens by that name.
    let _ = setup.connect().await;
    let origin = setup.shop.url().replace("/mcp", "");
    assert_eq!(get(&setup.guard.visits()[0], "resource"), Some(&*origin));
    let grants = setup.guard.grants("authorization_code");
    assert_eq!(get(&grants[0], "resource"), Some(&*origin));
}

#[tokio::test]
async fn tokens_that_are_refused_are_renewed_without_the_user() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    for _ in 0..5 {
        setup.guard.expire_all();
        call(&client).await.expect("renewed");
    }
    assert_eq!(setup.user.visits(), 1);
    assert_eq!(setup.guard.grants("refresh_token").len(), 5);
    assert_eq!(setup.guard.books().reused, 0, "each was used once");
}

#[tokio::test]
async fn tokens_whose_time_is_up_are_renewed_before_they_are_refused() {
    let setup = Setup::new().await;
    setup.guard.books().expires_in = 0;
    let client = setup.connected().await;
    let refusals = setup.shop.rig.hits().len();
    call(&client).await.expect("they are let in");
    let call = setup.shop.rig.named("tools/call");
    assert_eq!(call.len(), 1, "not refused first, in {refusals} requests");
    assert!(!setup.guard.grants("refresh_token").is_empty());
    assert_eq!(setup.user.visits(), 1);
}

#[tokio::test]
async fn many_calls_renew_once() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    setup.guard.expire_all();
    let calls = (0..16).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { call(&client).await })
    });
    for done in calls.collect::<Vec<_>>() {
        done.await.expect("no panic").expect("they are let in");
    }
    assert_eq!(setup.guard.grants("refresh_token").len(), 1);
    assert_eq!(setup.guard.books().reused, 0);
}

#[tokio::test]
async fn a_call_that_is_given_up_does_not_take_the_new_tokens_along() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    setup.guard.expire_all();
    let (feed, hold) = mpsc::unbounded_channel();
    setup.guard.books().hold = Some(hold);
    {
        let mut abandoned = Box::pin(call(&client));
        // The old refresh token is used up now, and the new one on its way.
        tokio::select! {
            _ = &mut abandoned => panic!("it cannot be done"),
            _ = setup.guard.rig.until("POST", 3) => {}
        }
    }
    let answer = setup.guard.books().held.take().expect("tokens");
    feed.send(answer).expect("somebody still listens");
    drop(feed);
    call(&client).await.expect("they are let in");
    assert_eq!(setup.guard.grants("refresh_token").len(), 1);
    assert_eq!(setup.user.visits(), 1);
}

#[tokio::test]
async fn who_is_thrown_out_signs_in_again() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    setup.guard.revoke_all();
    call(&client).await.expect("a new sign-in");
    assert_eq!(setup.user.visits(), 2);
    assert_eq!(
        setup.guard.asked("/register").len(),
        1,
        "under the same name"
    );
}

#[tokio::test]
async fn more_is_asked_for_together_with_what_was_there() {
    let setup = Setup::new().await;
    setup.shop.counter().enter = "browse";
    setup.shop.counter().buy = "buy";
    let client = setup.connected().await;
    call(&client).await.expect("they may");
    let scopes: Vec<_> = setup.guard.visits();
    let scopes: Vec<_> = scopes.iter().map(|visit| get(visit, "scope")).collect();
    assert_eq!(scopes, [Some("browse"), Some("browse buy")]);
    call(&client).await.expect("they still may");
    assert_eq!(setup.user.visits(), 2);
}

#[tokio::test]
async fn what_is_never_granted_is_asked_for_once() {
    let setup = Setup::new().await;
    setup.shop.counter().enter = "browse";
    // Two words to the shop, and one to the guard.
    setup.shop.counter().buy = "buy never\u{e9}";
    let client = setup.connected().await;
    for _ in 0..3 {
        let error = call(&client).await.unwrap_err();
        assert!(error.is_unauthorized(), "{error}");
        assert!(!error.is_transient());
    }
    assert_eq!(setup.user.visits(), 2);
}

#[tokio::test]
async fn a_shop_that_changes_its_guard_is_signed_in_to_anew_under_a_new_name() {
    let setup = Setup::new().await;
    let client = setup.connected().await;
    let other = Authority::open().await;
    // Names that the first has not given.
    other.rig.hits();
    setup.shop.counter().guard = other.clone();
    call(&client).await.expect("they sign in there");
    assert_eq!(other.asked("/register").len(), 1);
    assert_eq!(
        other.grants("refresh_token").len(),
        0,
        "no token of the first's"
    );
    assert_eq!(other.grants("authorization_code").len(), 1);
}

#[tokio::test]
async fn a_registration_whose_time_is_up_is_made_anew() {
    for (until, registrations) in [(1, 2), (u64::MAX, 1), (0, 1)] {
        let setup = Setup::new().await;
        setup.guard.books().registration = match until {
            1 => |told| {
                told["client_secret"] = "hush".into();
                told["client_secret_expires_at"] = 1.into();
            },
            0 => |told| told["client_secret_expires_at"] = 0.into(),
            _ => |told| told["client_secret_expires_at"] = u64::MAX.into(),
        };
        let client = setup.connected().await;
        setup.guard.expire_all();
        setup.guard.revoke_all();
        call(&client).await.expect("signed in again");
        assert_eq!(setup.user.visits(), 2);
        let made = setup.guard.asked("/register").len();
        assert_eq!(made, registrations, "{until}");
    }
}

#[tokio::test]
async fn an_id_that_was_agreed_on_with_one_guard_is_not_shown_to_another() {
    let mut setup = Setup::new().await;
    setup.oauth = OAuth::new("Knots")
        .user_agent(setup.user.clone())
        .client_id("agreed")
        .issuer("https://other.example");
    let error = within(setup.oauth.sign_in(&setup.shop.url())).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), AuthErrorKind::NoClientId, "{error}");
    assert_eq!(setup.guard.visits().len(), 0);
    // One that is good everywhere is.
    setup.guard.books().metadata = |said| {
        said["client_id_metadata_document_supported"] = true.into();
    };
    let about = "https://knots.example/about.json";
    setup.oauth = setup.oauth.clone().client_metadata_url(about);
    let _ = within(setup.oauth.sign_in(&setup.shop.url())).await;
    assert_eq!(get(&setup.guard.visits()[0], "client_id"), Some(about));
}

#[tokio::test]
async fn a_refusal_of_the_users_is_an_error_and_they_are_not_asked_again_at_once() {
    let setup = Setup::new().await;
    setup.guard.books().redirect = |back| {
        back.retain(|(name, _)| name != "code");
        back.push(("error".into(), "access_denied".into()));
    };
    for _ in 0..2 {
        let error = setup.connect().await.unwrap_err();
        assert!(error.is_unauthorized(), "{error}");
        assert!(format!("{error:#}").contains("access_denied"), "{error}");
    }
    assert_eq!(setup.user.visits(), 1);
    let again = within(setup.oauth.sign_in(&setup.shop.url())).await;
    assert_eq!(again.unwrap_err().kind(), AuthErrorKind::Refused);
    assert_eq!(setup.user.visits(), 2, "unless somebody wants them to be");
}

#[tokio::test]
async fn one_who_did_not_want_more_keeps_what_they_have() {
    let setup = Setup::new().await;
    setup.shop.counter().buy = "buy";
    let client = setup.connected().await;
    setup.guard.books().redirect = |back| {
        back.retain(|(name, _)| name != "code");
        back.push(("error".into(), "access_denied".into()));
    };
    let error = call(&client).await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    setup.guard.expire_all();
    within(client.tools().list()).await.expect("renewed");
    assert_eq!(setup.user.visits(), 2);
}

#[tokio::test]
async fn without_a_user_there_is_an_error_and_no_registration() {
    let mut setup = Setup::new().await;
    setup.oauth = OAuth::new("Knots");
    let error = setup.connect().await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    assert_eq!(setup.guard.asked("/register").len(), 0);
}

#[tokio::test]
async fn tokens_outlive_what_got_them_if_they_are_kept() {
    let mut setup = Setup::new().await;
    let store = MemoryStore::new();
    for _ in 0..3 {
        setup.oauth = OAuth::new("Knots")
            .user_agent(setup.user.clone())
            .store(store.clone());
        let client = setup.connected().await;
        setup.guard.expire_all();
        call(&client).await.expect("renewed");
    }
    assert_eq!(setup.user.visits(), 1);
    within(setup.oauth.sign_out(&setup.shop.url()))
        .await
        .expect("out");
    setup.connected().await;
    assert_eq!(setup.user.visits(), 2, "and are gone after a sign-out");
}

#[tokio::test]
async fn signing_in_ahead_finds_out_that_tokens_are_stale() {
    let setup = Setup::new().await;
    let url = setup.shop.url();
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    within(setup.oauth.sign_in(&url)).await.expect("still");
    assert_eq!(setup.user.visits(), 1);
    setup.guard.revoke_all();
    within(setup.oauth.sign_in(&url)).await.expect("again");
    assert_eq!(setup.user.visits(), 2);
}

/// A store that cannot always keep what it is given.
#[derive(Clone, Default)]
struct Full {
    store: MemoryStore,
    full: Arc<AtomicBool>,
}

impl TokenStore for Full {
    fn load<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<Option<Secret>, TokenStoreError>> {
        self.store.load(key)
    }

    fn save<'a>(
        &'a self,
        key: &'a TokenStoreKey,
        value: &'a Secret,
    ) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        match self.full.load(Ordering::SeqCst) {
            true => Box::pin(async { Err(TokenStoreError::new("no room")) }),
            false => self.store.save(key, value),
        }
    }

    fn remove<'a>(&'a self, key: &'a TokenStoreKey) -> BoxFuture<'a, Result<(), TokenStoreError>> {
        self.store.remove(key)
    }

    fn lock<'a>(
        &'a self,
        key: &'a TokenStoreKey,
    ) -> BoxFuture<'a, Result<TokenStoreLock, TokenStoreError>> {
        self.store.lock(key)
    }
}

#[tokio::test]
async fn tokens_that_cannot_be_kept_are_used_all_the_same() {
    let mut setup = Setup::new().await;
    let store = Full::default();
    setup.oauth = OAuth::new("Knots")
        .user_agent(setup.user.clone())
        .store(store.clone());
    let client = setup.connected().await;
    store.full.store(true, Ordering::SeqCst);
    setup.guard.expire_all();
    let error = call(&client).await.unwrap_err();
    assert!(format!("{error:#}").contains("no room"), "{error}");
    call(&client).await.expect("they are good");
    store.full.store(false, Ordering::SeqCst);
    setup.guard.expire_all();
    call(&client).await.expect("renewed, and kept");
    assert_eq!(setup.guard.books().reused, 0, "not with those in the store");
    assert_eq!(setup.user.visits(), 1);
}

#[tokio::test]
async fn a_refresh_token_does_not_go_to_the_shop_if_the_guard_falls_silent() {
    let setup = Setup::new().await;
    setup.guard.books().expires_in = 0;
    let client = setup.connected().await;
    // No issuer, no metadata.
    setup.guard.books().silent = true;
    let _ = call(&client).await;
    let posted = setup.shop.rig.hits();
    assert!(posted.iter().all(|hit| hit.path != "/token"));
    assert!(
        posted
            .iter()
            .all(|hit| !String::from_utf8_lossy(&hit.body).contains("hush"))
    );
}

#[tokio::test]
async fn two_who_share_a_store_take_turns() {
    let setup = Setup::new().await;
    let store = MemoryStore::new();
    let one = OAuth::new("Knots")
        .user_agent(setup.user.clone())
        .store(store.clone());
    let two = OAuth::new("Knots")
        .user_agent(setup.user.clone())
        .store(store);
    let url: Arc<str> = setup.shop.url().into();
    within(one.sign_in(&url)).await.expect("signed in");
    let both = [one, two].map(|oauth| {
        let url = Arc::clone(&url);
        tokio::spawn(async move {
            for _ in 0..20 {
                oauth.refresh(&url).await.expect("renewed");
            }
        })
    });
    for done in both {
        done.await.expect("no panic");
    }
    assert_eq!(setup.guard.books().reused, 0);
    assert!(setup.guard.grants("refresh_token").len() >= 20);
}
