//! Where state waits that is too large to travel.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::StoreError;
use crate::transport::BoxFuture;

/// Keeps state under a handle, while the handle travels through the client.
///
/// # Handles
///
/// Whoever saves makes up the handle, and never uses one twice for different
/// states: a client may repeat an earlier round, and must find the state of
/// that round. Loading therefore does not remove anything either.
///
/// # At expiry
///
/// A state is kept for its `ttl`. After that, or if the store lost it, it is
/// not there, and the conversation that it belongs to cannot go on; nothing
/// worse happens. The `ttl` should be that of the conversation. A store that
/// is full answers with an error rather than ending someone else's
/// conversation.
///
/// # After a crash
///
/// A state that was saved, and whose handle never reached the client, stays
/// until it expires. Nobody else cleans up.
///
/// # What a fleet needs
///
/// One store for all nodes, in which a node finds what another has just saved:
/// the next request may follow at once and go anywhere. A replica that lags
/// behind is not good enough to read from. Unlike claims, states may be lost
/// with a node of the store, if some broken conversations are acceptable.
///
/// What is saved can be private to a user. A store outside the process
/// should be protected as other data of users is.
pub trait StateStore: Send + Sync + 'static {
    /// Keeps `state` under `handle`, in place of what is there, for at least
    /// `ttl` from now.
    ///
    /// # Errors
    ///
    /// If the store is full or failed. The state may be there or not.
    fn save<'a>(
        &'a self,
        handle: &'a str,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// What was saved under `handle`; `None` if there is nothing, or nothing
    /// any more.
    ///
    /// # Errors
    ///
    /// If the store failed, and nobody knows.
    fn load<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>>;
}

impl<S: StateStore + ?Sized> StateStore for Arc<S> {
    fn save<'a>(
        &'a self,
        handle: &'a str,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::save(self, handle, state, ttl)
    }

    fn load<'a>(&'a self, handle: &'a str) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        S::load(self, handle)
    }
}
