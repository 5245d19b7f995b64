//! Credentials and plain `http`.

use bowline::{
    auth::OAuth,
    config::{Environment, Loader},
    transport::{Http, HttpConfigError},
};

use super::{Setup, call};
use crate::http_client::rig::{Rig, builder, stateless_reply, within};

/// A way to a server on this machine that has a name as one elsewhere has.
fn named(rig: &Rig) -> Http {
    let client = Http::client_builder().expect("certificates").no_proxy();
    let address = ([127, 0, 0, 1], rig.port).into();
    let client = client.resolve("tools.test", address).build();
    let http = Http::new(&format!("http://tools.test:{}/mcp", rig.port)).expect("a URL");
    http.client(client.expect("a client"))
}

#[tokio::test]
async fn tokens_do_not_go_over_plain_http_to_another_machine() {
    let rig = Rig::start(stateless_reply).await;
    for header in ["authorization", "cookie", "x-api-key"] {
        let http = named(&rig).header(header, "s3cr3t").expect("a header");
        let error = within(builder().connect(http)).await.expect_err("refused");
        assert!(format!("{error:#}").contains("plain http"), "{error}");
        assert!(!format!("{error:#}").contains("s3cr3t"), "{error}");
        assert!(!error.is_transient(), "{error}");
    }
    assert_eq!(rig.hits().len(), 0, "nothing was sent");
    // Without them there is nothing to hide.
    let http = named(&rig).header("x-team", "knots").expect("a header");
    within(builder().connect(http)).await.expect("it connects");
    // And who wants it may.
    let http = named(&rig).bearer("s3cr3t").expect("a token");
    let http = http.allow_plain_http();
    let client = within(builder().connect(http)).await.expect("it connects");
    call(&client).await.expect("an answer");
    let hit = rig.named("tools/call").pop().expect("a call");
    assert_eq!(hit.header("authorization"), Some("Bearer s3cr3t"));
}

#[tokio::test]
async fn nor_do_those_of_an_authorizer() {
    let setup = Setup::new().await;
    let token_url = format!("{}/token", setup.guard.issuer());
    let oauth = OAuth::new("Knots")
        .client_id("me")
        .client_secret("s3cr3t")
        .token_endpoint(&token_url)
        .client_credentials();
    let http = named(&setup.shop.rig).authorizer(oauth);
    let error = within(builder().connect(http.clone()))
        .await
        .expect_err("refused");
    assert!(format!("{error:#}").contains("plain http"), "{error}");
    assert_eq!(setup.shop.rig.hits().len(), 0, "nothing was sent");
    let http = http.allow_plain_http();
    within(builder().connect(http)).await.expect("it connects");
}

#[test]
fn configurations_say_so() {
    let entry = |more: &str| {
        let headers = r#""headers": {"Authorization": "Bearer x"}"#;
        let url = r#""url": "http://tools:8000/mcp""#;
        let text = format!(r#"{{"mcpServers": {{"it": {{{url}, {headers}{more}}}}}}}"#);
        let file = Loader::new(Environment::new()).parse(&text);
        assert_eq!(file.problems, []);
        file.get("it").expect("a server").http()
    };
    assert_eq!(
        entry("").err(),
        Some(HttpConfigError::CredentialsOverPlainHttp)
    );
    let allowed = entry(r#", "allowPlainHttp": true"#).expect("allowed");
    assert!(allowed.is_some());
    let variables = |value| {
        let variables = [
            ("MCP_BASE_URL", "http://x/mcp"),
            ("MCP_ALLOW_PLAIN_HTTP", value),
        ];
        let environment: Environment = variables.into_iter().collect();
        Loader::new(environment).read_env()
    };
    for (value, problems) in [("1", 0), ("0", 0), ("", 0), ("maybe", 1)] {
        assert_eq!(variables(value).problems.len(), problems, "{value}");
    }
}
