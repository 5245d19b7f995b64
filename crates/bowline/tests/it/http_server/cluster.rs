//! Several nodes behind one address: sessions are served by the node that has them, and
//! taken over if it is gone.
//!
//! Requests between the nodes go over sockets, so time is not paused here. Nothing
//! depends on how much of it passes.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    server::{
        http::{Cluster, HttpOptions, MemoryNodeStore, NodeStore},
        seal::SealKeys,
        store::{MemoryJournalStore, MemorySealedStateStore, StoreError},
    },
    transport::BoxFuture,
};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};

use super::{
    rig::{Node, Session, text_of},
    stores::Database,
    tools::{Workshop, workshop_with},
};
use crate::sync::lock;

/// The nodes that are alive, of which some cannot reach this store.
#[derive(Default)]
struct Nodes {
    alive: MemoryNodeStore,
    cut_off: Mutex<HashSet<String>>,
}

impl NodeStore for Nodes {
    fn register<'a>(
        &'a self,
        node: &'a str,
        address: &'a str,
        lease: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        if lock(&self.cut_off).contains(address) {
            return Box::pin(async { Err(StoreError::new("unreachable")) });
        }
        self.alive.register(node, address, lease)
    }

    fn address<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        self.alive.address(node)
    }

    fn remove<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.alive.remove(node)
    }
}

/// What all nodes share.
#[derive(Clone, Default)]
struct Fleet {
    database: Arc<Database>,
    nodes: Arc<Nodes>,
}

/// One of the nodes.
struct Member {
    workshop: Workshop,
    node: Node,
    address: String,
    serving: JoinHandle<()>,
}

impl Fleet {
    async fn start(&self) -> Member {
        self.start_with(&[7; 32]).await
    }

    async fn start_with(&self, secret: &[u8]) -> Member {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let local = listener.local_addr().expect("an address");
        let address = format!("http://{local}/mcp");
        let keys = SealKeys::from_secret(secret).expect("it is long enough");
        let workshop = workshop_with(|server| {
            server
                .seal_keys(keys)
                .journal_store(MemoryJournalStore::new())
                .sealed_state_store(MemorySealedStateStore::new())
        });
        let cluster = Cluster::new(&address).node_store(Arc::clone(&self.nodes));
        let cluster = cluster.lease_timeout(Duration::from_millis(300));
        let options = HttpOptions {
            cluster: Some(cluster),
            ..self.database.options()
        };
        let node = Node::with(&workshop.service, options);
        let http = node.http.clone();
        let serving = tokio::spawn(async move {
            http.serve(listener).await.expect("it serves");
        });
        Member {
            workshop,
            node,
            address,
            serving,
        }
    }
}

impl Member {
    /// It ends without a word.
    async fn kill(self) {
        self.serving.abort();
        let _ = self.serving.await;
    }
}

