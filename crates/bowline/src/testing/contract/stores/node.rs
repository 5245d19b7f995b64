//! The contract of node stores.

use std::{sync::Arc, time::Duration};

use super::{
    LONG_TTL, Nodes,
    expiry::{Expiring, values_expire},
    succeed, unique_id,
};
use crate::server::http::NodeStore;

/// Checks that a [`NodeStore`] does what the nodes of a cluster rely on.
///
/// 1. A node that registers at one connection is found at another, with the address that
///    it gave last.
/// 2. The first registration returns `false`, the others `true`, until the lease has
///    ended.
/// 3. A node that was removed, or whose lease has ended, is not found; no other node goes
///    with it.
/// 4. A lease holds for as long as it was given, counted from the last registration.
///
/// `connect` returns one node's connection to the store; see the
/// [module](crate::testing::contract).
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn node_store<S: NodeStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let nodes = Registrations(Nodes::connect(connect).await);
    nodes.are_found_by_others().await;
    nodes.are_removed_alone().await;
    values_expire(nodes).await;
}

struct Registrations<S: ?Sized>(Nodes<S>);

impl<S: NodeStore + ?Sized> Registrations<S> {
    async fn register(&self, node: &str, address: &str, lease: Duration) -> bool {
        succeed("register", self.0.first().register(node, address, lease)).await
    }

    /// Looks it up at the other node.
    async fn address(&self, node: &str) -> Option<String> {
        succeed("address", self.0.second().address(node)).await
    }

    async fn are_found_by_others(&self) {
        let (node, other) = (unique_id(), unique_id());
        assert_eq!(
            self.address(&node).await,
            None,
            "`address` returned a node that never registered"
        );
        let first = self
            .register(&node, "http://one.example/mcp", LONG_TTL)
            .await;
        assert!(
            !first,
            "the first `register` said that the lease had not ended"
        );
        self.register(&other, "http://other.example/mcp", LONG_TTL)
            .await;
        let second = self
            .register(&node, "http://two.example/mcp", LONG_TTL)
            .await;
        assert!(second, "a later `register` said that the lease had ended");
        assert_eq!(
            self.address(&node).await.as_deref(),
            Some("http://two.example/mcp"),
            "a registered node was not found with the address that it gave last"
        );
    }

    async fn are_removed_alone(&self) {
        let (removed, other) = (unique_id(), unique_id());
        // It is not there: nothing happens.
        succeed("remove", self.0.second().remove(&removed)).await;
        self.register(&removed, "http://one.example/", LONG_TTL)
            .await;
        self.register(&other, "http://other.example/", LONG_TTL)
            .await;
        succeed("remove", self.0.second().remove(&removed)).await;
        assert_eq!(
            self.address(&removed).await,
            None,
            "a node that was removed was found"
        );
        assert!(
            self.address(&other).await.is_some(),
            "a node was lost when another one was removed"
        );
        let again = self
            .register(&removed, "http://one.example/", LONG_TTL)
            .await;
        assert!(!again, "`register` said that a removed node was registered");
        succeed("remove", self.0.first().remove(&removed)).await;
        succeed("remove", self.0.first().remove(&other)).await;
    }
}

impl<S: NodeStore + ?Sized> Expiring for Registrations<S> {
    const NAME: &'static str = "a node";

    async fn put(&self, id: &str, value: &'static str, ttl: Duration) {
        self.register(id, value, ttl).await;
    }

    async fn get(&self, id: &str) -> Option<String> {
        self.address(id).await
    }
}
