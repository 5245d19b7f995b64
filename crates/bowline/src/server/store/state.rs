//! Stores for sealed state that is too large to send to the client.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{ConversationKey, StoreError};
use crate::transport::BoxFuture;

/// Stores sealed state under a key. Only the key is sent to the client, which
/// sends it back with its next request.
///
/// A key is never used for two different states: a client may repeat an earlier
/// round, which must load the state of that round. For the same reason, loading
/// does not remove anything. The state of a suspended conversation is saved
/// once, and loaded each time the client sends its key.
///
/// # Expiry
///
/// A state is kept for its `ttl`. After that, or if the store lost it, the
/// conversation cannot continue; nothing worse happens. The `ttl` is that of
/// the conversation. A store that is full returns an error instead of dropping
/// another conversation's state.
///
/// # After a crash
///
/// A state that was saved but whose key never reached the client stays until it
/// expires. Nothing else removes it.
///
/// # Requirements for multiple nodes
///
/// One store for all nodes, in which a node can read what another has just
/// saved: the next request may follow at once and reach any node. Do not read
/// from a replica that lags behind. Unlike journals, states may be lost with a
/// node of the store, if some broken conversations are acceptable.
///
/// Saved states are larger than those that are sent to the client: at least 32
/// KiB, unless
/// [`max_sealed_state_bytes`](crate::server::Server::max_sealed_state_bytes) is
/// set.
///
/// # Example
///
/// ```
/// use std::{
///     collections::HashMap,
///     sync::Mutex,
///     time::{Duration, Instant},
/// };
///
/// use bowline::{
///     server::store::{ConversationKey, SealedStateStore, StoreError},
///     transport::BoxFuture,
/// };
/// use bytes::Bytes;
///
/// /// Stands in for a table in a database.
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<String, (Bytes, Instant)>>);
///
/// impl SealedStateStore for Table {
///     fn save<'a>(
///         &'a self,
///         key: ConversationKey<'a>,
///         state: Bytes,
///         ttl: Duration,
///     ) -> BoxFuture<'a, Result<(), StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().map_err(|_| StoreError::new("poisoned"))?;
///             rows.insert(key.id.to_owned(), (state, Instant::now() + ttl));
///             Ok(())
///         })
///     }
///
///     fn load<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
///         Box::pin(async move {
///             let rows = self.0.lock().map_err(|_| StoreError::new("poisoned"))?;
///             let row = rows.get(key.id).filter(|(_, until)| *until > Instant::now());
///             Ok(row.map(|(state, _)| state.clone()))
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (table, key) = (Table::default(), ConversationKey::new("00ff/a1", ""));
/// table.save(key, Bytes::from_static(b"sealed"), Duration::from_secs(60)).await?;
/// assert_eq!(table.load(key).await?.as_deref(), Some(&b"sealed"[..]));
/// # Ok(())
/// # }
/// ```
pub trait SealedStateStore: Send + Sync + 'static {
    /// Saves `state` under `key`, replacing any previous value, for at least
    /// `ttl` from now.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The state may or may
    /// not be saved.
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns the state saved under `key`, or `None` if there is none or it
    /// has expired.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>>;
}

impl<S: SealedStateStore + ?Sized> SealedStateStore for Arc<S> {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::save(self, key, state, ttl)
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        S::load(self, key)
    }
}
