//! How connections begin and end.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use bowline::{
    Client,
    client::Call,
    proto::{ErrorKind, client::ConnectionState},
    testing::{FakeServer, ServerProfile},
    transport::{
        BoxFuture, ConnectionError, ConnectionErrorKind, DialOptions, Link, LinkEvent,
        OutgoingFrame, SendError, Transport,
    },
};
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use super::connected;

#[tokio::test(start_paused = true)]
async fn stopping_releases_every_caller_and_hangs_up() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let calls = (0..20).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.tools().call("any", json!({})).await })
    });
    let calls: Vec<_> = calls.collect();
    for _ in 0..20 {
        session.expect("tools/call").await;
    }
    let begun = Instant::now();
    client.stop().await;
    assert!(begun.elapsed() <= Duration::from_millis(101));
    for call in calls {
        let error = call.await.expect("no panic").expect_err("it was stopped");
        assert_eq!(error.kind(), ErrorKind::Shutdown);
    }
    assert_eq!(session.recv().await, None, "nothing is said at the end");
    assert_eq!(client.state(), ConnectionState::Closing);
    let error = client.ping().await.expect_err("it is over");
    assert_eq!(error.kind(), ErrorKind::Shutdown);
    client.stop().await;
}

#[tokio::test(start_paused = true)]
async fn all_who_stop_are_answered() {
    let (client, _session, _server) = connected(ServerProfile::handshake()).await;
    let stops = (0..10).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.stop().await })
    });
    for stop in stops.collect::<Vec<_>>() {
        stop.await.expect("no panic");
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_works_in_every_state() {
    // Dialling, and nobody answers.
    let (transport, server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    client.stop().await;
    client
        .wait_first_attempt()
        .await
        .expect_err("it will never be");
    drop((client, server));

    // Waiting for the next attempt.
    let (transport, mut other) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    for _ in 0..2 {
        other.accept().await.recv().await;
    }
    let mut health = client.watch_health();
    let down = health.wait_for(|health| health.state == ConnectionState::Backoff);
    drop(down.await.expect("it lives"));
    client.stop().await;
    assert!(client.health().ended);
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_that_goes_stops_the_connection() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let clone = client.clone();
    let mut health = client.watch_health();
    drop(client);
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(clone.ping(), answering);
    pong.expect("there is a handle left");
    drop(clone);
    session.wait_closed().await;
    let ended = health.wait_for(|health| health.ended).await;
    assert!(ended.is_ok_and(|health| health.state == ConnectionState::Closing));
}

#[tokio::test(start_paused = true)]
async fn health_tells_the_whole_story() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let client = Client::builder().connect_in_background(transport);
    let mut health = client.watch_health();
    assert_eq!(health.borrow_and_update().state, ConnectionState::Opening);
    assert_eq!(health.borrow().sessions, 0);
    let (story, mut told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut last = None;
        while health.changed().await.is_ok() {
            let state = health.borrow_and_update().state;
            if last.replace(state) != Some(state) && story.send(state).is_err() {
                return;
            }
        }
    });
    let session = server.session().await;
    session.close();
    let _session = server.session().await;
    let mut seen = Vec::new();
    while let Some(state) = told.recv().await {
        seen.push(state);
        if seen
            .iter()
            .filter(|state| **state == ConnectionState::Ready)
            .count()
            == 2
        {
            break;
        }
    }
    let story = ["ready", "backoff", "opening", "ready"];
    assert_eq!(
        seen.iter().map(|state| state.as_str()).collect::<Vec<_>>(),
        story
    );
    client.stop().await;
    assert_eq!(told.recv().await, Some(ConnectionState::Closing));
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_opens_is_given_up_in_time() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let begun = Instant::now();
    let connecting = Client::builder()
        .connect_timeout(Duration::from_secs(20))
        .connect(transport);
    let (result, mut link) = tokio::join!(connecting, server.accept());
    let error = result.expect_err("nobody answers");
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_secs(20) && waited < Duration::from_secs(21));
    assert_eq!(error.kind(), ErrorKind::Transport);
    assert!(
        format!("{error:#}").contains("timed out after 20s"),
        "{error}"
    );
    link.wait_closed().await;
}

#[tokio::test(start_paused = true)]
async fn an_observer_that_panics_harms_nobody() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let builder = Client::builder().observer(|_| panic!("a bug in the host"));
    let (client, mut session) = tokio::join!(builder.connect(transport), server.session());
    let client = client.expect("it opens all the same");
    let answering = async {
        let ping = session.expect("ping").await;
        session.respond(&ping, json!({})).await;
    };
    let (pong, ()) = tokio::join!(client.ping(), answering);
    pong.expect("an answer");
}

/// A transport whose links panic when they are read.
struct Broken;

