//! Two nodes, and somebody who kills them.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use super::{
    super::{fleet::Folder, fleet_http::Node},
    dice::Dice,
};
use crate::sync::lock;

/// Where the nodes are that live.
#[derive(Clone, Default)]
pub(super) struct Addresses(Arc<Mutex<[Option<SocketAddr>; 2]>>);

impl Addresses {
    pub(super) fn of(&self, node: usize) -> Option<SocketAddr> {
        lock(&self.0)[node]
    }

    fn set(&self, node: usize, address: Option<SocketAddr>) {
        lock(&self.0)[node] = address;
    }
}

/// Kills a node now and then, and starts another in its place.
pub(super) struct Killer {
    addresses: Addresses,
    stop: oneshot::Sender<()>,
    task: JoinHandle<u64>,
}

impl Killer {
    /// Starts two nodes. One of them dies each `every` milliseconds, or up to
    /// four times as much; with 0, none does.
    pub(super) async fn start(folder: &Arc<Folder>, every: u64, mut dice: Dice) -> Self {
        let addresses = Addresses::default();
        let mut fleet = Fleet {
            nodes: [None, None],
            folder: Arc::clone(folder),
            addresses: addresses.clone(),
            kills: 0,
        };
        for number in [0, 1] {
            fleet.start(number, &mut dice).await;
        }
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(fleet.suffer(every, dice, stopped));
        Self {
            addresses,
            stop,
            task,
        }
    }

    pub(super) fn addresses(&self) -> Addresses {
        self.addresses.clone()
    }

    /// No node is left then. Says how many were killed before.
    pub(super) async fn stop(self) -> u64 {
        let _ = self.stop.send(());
        self.task.await.expect("no panic")
    }
}

struct Fleet {
    nodes: [Option<Node>; 2],
    folder: Arc<Folder>,
    addresses: Addresses,
    kills: u64,
}

impl Fleet {
    async fn suffer(mut self, every: u64, mut dice: Dice, mut stop: oneshot::Receiver<()>) -> u64 {
        loop {
            let pause = Duration::from_millis(every + dice.below(3 * every + 1));
            tokio::select! {
                _ = &mut stop => break,
                () = sleep(pause), if every > 0 => {}
            }
            let one = usize::from(dice.one_in(2));
            // Sometimes there is nobody left.
            let dying = if dice.one_in(10) {
                vec![0, 1]
            } else {
                vec![one]
            };
            for number in &dying {
                self.kill(*number).await;
            }
            sleep(Duration::from_millis(dice.below(50))).await;
            for number in dying {
                self.start(number, &mut dice).await;
            }
        }
        let kills = self.kills;
        for number in [0, 1] {
            self.kill(number).await;
        }
        kills
    }

    /// Some nodes hand states out, and others keep them in their store.
    async fn start(&mut self, number: usize, dice: &mut Dice) {
        let max_state = if dice.one_in(4) { 0 } else { 32 * 1024 };
        let node = Node::start(&self.folder, max_state).await;
        self.addresses.set(number, Some(node.address));
        self.nodes[number] = Some(node);
    }

    async fn kill(&mut self, number: usize) {
        if let Some(mut node) = self.nodes[number].take() {
            node.kill().await;
            self.addresses.set(number, None);
            self.kills += 1;
        }
    }
}
