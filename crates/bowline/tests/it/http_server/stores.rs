//! Sessions and events that are kept elsewhere, for other nodes to take up.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bowline::{
    proto::http::{SessionId, resume::EventBufferLimits},
    server::{
        Resource, Server,
        http::{EventStore, HttpOptions, SessionStore, StoredEvent, StoredSession},
        store::StoreError,
    },
    transport::BoxFuture,
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    rig::{Node, Session, text_of},
    tools::{Workshop, workshop, workshop_with},
};
use crate::sync::lock;

/// In place of a database that several nodes share.
#[derive(Default)]
pub(crate) struct Database {
    sessions: Mutex<HashMap<SessionId, (StoredSession, Instant)>>,
    events: Mutex<HashMap<SessionId, Vec<StoredEvent>>>,
    /// How many bytes of sessions were put, in all.
    written: AtomicUsize,
}

impl SessionStore for Database {
    fn put<'a>(
        &'a self,
        id: &'a SessionId,
        session: StoredSession,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let mut sessions = lock(&self.sessions);
            let now = Instant::now();
            let known = sessions.get(id).filter(|kept| kept.1 > now);
            if known.is_some_and(|(known, _)| known.node != session.node) {
                return Ok(false);
            }
            self.written
                .fetch_add(session.value.len(), Ordering::SeqCst);
            sessions.insert(id.clone(), (session, now + ttl));
            Ok(true)
        })
    }

    fn get<'a>(
        &'a self,
        id: &'a SessionId,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move {
            let sessions = lock(&self.sessions);
            let kept = sessions.get(id).filter(|kept| kept.1 > Instant::now());
            Ok(kept.map(|kept| kept.0.clone()))
        })
    }

    fn take_over<'a>(
        &'a self,
        id: &'a SessionId,
        from: &'a str,
        to: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let mut sessions = lock(&self.sessions);
            let kept = sessions.get_mut(id).filter(|kept| kept.1 > Instant::now());
            let kept = kept.filter(|(session, _)| session.node == from);
            Ok(kept
                .map(|(session, _)| to.clone_into(&mut session.node))
                .is_some())
        })
    }

    fn remove<'a>(
        &'a self,
        id: &'a SessionId,
        node: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            lock(&self.sessions).retain(|other, (session, _)| other != id || session.node != node);
            Ok(())
        })
    }
}

impl EventStore for Database {
    fn append<'a>(
        &'a self,
        session: &'a SessionId,
        event: StoredEvent,
        _: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut events = lock(&self.events);
            events.entry(session.clone()).or_default().push(event);
            Ok(())
        })
    }

    fn events_after<'a>(
        &'a self,
        session: &'a SessionId,
        stream: &'a str,
        sequence: u64,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, StoreError>> {
        Box::pin(async move {
            let events = lock(&self.events);
            let events = events.get(session).into_iter().flatten();
            let after = |it: &&StoredEvent| it.stream == stream && it.sequence > sequence;
            Ok(events.filter(after).cloned().collect())
        })
    }

    fn remove<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            lock(&self.events).remove(session);
            Ok(())
        })
    }
}

impl Database {
    pub(super) fn written(&self) -> usize {
        self.written.load(Ordering::SeqCst)
    }

    pub(super) fn options(self: &Arc<Self>) -> HttpOptions {
        options_with(self)
    }

    /// With nodes that keep two events of each stream.
    fn options_with_short_buffers(self: &Arc<Self>) -> HttpOptions {
        HttpOptions {
            replay_limits: EventBufferLimits {
                max_events: 2,
                ..EventBufferLimits::default()
            },
            ..self.options()
        }
    }

    /// The messages of a stored session.
    pub(super) fn messages(&self, id: &str) -> Vec<String> {
        let sessions = lock(&self.sessions);
        let id = SessionId::new(id).expect("an id");
        let value: Value = serde_json::from_slice(&sessions[&id].0.value).expect("JSON");
        serde_json::from_value(value["messages"].clone()).expect("messages")
    }

