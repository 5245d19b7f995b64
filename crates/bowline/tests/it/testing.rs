//! The test kit itself.

use std::{future::poll_fn, time::Duration};

use bowline::{
    Client,
    client::Call,
    proto::jsonrpc::ErrorObject,
    testing::{
        FakeResponse, FakeServer, FaultPlan, FaultyTransport, ReceiveFault, ReceivedMessage,
        SendFault, ServerProfile,
    },
    transport::{
        DialOptions, Link, LinkEvent, Memory, MemoryLink, OutgoingFrame, SendError, Transport,
    },
};
use bytes::Bytes;
use serde_json::json;

/// A link that follows the plan, and its other end.
async fn linked(plan: FaultPlan) -> (Box<dyn Link>, MemoryLink) {
    let (transport, mut far) = Memory::new();
    let mut transport = FaultyTransport::new(transport).on_every_link(plan);
    let link = transport.dial(DialOptions::default()).await;
    let peer = far.accept().await;
    (link.expect("it dials"), peer.expect("it arrives"))
}

async fn event(link: &mut Box<dyn Link>) -> LinkEvent {
    poll_fn(|cx| link.poll_event(cx)).await
}

async fn text(link: &mut Box<dyn Link>) -> String {
    match event(link).await {
        LinkEvent::Frame(frame) => String::from_utf8_lossy(&frame).into_owned(),
        other => panic!("no frame, but {other:?}"),
    }
}

fn offer(link: &mut Box<dyn Link>, frame: &'static str) -> Result<(), SendError> {
    let frame = Bytes::from_static(frame.as_bytes());
    link.send(OutgoingFrame { id: None, frame })
}

