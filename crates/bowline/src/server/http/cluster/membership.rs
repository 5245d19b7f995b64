//! The lease of this node, as far as it knows.

use std::{
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{super::session_stores::with_store_timeout, Cluster, NodeStore};
use crate::sync;

/// The registration of this node.
///
/// What counts is what the store says. This node only knows until when its lease holds
/// at least, counted from before it was renewed. If it has been longer than that, because
/// the process was stopped or the store was away, other nodes may have taken its sessions
/// over: the *term* changes, and each session is looked up again before it is used.
pub(super) struct Membership {
    nodes: Arc<dyn NodeStore>,
    node: Arc<str>,
    address: Arc<str>,
    lease: Duration,
    /// Until when the lease holds at least; `None` before the first registration.
    valid_until: Mutex<Option<Instant>>,
    /// How often the lease has ended, or may have.
    term: AtomicU64,
    /// Whether the last registration failed: it may have found that the lease had ended,
    /// and the next one would not.
    is_uncertain: AtomicBool,
    /// Held while registering.
    registering: tokio::sync::Mutex<Registering>,
}

#[derive(Default)]
struct Registering {
    is_renewed: bool,
    has_left: bool,
}

impl Membership {
    pub(super) fn new(cluster: &Cluster, nodes: Arc<dyn NodeStore>, node: Arc<str>) -> Self {
        Self {
            nodes,
            node,
            address: Arc::clone(&cluster.address),
            lease: cluster.lease_timeout,
            valid_until: Mutex::default(),
            term: AtomicU64::new(0),
            is_uncertain: AtomicBool::new(false),
            registering: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    pub(super) fn nodes(&self) -> &dyn NodeStore {
        &*self.nodes
    }

    /// Returns the term, whether or not the lease still holds.
    pub(super) fn term(&self) -> u64 {
        self.term.load(Ordering::SeqCst)
    }

    /// Returns the term if the lease holds now.
    pub(super) fn current_term(&self) -> Option<u64> {
        let valid_until = *sync::lock(&self.valid_until);
        let is_valid = valid_until.is_some_and(|until| Instant::now() < until);
        is_valid.then(|| self.term())
    }

    /// Makes sure that the lease holds. Returns the term, or `None` if the store fails.
    pub(super) async fn ensure_registered(self: &Arc<Self>) -> Option<u64> {
        if let Some(term) = self.current_term() {
            return Some(term);
        }
        let mut registering = self.registering.lock().await;
        if registering.has_left {
            return None;
        }
        // Another request may have been first.
        if self.current_term().is_none() {
            self.register().await?;
        }
        if !registering.is_renewed {
            registering.is_renewed = true;
            let interval = self.lease / 3;
            tokio::spawn(renew_repeatedly(Arc::downgrade(self), interval));
        }
        self.current_term()
    }

    /// Registers this node or renews its lease.
    async fn register(&self) -> Option<()> {
        let sent = Instant::now();
        let registered = self.nodes.register(&self.node, &self.address, self.lease);
        let was_uncertain = self.is_uncertain.swap(true, Ordering::SeqCst);
        let was_registered = with_store_timeout(registered).await?;
        self.is_uncertain.store(false, Ordering::SeqCst);
        let mut valid_until = sync::lock(&self.valid_until);
        if (!was_registered || was_uncertain) && valid_until.is_some() {
            self.term.fetch_add(1, Ordering::SeqCst);
        }
        *valid_until = Some(sent + self.lease);
        Some(())
    }

    /// Ends the lease.
    pub(super) async fn leave(&self) {
        let mut registering = self.registering.lock().await;
        registering.has_left = true;
        if sync::lock(&self.valid_until).take().is_some() {
            with_store_timeout(self.nodes.remove(&self.node)).await;
        }
    }
}

/// Renews the lease until the node leaves or is dropped.
async fn renew_repeatedly(membership: Weak<Membership>, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        let Some(membership) = membership.upgrade() else {
            return;
        };
        let registering = membership.registering.lock().await;
        if registering.has_left {
            return;
        }
        // If it fails, the next attempt follows; requests fail meanwhile, once the
        // lease has ended.
        membership.register().await;
    }
}
