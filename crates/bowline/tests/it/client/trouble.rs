//! Links that come to harm.

use std::time::Duration;

use bowline::{
    Client,
    proto::{ErrorKind, Reason, client::ConnectionState},
    testing::{
        FakeServer, FakeSession, FaultPlan, FaultyTransport, ReceiveFault, SendFault, ServerProfile,
    },
    transport::Memory,
};
use serde_json::json;
use tokio::time::Instant;

use super::{opened, said};

/// The opening takes two frames from the server and three to it.
const FIRST_RECEIVED: usize = 2;
const FIRST_SENT: usize = 3;

/// A client whose first link follows the plan.
async fn harmed(plan: FaultPlan) -> (Client, FakeSession, FakeServer) {
    let (transport, server) = FakeServer::new(ServerProfile::handshake());
    let transport: FaultyTransport<Memory> = FaultyTransport::new(transport).on_link(0, plan);
    opened(Client::builder(), transport, server).await
}

async fn one_call(client: &Client, session: &mut FakeSession) -> Result<String, bowline::Error> {
    let answering = async {
        if let Some(request) = session.recv().await {
            session.respond(&request, said("here")).await;
        }
    };
    let call = async { client.tools().call("any", json!({})).await };
    let (result, ()) = tokio::join!(call, answering);
    result.map(|result| result.content[0].as_text().unwrap_or_default().to_owned())
}

#[tokio::test(start_paused = true)]
async fn garbage_is_passed_over() {
    let noise = "Listening on port 3000...";
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Garbage(noise.into()));
    let (client, mut session, _server) = harmed(plan).await;
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
    assert_eq!(client.state(), ConnectionState::Ready);
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_fails_its_call_at_once() {
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Truncate);
    let (client, mut session, _server) = harmed(plan).await;
    let begun = Instant::now();
    let error = one_call(&client, &mut session)
        .await
        .expect_err("half of it");
    assert_eq!(error.reason(), Reason::InvalidResponse);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
}

#[tokio::test(start_paused = true)]
async fn a_duplicate_answer_is_dropped() {
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Duplicate);
    let (client, mut session, _server) = harmed(plan).await;
    for _ in 0..3 {
        assert_eq!(
            one_call(&client, &mut session).await.expect("an answer"),
            "here"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn answers_in_reverse_find_their_callers() {
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Reverse(3));
    let (client, mut session, _server) = harmed(plan).await;
    let call = |number: u32| {
        let client = client.clone();
        async move {
            let result = client.tools().call("any", json!({"n": number})).await;
            let result = result.expect("an answer");
            assert_eq!(result.content[0].as_text(), Some(&*number.to_string()));
        }
    };
    let answering = async {
        for _ in 0..3 {
            let request = session.expect("tools/call").await;
            let number = request.params()["arguments"]["n"].to_string();
            session.respond(&request, said(&number)).await;
        }
    };
    tokio::join!(call(1), call(2), call(3), answering);
}

#[tokio::test(start_paused = true)]
async fn an_oversized_frame_ends_its_call_and_nothing_else() {
    let size = 20 * 1024 * 1024;
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Oversize(size));
    let (client, mut session, _server) = harmed(plan).await;
    let error = one_call(&client, &mut session)
        .await
        .expect_err("too large");
    assert_eq!(error.reason(), Reason::OversizedFrame);
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
    assert_eq!(client.health().sessions, 1);
}

#[tokio::test(start_paused = true)]
async fn a_stalled_link_runs_into_the_deadline() {
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Stall);
    let (client, mut session, _server) = harmed(plan).await;
    let error = one_call(&client, &mut session).await.expect_err("silence");
    assert!(error.is_timeout());
}

