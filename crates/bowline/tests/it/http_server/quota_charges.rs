//! What counts for a client for as long as it is there, whatever it is.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline::server::{
    Conversation, NotificationContext, Resource, Server, Tool,
    http::{ClientLimits, HttpOptions},
};
use bytes::Bytes;
use http::Method;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{sync::Semaphore, task::yield_now};

use super::{
    rig::{Chunks, Node, Session, stateless},
    tools::{workshop, workshop_with},
};

const VERSION: &str = "2025-11-25";

async fn settle() {
    for _ in 0..20 {
        yield_now().await;
    }
}

fn impatient(per_client: ClientLimits) -> HttpOptions {
    HttpOptions {
        stream_after: Duration::from_millis(1),
        client_limits: per_client,
        ..HttpOptions::default()
    }
}

/// The memory that a piece of a body lies in, which tells when it is free.
struct Buffer(Vec<u8>, Arc<AtomicBool>);

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.1.store(true, Ordering::SeqCst);
    }
}

/// A body that lies in a large buffer, in these pieces, and whether that is
/// free.
fn in_large_buffer(body: &str, pieces: usize) -> (Chunks, Arc<AtomicBool>) {
    let free: Arc<AtomicBool> = Arc::default();
    let mut buffer = body.as_bytes().to_vec();
    buffer.resize(256 * 1024, 0);
    let buffer = Bytes::from_owner(Buffer(buffer, Arc::clone(&free)));
    let body = buffer.slice(..body.len());
    let size = body.len().div_ceil(pieces);
    let starts = (0..body.len()).step_by(size);
    let chunks = starts.map(|at| body.slice(at..body.len().min(at + size)));
    (Chunks::new(chunks), free)
}

#[tokio::test(start_paused = true)]
async fn a_small_body_does_not_keep_the_buffer_that_it_was_read_into() {
    let mut it = workshop();
    let node = Node::with(&it.service, impatient(ClientLimits::default()));
    for pieces in [1, 2] {
        let call = json!({"name": "wait", "arguments": {}});
        let (request, body) = stateless("tools/call", call.clone());
        let (body, free) = in_large_buffer(&body, pieces);
        let answer = node.send(request, body).await;
        it.started().await;
        assert!(free.load(Ordering::SeqCst), "in {pieces}");
        drop(answer);
        let session = Session::open(&node, VERSION).await;
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call});
        let (body, free) = in_large_buffer(&call.to_string(), pieces);
        let answer = node.send(session.request(Method::POST), body).await;
        assert_eq!(answer.status(), 200);
        assert!(free.load(Ordering::SeqCst), "in {pieces}, in a session");
        session.delete().await;
        while it.alive() > 0 {
            yield_now().await;
        }
        while it.events.try_recv().is_ok() {}
    }
    // Nor while the rest of it is waited for.
    let (request, body) = stateless("tools/list", json!({}));
    let (body, free) = in_large_buffer(&body[..1], 1);
    let reading = tokio::spawn({
        let node = node.clone();
        async move { node.send(request, body.endless()).await.status() }
    });
    settle().await;
    assert!(free.load(Ordering::SeqCst));
    reading.abort();
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// A server with a tool whose step comes to its end although its caller leaves,
/// and the names of those that did. One that has begun says so.
struct Steps {
    gate: Arc<Semaphore>,
    begun: Arc<Semaphore>,
    done: Arc<Mutex<Vec<String>>>,
}

impl Steps {
    fn new() -> Self {
        Self {
            gate: Arc::new(Semaphore::new(0)),
            begun: Arc::new(Semaphore::new(0)),
            done: Arc::default(),
        }
    }

    fn tool(&self) -> Tool {
        let (gate, begun) = (Arc::clone(&self.gate), Arc::clone(&self.begun));
        let done = Arc::clone(&self.done);
        let tool = Tool::new("pay").description("Pays").input::<Named>();
        tool.handler_with_conversation(move |input, cx: Conversation| {
            let (gate, begun) = (Arc::clone(&gate), Arc::clone(&begun));
            let done = Arc::clone(&done);
            async move {
                let name = input.name;
                let pay = async {
                    begun.add_permits(1);
                    gate.acquire().await?.forget();
                    done.lock().expect("no panic").push(name);
                    Ok(())
                };
                cx.step("pay", pay).await?;
                Ok("paid")
            }
        })
    }

