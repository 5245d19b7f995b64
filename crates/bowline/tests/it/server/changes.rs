//! Changes that other nodes are told of.

use std::sync::Arc;

use bowline::{
    Client, Revision,
    client::{Change, Notification},
    server::{
        Resource, Server, Service, Tool,
        changes::{ChangeBus, ChangeSubscription, MemoryChangeBus, ReceivedChange},
        store::StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;
use tokio::sync::{Semaphore, watch};

use super::serving::connect;

/// A bus that says when a node waits for changes, and can lose some.
#[derive(Clone)]
struct Bus {
    memory: MemoryChangeBus,
    waiting: Arc<Semaphore>,
    /// How many changes are lost from now on, and how many were.
    to_lose: Arc<Semaphore>,
    lost: watch::Sender<usize>,
}

impl Bus {
    fn new() -> Self {
        Self {
            memory: MemoryChangeBus::default(),
            waiting: Arc::new(Semaphore::new(0)),
            to_lose: Arc::new(Semaphore::new(0)),
            lost: watch::Sender::new(0),
        }
    }

    /// Waits until a node waits for changes.
    async fn is_waited_for(&self) {
        let waits = self.waiting.acquire().await;
        waits.expect("it is open").forget();
    }
}

impl ChangeBus for Bus {
    fn publish<'a>(&'a self, change: Bytes) -> BoxFuture<'a, Result<(), StoreError>> {
        if let Ok(lose) = self.to_lose.try_acquire() {
            lose.forget();
            self.lost.send_modify(|count| *count += 1);
            return Box::pin(async { Ok(()) });
        }
        self.memory.publish(change)
    }

    fn subscribe<'a>(&'a self) -> BoxFuture<'a, Result<Box<dyn ChangeSubscription>, StoreError>> {
        Box::pin(async move {
            let subscription: Box<dyn ChangeSubscription> = Box::new(Subscription {
                inner: self.memory.subscribe().await?,
                waiting: Some(Arc::clone(&self.waiting)),
                lost: self.lost.subscribe(),
            });
            Ok(subscription)
        })
    }
}

struct Subscription {
    inner: Box<dyn ChangeSubscription>,
    waiting: Option<Arc<Semaphore>>,
    lost: watch::Receiver<usize>,
}

impl ChangeSubscription for Subscription {
    fn next(&mut self) -> BoxFuture<'_, Option<ReceivedChange>> {
        if let Some(waiting) = self.waiting.take() {
            waiting.add_permits(1);
        }
        Box::pin(async move {
            tokio::select! {
                next = self.inner.next() => next,
                Ok(()) = self.lost.changed() => Some(ReceivedChange::Missed),
            }
        })
    }
}

fn service(bus: &Bus) -> Service {
    let server = Server::new("test", "1")
        .resource(Resource::new("a:1", "one").text("1"))
        .resource(Resource::new("a:2", "two").text("2"))
        .resource_subscriptions()
        .tool(tool("first"))
        .change_bus(bus.clone());
    server.build().expect("the server is sound")
}

fn tool(name: &str) -> Tool {
    let tool = Tool::new(name).description("Does nothing").no_input();
    tool.handler(async |_| Ok("nothing"))
}

/// Two nodes, of which the second waits for changes and has told its clients what they
/// may have missed.
async fn nodes(bus: &Bus) -> (Service, Service, Client) {
    let (one, two) = (service(bus), service(bus));
    let first = connect(&two, Revision::LATEST, |builder| builder).await;
    bus.is_waited_for().await;
    (one, two, first)
}

#[tokio::test]
async fn changes_reach_clients_of_other_nodes_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let bus = Bus::new();
        let (one, two, _first) = nodes(&bus).await;
        // Changes of the first node are sent once it serves.
        let _other = connect(&one, revision, |builder| builder).await;
        let client = connect(&two, revision, |builder| builder).await;
        let mut updates = client.resources().subscribe("a:1").await.unwrap();
        let mut heard = client.subscribe_to_list_changes();
        assert!(!one.resource_updated("a:2"), "it has no such client");
        assert!(!one.resource_updated("a:1"), "nor this one");
        let Some(Change::Updated(update)) = updates.next().await else {
            panic!("there is news on {revision}");
        };
        assert_eq!(update.uri, "a:1");
        if revision == Revision::V2026_07_28 {
            // Nothing says when its stream has been widened.
            continue;
        }
        one.add_tool(tool("second")).expect("a new tool");
        loop {
            match heard.next().await.expect("the connection is open") {
                Notification::ToolsChanged => break,
                Notification::PromptsChanged | Notification::ResourcesChanged => {
                    panic!("nothing else has changed")
                }
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn who_missed_a_change_hears_that_everything_may_have_changed() {
    let bus = Bus::new();
    let (one, two, _first) = nodes(&bus).await;
    let _other = connect(&one, Revision::LATEST, |builder| builder).await;
    bus.is_waited_for().await;
    let client = connect(&two, Revision::LATEST, |builder| builder).await;
    let mut updates = client.resources().subscribe("a:1").await.unwrap();
    bus.to_lose.add_permits(1);
    one.resource_updated("a:1");
    let Some(Change::Updated(update)) = updates.next().await else {
        panic!("there is news");
    };
    assert_eq!(update.uri, "a:1");
}
