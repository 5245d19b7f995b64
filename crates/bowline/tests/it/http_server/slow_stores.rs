//! Stores that take their time, and what happens meanwhile.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::{
    proto::http::SessionId,
    server::{
        http::{EventStore, HttpOptions, SessionStore, StoredEvent, StoredSession},
        store::StoreError,
    },
    transport::BoxFuture,
};
use serde_json::json;
use tokio::{
    sync::Semaphore,
    task::{JoinHandle, yield_now},
    time::sleep,
};

use super::{
    rig::{Node, Session},
    stores::{Database, one_node, options_with, two_nodes},
    tools::workshop,
};

/// Holds up those who come, if it is told to.
struct Gate {
    holds: AtomicUsize,
    go_on: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            holds: AtomicUsize::new(0),
            go_on: Semaphore::new(0),
        }
    }
}

impl Gate {
    /// Holds up so many from now on.
    fn hold(&self, many: usize) {
        self.holds.store(many, Ordering::SeqCst);
    }

    fn release(&self, many: usize) {
        self.go_on.add_permits(many);
    }

    async fn pass(&self) {
        let one_less = |holds: usize| holds.checked_sub(1);
        let held = self
            .holds
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less);
        if held.is_ok() {
            self.go_on.acquire().await.expect("it is open").forget();
        }
    }
}

/// A database behind gates.
#[derive(Default)]
struct Slow {
    database: Arc<Database>,
    get: Gate,
    /// How often it was asked for a session.
    gets: AtomicUsize,
    put: Gate,
    remove: Gate,
    after: Gate,
}

impl SessionStore for Slow {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            self.put.pass().await;
            self.database.put(id, session, ttl).await
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        self.gets.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            self.get.pass().await;
            self.database.get(id).await
        })
    }

    fn take_over<'a>(
        &'a self,
        id: &'a SessionId,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.database.take_over(id, from, to)
    }

    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        node: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.remove.pass().await;
            SessionStore::remove(&*self.database, id, node).await
        })
    }
}

