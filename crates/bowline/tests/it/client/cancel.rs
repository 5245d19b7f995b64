//! Calls that are given up, and calls that take too long.

use std::{future::IntoFuture as _, time::Duration};

use bowline::{
    Client,
    client::progress_channel,
    proto::{ErrorKind, client::Timeouts},
    testing::ServerProfile,
};
use serde_json::json;
use tokio::time::Instant;

use super::{connected, connected_with, said};

#[tokio::test(start_paused = true)]
async fn dropping_a_call_tells_the_server() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let call = client.tools().call("slow", json!({}));
    let request = tokio::select! {
        result = call => panic!("nobody answered, and yet: {result:?}"),
        request = session.expect("tools/call") => request,
    };
    let cancelled = session.expect("notifications/cancelled").await;
    assert_eq!(&cancelled.params()["requestId"], request.id());

    // The answer may cross the cancellation; nobody gets it.
    session.respond(&request, said("too late")).await;
    let answering = async {
        let next = session.expect("tools/call").await;
        assert_ne!(next.id(), request.id());
        session.respond(&next, said("mine")).await;
    };
    let call = async { client.tools().call("quick", json!({})).await };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("mine")
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_never_awaited_is_never_made() {
    let (client, mut session, server) = connected(ServerProfile::handshake()).await;
    drop(client.tools().call("never", json!({})));
    client.stop().await;
    session.wait_closed().await;
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_call_and_tells_the_server() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let begun = Instant::now();
    let call = client.tools().call("slow", json!({}));
    let error = call
        .timeout(Duration::from_secs(5))
        .await
        .expect_err("nobody answers");
    assert!(error.is_timeout() && error.is_transient(), "{error:?}");
    assert_eq!(begun.elapsed(), Duration::from_secs(5));
    assert_eq!(format!("{error:#}"), "tools/call: timed out after 5s");
    let request = session.expect("tools/call").await;
    let cancelled = session.expect("notifications/cancelled").await;
    assert_eq!(&cancelled.params()["requestId"], request.id());
}

#[tokio::test(start_paused = true)]
async fn every_class_of_request_has_its_own_time() {
    let mut timeouts = Timeouts::standard();
    timeouts.tool = Duration::from_secs(3);
    timeouts.resource = Duration::from_secs(2);
    timeouts.other = Duration::from_secs(1);
    let builder = Client::builder().timeouts(timeouts);
    let (client, _session, _server) = connected_with(builder, ServerProfile::handshake()).await;
    let begun = Instant::now();
    let tool = async {
        let error = client
            .tools()
            .call("any", json!({}))
            .await
            .expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        begun.elapsed().as_secs()
    };
    let resource = async {
        let error = client.resources().read("u:r").await.expect_err("silence");
        assert_eq!(error.kind(), ErrorKind::Timeout);
        begun.elapsed().as_secs()
    };
    let other = async {
        client.prompts().list().await.expect_err("silence");
        begun.elapsed().as_secs()
    };
    assert_eq!(tokio::join!(tool, resource, other), (3, 2, 1));
}

#[tokio::test(start_paused = true)]
async fn progress_can_extend_a_deadline_but_not_for_ever() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let (listener, mut progress) = progress_channel();
    let begun = Instant::now();
    let call = client.tools().call("slow", json!({})).map_call(|call| {
        call.timeout(Duration::from_secs(10))
            .progress_to(listener)
            .extend_timeout_on_progress(Duration::from_secs(60))
    });
    let reporting = async {
        let request = session.expect("tools/call").await;
        let mut done = 0.0;
        loop {
            tokio::time::sleep(Duration::from_secs(8)).await;
            done += 1.0;
            session.progress(&request, done, 100.0).await;
        }
    };
    tokio::select! {
        result = call => assert!(result.expect_err("no answer").is_timeout()),
        () = reporting => {}
    }
    assert_eq!(begun.elapsed(), Duration::from_secs(60));
    let mut count = 0;
    while progress.recv().await.is_some() {
        count += 1;
    }
    assert_eq!(count, 7, "every eight seconds of sixty");
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_is_nobodys() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let call = client.tools().call("first", json!({}));
    call.timeout(Duration::from_secs(1))
        .await
        .expect_err("nobody answers");
    let first = session.expect("tools/call").await;
    session.expect("notifications/cancelled").await;
    let answering = async {
        let second = session.expect("tools/call").await;
        session.respond(&first, said("first")).await;
        session.respond(&first, said("first again")).await;
        session.respond(&second, said("second")).await;
    };
    let call = async { client.tools().call("second", json!({})).await };
    let (result, ()) = tokio::join!(call, answering);
    assert_eq!(
        result.expect("an answer").content[0].as_text(),
        Some("second")
    );
}

#[tokio::test(start_paused = true)]
async fn a_signal_gives_a_call_up() {
    let (client, mut session, _server) = connected(ServerProfile::handshake()).await;
    let (signal, signalled) = tokio::sync::oneshot::channel::<()>();
    let serving = async {
        let request = session.expect("tools/call").await;
        signal.send(()).expect("the call waits for it");
        let cancelled = session.expect("notifications/cancelled").await;
        assert_eq!(&cancelled.params()["requestId"], request.id());
    };
    let call = client.tools().call("slow", json!({}));
    let call = call.cancel_on(async { signalled.await.expect("it is sent") });
    let (result, ()) = tokio::join!(call.into_future(), serving);
    let error = result.expect_err("it was given up");
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}
