//! Where state waits that is too large to travel.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{ConversationKey, StoreError};
use crate::transport::BoxFuture;

/// Keeps state under a key, while the key travels through the client.
///
/// A key is never used for two different states: a client may repeat an earlier
/// round, and must find the state of that round. Loading therefore does not
/// remove anything either. A state that is put off is saved once, and loaded
/// once for each time that it comes back.
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
/// A state that was saved, and whose key never reached the client, stays
/// until it expires. Nobody else cleans up.
///
/// # What a fleet needs
///
/// One store for all nodes, in which a node finds what another has just saved:
/// the next request may follow at once and go anywhere. A replica that lags
/// behind is not good enough to read from. Unlike journals, states may be lost
/// with a node of the store, if some broken conversations are acceptable.
///
/// What is saved is sealed, and larger than what travels: 32 KiB at least, unless
/// the server says otherwise.
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
///     server::store::{ConversationKey, StateStore, StoreError},
///     transport::BoxFuture,
/// };
/// use bytes::Bytes;
///
/// /// In place of a table in a database.
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<String, (Bytes, Instant)>>);
///
/// impl StateStore for Table {
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
pub trait StateStore: Send + Sync + 'static {
    /// Keeps `state` under `key`, in place of what is there, for at least
    /// `ttl` from now.
    ///
    /// # Errors
    ///
    /// If the store is full or failed. The state may be there or not.
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// What was saved under `key`; `None` if there is nothing, or nothing
    /// any more.
    ///
    /// # Errors
    ///
    /// If the store failed, and nobody knows.
    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>>;
}

impl<S: StateStore + ?Sized> StateStore for Arc<S> {
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
