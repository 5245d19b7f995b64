//! What runs, how much of it, and until when.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bowline::{
    proto::revision::Revision,
    server::{Conversation, Result, Server, Service, Tool},
    transport::{ConnectionErrorKind, Link, LinkEvent, MemoryLink, OutgoingFrame, SendError},
};
use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};

use super::Raw;

/// Counts how many are alive.
#[derive(Clone, Default)]
struct Alive(Arc<AtomicUsize>);

struct Guard(Alive, mpsc::UnboundedSender<&'static str>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
        let _ = self.1.send("dropped");
    }
}

/// A server with tools that say when they start and wait to be let go.
struct Waiting {
    service: Service,
    events: mpsc::UnboundedReceiver<&'static str>,
    gate: Arc<Semaphore>,
    alive: Alive,
}

fn waiting(configure: impl FnOnce(Server) -> Server) -> Waiting {
    let (sender, events) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let alive = Alive::default();
    let (open, count) = (Arc::clone(&gate), alive.clone());
    let wait = Tool::new("wait")
        .description("Waits")
        .no_input()
        .handler(move |_| {
            let (open, count, sender) = (Arc::clone(&open), count.clone(), sender.clone());
            async move {
                count.0.fetch_add(1, Ordering::SeqCst);
                let _guard = Guard(count.clone(), sender.clone());
                let _ = sender.send("started");
                open.acquire().await?.forget();
                Ok("waited")
            }
        });
    let server = configure(Server::new("test", "1").tool(wait));
    Waiting {
        service: server.build().expect("the server is sound"),
        events,
        gate,
        alive,
    }
}

#[tokio::test]
async fn no_more_than_so_many_calls_run_at_once() {
    let mut it = waiting(|server| server.max_concurrent_calls(2));
    let mut raw = Raw::stateless(&it.service);
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(raw.call("wait").await);
    }
    // What needs no work is answered meanwhile, and shows that all arrived.
    raw.result("tools/list", json!({})).await;
    assert_eq!(it.events.recv().await, Some("started"));
    assert_eq!(it.events.recv().await, Some("started"));
    raw.result("tools/list", json!({})).await;
    assert_eq!(it.alive.0.load(Ordering::SeqCst), 2);
    assert!(it.events.try_recv().is_err(), "the others wait");
    for id in ids {
        it.gate.add_permits(1);
        let answer = raw.answer(id).await;
        assert_eq!(answer["result"]["content"][0]["text"], "waited");
        assert!(it.alive.0.load(Ordering::SeqCst) <= 2);
    }
}

#[tokio::test]
async fn what_is_called_off_makes_room_for_what_waits() {
    let mut it = waiting(|server| server.max_concurrent_calls(1));
    let mut raw = Raw::session(&it.service, "2025-11-25").await;
    let first = raw.call("wait").await;
    assert_eq!(it.events.recv().await, Some("started"));
    let second = raw.call("wait").await;
    let third = raw.call("wait").await;
    // Once this is answered, all have arrived and wait.
    raw.result("tools/list", json!({})).await;
    // The second is called off while it waits, and never starts.
    raw.notify("notifications/cancelled", json!({"requestId": second}))
        .await;
    raw.notify("notifications/cancelled", json!({"requestId": first}))
        .await;
    assert_eq!(it.events.recv().await, Some("dropped"));
    assert_eq!(it.events.recv().await, Some("started"));
    it.gate.add_permits(1);
    let answer = raw.frame().await;
    assert_eq!(answer["id"], third, "nothing is said of the others");
    assert_eq!(it.events.recv().await, Some("dropped"));
    assert!(it.events.try_recv().is_err());
}

#[tokio::test]
async fn one_clients_calls_do_not_hold_up_anothers() {
    let mut it = waiting(|server| server.max_concurrent_calls(1));
    let mut one = Raw::stateless(&it.service);
    let mut two = Raw::stateless(&it.service);
    one.call("wait").await;
    two.call("wait").await;
    assert_eq!(it.events.recv().await, Some("started"));
    assert_eq!(it.events.recv().await, Some("started"));
}

#[tokio::test]
async fn a_link_that_closes_drops_all_that_ran_for_it() {
    let mut it = waiting(|server| {
        server
            .max_concurrent_calls(2)
            .shutdown_timeout(Duration::ZERO)
    });
    let mut raw = Raw::stateless(&it.service);
    for _ in 0..3 {
        raw.call("wait").await;
    }
    assert_eq!(it.events.recv().await, Some("started"));
    assert_eq!(it.events.recv().await, Some("started"));
    drop(raw);
    assert_eq!(it.events.recv().await, Some("dropped"));
    assert_eq!(it.events.recv().await, Some("dropped"));
    assert_eq!(it.alive.0.load(Ordering::SeqCst), 0);
    assert!(it.events.try_recv().is_err(), "the third never starts");
}

