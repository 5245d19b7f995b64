//! The options of a call of a pinned client hold for the whole call: for the list of
//! tools that comes first, too.

use std::{
    future::{IntoFuture, pending},
    time::Duration,
};

use bowline::{
    Client, Error,
    client::ToolCall,
    lock::LockedServer,
    model::Tool,
    proto::{ErrorKind, Reason, client::Backoff},
    testing::{FakeServer, FakeSession, ServerProfile},
};
use serde_json::{Value, json};
use tokio::{
    sync::oneshot,
    time::{Instant, sleep},
};

use super::{connected_with, said};

const SECOND: Duration = Duration::from_secs(1);

fn tools() -> Value {
    json!([{"name": "roll", "description": "Rolls dice", "inputSchema": {"type": "object"}}])
}

/// A client that is pinned to the tools, and waits four seconds before it dials again.
async fn pinned() -> (Client, FakeSession, FakeServer) {
    let tools: Vec<Tool> = serde_json::from_value(tools()).expect("tools");
    let reviewed = LockedServer::default().with_tools(&tools).expect("schemas");
    let backoff = Backoff::new(4 * SECOND, 4 * SECOND, 0.0).expect("a backoff");
    let builder = Client::builder().pinned(reviewed).backoff(backoff);
    let profile = ServerProfile::handshake().capabilities(json!({"tools": {}}));
    connected_with(builder, profile).await
}

fn roll(client: &Client) -> ToolCall<'_> {
    client.tools().call("roll", json!({}))
}

/// Closes the connection, and returns once the client knows.
async fn disconnect(client: &Client, session: FakeSession) {
    let mut health = client.watch_health();
    session.close();
    let is_down = health.wait_for(|health| health.last_disconnect.is_some());
    is_down.await.expect("the client lives");
}

async fn serve(session: &mut FakeSession) {
    while let Some(request) = session.recv().await {
        match request.method() {
            "tools/list" => session.respond(&request, json!({"tools": tools()})).await,
            "tools/call" => session.respond(&request, said("done")).await,
            _ => {}
        }
    }
}

/// Runs a call that the server never finishes, and returns its error and the time that
/// it took.
async fn fail(call: ToolCall<'_>) -> (Error, Duration) {
    let begun = Instant::now();
    let error = call.await.expect_err("the server does not finish it");
    (error, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_connection_waits_before_it_lists() {
    let (client, session, mut server) = pinned().await;
    disconnect(&client, session).await;
    let serving = async {
        let mut session = server.session().await;
        serve(&mut session).await;
    };
    let calling = async {
        for _ in 0..2 {
            let result = roll(&client).wait_for_connection().await;
            assert_eq!(result.expect("it waits").all_text(), "done");
        }
    };
    tokio::select! {
        () = calling => {}
        () = serving => unreachable!("the client lives"),
    }
    assert_eq!(server.count("tools/list"), 1, "one list per session");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_does_not_wait_fails_at_once_beside_one_that_does() {
    let (client, session, _server) = pinned().await;
    disconnect(&client, session).await;
    let begun = Instant::now();
    let failed = tokio::select! {
        biased;
        _ = roll(&client).wait_for_connection().into_future() => unreachable!("nobody answers"),
        failed = async { roll(&client).await } => failed,
    };
    let error = failed.expect_err("the connection is down");
    assert!(error.is_connection_error(), "{error:?}");
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_signal_cancels_the_list() {
    let (client, mut session, server) = pinned().await;
    let (cancel, cancelled) = oneshot::channel::<()>();
    let signal = async { drop(cancelled.await) };
    let call = async { roll(&client).cancel_on(signal).await };
    let (called, ()) = tokio::join!(call, async {
        session.expect("tools/list").await;
        cancel.send(()).expect("the call waits");
        session.expect("notifications/cancelled").await;
    });
    let error = called.expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error:?}");
    assert_eq!(error.operation(), "tools/call");
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_signal_cancels_a_suspended_call_during_the_list() {
    let (client, mut session, server) = pinned().await;
    let signal = sleep(SECOND);
    let call = async { roll(&client).cancel_on(signal).suspend_on_input().await };
    let (called, _) = tokio::join!(call, session.expect("tools/list"));
    let error = called.expect_err("it was cancelled");
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error:?}");
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test(start_paused = true)]
async fn the_list_counts_for_the_timeout() {
    let (client, mut session, server) = pinned().await;
    let serving = async {
        let list = session.expect("tools/list").await;
        sleep(3 * SECOND).await;
        session.respond(&list, json!({"tools": tools()})).await;
        session.expect("tools/call").await;
        pending::<()>().await;
    };
    let failed = tokio::select! {
        failed = fail(roll(&client).timeout(5 * SECOND)) => failed,
        () = serving => unreachable!("it waits for ever"),
    };
    let (error, took) = failed;
    assert_eq!(error.to_string(), "tools/call: timed out after 5s");
    assert_eq!(took, 5 * SECOND);
    assert_eq!(server.count("tools/call"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_takes_all_the_time_leaves_none_for_the_call() {
    let (client, mut session, server) = pinned().await;
    let call = roll(&client).timeout(40 * SECOND);
    let (failed, _) = tokio::join!(fail(call), session.expect("tools/list"));
    let (error, took) = failed;
    assert_eq!(error.reason(), Reason::Timeout);
    assert_eq!(error.to_string(), "tools/call: timed out after 40s");
    assert_eq!(took, 40 * SECOND);
    assert_eq!(server.count("tools/call"), 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_the_list_of_another_has_its_own_timeout() {
    let (client, mut session, server) = pinned().await;
    let slow = roll(&client).timeout(20 * SECOND);
    let quick = roll(&client).timeout(2 * SECOND);
    let (slow, quick, _) = tokio::join!(fail(slow), fail(quick), session.expect("tools/list"));
    assert_eq!((slow.1, quick.1), (20 * SECOND, 2 * SECOND));
    assert_eq!(quick.0.to_string(), "tools/call: timed out after 2s");
    assert_eq!(server.count("tools/list"), 1);
    assert_eq!(server.count("tools/call"), 0);
}
