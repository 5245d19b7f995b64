//! Nodes that share a store, which may fail, and that can be killed.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bowline::{
    server::{
        Server, Service, Tool,
        seal::SealKeys,
        store::{MemoryJournalStore, MemorySealedStateStore, NewEntry, StoreError},
    },
    transport::BoxFuture,
};
use tokio::time::sleep;

use super::{
    tools,
    world::{Hold, LIFE, World},
};
use crate::server::replay::{
    program::Part,
    rig::clock,
    stores::{Operation, Through, Way},
};

/// The nodes that there are, and what they share.
pub(crate) struct Fleet {
    pub(crate) world: Arc<World>,
    tools: Vec<Tool<Hold>>,
    journals: Arc<MemoryJournalStore>,
    states: Arc<MemorySealedStateStore>,
    clock: Arc<dyn Fn() -> std::time::SystemTime + Send + Sync>,
    nodes: Vec<(Service<Hold>, Hold)>,
}

/// How many journals the store has room for: few enough to be filled.
const JOURNALS: usize = 64;

/// How many nodes there are.
const NODES: u8 = 3;

impl Fleet {
    pub(crate) fn new(program: &Part) -> Self {
        let mut fleet = Self {
            world: World::new(),
            tools: tools::all(program),
            journals: Arc::new(MemoryJournalStore::with_limits(JOURNALS, 1 << 20, 1 << 16)),
            states: Arc::new(MemorySealedStateStore::new()),
            clock: Arc::new(clock()),
            nodes: Vec::new(),
        };
        fleet.nodes = (0..NODES).map(|number| fleet.node(number)).collect();
        fleet
    }

    /// A new node. The last one keeps all states with the server.
    fn node(&self, number: u8) -> (Service<Hold>, Hold) {
        let hold = Hold::new(&self.world);
        let secret = b"a secret of at least thirty-two bytes";
        let way = NodeWay {
            hold: hold.clone(),
            truncates: number != 1,
        };
        let clock = Arc::clone(&self.clock);
        let server = Server::new("adversary", "1")
            .state(hold.clone())
            .seal_keys(SealKeys::from_secret(secret).expect("long enough"))
            .journal_store(Through(way, Arc::clone(&self.journals)))
            .sealed_state_store(Arc::clone(&self.states))
            .conversation_timeout(LIFE)
            .clock(move || clock());
        let server = match number {
            2 => server.max_sealed_state_bytes(0),
            _ => server,
        };
        let tools = self.tools.iter().cloned();
        let service = tools.fold(server, Server::tool).build();
        (service.expect("the server is sound"), hold)
    }

    pub(crate) fn service(&self, number: u8) -> &Service<Hold> {
        &self.nodes[usize::from(number % NODES)].0
    }

    /// Lets a node stand still until then, as `SIGSTOP` does, or go on.
    pub(crate) fn stall(&self, number: u8, until: Duration) {
        self.nodes[usize::from(number % NODES)].1.stall(until);
    }

    /// Kills a node as `kill -9` does, and starts it again.
    pub(crate) fn restart(&mut self, number: u8) {
        let number = number % NODES;
        let (_, hold) = &self.nodes[usize::from(number)];
        hold.kill();
        self.nodes[usize::from(number)] = self.node(number);
    }
}

/// A node's way to the store. It takes a while there and back, and ends when
/// the node dies. An operation that fails may have been done or not.
struct NodeWay {
    hold: Hold,
    /// Whether entries go that nobody needs any more; a store may keep them.
    truncates: bool,
}

impl Way for NodeWay {
    fn pass(&self, mut entry: NewEntry) -> NewEntry {
        entry.truncate &= self.truncates;
        entry
    }

    fn reach<'a, T: Send + 'a>(
        &'a self,
        _: Operation,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            let broken = || StoreError::new("out of order");
            let less = |faults: usize| faults.checked_sub(1);
            let faults = &self.hold.world.faults;
            let fault = faults.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less);
            sleep(Duration::from_millis(1)).await;
            self.hold.living().await;
            if fault.is_ok_and(|fault| fault % 2 == 0) {
                return Err(broken());
            }
            let done = done.await;
            sleep(Duration::from_millis(1)).await;
            self.hold.living().await;
            match fault {
                Ok(_) => Err(broken()),
                Err(_) => done,
            }
        })
    }
}