#[tokio::test(start_paused = true)]
async fn frames_that_arrive_come_to_harm_as_planned() {
    let plan = FaultPlan::new()
        .on_receive(0, ReceiveFault::Garbage("noise".into()))
        .on_receive(1, ReceiveFault::Duplicate)
        .on_receive(2, ReceiveFault::Truncate)
        .on_receive(3, ReceiveFault::Drop)
        .on_receive(4, ReceiveFault::Reverse(3))
        .on_receive(7, ReceiveFault::Oversize(99))
        .on_receive(8, ReceiveFault::Cut);
    let (mut link, mut peer) = linked(plan).await;
    for number in 0..9 {
        peer.send_frame(format!("frame {number}").into()).await;
    }
    let mut arrived = Vec::new();
    for _ in 0..8 {
        arrived.push(text(&mut link).await);
    }
    let expected = [
        "noise", "frame 0", "frame 1", "frame 1", "fra", "frame 6", "frame 5", "frame 4",
    ];
    assert_eq!(arrived, expected);
    match event(&mut link).await {
        LinkEvent::OversizedFrame { size, prefix } => {
            assert_eq!((size, &prefix[..]), (99, &b"frame 7"[..]));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(event(&mut link).await, LinkEvent::Down(_)));
    assert!(matches!(offer(&mut link, "x"), Err(SendError::Failed(_))));
}

#[tokio::test(start_paused = true)]
async fn frames_that_leave_come_to_harm_as_planned() {
    let plan = FaultPlan::new()
        .on_send(1, SendFault::Busy(2))
        .on_send(2, SendFault::Drop)
        .on_send(3, SendFault::Fail)
        .on_send(5, SendFault::Cut);
    let (mut link, mut peer) = linked(plan).await;
    offer(&mut link, "zero").expect("taken");
    for _ in 0..2 {
        match offer(&mut link, "one") {
            Err(SendError::Busy(frame)) => assert_eq!(frame, "one"),
            other => panic!("{other:?}"),
        }
    }
    offer(&mut link, "one").expect("taken the third time");
    offer(&mut link, "two").expect("taken, and lost");
    assert!(matches!(
        offer(&mut link, "three"),
        Err(SendError::Failed(_))
    ));
    offer(&mut link, "four").expect("taken");
    for expected in ["zero", "one", "four"] {
        assert_eq!(peer.recv().await.expect("a frame"), expected);
    }
    assert!(matches!(
        offer(&mut link, "five"),
        Err(SendError::Failed(_))
    ));
    assert!(matches!(event(&mut link).await, LinkEvent::Down(_)));
}

#[tokio::test(start_paused = true)]
async fn a_stalled_link_says_nothing_more() {
    let (mut link, mut peer) = linked(FaultPlan::new().on_receive(1, ReceiveFault::Stall)).await;
    for frame in ["one", "two", "three"] {
        peer.send_frame(frame.into()).await;
    }
    assert_eq!(text(&mut link).await, "one");
    let waited = tokio::time::timeout(Duration::from_secs(999), event(&mut link)).await;
    assert!(waited.is_err(), "{waited:?}");
    offer(&mut link, "still taken").expect("it lives");
}

#[tokio::test(start_paused = true)]
async fn a_link_dies_after_its_bytes() {
    let (mut link, mut peer) = linked(FaultPlan::new().cut_after_bytes(10)).await;
    peer.send_frame("12345".into()).await;
    assert_eq!(text(&mut link).await, "12345");
    offer(&mut link, "1234").expect("nine so far");
    peer.send_frame("12".into()).await;
    assert!(matches!(event(&mut link).await, LinkEvent::Down(_)));
}

#[tokio::test(start_paused = true)]
async fn plans_are_for_links_by_number() {
    let (transport, mut far) = Memory::new();
    let mut transport = FaultyTransport::new(transport).on_link(1, FaultPlan::new().busy_from(0));
    let mut taken = Vec::new();
    for _ in 0..3 {
        let mut link = transport
            .dial(DialOptions::default())
            .await
            .expect("it dials");
        let _peer = far.accept().await;
        taken.push(offer(&mut link, "x").is_ok());
    }
    assert_eq!(taken, [true, false, true]);
    assert!(transport.describe().contains("faults"));
}

#[tokio::test(start_paused = true)]
async fn a_server_runs_by_itself() {
    let (transport, server) = FakeServer::new(ServerProfile::stateless());
    let respond = |request: &ReceivedMessage| match request.params()["name"].as_str() {
        Some("echo") => {
            FakeResponse::from(json!({"content": [], "structuredContent": request.id()}))
        }
        Some("hang up") => FakeResponse::Close,
        Some("silence") => FakeResponse::Ignore,
        _ => FakeResponse::from(ErrorObject::new(-32602, "Unknown tool")),
    };
    let running = tokio::spawn(server.run(respond));
    let client = Client::builder()
        .connect(transport)
        .await
        .expect("it opens");
    let echo = || async { client.tools().call("echo", json!({})).await };
    assert!(
        echo()
            .await
            .expect("an answer")
            .structured_content
            .is_some()
    );
    let refused = client.tools().call("what", json!({})).await;
    assert_eq!(
        refused.expect_err("refused").server_error().map(|e| e.code),
        Some(-32602)
    );
    let silent = client.tools().call("silence", json!({})).await;
    assert!(silent.expect_err("no answer").is_timeout());
    let lost = client.tools().call("hang up", json!({})).await;
    assert!(lost.expect_err("it hung up").is_connection_error());
    let again = client.tools().call("echo", json!({}));
    let again = again.map_call(Call::wait_for_connection).await;
    assert!(again.is_ok(), "it takes the next link, too");
    client.stop().await;
    drop(client);
    running.await.expect("it ends with the client");
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "expected tools/call")]
async fn a_client_that_is_silent_fails_the_test_instead_of_hanging_it() {
    let (transport, mut server) = FakeServer::new(ServerProfile::handshake());
    let _client = Client::builder().connect_in_background(transport);
    let mut session = server.session().await;
    session.expect("tools/call").await;
}