impl EventStore for Slow {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        event: StoredEvent,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.database.append(session, event, ttl)
    }

    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>> {
        Box::pin(async move {
            self.after.pass().await;
            self.database.events_after(session, stream, sequence).await
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        EventStore::remove(&*self.database, session)
    }
}

impl Slow {
    fn options(self: &Arc<Self>) -> HttpOptions {
        options_with(self)
    }
}

fn set_level(session: &Session, id: u32, level: &'static str) -> JoinHandle<u16> {
    let session = session.clone();
    tokio::spawn(async move {
        let level = json!({"level": level});
        session.ask(id, "logging/setLevel", level).await.status()
    })
}

fn delete(session: &Session) -> JoinHandle<u16> {
    let session = session.clone();
    tokio::spawn(async move { session.delete().await.status() })
}

async fn settle() {
    for _ in 0..10 {
        yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_of_a_session_that_ended_meanwhile_ends() {
    let slow = Arc::new(Slow::default());
    let (nodes, session) = two_nodes(|| slow.options()).await;
    let mut own = session.get().await;
    let primed = own.event().await.unwrap().id.unwrap();
    nodes.one.service.tools_changed();
    own.message().await.unwrap();
    settle().await;
    let moved = session.at(&nodes.second);
    slow.after.hold(1);
    let resuming = tokio::spawn({
        let moved = moved.clone();
        async move { moved.resume(&primed).await }
    });
    settle().await;
    assert_eq!(nodes.second.http.session_count(), 1);
    nodes.second.http.stop(Duration::ZERO);
    settle().await;
    assert_eq!(nodes.second.http.session_count(), 0);
    slow.after.release(1);
    // What was missed, and the end.
    let answer = resuming.await.unwrap();
    assert_eq!(answer.messages().await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_does_not_answer_does_not_keep_a_session_for_ever() {
    let slow = Arc::new(Slow::default());
    let (mut it, node, session) = one_node(slow.options()).await;
    let own = session.get().await;
    slow.put.hold(usize::MAX);
    let hour = Duration::from_secs(3600);
    sleep(hour).await;
    assert_eq!(node.http.session_count(), 1, "somebody is connected");
    drop(own);
    sleep(hour).await;
    assert_eq!(node.http.session_count(), 0);
    // Nor does it hold up the end.
    slow.put.hold(0);
    let session = Session::open(&node, "2025-11-25").await;
    let call = session.call(1, "tell_and_wait").await;
    it.started().await;
    slow.put.hold(usize::MAX);
    sleep(hour).await;
    node.http.stop(hour / 2);
    let messages = call.messages().await;
    let error = &messages.last().unwrap()["error"];
    assert_eq!(error["message"], "The server is shutting down");
    it.dropped().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_said_last_is_noted_last() {
    let slow = Arc::new(Slow::default());
    let (_it, _node, session) = one_node(slow.options()).await;
    slow.put.hold(1);
    let first = set_level(&session, 1, "debug");
    settle().await;
    let second = set_level(&session, 2, "alert");
    settle().await;
    slow.put.release(1);
    assert_eq!((first.await.unwrap(), second.await.unwrap()), (200, 200));
    let noted = slow.database.messages(&session.id).join("\n");
    assert!(
        noted.contains("alert") && !noted.contains("debug"),
        "{noted}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_client_left_unnoted_is_noted_later() {
    let slow = Arc::new(Slow::default());
    let (_it, _node, session) = one_node(slow.options()).await;
    slow.put.hold(1);
    let leaving = set_level(&session, 1, "alert");
    settle().await;
    leaving.abort();
    assert!(leaving.await.is_err(), "it was being noted");
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 200);
    let noted = slow.database.messages(&session.id).join("\n");
    assert!(noted.contains("alert"), "{noted}");
}

#[tokio::test(start_paused = true)]
async fn what_the_store_did_not_take_is_noted_later() {
    let slow = Arc::new(Slow::default());
    let (_it, _node, session) = one_node(slow.options()).await;
    slow.put.hold(1);
    let level = set_level(&session, 1, "alert").await;
    assert_eq!(level.unwrap(), 200, "the session is available here");
    let noted = slow.database.messages(&session.id).join("\n");
    assert!(!noted.contains("alert"), "{noted}");
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 200);
    let noted = slow.database.messages(&session.id).join("\n");
    assert!(noted.contains("alert"), "{noted}");
}

#[tokio::test(start_paused = true)]
async fn a_session_is_ended_even_if_its_client_does_not_wait_for_that() {
    let slow = Arc::new(Slow::default());
    let (_it, _node, session) = one_node(slow.options()).await;
    session.call(1, "chatty").await.messages().await;
    slow.remove.hold(1);
    let leaving = delete(&session);
    settle().await;
    leaving.abort();
    assert!(leaving.await.is_err(), "it was still being ended");
    slow.remove.release(1);
    settle().await;
    assert_eq!(slow.database.len(), (0, 0));
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_being_ended_is_not_taken_up() {
    let slow = Arc::new(Slow::default());
    let (_it, node, session) = one_node(slow.options()).await;
    slow.remove.hold(1);
    let ending = delete(&session);
    settle().await;
    session.ask(1, "ping", json!({})).await;
    slow.remove.release(1);
    assert_eq!(ending.await.unwrap(), 204);
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 404);
    assert_eq!(node.http.session_count(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_is_ended_is_not_noted_any_more() {
    let slow = Arc::new(Slow::default());
    let (_it, _node, session) = one_node(slow.options()).await;
    slow.put.hold(1);
    let noting = set_level(&session, 1, "alert");
    settle().await;
    let ending = delete(&session);
    settle().await;
    slow.put.release(1);
    noting.await.unwrap();
    assert_eq!(ending.await.unwrap(), 204);
    assert_eq!(slow.database.len().0, 0);
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_loaded_once_for_all_who_ask_for_it() {
    let slow = Arc::new(Slow::default());
    let (nodes, session) = two_nodes(|| slow.options()).await;
    let ask = |id| {
        let moved = session.at(&nodes.second);
        tokio::spawn(async move { moved.ask(id, "ping", json!({})).await.status() })
    };
    slow.get.hold(usize::MAX);
    let leaves = ask(0);
    settle().await;
    let stay: Vec<_> = (1..10).map(ask).collect();
    settle().await;
    assert_eq!(slow.gets.load(Ordering::SeqCst), 1);
    // Who asked first leaves: another one takes over.
    leaves.abort();
    assert!(leaves.await.is_err());
    settle().await;
    assert_eq!(slow.gets.load(Ordering::SeqCst), 2);
    slow.get.release(1);
    for one in stay {
        assert_eq!(one.await.unwrap(), 200);
    }
    assert_eq!(slow.gets.load(Ordering::SeqCst), 2);
    // Nor is one that is not there looked for by each of them.
    let unknown = Session {
        id: "unknown".to_owned(),
        ..session.at(&nodes.second)
    };
    let ask = |id| {
        let unknown = unknown.clone();
        tokio::spawn(async move { unknown.ask(id, "ping", json!({})).await.status() })
    };
    let all: Vec<_> = (0..10).map(ask).collect();
    settle().await;
    slow.get.release(1);
    for one in all {
        assert_eq!(one.await.unwrap(), 404);
    }
    assert_eq!(slow.gets.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_a_store_has_a_place_whatever_it_asks() {
    let slow = Arc::new(Slow::default());
    let it = workshop();
    let options = HttpOptions {
        max_requests: 2,
        ..slow.options()
    };
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, "2025-11-25").await;
    slow.get.hold(usize::MAX);
    slow.remove.hold(1);
    let unknown = Session {
        id: "unknown".to_owned(),
        ..session.clone()
    };
    let listening = tokio::spawn({
        let unknown = unknown.clone();
        async move { unknown.get().await.status() }
    });
    // Its client does not wait for the end.
    let ending = delete(&session);
    settle().await;
    ending.abort();
    settle().await;
    assert_eq!(unknown.get().await.status(), 503);
    assert_eq!(unknown.delete().await.status(), 503);
    slow.get.release(1);
    assert_eq!(listening.await.unwrap(), 404);
    slow.remove.release(1);
    settle().await;
    slow.get.release(2);
    assert_eq!(unknown.get().await.status(), 404);
    assert_eq!(unknown.delete().await.status(), 404);
}