    pub(super) fn len(&self) -> (usize, usize) {
        let events = lock(&self.events).len();
        (lock(&self.sessions).len(), events)
    }
}

/// Options with a store for both sessions and events.
pub(super) fn options_with<S: SessionStore + EventStore>(store: &Arc<S>) -> HttpOptions {
    HttpOptions {
        session_store: Some(Arc::clone(store) as Arc<dyn SessionStore>),
        event_store: Some(Arc::clone(store) as Arc<dyn EventStore>),
        ..HttpOptions::default()
    }
}

/// A node, and a session that was opened there.
pub(super) async fn one_node(options: HttpOptions) -> (Workshop, Node, Session) {
    let it = workshop();
    let node = Node::with(&it.service, options);
    let session = Session::open(&node, "2025-11-25").await;
    (it, node, session)
}

/// Two nodes, and their tools.
pub(super) struct TwoNodes {
    pub(super) one: Workshop,
    pub(super) two: Workshop,
    pub(super) first: Node,
    pub(super) second: Node,
}

/// Two nodes with the same options, and a session that was opened at the first.
pub(super) async fn two_nodes(options: impl Fn() -> HttpOptions) -> (TwoNodes, Session) {
    let (one, first, session) = one_node(options()).await;
    let two = workshop();
    let second = Node::with(&two.service, options());
    let nodes = TwoNodes {
        one,
        two,
        first,
        second,
    };
    (nodes, session)
}

