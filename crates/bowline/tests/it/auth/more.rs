//! Asking for more than there is, ahead of a call or after it.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bowline::{
    auth::{AuthError, AuthErrorKind, AuthorizationSession, MemoryStore, OAuth, UserAgent},
    transport::BoxFuture,
};

use super::{Browser, Setup, authority::get, call};
use crate::http_client::rig::within;

impl Setup {
    /// The scopes that the user was asked for, each time.
    fn scopes(&self) -> Vec<String> {
        let visits = self.guard.visits();
        let scopes = visits.iter().map(|visit| get(visit, "scope"));
        scopes
            .map(|scope| scope.unwrap_or_default().to_owned())
            .collect()
    }
}

#[tokio::test]
async fn scopes_that_the_application_wants_later_are_asked_for_by_signing_in() {
    let mut setup = Setup::new().await;
    setup.shop.counter().enter = "read";
    let (store, url) = (MemoryStore::new(), setup.shop.url());
    setup.oauth = setup.oauth.clone().store(store);
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    let more = setup.oauth.clone().scopes(["write"]);
    for _ in 0..2 {
        within(more.sign_in(&url)).await.expect("signed in");
    }
    assert_eq!(setup.scopes(), ["read", "read write"]);
    let known = within(more.sign_in_status(&url)).await.expect("known");
    assert_eq!(known.expect("signed in").scopes.to_string(), "read write");
}

#[tokio::test]
async fn what_a_call_lacked_is_asked_for_when_somebody_is_there() {
    let mut setup = Setup::new().await;
    setup.shop.counter().enter = "read";
    setup.shop.counter().buy = "buy read";
    let url = setup.shop.url();
    // A user who is not there during calls.
    let there = Arc::new(AtomicBool::new(true));
    setup.oauth = OAuth::new("Knots").user_agent(SometimesThere(setup.user.clone(), there.clone()));
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    assert!(setup.oauth.missing_scopes(&url).is_empty());
    there.store(false, Ordering::SeqCst);
    let client = setup.connected().await;
    let error = call(&client).await.expect_err("it takes more");
    assert!(error.is_unauthorized(), "{error}");
    assert_eq!(setup.oauth.missing_scopes(&url).to_string(), "buy read");
    let error = within(setup.oauth.sign_in(&url)).await;
    assert_eq!(error.expect_err("nobody").kind(), AuthErrorKind::User);
    there.store(true, Ordering::SeqCst);
    within(setup.oauth.sign_in(&url)).await.expect("signed in");
    assert!(setup.oauth.missing_scopes(&url).is_empty());
    call(&client).await.expect("they may");
    assert_eq!(setup.scopes(), ["read", "read buy"]);
}

/// A user who is at home or not.
struct SometimesThere(Browser, Arc<AtomicBool>);

impl UserAgent for SometimesThere {
    fn prepare<'a>(
        &'a self,
        last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        if self.1.load(Ordering::SeqCst) {
            return self.0.prepare(last);
        }
        Box::pin(async { Err(AuthError::user("nobody is there")) })
    }
}