impl Transport for Broken {
    fn dial(
        &mut self,
        _: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        Box::pin(async { Ok(Box::new(Self) as Box<dyn Link>) })
    }

    fn describe(&self) -> String {
        "broken".to_owned()
    }
}

impl Link for Broken {
    fn send(&mut self, _: OutgoingFrame) -> Result<(), SendError> {
        Ok(())
    }

    fn poll_flush(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
        std::task::Poll::Ready(())
    }

    fn poll_event(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<LinkEvent> {
        panic!("a bug in the transport")
    }

    fn close(self: Box<Self>) {}
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_panics_leaves_no_caller_waiting() {
    let client = Client::builder().connect_in_background(Broken);
    let call = client
        .tools()
        .call("any", json!({}))
        .map_call(Call::wait_for_connection);
    let error = call.await.expect_err("there is no connection");
    assert_eq!(error.kind(), ErrorKind::Shutdown);
    client.stop().await;
    client.wait_first_attempt().await.expect_err("it is over");
}

/// A transport that cannot dial.
struct Nowhere(Arc<str>);

impl Transport for Nowhere {
    fn dial(
        &mut self,
        _: DialOptions,
    ) -> BoxFuture<'static, Result<Box<dyn Link>, ConnectionError>> {
        let why = ConnectionErrorKind::Unreachable(self.0.to_string());
        Box::pin(async { Err(why.into()) })
    }

    fn describe(&self) -> String {
        "nowhere".to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_dial_that_fails_says_why() {
    let error = Client::builder()
        .connect(Nowhere("the cable is cut".into()))
        .await
        .expect_err("there is nothing there");
    assert_eq!(
        format!("{error:#}"),
        "not connected: the server could not be reached: the cable is cut",
    );
}

#[tokio::test(start_paused = true)]
async fn waiting_until_it_is_back_says_why_it_is_not() {
    let (client, session, mut server) = connected(ServerProfile::handshake()).await;
    session.close();
    let mut health = client.watch_health();
    let fell = health.wait_for(|now| now.consecutive_failures > 0).await;
    fell.map(drop).expect("the client is there");
    let error = client
        .wait_ready(Duration::from_millis(10))
        .await
        .expect_err("it backs off for a second");
    assert!(error.connection_error().is_some(), "{error}");
    let patience = Duration::from_secs(60);
    let (ready, _session) = tokio::join!(client.wait_ready(patience), server.session());
    ready.expect("it is back");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_was_stopped_says_that_and_not_why_it_fell_once() {
    let (client, session, mut server) = connected(ServerProfile::handshake()).await;
    session.close();
    let patience = Duration::from_secs(60);
    let (ready, _session) = tokio::join!(client.wait_ready(patience), server.session());
    ready.expect("it is back");
    assert!(client.health().last_disconnect.is_some());
    client.stop().await;
    for error in [
        client.wait_ready(patience).await,
        client.wait_first_attempt().await,
    ] {
        let error = error.expect_err("it was stopped");
        assert_eq!(error.kind(), ErrorKind::Shutdown, "{error}");
        assert!(!error.is_transient());
    }
}

#[tokio::test(start_paused = true)]
async fn a_fall_has_its_time() {
    let before = SystemTime::now();
    let (client, session, _server) = connected(ServerProfile::handshake()).await;
    assert_eq!(client.health().last_disconnect_at, None);
    session.close();
    let mut health = client.watch_health();
    let fell = health.wait_for(|now| now.consecutive_failures > 0).await;
    let at = fell.expect("it lives").last_disconnect_at.expect("it fell");
    assert!(before <= at && at <= SystemTime::now());
}

#[tokio::test(start_paused = true)]
async fn a_server_that_dies_again_and_again_is_given_up() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let builder = Client::builder().max_restarts(3, Duration::from_secs(60));
    let client = builder.connect_in_background(transport);
    let dying = async {
        for _ in 0..4 {
            server.session().await.close();
        }
    };
    let mut health = client.watch_health();
    let over = async {
        health
            .wait_for(|now| now.ended)
            .await
            .map(|now| now.clone())
    };
    let over = timeout(Duration::from_secs(3600), over);
    let (over, ()) = tokio::join!(over, dying);
    let over = over.expect("it is given up").expect("it lives");
    assert!(over.gave_up);
    assert_eq!(over.sessions, 4);
    let patience = Duration::from_secs(60);
    let errors = [
        client.wait_ready(patience).await.expect_err("it is over"),
        client.ping().await.expect_err("it is over"),
    ];
    for error in errors {
        let text = format!("{error:#}");
        assert!(text.contains("after 3 restarts within 60s"), "{text}");
        assert!(text.contains("the server closed the connection"), "{text}");
        assert!(!error.is_transient() && error.is_connection_error());
    }
}
