//! The nodes that are alive.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::time::Instant;

use crate::{server::store::StoreError, sync, transport::BoxFuture};

/// The nodes of a cluster that are alive, each with its address and a lease.
///
/// A node registers itself and renews its lease. A node whose lease has ended counts as
/// gone: others may take over its sessions. So a lease must never end early, and every
/// node must see that it has ended.
pub trait NodeStore: Send + Sync + 'static {
    /// Registers a node, or renews its lease. Returns whether it was registered, that
    /// is, whether its lease had not ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. The node may or may not be registered.
    fn register<'a>(
        &'a self,
        node: &'a str,
        address: &'a str,
        lease: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Returns the address of a node, or `None` if its lease has ended.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn address<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>>;

    /// Ends the lease of a node that stops.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn remove<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

impl<S: NodeStore + ?Sized> NodeStore for Arc<S> {
    fn register<'a>(
        &'a self,
        node: &'a str,
        address: &'a str,
        lease: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        S::register(self, node, address, lease)
    }

    fn address<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        S::address(self, node)
    }

    fn remove<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        S::remove(self, node)
    }
}

/// A [`NodeStore`] for nodes in one process, as in tests.
#[derive(Debug, Default)]
pub struct MemoryNodeStore(Mutex<HashMap<Box<str>, Registration>>);

#[derive(Debug)]
struct Registration {
    address: Box<str>,
    until: Instant,
}

impl NodeStore for MemoryNodeStore {
    fn register<'a>(
        &'a self,
        node: &'a str,
        address: &'a str,
        lease: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let now = Instant::now();
            let registration = Registration {
                address: address.into(),
                until: now + lease,
            };
            let mut nodes = sync::lock(&self.0);
            nodes.retain(|_, known| known.until > now);
            Ok(nodes.insert(node.into(), registration).is_some())
        })
    }

    fn address<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        Box::pin(async move {
            let nodes = sync::lock(&self.0);
            let known = nodes.get(node).filter(|it| it.until > Instant::now());
            Ok(known.map(|it| it.address.to_string()))
        })
    }

    fn remove<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            sync::lock(&self.0).remove(node);
            Ok(())
        })
    }
}
