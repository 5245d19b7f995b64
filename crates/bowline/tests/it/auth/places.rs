//! Where discovery may lead, and where it may not.

use std::{
    io,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use bowline::{
    auth::{AuthErrorKind, OAuth, Resolver},
    transport::BoxFuture,
};
use serde_json::json;
use tokio::net::TcpListener;

use super::{Setup, call};
use crate::{
    http_client::rig::{Reply, Rig, within},
    sync::lock,
};

/// Every name leads to this address.
struct All(IpAddr, Arc<Mutex<Vec<String>>>);

impl Resolver for All {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        lock(&self.1).push(host.to_owned());
        let address = self.0;
        Box::pin(async move { Ok(vec![address]) })
    }
}

async fn blocked(setup: &Setup) {
    let error = within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect_err("it is not followed");
    assert_eq!(error.kind(), AuthErrorKind::Blocked, "{error}");
}

#[tokio::test]
async fn metadata_that_leads_into_a_network_of_ours_is_not_followed() {
    let leads: [fn(&mut serde_json::Value); 5] = [
        |said| said["authorization_servers"] = json!(["https://169.254.169.254"]),
        |said| said["authorization_servers"] = json!(["https://2852039166"]),
        |said| said["authorization_servers"] = json!(["https://[::ffff:10.0.0.1]"]),
        |said| said["authorization_servers"] = json!(["http://as.example"]),
        |said| said["authorization_servers"] = json!(["https://192.168.0.1/tenant"]),
    ];
    for lead in leads {
        let setup = Setup::new().await;
        setup.shop.counter().metadata = lead;
        blocked(&setup).await;
    }
}

#[tokio::test]
async fn a_name_for_such_an_address_is_seen_through() {
    for address in ["10.1.2.3", "169.254.169.254", "fd00:ec2::254", "100.64.0.1"] {
        let mut setup = Setup::new().await;
        let names = Arc::default();
        let resolver = All(address.parse().expect("an address"), Arc::clone(&names));
        setup.oauth = OAuth::new("Knots").resolver(resolver);
        setup.shop.counter().metadata = |said| {
            said["authorization_servers"] = json!(["https://as.example"]);
        };
        blocked(&setup).await;
        assert_eq!(*lock(&names), ["as.example"]);
    }
}

#[tokio::test]
async fn endpoints_are_vetted_like_everything_else() {
    let leads: [fn(&mut serde_json::Value); 3] = [
        |said| said["token_endpoint"] = "https://169.254.169.254/token".into(),
        |said| said["registration_endpoint"] = "https://10.0.0.1/register".into(),
        |said| said["authorization_endpoint"] = "javascript:alert(1)".into(),
    ];
    for lead in leads {
        let setup = Setup::new().await;
        setup.guard.books().metadata = lead;
        blocked(&setup).await;
        assert_eq!(setup.user.visits(), 0);
    }
}

#[tokio::test]
async fn a_redirect_leads_nowhere_that_a_url_would_not() {
    for target in [
        "http://169.254.169.254/latest/meta-data",
        "https://10.0.0.1/",
        "http://as.example/",
        "file:///etc/passwd",
    ] {
        let setup = Setup::new().await;
        setup.shop.counter().elsewhere = Some(target.to_owned());
        blocked(&setup).await;
    }
}

#[tokio::test]
async fn what_is_posted_goes_no_further() {
    for endpoint in [
        "token_endpoint",
        "registration_endpoint",
        "revocation_endpoint",
    ] {
        let thief = Rig::start(|_| Reply::json(r#"{"client_id":"x","access_token":"x"}"#)).await;
        let place = thief.url();
        let door = Rig::start(move |_| Reply::status(307).with("location", &place)).await;
        let setup = Setup::new().await;
        let door = door.url();
        setup.guard.books().endpoint = Some((endpoint, door));
        let signed_in = within(setup.oauth.sign_in(&setup.shop.url())).await;
        if endpoint == "revocation_endpoint" {
            signed_in.expect("it is of no matter yet");
            let out = within(setup.oauth.sign_out(&setup.shop.url())).await;
            out.expect("out");
        } else {
            signed_in.expect_err("it is not followed");
        }
        assert_eq!(thief.hits().len(), 0, "{endpoint}");
    }
}

#[tokio::test]
async fn redirects_come_to_an_end() {
    let setup = Setup::new().await;
    let place = "/.well-known/oauth-protected-resource/mcp";
    setup.shop.counter().elsewhere = Some(place.to_owned());
    let error = within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect_err("it is not followed");
    assert_eq!(error.kind(), AuthErrorKind::Unreachable, "{error}");
    let asked = setup.shop.rig.hits();
    let asked = asked.iter().filter(|hit| hit.path == place).count();
    assert!(asked <= 4, "{asked}");
}

#[tokio::test]
async fn a_document_without_end_is_not_read() {
    use crate::http_client::rig::Part;
    let endless =
        Rig::start(|_| Reply::parts("application/json", [Part::Endless(vec![b' '; 4096])]));
    let endless = endless.await;
    let setup = Setup::new().await;
    setup.shop.counter().elsewhere = Some(endless.url());
    let error = within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect_err("it is not followed");
    assert_eq!(error.kind(), AuthErrorKind::Unreachable, "{error}");
}

#[tokio::test]
async fn private_networks_can_be_allowed() {
    let mut setup = Setup::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it binds");
    let port = listener.local_addr().expect("it is bound").port();
    // A name, and an address that this machine has.
    let names = Arc::default();
    let resolver = All("127.0.0.1".parse().expect("an address"), Arc::clone(&names));
    setup.oauth = OAuth::new("Knots")
        .allow_private_networks()
        .resolver(resolver);
    setup.shop.counter().elsewhere = Some(format!("https://as.internal:{port}/"));
    let url = setup.shop.url();
    // It hangs up, but it was asked.
    let asked = async { drop(listener.accept().await.expect("a connection")) };
    let (done, ()) = within(async { tokio::join!(setup.oauth.sign_in(&url), asked) }).await;
    assert_eq!(
        done.expect_err("no answer").kind(),
        AuthErrorKind::Unreachable
    );
    assert_eq!(*lock(&names), ["as.internal"]);
}

#[tokio::test]
async fn a_token_does_not_follow_a_call_to_another_origin() {
    let setup = Setup::new().await;
    let thief = Rig::start(|_| Reply::status(401)).await;
    let client = setup.connected().await;
    setup.shop.counter().moved = Some(thief.url());
    call(&client).await.expect_err("it is not followed");
    assert_eq!(thief.hits().len(), 0, "nothing goes there, and no token");
}