#[tokio::test(start_paused = true)]
async fn calls_and_their_steps_share_the_time_to_finish_when_the_client_has_left() {
    let (started, mut starts) = mpsc::unbounded_channel();
    let tool: Tool = Tool::new("hang")
        .description("Begins a step that does not end")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation| {
            let started = started.clone();
            async move {
                let _ = started.send(());
                let step = cx.step("hang", std::future::pending::<Result<()>>());
                step.await?;
                Ok("never")
            }
        });
    let service = Server::new("test", "1").tool(tool).build();
    let service = service.expect("it builds");
    let (mut near, far) = MemoryLink::pair();
    let serving = tokio::spawn(async move { service.serve(far).await });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "hang", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    near.send_frame(call.to_string().into()).await;
    starts.recv().await.expect("it starts");
    let left = tokio::time::Instant::now();
    drop(near);
    serving.await.expect("it ends");
    assert_eq!(left.elapsed().as_secs(), 5);
}

#[tokio::test]
async fn serving_that_is_given_up_drops_all_that_ran_for_it() {
    let mut it = waiting(|server| server);
    let (mut near, far) = MemoryLink::pair();
    let service = it.service.clone();
    let serving = tokio::spawn(async move { service.serve(far).await });
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "wait", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    near.send_frame(call.to_string().into()).await;
    assert_eq!(it.events.recv().await, Some("started"));
    serving.abort();
    assert_eq!(it.events.recv().await, Some("dropped"));
    assert_eq!(near.recv().await, None, "the link is closed");
}

#[tokio::test(start_paused = true)]
async fn who_says_nothing_of_itself_is_told_what_could_be_said() {
    let key = "io.modelcontextprotocol/protocolVersion";
    let both = Revision::ALL.to_vec();
    for (revisions, hint) in [(both, true), (vec![Revision::V2025_11_25], false)] {
        let it = waiting(|server| server.revisions(revisions));
        let (mut near, far) = MemoryLink::pair();
        let service = it.service.clone();
        let serving = tokio::spawn(async move { service.serve(far).await });
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
        near.send_frame(list.to_string().into()).await;
        let refused = near.recv().await.expect("an answer");
        let refused: Value = serde_json::from_slice(&refused).expect("JSON");
        let why = refused["error"]["message"].as_str().expect("a reason");
        assert!(why.contains("initialize first"), "{why}");
        assert_eq!(why.contains(key), hint, "{why}");
        serving.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn stopping_lets_calls_finish_within_the_grace() {
    let mut it = waiting(|server| server);
    let mut raw = Raw::session(&it.service, "2025-11-25").await;
    let first = raw.call("wait").await;
    let second = raw.call("wait").await;
    assert_eq!(it.events.recv().await, Some("started"));
    assert_eq!(it.events.recv().await, Some("started"));
    it.service.stop(Duration::from_secs(10));
    let error = raw.error("tools/list", json!({})).await;
    assert_eq!(error["message"], "The server is shutting down");
    let began = tokio::time::Instant::now();
    it.gate.add_permits(1);
    let answer = raw.frame().await;
    assert_eq!(answer["id"], first);
    assert_eq!(began.elapsed(), Duration::ZERO, "an end is not waited for");
    let refused = raw.frame().await;
    assert_eq!(refused["id"], second);
    assert_eq!(refused["error"]["message"], "The server is shutting down");
    assert_eq!(began.elapsed().as_secs(), 10);
    assert_eq!(raw.try_frame().await, None, "the link is closed");
    assert_eq!(it.alive.0.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn stopping_without_work_ends_at_once_and_tells_listeners() {
    let it = waiting(|server| server);
    let mut raw = Raw::stateless(&it.service);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let id = raw.send("subscriptions/listen", wanted).await;
    raw.frame().await;
    it.service.stop(Duration::from_secs(1000));
    assert_eq!(
        raw.frame().await["id"],
        id,
        "the stream of changes has its end"
    );
    assert_eq!(raw.frame().await["method"], "notifications/cancelled");
    assert_eq!(raw.try_frame().await, None);
}

/// A link to a client that has said its last, and still listens.
struct LastWords {
    said: VecDeque<Bytes>,
    listens: MemoryLink,
}

impl Link for LastWords {
    fn send(&mut self, outgoing: OutgoingFrame) -> Result<(), SendError> {
        self.listens.send(outgoing)
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.listens.poll_flush(cx)
    }

    fn poll_event(&mut self, _cx: &mut Context<'_>) -> Poll<LinkEvent> {
        Poll::Ready(match self.said.pop_front() {
            Some(frame) => LinkEvent::Frame(frame),
            None => LinkEvent::Down(ConnectionErrorKind::Eof.into()),
        })
    }

    fn close(self: Box<Self>) {}
}

#[tokio::test]
async fn a_call_is_answered_though_the_client_has_said_its_last() {
    let mut it = waiting(|server| server);
    let (mut near, far) = MemoryLink::pair();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "wait", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }}});
    let link = LastWords {
        said: VecDeque::from([call.to_string().into()]),
        listens: far,
    };
    let service = it.service.clone();
    let serving = tokio::spawn(async move { service.serve(link).await });
    assert_eq!(it.events.recv().await, Some("started"));
    it.gate.add_permits(1);
    let answer = near.recv().await.expect("an answer");
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "waited");
    assert_eq!(near.recv().await, None);
    serving.await.unwrap();
}
