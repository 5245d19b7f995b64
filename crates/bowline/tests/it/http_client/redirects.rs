//! Redirects: within the origin, with method and body, and no others.

use bowline::{
    proto::client::ConnectionErrorKind,
    transport::{Http, reqwest},
};
use serde_json::json;

use super::rig::{Reply, Rig, builder, stateless, stateless_reply, within};

async fn failure(rig: &Rig) -> ConnectionErrorKind {
    let http = rig.http().bearer("s3cr3t").expect("a token");
    let refused = within(builder().connect(http)).await;
    let error = refused.expect_err("not followed");
    assert!(!format!("{error:#}").contains("s3cr3t"));
    error.connection_error().expect("a cause").kind().clone()
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed_with_everything() {
    for (status, asked_again) in [(307, true), (308, false)] {
        let rig = Rig::start(move |hit| match &*hit.path {
            "/mcp" => Reply::status(status).with("location", "/mcp/"),
            _ => stateless_reply(hit),
        })
        .await;
        let http = rig.http().bearer("s3cr3t").expect("a token");
        let client = builder().connect(http).await.expect("it connects");
        client
            .tools()
            .call("echo", json!({}))
            .await
            .expect("an answer");
        let paths: Vec<_> = rig.hits().iter().map(|hit| hit.path.clone()).collect();
        let again: &[&str] = if asked_again { &["/mcp"] } else { &[] };
        let expected = [&["/mcp", "/mcp/"], again, &["/mcp/"]].concat();
        assert_eq!(paths, expected, "only the permanent one is remembered");
        for hit in rig.hits() {
            assert_eq!(hit.verb, "POST");
            assert_eq!(hit.header("authorization"), Some("Bearer s3cr3t"));
            assert!(hit.json()["method"].is_string());
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let other = stateless(|_| None).await;
    let targets = [
        other.url(),
        format!("//127.0.0.1:{}/mcp", other.port),
        format!("http://localhost:{}/mcp", other.port),
    ];
    for target in targets {
        let shown = target.clone();
        let rig = Rig::start(move |_| Reply::status(307).with("location", &target)).await;
        let kind = failure(&rig).await;
        assert!(
            matches!(kind, ConnectionErrorKind::Unreachable(_)),
            "{shown}: {kind:?}"
        );
        assert_eq!(rig.hits().len(), 1);
    }
    let rig = Rig::start(|hit| {
        let host = hit.header("host").unwrap_or_default().to_owned();
        Reply::status(308).with("location", &format!("https://{host}/mcp"))
    })
    .await;
    failure(&rig).await;
    assert_eq!(other.connections(), 0, "nothing arrives there");
}

#[tokio::test]
async fn a_redirect_that_would_change_the_method_is_not_followed() {
    for status in [301, 302, 303] {
        let rig = Rig::start(move |_| Reply::status(status).with("location", "/elsewhere")).await;
        let kind = failure(&rig).await;
        let retry_after = None;
        assert_eq!(
            kind,
            ConnectionErrorKind::Status {
                status,
                retry_after
            }
        );
        assert_eq!(rig.hits().len(), 1);
    }
}

#[tokio::test]
async fn redirects_in_a_circle_and_to_nowhere_end() {
    for location in ["/mcp", "http://", "\u{1}"] {
        let rig = Rig::start(move |_| Reply::status(307).with("location", location)).await;
        let kind = failure(&rig).await;
        assert!(
            matches!(
                kind,
                ConnectionErrorKind::Unreachable(_) | ConnectionErrorKind::Io(_)
            ),
            "{location}: {kind:?}"
        );
        assert!(rig.hits().len() <= 4);
    }
}

/// A client of the application's own may follow redirects by itself; what comes
/// back from elsewhere is not believed.
#[tokio::test]
async fn an_answer_from_another_origin_is_not_taken() {
    let other = stateless(|_| None).await;
    let target = other.url();
    let rig = Rig::start(move |_| Reply::status(307).with("location", &target)).await;
    let client = Http::client_builder().expect("certificates");
    let follows = client
        .redirect(reqwest::redirect::Policy::limited(5))
        .build();
    let http = rig.http().client(follows.expect("a client"));
    let refused = within(builder().connect(http)).await;
    let error = refused.expect_err("not believed");
    assert!(format!("{error:#}").contains("another origin"), "{error}");
}
