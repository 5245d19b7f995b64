//! Sends the changes of this node, and applies those of others.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::{sync::Notify, time::sleep};

use super::{ChangeBus, ReceivedChange};
use crate::{
    proto::server::ListKind,
    server::{
        dispatch::router::Feature,
        replay::journal::{digest, hex},
        seal::{SealKeys, random_bytes},
        service::Core,
    },
    sync::{self, Mutex},
};

/// How many different changes may wait to be sent. Beyond that, everything has changed.
const MAX_PENDING: usize = 4096;
/// The delay before a failed bus is tried again, at first and at most.
const RETRY_DELAYS: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(10));

/// Runs the relay; a server without a bus does not link it.
pub(crate) static RELAY_FEATURE: Feature = Feature {
    methods: &[],
    start: Some(start),
    shut_down: None,
    register: |_, _| Ok(()),
};

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Change {
    #[serde(rename = "t")]
    Tools,
    #[serde(rename = "p")]
    Prompts,
    #[serde(rename = "r")]
    Resources,
    /// The contents of the resource with this URI.
    #[serde(rename = "u")]
    Resource(Box<str>),
    /// The task with this id, of this account.
    #[serde(rename = "k")]
    Task(Box<str>, Box<str>),
    #[serde(rename = "a")]
    Everything,
}

impl From<ListKind> for Change {
    fn from(kind: ListKind) -> Self {
        match kind {
            ListKind::Tools => Self::Tools,
            ListKind::Prompts => Self::Prompts,
            ListKind::Resources => Self::Resources,
        }
    }
}

/// A change on the bus.
#[derive(Serialize, Deserialize)]
struct Message<'a> {
    #[serde(rename = "n")]
    node: &'a str,
    #[serde(rename = "c")]
    change: Change,
}

/// The changes that this node has to tell the others.
pub(crate) struct ChangeRelay {
    bus: Arc<dyn ChangeBus>,
    /// Marks our own changes, which come back to us.
    node: String,
    pending: Mutex<BTreeSet<Change>>,
    added: Notify,
    started: OnceLock<()>,
}

impl ChangeRelay {
    pub(crate) fn new(bus: Arc<dyn ChangeBus>) -> Self {
        Self {
            bus,
            node: hex(&random_bytes::<8>()),
            pending: Mutex::default(),
            added: Notify::new(),
            started: OnceLock::new(),
        }
    }

    /// Queues a change for the other nodes. One that waits already is not sent twice.
    pub(crate) fn add(&self, change: Change) {
        let mut pending = sync::lock(&self.pending);
        if pending.contains(&Change::Everything) {
            return;
        }
        pending.insert(change);
        if pending.len() > MAX_PENDING {
            pending.clear();
            pending.insert(Change::Everything);
        }
        drop(pending);
        self.added.notify_one();
    }

    fn seal(&self, keys: &SealKeys, change: &Change) -> Bytes {
        let message = Message {
            node: &self.node,
            change: change.clone(),
        };
        let plain = serde_json::to_vec(&message).unwrap_or_default();
        keys.seal_if_shared(&purpose(), plain.into())
    }

    /// Returns the change of another node.
    fn open(&self, keys: &SealKeys, sealed: &Bytes) -> Option<Change> {
        let plain = keys.open_if_shared(&purpose(), sealed)?;
        let message: Message<'_> = serde_json::from_slice(&plain).ok()?;
        (message.node != self.node).then_some(message.change)
    }
}

fn purpose() -> [u8; 32] {
    digest([b"change".as_slice()])
}

/// Starts the relay, once.
fn start(core: &Arc<Core>) {
    let Some(relay) = &core.change_relay else {
        return;
    };
    if relay.started.set(()).is_ok() {
        tokio::spawn(send_changes(Arc::clone(relay), Arc::downgrade(core)));
        tokio::spawn(receive_changes(Arc::clone(relay), Arc::downgrade(core)));
    }
}