#[tokio::test(start_paused = true)]
async fn a_session_is_taken_up_by_another_node_with_all_that_it_was_made_of() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    session
        .ask(1, "logging/setLevel", json!({"level": "alert"}))
        .await;
    session
        .ask(2, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    drop((nodes.first, nodes.one));
    let session = session.at(&nodes.second);
    let mut own = session.get().await;
    assert_eq!(own.status(), 200);
    // What is watched is granted in its own turn.
    tokio::task::yield_now().await;
    assert_eq!(nodes.two.service.subscribed_resources().len(), 1);
    nodes.two.service.resource_updated("a:1");
    let told = own.message().await.unwrap();
    assert_eq!(told["params"]["uri"], "a:1");
    // It asks as it may ask this client, and is as quiet as that wished.
    let mut call = session.call(3, "ask").await;
    let question = call.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create");
    let messages = session.call(4, "chatty").await.messages().await;
    assert_eq!(messages.len(), 4, "progress and the answer: {messages:?}");
    assert_eq!(nodes.second.http.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_unwatched_stays_so() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    session
        .ask(1, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    session
        .ask(2, "resources/unsubscribe", json!({"uri": "a:1"}))
        .await;
    let taken_up = session.at(&nodes.second);
    assert_eq!(taken_up.ask(3, "ping", json!({})).await.status(), 200);
    assert_eq!(nodes.two.service.subscribed_resources().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn another_principals_session_is_not_taken_up() {
    let database = Arc::new(Database::default());
    let (one, two) = (workshop(), workshop());
    let ada = Node::with(&one.service, database.options()).asked_by("ada");
    let session = Session::open(&ada, "2025-11-25").await;
    let second = Node::with(&two.service, database.options());
    for thief in [&second, &second.asked_by("bob")] {
        let answer = session.at(thief).ask(1, "ping", json!({})).await;
        assert_eq!(answer.status(), 404);
    }
    assert_eq!(second.http.session_count(), 0);
    let answer = session
        .at(&second.asked_by("ada"))
        .ask(1, "ping", json!({}))
        .await;
    assert_eq!(answer.status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_session_that_was_ended_is_forgotten() {
    let database = Arc::new(Database::default());
    let (_it, _node, session) = one_node(database.options()).await;
    session.call(1, "chatty").await.messages().await;
    tokio::task::yield_now().await;
    assert_eq!(database.len(), (1, 1));
    session.delete().await;
    assert_eq!(database.len(), (0, 0));
    assert_eq!(session.ask(1, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn a_session_is_kept_while_it_is_used_and_expires_then() {
    let database = Arc::new(Database::default());
    let (it, first, session) = one_node(database.options()).await;
    let own = session.get().await;
    sleep(Duration::from_secs(5 * 3600)).await;
    // As if the first were gone without a word.
    let second = Node::with(&it.service, database.options());
    assert_eq!(
        session.at(&second).ask(1, "ping", json!({})).await.status(),
        200
    );
    drop(own);
    sleep(Duration::from_secs(3 * 3600)).await;
    assert_eq!(
        (first.http.session_count(), second.http.session_count()),
        (0, 0)
    );
    assert_eq!(session.ask(2, "ping", json!({})).await.status(), 404);
}

#[tokio::test(start_paused = true)]
async fn what_was_sent_can_be_had_from_another_node() {
    let database = Arc::new(Database::default());
    let (mut it, _node, session) = one_node(database.options()).await;
    let mut call = session.call(1, "tell_and_wait").await;
    it.started().await;
    let primed = call.event().await.unwrap().id.unwrap();
    it.open();
    let ids = [call.event().await, call.event().await].map(|it| it.unwrap().id.unwrap());
    tokio::task::yield_now().await;
    let other = workshop();
    let second = Node::with(&other.service, database.options());
    let moved = session.at(&second);
    let mut again = moved.resume(&primed).await;
    assert_eq!(again.status(), 200);
    let event = again.event().await.unwrap();
    assert_eq!(event.id.as_ref(), Some(&ids[0]), "under the same ids");
    assert_eq!(text_of(&again.message().await.unwrap()), "waited");
    assert_eq!(again.event().await, None);
    // Not for other sessions.
    let stranger = Session::open(&second, "2025-11-25").await;
    assert_eq!(stranger.resume(&primed).await.status(), 400);
    // A gap is no stream.
    lock(&database.events)
        .values_mut()
        .for_each(|all| drop(all.remove(0)));
    assert_eq!(moved.resume(&primed).await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_longer_kept_here_is_looked_up_there() {
    let database = Arc::new(Database::default());
    let options = database.options_with_short_buffers();
    let (mut it, _node, session) = one_node(options).await;
    let mut call = session.call(1, "tell_much_and_wait").await;
    it.started().await;
    let primed = call.event().await.unwrap().id.unwrap();
    let first = call.event().await.unwrap().id;
    drop(call);
    tokio::task::yield_now().await;
    // What is not noted yet is kept here: the last two.
    let lags = |all: &mut Vec<StoredEvent>| all.truncate(all.len() - 2);
    lock(&database.events).values_mut().for_each(lags);
    let mut again = session.resume(&primed).await;
    assert_eq!(again.status(), 200);
    assert_eq!(again.event().await.unwrap().id, first, "under the same ids");
    for step in 2..=5 {
        let told = again.message().await.unwrap();
        assert_eq!(told["params"]["progress"], step);
    }
    // And the call is still the one that is under way.
    it.open();
    assert_eq!(text_of(&again.message().await.unwrap()), "waited");
    assert_eq!(again.event().await, None);
    // What neither has is refused.
    lock(&database.events).clear();
    assert_eq!(session.resume(&primed).await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn the_servers_own_stream_goes_on_at_another_node() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    let mut own = session.get().await;
    let primed = own.event().await.unwrap().id.unwrap();
    nodes.one.service.tools_changed();
    own.message().await.unwrap();
    tokio::task::yield_now().await;
    let mut own = session.at(&nodes.second).resume(&primed).await;
    assert!(own.message().await.is_some(), "what was missed");
    nodes.two.service.tools_changed();
    assert!(own.message().await.is_some(), "and what comes");
}

#[tokio::test(start_paused = true)]
async fn taking_up_from_several_requests_makes_one_session() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    let moved = session.at(&nodes.second);
    let ask = |id| {
        let moved = moved.clone();
        tokio::spawn(async move { moved.ask(id, "ping", json!({})).await.status() })
    };
    let all: Vec<_> = (0..10).map(ask).collect();
    for one in all {
        assert_eq!(one.await.unwrap(), 200);
    }
    assert_eq!(nodes.second.http.session_count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_to_another_nodes_question_answers_none_of_ours() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    let mut call = session.call(1, "ask").await;
    let theirs = call.message().await.unwrap();
    // The node dies, while the user still thinks.
    drop((call, nodes.first, nodes.one));
    let session = session.at(&nodes.second);
    let mut call = session.call(2, "ask").await;
    let ours = call.message().await.unwrap();
    assert_ne!(theirs["id"], ours["id"]);
    session.accept(&theirs, json!({"colour": "red"})).await;
    session.accept(&ours, json!({"colour": "green"})).await;
    let next = call.message().await.unwrap();
    session.accept(&next, json!({"colour": "blue"})).await;
    let answer = call.message().await.unwrap();
    assert_eq!(text_of(&answer), "green and blue");
}

#[tokio::test(start_paused = true)]
async fn a_gap_in_the_servers_own_stream_is_seen() {
    let database = Arc::new(Database::default());
    let options = database.options_with_short_buffers();
    let (it, _node, session) = one_node(options).await;
    let mut own = session.get().await;
    let primed = own.event().await.unwrap().id.unwrap();
    for _ in 0..5 {
        it.service.tools_changed();
    }
    drop(own);
    tokio::task::yield_now().await;
    // Two are noted, two are kept here, and one is nowhere.
    let lags = |all: &mut Vec<StoredEvent>| all.truncate(2);
    lock(&database.events).values_mut().for_each(lags);
    let mut again = session.resume(&primed).await;
    let mut last = Box::<str>::default();
    while let Some(event) = again.event().await {
        last = event.id.unwrap();
    }
    assert_eq!(session.resume(&last).await.status(), 400);
}

#[tokio::test(start_paused = true)]
async fn what_was_refused_makes_no_session() {
    let database = Arc::new(Database::default());
    let (nodes, session) = two_nodes(|| database.options()).await;
    session
        .ask(1, "logging/setLevel", json!({"level": "alert"}))
        .await;
    let refused = [
        ("initialize", json!({})),
        (
            "initialize",
            json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "another", "version": "1"},
            }),
        ),
        ("logging/setLevel", json!({"level": "whisper"})),
    ];
    for (number, (method, params)) in (2..).zip(refused) {
        let answer = session.ask(number, method, params).await;
        assert!(answer.error().await.is_object(), "{method}");
    }
    let session = session.at(&nodes.second);
    let mut own = session.get().await;
    assert_eq!(own.status(), 200);
    let primed = own.event();
    nodes.two.service.tools_changed();
    assert!(primed.await.unwrap().data.is_empty(), "as in 2025-11-25");
    let messages = session.call(9, "chatty").await.messages().await;
    assert_eq!(messages.len(), 4, "progress and the answer: {messages:?}");
    let mut call = session.call(10, "ask").await;
    let question = call.message().await.unwrap();
    assert_eq!(question["method"], "elicitation/create", "{question}");
}

#[tokio::test(start_paused = true)]
async fn a_session_may_watch_more_than_it_may_ask_at_once() {
    let database = Arc::new(Database::default());
    let many = |server: Server| {
        let resource = |number| Resource::new(format!("b:{number}"), "one of many").text("1");
        let server = server.configure(|config| config.max_requests = 2);
        server.resources((0..5).map(resource))
    };
    let (one, two) = (workshop_with(many), workshop_with(many));
    let first = Node::with(&one.service, database.options());
    let session = Session::open(&first, "2025-11-25").await;
    for number in 0..5 {
        let uri = json!({"uri": format!("b:{number}")});
        let answer = session.ask(number, "resources/subscribe", uri).await;
        assert_eq!(answer.json().await["result"], json!({}));
    }
    let second = Node::with(&two.service, database.options());
    let moved = session.at(&second);
    assert_eq!(moved.ask(9, "ping", json!({})).await.status(), 200);
    tokio::task::yield_now().await;
    assert_eq!(two.service.subscribed_resources().len(), 5);
}