    /// Waits until one more has begun.
    async fn begun(&self) {
        self.begun.acquire().await.expect("it is open").forget();
    }

    fn done(&self) -> usize {
        self.done.lock().expect("no panic").len()
    }

    async fn finish(&self, many: usize) {
        let before = self.done();
        self.gate.add_permits(many);
        while self.done() < before + many {
            yield_now().await;
        }
        settle().await;
    }
}

#[tokio::test(start_paused = true)]
async fn work_that_goes_on_without_its_client_counts_for_it() {
    let steps = Steps::new();
    let it = workshop_with(|server| server.tool(steps.tool()));
    let few = ClientLimits {
        max_requests: 2,
        ..ClientLimits::default()
    };
    let node = Node::with(&it.service, impatient(few));
    let mallory = node.asked_by("mallory");
    for _ in 0..2 {
        let left = mallory.call("pay", json!({"name": "m"})).await;
        assert_eq!(left.status(), 200);
        steps.begun().await;
        drop(left);
    }
    settle().await;
    assert_eq!(
        mallory.call("pay", json!({"name": "m"})).await.status(),
        429
    );
    let others = node.asked_by("ada").ask("tools/list", json!({})).await;
    assert_eq!(others.status(), 200);
    steps.finish(2).await;
    assert_eq!(mallory.ask("tools/list", json!({})).await.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn the_bytes_of_calls_that_were_called_off_count_until_the_work_ends() {
    let steps = Steps::new();
    let it = workshop_with(|server| server.tool(steps.tool()));
    let few = ClientLimits {
        max_request_bytes: 110_000,
        ..ClientLimits::default()
    };
    let node = Node::with(&it.service, impatient(few));
    let mallory = node.asked_by("mallory");
    let session = Session::open(&mallory, VERSION).await;
    let words = "x".repeat(30_000);
    let call = async |id: u32| {
        let arguments = json!({"name": words});
        let params = json!({"name": "pay", "arguments": arguments});
        session.ask(id, "tools/call", params).await.status()
    };
    for id in 1..=2 {
        assert_eq!(call(id).await, 200);
        steps.begun().await;
        let which = json!({"requestId": id});
        session.notify("notifications/cancelled", which).await;
    }
    // The third ends with its session.
    assert_eq!(call(3).await, 200);
    steps.begun().await;
    assert_eq!(session.delete().await.status(), 204);
    settle().await;
    let again = Session::open(&mallory, VERSION).await;
    let large = || json!({"name": "pay", "arguments": {"name": words}});
    let answer = again.ask(1, "tools/call", large()).await;
    assert_eq!(answer.status(), 429);
    steps.finish(3).await;
    let answer = again.ask(1, "tools/call", large()).await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn who_leaves_much_work_behind_keeps_no_other_address_from_theirs() {
    let steps = Steps::new();
    let it = workshop_with(|server| server.tool(steps.tool()));
    let node = Node::with(&it.service, impatient(ClientLimits::default()));
    let mallory = node.asked_from([192, 0, 2, 1]);
    for _ in 0..140 {
        drop(mallory.call("pay", json!({"name": "mallory"})).await);
        steps.begun().await;
    }
    let ada = node.asked_from([192, 0, 2, 2]);
    drop(ada.call("pay", json!({"name": "ada"})).await);
    steps.begun().await;
    steps.gate.add_permits(200);
    settle().await;
    let done = steps.done.lock().expect("no panic");
    assert_eq!(done.iter().filter(|it| *it == "ada").count(), 1);
    assert_eq!(done.iter().filter(|it| *it == "mallory").count(), 128);
}

#[tokio::test(start_paused = true)]
async fn notifications_that_wait_for_the_author_count() {
    let gate = Arc::new(Semaphore::new(0));
    let listens = |server: Server| {
        let gate = Arc::clone(&gate);
        server.on_notification("acme/said", move |notice: NotificationContext| {
            let gate = Arc::clone(&gate);
            async move {
                gate.acquire().await.expect("it is open").forget();
                drop(notice);
            }
        })
    };
    let it = workshop_with(listens);
    let few = ClientLimits {
        max_request_bytes: 110_000,
        ..ClientLimits::default()
    };
    let node = Node::with(&it.service, impatient(few)).asked_by("mallory");
    let mut taken = 0;
    for _ in 0..2 {
        let session = Session::open(&node, VERSION).await;
        for _ in 0..3 {
            let words = json!({"words": "x".repeat(30_000)});
            taken += u32::from(session.notify("acme/said", words).await.status() == 202);
            settle().await;
        }
    }
    assert_eq!(taken, 3);
    gate.add_permits(3);
    settle().await;
    let session = Session::open(&node, VERSION).await;
    let words = json!({"words": "x".repeat(30_000)});
    assert_eq!(session.notify("acme/said", words).await.status(), 202);
}

#[tokio::test(start_paused = true)]
async fn notices_that_wait_for_a_stream_count_as_kept_by_the_session() {
    let long = |number: u32| format!("long:{number}{}", "x".repeat(10_000));
    let resource = |number| Resource::new(long(number), "long").text("1");
    let it = workshop_with(|server| server.resources((0..4).map(resource)));
    let options = HttpOptions {
        max_session_bytes: 150_000,
        ..HttpOptions::default()
    };
    let node = Node::with(&it.service, options);
    let mut sessions = Vec::new();
    for _ in 0..2 {
        let session = Session::open(&node, VERSION).await;
        for number in 0..4 {
            let watch = json!({"uri": long(number)});
            session.ask(number, "resources/subscribe", watch).await;
        }
        sessions.push(session);
    }
    settle().await;
    assert_eq!(node.http.session_count(), 2);
    for number in 0..4 {
        it.service.resource_updated(&long(number));
    }
    settle().await;
    assert_eq!(
        node.http.session_count(),
        1,
        "nobody listens to these notices"
    );
    // Once they are told they take no room.
    let mut own = sessions[1].get().await;
    for _ in 0..4 {
        assert!(own.message().await.is_some());
    }
    let more = Session::open(&node, VERSION).await;
    for number in 0..4 {
        let watch = json!({"uri": long(number)});
        more.ask(number, "resources/subscribe", watch).await;
    }
    settle().await;
    assert_eq!(node.http.session_count(), 2);
}

/// How many of these can wait for the rest of their bodies at once.
async fn waiting(node: &Node, header: &str, body: &str) -> usize {
    let mut slow = Vec::new();
    for _ in 0..10 {
        let (request, _) = stateless("tools/list", json!({}));
        let request = request.header("x-large", header);
        let body = Chunks::new([Bytes::copy_from_slice(body.as_bytes())]).endless();
        let node = node.clone();
        slow.push(tokio::spawn(async move { node.send(request, body).await }));
    }
    settle().await;
    let waiting = slow.iter().filter(|it| !it.is_finished()).count();
    for it in slow {
        it.abort();
        let _ = it.await;
    }
    waiting
}

#[tokio::test(start_paused = true)]
async fn the_heads_of_requests_count() {
    let it = workshop();
    let few = ClientLimits {
        max_request_bytes: 100_000,
        ..ClientLimits::default()
    };
    let node = Node::with(&it.service, impatient(few)).asked_by("mallory");
    assert_eq!(waiting(&node, "", "{").await, 10);
    assert_eq!(waiting(&node, &"x".repeat(30_000), "{").await, 3);
}

#[tokio::test(start_paused = true)]
async fn many_small_values_count_for_what_they_take_when_they_are_read() {
    let it = workshop();
    // For one of them, and a half.
    let few = ClientLimits {
        max_request_bytes: 30_000 * size_of::<Value>(),
        ..ClientLimits::default()
    };
    let node = Node::with(&it.service, impatient(few)).asked_by("mallory");
    let call = async |extra: Value| {
        let params = json!({"name": "wait", "arguments": {}, "_meta": {"extra": extra}});
        node.ask("tools/call", params).await
    };
    // As long, and harmless.
    let mut open = Vec::new();
    for _ in 0..4 {
        let text = call(json!("x".repeat(40_000))).await;
        assert_eq!(text.status(), 200);
        open.push(text);
    }
    drop(open);
    settle().await;
    let many = || call(json!(vec![0; 20_000]));
    let first = many().await;
    assert_eq!(first.status(), 200);
    assert_eq!(many().await.status(), 429);
    drop(first);
    settle().await;
    assert_eq!(many().await.status(), 200);
}
