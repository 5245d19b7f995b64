//! Programs that act on their own, and know where tokens are to be had.

use bowline::{
    auth::OAuth,
    config::{Environment, Loader},
};

use super::{Setup, authority::get, call};
use crate::http_client::rig::{builder, within};

#[tokio::test]
async fn variables_are_enough_to_get_in() {
    let setup = Setup::new().await;
    let (url, token_url) = (setup.shop.url(), format!("{}/token", setup.guard.issuer()));
    let environment: Environment = [
        ("MCP_BASE_URL", &*url),
        ("MCP_CLIENT_ID", "me"),
        ("MCP_CLIENT_SECRET", "s3cr3t"),
        ("MCP_TOKEN_URL", &token_url),
        ("MCP_SCOPE", "read write"),
    ]
    .into_iter()
    .collect();
    let file = Loader::new(environment).read_env();
    let server = file.get("env").expect("a server");
    let http = server.http().expect("a transport").expect("it is remote");
    let client = within(builder().connect(http)).await.expect("it connects");
    call(&client).await.expect("it is let in");
    let grants = setup.guard.grants("client_credentials");
    let [grant] = &*grants else {
        panic!("once: {grants:?}");
    };
    assert_eq!(get(grant, "scope"), Some("read write"));
    assert_eq!(get(grant, "resource"), Some(&*url));
    // Nobody was asked where to go, and no request was made without a token.
    assert_eq!(setup.guard.rig.hits().len(), 1);
    let hits = setup.shop.rig.hits();
    assert!(hits.iter().all(|hit| hit.header("authorization").is_some()));
}

#[tokio::test]
async fn tokens_without_anything_to_renew_them_are_had_anew_before_they_end() {
    for (seconds, expected) in [(100, 1), (0, 3)] {
        let setup = Setup::new().await;
        setup.guard.books().refreshes = false;
        setup.guard.books().expires_in = seconds;
        let oauth = OAuth::new("Knots")
            .client_id("me")
            .client_secret("s3cr3t")
            .token_endpoint(&format!("{}/token", setup.guard.issuer()))
            .client_credentials();
        let http = setup.shop.rig.http().authorizer(oauth);
        let client = within(builder().connect(http)).await.expect("it connects");
        call(&client).await.expect("it is let in");
        call(&client).await.expect("it is let in");
        let made = setup.guard.grants("client_credentials").len();
        assert!(made >= expected && (made > 1) == (expected > 1), "{made}");
        // None of them was refused.
        let hits = setup.shop.rig.hits();
        assert!(hits.iter().all(|hit| hit.header("authorization").is_some()));
    }
}

#[tokio::test]
async fn a_secret_that_is_wrong_is_told_and_not_tried_again_and_again() {
    let setup = Setup::new().await;
    let oauth = OAuth::new("Knots")
        .client_id("me")
        .client_secret("wrong")
        .token_endpoint(&format!("{}/token", setup.guard.issuer()))
        .client_credentials();
    let http = setup.shop.rig.http().authorizer(oauth);
    for _ in 0..2 {
        let error = within(builder().connect(http.clone()))
            .await
            .expect_err("no");
        assert!(format!("{error:#}").contains("invalid_client"), "{error}");
    }
    assert_eq!(setup.guard.asked("/token").len(), 1);
    assert_eq!(setup.shop.rig.hits().len(), 0);
}
