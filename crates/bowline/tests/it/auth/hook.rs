//! What the transport asks an authorizer, and when.

use std::sync::{Arc, Mutex};

use bowline::transport::{
    AuthChallenge, Authorizer, BoxFuture, ChallengeAction, OutboundRequest, Unauthorized,
    reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue},
};

use super::call;
use crate::{
    http_client::rig::{Hit, Reply, builder, handshake, stateless, within},
    sync::lock,
};

/// Shows a number that goes up with each refusal.
#[derive(Clone, Default)]
struct Counting {
    refused: Arc<Mutex<u32>>,
    asked: Arc<Mutex<Vec<String>>>,
    verdict: Option<Unauthorized>,
}

impl Authorizer for Counting {
    fn headers<'a>(
        &'a self,
        request: OutboundRequest<'a>,
    ) -> BoxFuture<'a, Result<HeaderMap, Unauthorized>> {
        lock(&self.asked).push(request.method.to_string());
        let token = format!("Bearer hush-{}", lock(&self.refused));
        let token = HeaderValue::from_str(&token).expect("a header");
        Box::pin(async { Ok(HeaderMap::from_iter([(AUTHORIZATION, token)])) })
    }

    fn on_challenge<'a>(
        &'a self,
        _request: OutboundRequest<'a>,
        challenge: AuthChallenge<'a>,
    ) -> BoxFuture<'a, Result<ChallengeAction, Unauthorized>> {
        assert!(challenge.sent.contains_key(AUTHORIZATION));
        *lock(&self.refused) += 1;
        let verdict = self.verdict.clone();
        Box::pin(async { verdict.map_or(Ok(ChallengeAction::Retry), Err) })
    }
}

fn is(hit: &Hit, token: &str) -> bool {
    hit.header("authorization") == Some(&format!("Bearer {token}"))
}

#[tokio::test]
async fn a_request_is_made_again_with_what_is_given_then() {
    let rig = stateless(|hit| (!is(hit, "hush-2")).then(|| Reply::status(401))).await;
    let http = rig.http().authorizer(Counting::default());
    let client = within(builder().connect(http)).await.expect("it connects");
    call(&client).await.expect("it is let in");
    assert_eq!(rig.named("server/discover").len(), 3);
    assert_eq!(rig.named("tools/call").len(), 1);
}

#[tokio::test]
async fn a_request_is_made_again_a_few_times_and_no_more() {
    let rig = stateless(|hit| (hit.rpc() == "tools/call").then(|| Reply::status(403))).await;
    let http = rig.http().authorizer(Counting::default());
    let client = within(builder().connect(http)).await.expect("it connects");
    let error = call(&client).await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    assert_eq!(rig.named("tools/call").len(), 6);
}

#[tokio::test]
async fn the_reason_why_not_is_what_the_caller_reads() {
    let rig = stateless(|_| Some(Reply::status(401))).await;
    let authorizer = Counting {
        verdict: Some(Unauthorized::new("the vault is shut")),
        ..Counting::default()
    };
    let http = rig.http().authorizer(authorizer);
    let error = within(builder().connect(http)).await.unwrap_err();
    assert!(error.is_unauthorized() && !error.is_transient());
    assert!(
        format!("{error:#}").contains("the vault is shut"),
        "{error}"
    );
    assert_eq!(rig.hits().len(), 1);
}

#[tokio::test]
async fn streams_and_farewells_have_credentials_too() {
    let rig = handshake(|_| None).await;
    let authorizer = Counting::default();
    let client = within(builder().connect(rig.http().authorizer(authorizer.clone()))).await;
    let client = client.expect("it connects");
    rig.until("GET", 1).await;
    client.stop().await;
    rig.until("DELETE", 1).await;
    assert!(rig.hits().iter().all(|hit| is(hit, "hush-0")));
    let asked = lock(&authorizer.asked).clone();
    for verb in ["POST", "GET", "DELETE"] {
        assert!(asked.iter().any(|asked| asked == verb), "{verb}");
    }
}

#[tokio::test]
async fn a_status_without_an_authorizer_is_told_apart_as_well() {
    let rig = stateless(|_| Some(Reply::status(401))).await;
    let error = within(builder().connect(rig.http())).await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
    let rig = stateless(|_| Some(Reply::status(500))).await;
    let error = within(builder().connect(rig.http())).await.unwrap_err();
    assert!(!error.is_unauthorized(), "{error}");
}