#[tokio::test(start_paused = true)]
async fn a_lost_answer_runs_into_the_deadline_alone() {
    let plan = FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Drop);
    let (client, mut session, _server) = harmed(plan).await;
    let error = one_call(&client, &mut session).await.expect_err("lost");
    assert!(error.is_timeout());
    session.expect("notifications/cancelled").await;
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_cut_is_dialled_again() {
    for plan in [
        FaultPlan::new().on_receive(FIRST_RECEIVED, ReceiveFault::Cut),
        FaultPlan::new().on_send(FIRST_SENT, SendFault::Cut),
    ] {
        let (client, mut session, mut server) = harmed(plan).await;
        let call = async { client.tools().call("any", json!({})).await };
        let answering = async {
            if let Some(request) = session.recv().await {
                session.respond(&request, said("unheard")).await;
            }
        };
        let (result, ()) = tokio::join!(call, answering);
        let error = result.expect_err("it was cut");
        assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
        assert!(format!("{error:#}").contains("planned fault"), "{error}");
        let mut session = server.session().await;
        assert_eq!(
            one_call(&client, &mut session).await.expect("an answer"),
            "here"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_cut_after_some_bytes_is_dialled_again() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let transport =
        FaultyTransport::new(transport).on_link(0, FaultPlan::new().cut_after_bytes(200));
    let client = Client::builder().connect_in_background(transport);
    let mut first = server.accept().await;
    while let Some(message) = first.recv().await {
        if message.method() == "server/discover" {
            let error = bowline::proto::jsonrpc::ErrorObject::new(-32601, "x".repeat(300));
            first.respond_error(&message, error).await;
        }
    }
    let mut second = server.session().await;
    assert_eq!(
        one_call(&client, &mut second).await.expect("an answer"),
        "here"
    );
}

#[tokio::test(start_paused = true)]
async fn a_busy_link_is_offered_the_frame_again() {
    let plan = FaultPlan::new().on_send(FIRST_SENT, SendFault::Busy(2));
    let (client, mut session, _server) = harmed(plan).await;
    let begun = Instant::now();
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
    assert!(
        begun.elapsed() <= Duration::from_millis(35),
        "two short waits"
    );
}

#[tokio::test(start_paused = true)]
async fn a_link_that_stays_busy_ends_the_call_not_the_connection() {
    let plan = FaultPlan::new().busy_from(FIRST_SENT);
    let (client, _session, _server) = harmed(plan).await;
    let begun = Instant::now();
    let calls = (0..100).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { client.tools().call("any", json!({})).await })
    });
    for call in calls.collect::<Vec<_>>() {
        let error = call.await.expect("no panic").expect_err("busy");
        assert_eq!(error.reason(), Reason::Backpressure);
        assert!(error.is_transient());
        assert!(format!("{error:#}").contains("after 3 attempts"), "{error}");
    }
    assert!(begun.elapsed() <= Duration::from_millis(35));
    assert_eq!(client.state(), ConnectionState::Ready);
}

#[tokio::test(start_paused = true)]
async fn a_full_link_in_memory_is_busy_too() {
    let (transport, server) = FakeServer::new(ServerProfile::handshake());
    let (client, mut session, _server) = opened(Client::builder(), transport, server).await;
    let padding = "x".repeat(200 * 1024);
    let calls = (0..20).map(|number| {
        let (client, padding) = (client.clone(), padding.clone());
        tokio::spawn(async move {
            let call = client
                .tools()
                .call("any", json!({"n": number, "p": padding}));
            call.timeout(Duration::from_secs(5)).await
        })
    });
    let mut reasons = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        reasons.push(
            call.await
                .expect("no panic")
                .expect_err("nobody reads")
                .reason(),
        );
    }
    assert!(reasons.contains(&Reason::Timeout), "some were taken");
    assert!(reasons.contains(&Reason::Backpressure), "and some were not");
    // Once somebody reads, all is well again.
    while let Ok(Some(_)) = tokio::time::timeout(Duration::from_secs(1), session.recv()).await {}
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_is_refused_fails_its_call() {
    let plan = FaultPlan::new().on_send(FIRST_SENT, SendFault::Fail);
    let (client, mut session, _server) = harmed(plan).await;
    let error = client
        .tools()
        .call("any", json!({}))
        .await
        .expect_err("refused");
    assert_eq!(error.reason(), Reason::TransportError);
    assert!(error.connection_error().is_some());
    assert_eq!(
        one_call(&client, &mut session).await.expect("an answer"),
        "here"
    );
}
