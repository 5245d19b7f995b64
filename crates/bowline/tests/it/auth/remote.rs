//! Servers elsewhere, played by a fetch of the application's own.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex},
};

use bowline::{
    auth::{AddressScope, AuthErrorKind, Fetch, FetchError, FetchRequest, OAuth, Paste},
    transport::{
        BoxFuture,
        reqwest::header::{HeaderName, LOCATION, WWW_AUTHENTICATE},
    },
};
use bytes::Bytes;
use http::{Request, Response};
use serde_json::{Value, json};

use super::authority::{get, query};
use crate::{http_client::rig::within, sync::lock};

const SERVER: &str = "https://mcp.example.com/mcp?team=knots";

/// The Internet.
#[derive(Clone, Default)]
struct Elsewhere {
    asked: Arc<Mutex<Vec<(String, AddressScope)>>>,
    /// What of that was answered.
    reached: Arc<Mutex<Vec<String>>>,
    /// Where the server's metadata has moved to.
    moved: Option<&'static str>,
    /// What the guard's name leads to.
    guard_at: Option<IpAddr>,
    /// Changes what the guard says of itself.
    change: Option<fn(&mut Value)>,
}

impl Fetch for Elsewhere {
    fn fetch(&self, request: FetchRequest) -> BoxFuture<'_, Result<Response<Bytes>, FetchError>> {
        let (scope, request) = (request.policy.addresses, request.request);
        lock(&self.asked).push((request.uri().to_string(), scope));
        let guard = request.uri().host() == Some("as.example.com");
        let address = self.guard_at.filter(|_| guard);
        if address.is_some_and(|address| !scope.allows(address)) {
            let why = "not public".to_owned();
            return Box::pin(async { Err(FetchError::Blocked(why)) });
        }
        let answer = self.answer(&request);
        lock(&self.reached).push(request.uri().to_string());
        Box::pin(async { Ok(answer) })
    }
}

impl Elsewhere {
    fn answer(&self, request: &Request<Bytes>) -> Response<Bytes> {
        let json = |value: Value| Response::new(value.to_string().into());
        let refused = |status: u16, header: HeaderName, value: &'static str| {
            let response = Response::builder().status(status).header(header, value);
            response.body(Bytes::new()).expect("a valid response")
        };
        let signed_in = request.headers().contains_key("authorization");
        match request.uri().to_string().as_str() {
            SERVER if signed_in => json(json!({"jsonrpc": "2.0", "id": 0, "result": {}})),
            SERVER => refused(401, WWW_AUTHENTICATE, "Bearer"),
            "https://mcp.example.com/.well-known/oauth-protected-resource/mcp?team=knots" => {
                match self.moved {
                    Some(target) => refused(302, LOCATION, target),
                    None => json(json!({
                        "resource": "https://mcp.example.com/mcp",
                        "authorization_servers": ["https://as.example.com/t"],
                    })),
                }
            }
            "https://as.example.com/t/.well-known/openid-configuration" => {
                let mut said = json!({
                    "issuer": "https://as.example.com/t",
                    "authorization_endpoint": "https://as.example.com/t/authorize",
                    "token_endpoint": "https://as.example.com/t/token",
                    "registration_endpoint": "https://as.example.com/t/register",
                    "code_challenge_methods_supported": ["S256"],
                });
                if let Some(change) = self.change {
                    change(&mut said);
                }
                json(said)
            }
            "https://as.example.com/t/register" => json(json!({"client_id": "me"})),
            "https://as.example.com/t/token" => json(json!({"access_token": "hush"})),
            _ => {
                let response = Response::builder().status(404);
                response.body(Bytes::new()).expect("a valid response")
            }
        }
    }

    fn oauth(&self) -> OAuth {
        let user = Paste::new(async |url: String| {
            let asked = query(&url);
            Some(format!(
                "code=c&state={}",
                get(&asked, "state").unwrap_or_default()
            ))
        });
        OAuth::new("Knots").user_agent(user).fetch(self.clone())
    }
}

#[tokio::test]
async fn strangers_are_asked_at_public_addresses_only() {
    let elsewhere = Elsewhere::default();
    within(elsewhere.oauth().sign_in(SERVER))
        .await
        .expect("signed in");
    let asked = lock(&elsewhere.asked).clone();
    assert!(asked.len() >= 7);
    for (url, reach) in asked {
        let own = url.starts_with("https://mcp.example.com/");
        let expected = if own {
            AddressScope::Anywhere
        } else {
            AddressScope::Public
        };
        assert_eq!(reach, expected, "{url}");
    }
}

#[tokio::test]
async fn a_server_elsewhere_does_not_lead_to_this_machine() {
    for target in [
        "http://127.0.0.1:8080/",
        "http://localhost/",
        "https://127.0.0.1/",
        "https://[::1]/",
    ] {
        let elsewhere = Elsewhere {
            moved: Some(target),
            ..Elsewhere::default()
        };
        let error = within(elsewhere.oauth().sign_in(SERVER)).await;
        let error = error.expect_err("it is not followed");
        assert_eq!(error.kind(), AuthErrorKind::Blocked, "{target}");
    }
}

#[tokio::test]
async fn a_guard_whose_name_leads_to_this_machine_is_not_asked() {
    for address in ["127.0.0.1", "::1", "169.254.169.254", "10.0.0.1"] {
        let elsewhere = Elsewhere {
            guard_at: address.parse().ok(),
            ..Elsewhere::default()
        };
        let error = within(elsewhere.oauth().sign_in(SERVER)).await;
        let error = error.expect_err("it is not asked");
        assert_eq!(error.kind(), AuthErrorKind::Blocked, "{address}");
        let reached = lock(&elsewhere.reached).clone();
        let own = |url: &String| url.starts_with("https://mcp.example.com/");
        assert!(reached.iter().all(own), "{reached:?}");
    }
    let elsewhere = Elsewhere {
        guard_at: "93.184.215.14".parse().ok(),
        ..Elsewhere::default()
    };
    let signed_in = within(elsewhere.oauth().sign_in(SERVER)).await;
    signed_in.expect("there it is public");
}

#[tokio::test]
async fn a_browser_is_not_opened_on_just_any_url() {
    let changes: [fn(&mut Value); 3] = [
        |said| said["authorization_endpoint"] = "http://as.example.com/".into(),
        |said| said["authorization_endpoint"] = "file:///etc/passwd".into(),
        |said| said["authorization_endpoint"] = "https://ada:hush@as.example.com/".into(),
    ];
    for change in changes {
        let elsewhere = Elsewhere {
            change: Some(change),
            ..Elsewhere::default()
        };
        let error = within(elsewhere.oauth().sign_in(SERVER)).await;
        let error = error.expect_err("it is not opened");
        assert_eq!(error.kind(), AuthErrorKind::Blocked, "{error}");
    }
}
