//! Servers that are not what they say, or do not say what they are.

use std::sync::{Arc, Mutex};

use bowline::{auth::AuthErrorKind, transport::Http};
use serde_json::{Value, json};

use super::{Setup, call};
use crate::{
    http_client::rig::{builder, within},
    sync::lock,
};

type Pairs = Vec<(String, String)>;

impl Setup {
    /// The sign-in fails in this way.
    async fn fails(&self, kind: AuthErrorKind) -> String {
        let error = within(self.oauth.sign_in(&self.shop.url()))
            .await
            .expect_err("it is not trusted");
        assert_eq!(error.kind(), kind, "{error}");
        assert!(!format!("{error:#}").contains("hush"), "{error}");
        let refused = self.connect().await.expect_err("it is not trusted");
        assert!(refused.is_unauthorized(), "{refused}");
        format!("{error:#}")
    }

    /// Nobody was sent there, and nothing was asked for.
    fn untouched(&self) {
        assert_eq!(self.user.visits(), 0);
        assert_eq!(self.guard.asked("/token").len(), 0);
        assert_eq!(self.guard.asked("/register").len(), 0);
    }

    /// The user was there, and what they brought was not used.
    fn unused(&self) {
        assert!(self.user.visits() > 0);
        assert_eq!(self.guard.asked("/token").len(), 0);
    }
}

async fn with_metadata(change: fn(&mut Value)) -> Setup {
    let setup = Setup::new().await;
    setup.guard.books().metadata = change;
    setup
}

async fn with_redirect(change: fn(&mut Pairs)) -> Setup {
    let setup = Setup::new().await;
    setup.guard.books().redirect = change;
    setup
}

fn set(pairs: &mut Pairs, name: &str, value: &str) {
    pairs.retain(|(key, _)| key != name);
    pairs.push((name.to_owned(), value.to_owned()));
}

#[tokio::test]
async fn metadata_that_speaks_for_another_issuer_is_not_used() {
    let changes: [fn(&mut Value); 4] = [
        |said| said["issuer"] = "https://attacker.example".into(),
        |said| said["issuer"] = format!("{}/", said["issuer"].as_str().unwrap_or_default()).into(),
        |said| said["issuer"] = Value::Null,
        |said| {
            let issuer = said["issuer"].as_str().unwrap_or_default();
            said["issuer"] = issuer.replace("127.0.0.1", "localhost").into();
        },
    ];
    for change in changes {
        let setup = with_metadata(change).await;
        setup.fails(AuthErrorKind::Metadata).await;
        setup.untouched();
    }
}

#[tokio::test]
async fn a_guard_that_does_not_protect_codes_is_not_used() {
    let changes: [fn(&mut Value); 3] = [
        |said| said["code_challenge_methods_supported"] = json!(["plain"]),
        |said| said["code_challenge_methods_supported"] = Value::Null,
        |said| said["code_challenge_methods_supported"] = json!([]),
    ];
    for change in changes {
        let setup = with_metadata(change).await;
        setup.fails(AuthErrorKind::Metadata).await;
        setup.untouched();
    }
}

#[tokio::test]
async fn metadata_of_another_resource_is_not_believed() {
    let changes: [fn(&mut Value); 3] = [
        |said| said["resource"] = "https://evil.example/mcp".into(),
        |said| {
            said["resource"] = format!("{}x", said["resource"].as_str().unwrap_or_default()).into();
        },
        |said| said["authorization_servers"] = json!([]),
    ];
    for change in changes {
        let setup = Setup::new().await;
        setup.shop.counter().metadata = change;
        setup.fails(AuthErrorKind::Metadata).await;
        setup.untouched();
    }
}

#[tokio::test]
async fn what_comes_back_must_be_from_whom_we_asked() {
    let changes: [fn(&mut Pairs); 4] = [
        |back| set(back, "iss", "https://evil.example"),
        |back| {
            let issuer = back.iter().find(|(name, _)| name == "iss").cloned();
            let (_, issuer) = issuer.unwrap_or_default();
            set(back, "iss", &format!("{issuer}/"));
        },
        |back| back.retain(|(name, _)| name != "iss"),
        |back| {
            let issuer = back.iter().find(|(name, _)| name == "iss").cloned();
            back.extend(issuer);
        },
    ];
    for change in changes {
        let setup = with_redirect(change).await;
        setup.fails(AuthErrorKind::User).await;
        setup.unused();
    }
}

#[tokio::test]
async fn the_words_of_strangers_are_not_shown() {
    let setup = with_redirect(|back| {
        set(back, "iss", "https://evil.example");
        set(back, "error", "call_this_number");
        set(back, "error_description", "555-1234");
    })
    .await;
    let words = setup.fails(AuthErrorKind::User).await;
    assert!(
        !words.contains("555") && !words.contains("call_this"),
        "{words}"
    );
}

#[tokio::test]
async fn an_answer_to_somebody_elses_question_is_not_used() {
    let setup = with_redirect(|back| set(back, "state", "guess")).await;
    setup.fails(AuthErrorKind::User).await;
    setup.unused();
}

#[tokio::test]
async fn a_guard_without_iss_is_used_if_it_does_not_promise_it() {
    let setup = Setup::new().await;
    setup.guard.books().metadata = |said| {
        said["authorization_response_iss_parameter_supported"] = Value::Null;
    };
    setup.guard.books().redirect = |back| back.retain(|(name, _)| name != "iss");
    setup.connected().await;
}

#[tokio::test]
async fn nothing_that_is_secret_is_told_to_anybody() {
    let setup = Setup::new().await;
    let told = Arc::new(Mutex::new(format!("{:?}", setup.oauth)));
    let ear = Arc::clone(&told);
    let http = Http::new(&setup.shop.url()).expect("a good URL");
    let http = http.authorizer(setup.oauth.clone());
    lock(&told).push_str(&format!("{http:?}"));
    let builder = builder().observer(move |event| lock(&ear).push_str(&format!("{event:?}")));
    let client = within(builder.connect(http)).await.expect("it connects");
    call(&client).await.expect("they are let in");
    setup.guard.expire_all();
    call(&client).await.expect("renewed");
    setup.guard.revoke_all();
    setup.guard.books().redirect = |back| set(back, "state", "guess");
    let error = call(&client).await.expect_err("they are out");
    lock(&told).push_str(&format!("{error} {error:?}"));
    client.stop().await;
    let told = lock(&told).clone();
    assert!(told.contains("tools/call"), "something was told");
    assert!(!told.contains("hush"), "{told}");
}

#[tokio::test]
async fn a_guard_that_repeats_our_secrets_is_not_quoted() {
    let setup = Setup::new().await;
    // The verifier will not fit, as the code is another's.
    setup.guard.books().redirect = |back| set(back, "code", "hush-of-another");
    let words = setup.fails(AuthErrorKind::Refused).await;
    assert!(words.contains("invalid_grant"), "{words}");
}