/// Sends the queued changes as long as there is a server.
async fn send_changes(relay: Arc<ChangeRelay>, core: Weak<Core>) {
    let mut delay = RETRY_DELAYS.0;
    loop {
        // Without a server, nothing is added any more.
        let Some(keys) = core.upgrade().map(|core| core.replay.seal_keys().clone()) else {
            return;
        };
        let Some(change) = sync::lock(&relay.pending).pop_first() else {
            let added = relay.added.notified();
            tokio::select! {
                () = added => {}
                // To notice that the server is gone.
                () = sleep(RETRY_DELAYS.1) => {}
            }
            continue;
        };
        match relay.bus.publish(relay.seal(&keys, &change)).await {
            Ok(()) => delay = RETRY_DELAYS.0,
            Err(_) => {
                relay.add(change);
                sleep(delay).await;
                delay = (delay * 2).min(RETRY_DELAYS.1);
            }
        }
    }
}

/// Applies the changes of other nodes as long as there is a server.
async fn receive_changes(relay: Arc<ChangeRelay>, core: Weak<Core>) {
    let mut delay = RETRY_DELAYS.0;
    while core.strong_count() > 0 {
        let Ok(mut subscription) = relay.bus.subscribe().await else {
            sleep(delay).await;
            delay = (delay * 2).min(RETRY_DELAYS.1);
            continue;
        };
        delay = RETRY_DELAYS.0;
        // Clients may have connected before there was a subscription.
        let mut next = Some(ReceivedChange::Missed);
        loop {
            if let Some(received) = next.take() {
                let Some(core) = core.upgrade() else {
                    return;
                };
                core.apply_received(&relay, received).await;
            }
            tokio::select! {
                received = subscription.next() => match received {
                    Some(received) => next = Some(received),
                    None => break,
                },
                // To notice that the server is gone.
                () = sleep(RETRY_DELAYS.1) => {
                    if core.strong_count() == 0 {
                        return;
                    }
                }
            }
        }
    }
}

impl Core {
    /// Tells the other nodes of a change.
    pub(crate) fn relay_change(&self, change: impl FnOnce() -> Change) {
        if let Some(relay) = &self.change_relay {
            relay.add(change());
        }
    }

    async fn apply_received(&self, relay: &ChangeRelay, received: ReceivedChange) {
        let change = match received {
            ReceivedChange::Change(sealed) => relay.open(self.replay.seal_keys(), &sealed),
            ReceivedChange::Missed => Some(Change::Everything),
        };
        match change {
            Some(Change::Tools) => self.notify_clients_of_list(ListKind::Tools),
            Some(Change::Prompts) => self.notify_clients_of_list(ListKind::Prompts),
            Some(Change::Resources) => self.notify_clients_of_list(ListKind::Resources),
            Some(Change::Resource(uri)) => {
                self.notify_clients_of_resource(&uri);
            }
            Some(Change::Task(id, account)) => self.notify_clients_of_task(id, account).await,
            Some(Change::Everything) => self.notify_clients_of_everything().await,
            // Ours, or not from a node of this server.
            None => {}
        }
    }

    async fn notify_clients_of_everything(&self) {
        for kind in [ListKind::Tools, ListKind::Prompts, ListKind::Resources] {
            self.notify_clients_of_list(kind);
        }
        for uri in self.subscribed_resources() {
            self.notify_clients_of_resource(&uri);
        }
        self.notify_clients_of_all_tasks().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::changes::MemoryChangeBus;

    fn relay() -> ChangeRelay {
        ChangeRelay::new(Arc::new(MemoryChangeBus::default()))
    }

    fn keys(secret: u8) -> SealKeys {
        SealKeys::from_secret(&[secret; 32]).expect("it is long enough")
    }

    #[test]
    fn changes_that_wait_are_bounded() {
        let relay = relay();
        for number in 0..2 * MAX_PENDING {
            relay.add(Change::Resource(number.to_string().into()));
        }
        let pending = sync::lock(&relay.pending);
        assert_eq!(*pending, BTreeSet::from([Change::Everything]));
    }

    #[test]
    fn only_nodes_with_the_secret_can_read_or_send_changes() {
        let (one, other) = (relay(), relay());
        let change = Change::Resource("file:///secret".into());
        let sealed = one.seal(&keys(1), &change);
        assert!(!String::from_utf8_lossy(&sealed).contains("secret"));
        assert_eq!(other.open(&keys(1), &sealed), Some(change.clone()));
        assert_eq!(other.open(&keys(2), &sealed), None);
        assert_eq!(one.open(&keys(1), &sealed), None, "its own");
        let forged = other.seal(&SealKeys::random(), &change);
        assert_eq!(one.open(&keys(1), &forged), None);
    }
}