#[tokio::test]
async fn every_node_answers_for_every_session() {
    let fleet = Fleet::default();
    let (one, two) = (fleet.start().await, fleet.start().await);
    let session = Session::open(&one.node, "2025-11-25").await;
    let away = session.at(&two.node);
    let answer = away.ask(1, "ping", json!({})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.json().await["result"], json!({}));
    let messages = away.call(2, "chatty").await.messages().await;
    assert_eq!(messages.len(), 5, "as they come: {messages:?}");
    assert_eq!(text_of(&messages[4]), "done");
    let watched = away
        .ask(3, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    assert_eq!(watched.status(), 200);
    let mut stream = away.get().await;
    one.workshop.service.resource_updated("a:1");
    let told = stream.message().await.expect("a notification");
    assert_eq!(told["params"]["uri"], "a:1");
    // It never moved.
    assert_eq!(two.node.http.session_count(), 0);
    assert_eq!(away.delete().await.status(), 204);
    assert_eq!(one.node.http.session_count(), 0);
    assert_eq!(session.ask(4, "ping", json!({})).await.status(), 404);
}

#[tokio::test]
async fn questions_are_answered_at_any_node() {
    let fleet = Fleet::default();
    let nodes = [
        fleet.start().await,
        fleet.start().await,
        fleet.start().await,
    ];
    let session = Session::open(&nodes[0].node, "2025-11-25").await;
    let mut call = session.at(&nodes[1].node).call(1, "ask").await;
    for (node, colour) in [(2, "red"), (1, "blue")] {
        let question = call.message().await.expect("a question");
        assert_eq!(question["method"], "elicitation/create");
        let away = session.at(&nodes[node].node);
        let accepted = away.accept(&question, json!({"colour": colour})).await;
        assert_eq!(accepted.status(), 202);
    }
    let answer = call.message().await.expect("the answer");
    assert_eq!(text_of(&answer), "red and blue");
}

#[tokio::test]
async fn a_session_goes_on_when_its_node_is_gone() {
    let fleet = Fleet::default();
    let (one, two, three) = (
        fleet.start().await,
        fleet.start().await,
        fleet.start().await,
    );
    let session = Session::open(&one.node, "2025-11-25").await;
    session
        .ask(1, "resources/subscribe", json!({"uri": "a:1"}))
        .await;
    let away = session.at(&two.node);
    // The clone in the session must not keep it alive.
    drop(session);
    one.kill().await;
    // Both wait until its lease has ended; one of them takes the session.
    let (first, second) = (away.clone(), away.at(&three.node));
    let answers = tokio::join!(
        first.ask(2, "ping", json!({})),
        second.ask(3, "ping", json!({}))
    );
    assert_eq!((answers.0.status(), answers.1.status()), (200, 200));
    let counts = (
        two.node.http.session_count(),
        three.node.http.session_count(),
    );
    assert!(matches!(counts, (1, 0) | (0, 1)), "one has it: {counts:?}");
    let mut call = away.call(4, "ask").await;
    let question = call.message().await.expect("a question");
    assert_eq!(question["method"], "elicitation/create");
}

#[tokio::test]
async fn a_call_that_was_lost_with_its_node_says_so() {
    let fleet = Fleet::default();
    let (mut one, two) = (fleet.start().await, fleet.start().await);
    let session = Session::open(&one.node, "2025-11-25").await;
    let away = session.at(&two.node);
    drop(session);
    let call = tokio::spawn({
        let away = away.clone();
        async move { away.call(1, "wait").await }
    });
    one.workshop.started().await;
    one.kill().await;
    let answer = call.await.expect("no panic");
    assert_eq!(answer.status(), 200);
    let error = answer.error().await;
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("whether it had an effect is unknown"));
    // The session goes on.
    assert_eq!(away.ask(2, "ping", json!({})).await.status(), 200);
}

#[tokio::test]
async fn who_lost_its_lease_asks_before_it_answers() {
    let fleet = Fleet::default();
    let (one, two) = (fleet.start().await, fleet.start().await);
    let session = Session::open(&one.node, "2025-11-25").await;
    lock(&fleet.nodes.cut_off).insert(one.address.clone());
    // The other node waits until the lease has ended, and takes the session.
    one.serving.abort();
    let away = session.at(&two.node);
    assert_eq!(away.ask(1, "ping", json!({})).await.status(), 200);
    assert_eq!(two.node.http.session_count(), 1);
    // The first still has it in memory, but cannot know whether it may use it.
    let refused = session.ask(2, "ping", json!({})).await;
    assert_eq!(refused.status(), 503);
    lock(&fleet.nodes.cut_off).clear();
    // Now it knows: the other one answers.
    let answer = session.ask(3, "ping", json!({})).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(one.node.http.session_count(), 0);
    assert_eq!(two.node.http.session_count(), 1);
}

#[tokio::test]
async fn senders_are_known_at_the_other_node() {
    let fleet = Fleet::default();
    let (one, two) = (fleet.start().await, fleet.start().await);
    let session = Session::open(&one.node.asked_by("ada"), "2025-11-25").await;
    for (who, status) in [("ada", 200), ("bob", 404)] {
        let away = session.at(&two.node.asked_by(who));
        let answer = away.ask(1, "ping", json!({})).await;
        assert_eq!(answer.status(), status, "{who}");
    }
    let nobody = session.at(&two.node).ask(1, "ping", json!({})).await;
    assert_eq!(nobody.status(), 404);
}

#[tokio::test]
async fn nobody_else_can_forward() {
    let fleet = Fleet::default();
    let one = fleet.start().await;
    let session = Session::open(&one.node, "2025-11-25").await;
    let request = session
        .request(http::Method::POST)
        .header("bowline-forwarded", "e30");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let answer = one.node.send(request, ping.to_string()).await;
    assert_eq!(answer.status(), 403);
    // A node with another secret reads nothing, and takes nothing over.
    let stranger = fleet.start_with(&[8; 32]).await;
    let away = session.at(&stranger.node);
    assert_eq!(away.ask(2, "ping", json!({})).await.status(), 404);
    assert_eq!(session.ask(3, "ping", json!({})).await.status(), 200);
}
