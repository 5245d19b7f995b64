//! Between the nodes.

use std::sync::Arc;

use bytes::Bytes;

use crate::{server::store::StoreError, transport::BoxFuture};

/// Carries changes between the nodes of a server.
///
/// Delivery is at most once, and changes may arrive in any order: each says what has
/// changed, not how. But whoever misses a change must learn that it did
/// ([`ReceivedChange::Missed`]).
///
/// Changes are sealed if the server's [`SealKeys`](crate::server::seal::SealKeys) come
/// from a secret. They are at most a few kilobytes.
pub trait ChangeBus: Send + Sync + 'static {
    /// Sends a change to the subscriptions of all nodes. Those of this node may receive
    /// it too.
    ///
    /// # Errors
    ///
    /// Returns an error if the bus failed. The change may or may not be delivered; it is
    /// published again.
    fn publish<'a>(&'a self, change: Bytes) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Subscribes to changes. The subscription receives what is published after this
    /// returns.
    ///
    /// # Errors
    ///
    /// Returns an error if the bus failed.
    fn subscribe<'a>(&'a self) -> BoxFuture<'a, Result<Box<dyn ChangeSubscription>, StoreError>>;
}

impl<B: ChangeBus + ?Sized> ChangeBus for Arc<B> {
    fn publish<'a>(&'a self, change: Bytes) -> BoxFuture<'a, Result<(), StoreError>> {
        B::publish(self, change)
    }

    fn subscribe<'a>(&'a self) -> BoxFuture<'a, Result<Box<dyn ChangeSubscription>, StoreError>> {
        B::subscribe(self)
    }
}

/// A subscription to changes, which ends when it is dropped.
pub trait ChangeSubscription: Send {
    /// Returns the next change, or `None` if the subscription has ended; then changes may
    /// have been missed. Can be cancelled without losing a change.
    fn next(&mut self) -> BoxFuture<'_, Option<ReceivedChange>>;
}

/// What a subscription receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceivedChange {
    /// A change.
    Change(Bytes),
    /// Changes were missed here, for example because the connection was lost.
    Missed,
}
