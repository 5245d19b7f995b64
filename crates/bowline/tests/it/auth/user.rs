//! Users: one that a test leads by the hand, and those that the library has.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    auth::{
        AuthError, AuthErrorKind, AuthorizationResponse, AuthorizationSession, Loopback, OAuth,
        Paste, UserAgent,
    },
    transport::{BoxFuture, Http, reqwest::header::LOCATION},
};

use super::{Setup, authority::query, call};
use crate::{http_client::rig::within, sync::lock};

/// A user who goes where they are sent, and says where that ended.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    visits: Arc<Mutex<usize>>,
}

impl Browser {
    /// How often they were sent somewhere.
    pub(crate) fn visits(&self) -> usize {
        *lock(&self.visits)
    }
}

impl UserAgent for Browser {
    fn prepare<'a>(
        &'a self,
        _last: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Box<dyn AuthorizationSession>, AuthError>> {
        let visit = Box::new(self.clone()) as Box<dyn AuthorizationSession>;
        Box::pin(async { Ok(visit) })
    }
}

impl AuthorizationSession for Browser {
    fn redirect_uri(&self) -> &str {
        "http://127.0.0.1:9/callback"
    }

    fn authorize<'a>(
        self: Box<Self>,
        url: &'a str,
    ) -> BoxFuture<'a, Result<AuthorizationResponse, AuthError>>
    where
        Self: 'a,
    {
        *lock(&self.visits) += 1;
        Box::pin(async move {
            let location = sent_to(url).await;
            let location = location.ok_or_else(|| AuthError::user("a page, and nothing more"))?;
            Ok(AuthorizationResponse::parse(&location))
        })
    }
}

/// Where the authorization server sends a browser.
async fn sent_to(url: &str) -> Option<String> {
    let client = Http::client_builder().expect("certificates").no_proxy();
    let client = client.build().expect("a client");
    let answer = client.get(url).send().await.expect("an answer");
    let location = answer.headers().get(LOCATION)?;
    Some(location.to_str().expect("a location").to_owned())
}

/// Asks by hand, without anything that would follow a redirect.
fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("somebody listens");
    let head = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("it is sent");
    let mut answer = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().expect("a length")) {
                return text;
            }
        }
        let mut chunk = [0; 1024];
        let read = stream.read(&mut chunk).expect("an answer");
        assert_ne!(read, 0, "it ends too early");
        answer.extend_from_slice(&chunk[..read]);
    }
}

fn location_of(answer: &str) -> &str {
    let line = answer.lines().find(|line| line.starts_with("location: "));
    line.expect("a redirect").trim_start_matches("location: ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_user_comes_back_to_a_port_of_this_machine() {
    let mut setup = Setup::new().await;
    let pages = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&pages);
    let user = Loopback::new().open_with(move |url| {
        let (url, seen) = (url.to_owned(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let location = location_of(&get(&url)).to_owned();
            let (back, _) = location.split_once('?').expect("a query");
            // Others come by before the user does.
            let strangers = [
                format!("{back}?code=stolen&state=guess"),
                format!("{back}/../callback"),
                back.replace("callback", "favicon.ico"),
            ];
            for stranger in strangers {
                lock(&seen).push(get(&stranger));
            }
            lock(&seen).push(get(&location));
        });
        Ok(())
    });
    setup.oauth = OAuth::new("Knots").user_agent(user);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("they sign in");
    let client = setup.connected().await;
    call(&client).await.expect("they are let in");
    let pages = lock(&pages).clone();
    assert!(
        pages[..3]
            .iter()
            .all(|page| page.starts_with("HTTP/1.1 404"))
    );
    assert!(pages[3].starts_with("HTTP/1.1 200"), "{pages:?}");
    assert!(
        !pages.concat().contains("hush"),
        "nothing of theirs is on the page"
    );
}

#[tokio::test]
async fn a_user_who_does_not_come_back_is_not_waited_for_for_ever() {
    let mut setup = Setup::new().await;
    let user = Loopback::new()
        .timeout(Duration::from_millis(1))
        .open_with(|_| Ok(()));
    setup.oauth = OAuth::new("Knots").user_agent(user);
    let error = within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), AuthErrorKind::User);
}

#[tokio::test]
async fn a_browser_that_cannot_be_opened_is_an_error() {
    let mut setup = Setup::new().await;
    let user = Loopback::new().open_with(|_| Err(std::io::Error::other("no screen")));
    setup.oauth = OAuth::new("Knots").user_agent(user);
    let error = within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .unwrap_err();
    assert!(format!("{error:#}").contains("no screen"), "{error}");
}

#[tokio::test]
async fn a_user_may_carry_the_address_over_by_hand() {
    let mut setup = Setup::new().await;
    let user = Paste::new(async |url: String| sent_to(&url).await);
    setup.oauth = OAuth::new("Knots").user_agent(user);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("they sign in");
}

#[tokio::test]
async fn a_code_alone_will_do_where_the_server_does_not_sign_it() {
    let mut setup = Setup::new().await;
    setup.guard.books().metadata = |metadata| {
        metadata["authorization_response_iss_parameter_supported"] = false.into();
    };
    let user = Paste::new(async |url: String| {
        let back = query(&sent_to(&url).await?);
        let (_, code) = back.into_iter().find(|(name, _)| name == "code")?;
        Some(code)
    });
    setup.oauth = OAuth::new("Knots").user_agent(user);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("they sign in");
}
