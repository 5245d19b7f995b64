//! Which places are asked, and which are not.

use bowline::auth::OAuth;

use super::{
    authority::{Authority, get},
    user::Browser,
};
use crate::http_client::rig::{Reply, Rig, within};

/// The paths that a shop was asked for, while somebody tried to sign in.
async fn asked(challenge: &'static str) -> Vec<String> {
    let rig = Rig::start(move |hit| match &*hit.verb {
        "POST" => Reply::status(401).with("www-authenticate", challenge),
        _ => Reply::status(404),
    })
    .await;
    let oauth = OAuth::new("Knots").user_agent(Browser::default());
    within(oauth.sign_in(&rig.url()))
        .await
        .expect_err("it is not let in");
    let hits = rig.hits();
    hits.into_iter()
        .filter(|hit| hit.verb == "GET")
        .map(|hit| hit.path)
        .collect()
}

#[tokio::test]
async fn the_path_comes_before_the_root_and_then_the_first_servers() {
    let paths = asked("Bearer").await;
    let expected = [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ];
    assert_eq!(paths, expected);
}

#[tokio::test]
async fn what_the_challenge_says_is_where_it_is_and_nowhere_else() {
    let guard = Authority::open().await;
    let issuer = guard.issuer();
    let rig = Rig::start(move |hit| {
        let host = hit.header("host").unwrap_or_default().to_owned();
        match (&*hit.verb, &*hit.path) {
            ("POST", _) => {
                let challenge = format!(r#"Bearer resource_metadata="http://{host}/here.json""#);
                Reply::status(401).with("www-authenticate", &challenge)
            }
            (_, "/here.json") => Reply::json(format!(
                r#"{{"resource": "http://{host}", "authorization_servers": ["{issuer}"]}}"#
            )),
            _ => Reply::status(404),
        }
    })
    .await;
    let oauth = OAuth::new("Knots").user_agent(Browser::default());
    // The tokens are refused in the end; what counts is how they were got.
    within(oauth.sign_in(&rig.url()))
        .await
        .expect_err("it is not let in");
    let hits = rig.hits();
    let read = hits.iter().filter(|hit| hit.verb == "GET");
    assert!(read.clone().count() > 0);
    assert!(read.clone().all(|hit| hit.path == "/here.json"));
    let origin = format!("http://127.0.0.1:{}", rig.port);
    assert_eq!(get(&guard.visits()[0], "resource"), Some(&*origin));
}

#[tokio::test]
async fn tokens_that_the_shop_never_takes_are_not_asked_for_again_and_again() {
    let guard = Authority::open().await;
    let issuer = guard.issuer();
    let rig = Rig::start(move |hit| {
        let host = hit.header("host").unwrap_or_default().to_owned();
        match &*hit.verb {
            "POST" => Reply::status(401).with("www-authenticate", "Bearer"),
            _ => Reply::json(format!(
                r#"{{"resource": "http://{host}/mcp", "authorization_servers": ["{issuer}"]}}"#
            )),
        }
    })
    .await;
    guard.books().refreshes = false;
    let user = Browser::default();
    let oauth = OAuth::new("Knots").user_agent(user.clone());
    let error = within(oauth.sign_in(&rig.url()))
        .await
        .expect_err("it is not let in");
    assert_eq!(
        error.kind(),
        bowline::auth::AuthErrorKind::Rejected,
        "{error}"
    );
    assert_eq!(user.visits(), 1);
}
