//! What makes an effect happen at most once: a claim that only one can have.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::StoreError;
use crate::transport::BoxFuture;

/// Remembers what has been done, so that it is not done again.
///
/// Before an effect, its doer *claims* the key of the effect, with a value
/// that says "begun". Only the one who is told [`Claim::First`] goes on.
/// Afterwards, it *puts* the answer in place of that value. Whoever comes later
/// is told [`Claim::Earlier`], with the answer, and hands that out instead.
///
/// # At expiry
///
/// An entry is kept for its `ttl`, counted from when it was written last. After
/// that it may be gone, and the next claim of the key is a first one again. So
/// the `ttl` must outlast whatever lets a client come back with the same key,
/// with a margin for clocks that disagree.
///
/// A store may keep an entry for longer. It may never drop one earlier, not
/// even to make room: a forgotten claim is an effect that happens twice. A
/// store that is full answers with an error.
///
/// # After a crash
///
/// If the doer dies between the claim and the put, the first value stays until
/// it expires. Those who come later see "begun", and nobody can tell whether
/// the effect has happened. They must not repeat it. This is *at most once*;
/// only an effect that can be looked up, or repeated without harm, can be made
/// *exactly once* on top of it.
///
/// After an error of [`claim`](Self::claim) the effect must not be run either,
/// since someone else may have the claim. If the value was written although
/// the answer got lost, the key stays claimed until it expires, unless the
/// doer can tell its own value from those of others; a random part in it is
/// enough. After an error of [`put`](Self::put), the claim must still stand.
///
/// # What a fleet needs
///
/// - One store for all nodes, in which setting a key that is not there is
///   atomic. In Redis, `SET key value NX GET PX ttl` is a claim, and
///   `SET key value PX ttl` is a put.
/// - No eviction of what has not expired. In Redis, the policy `noeviction`.
/// - Writes that survive the loss of a node of the store. With replicas that
///   lag behind, a failover forgets the last claims.
///
/// A store whose keys mix with those of other applications should put a prefix
/// before them.
///
/// # Example
///
/// ```
/// use std::{collections::HashMap, sync::Mutex, time::{Duration, Instant}};
///
/// use bowline::{
///     server::store::{Claim, OnceStore, StoreError},
///     transport::BoxFuture,
/// };
/// use bytes::Bytes;
///
/// /// In place of a table in a database.
/// #[derive(Default)]
/// struct Table(Mutex<HashMap<String, (Bytes, Instant)>>);
///
/// impl OnceStore for Table {
///     fn claim<'a>(
///         &'a self,
///         key: &'a str,
///         value: Bytes,
///         ttl: Duration,
///     ) -> BoxFuture<'a, Result<Claim, StoreError>> {
///         Box::pin(async move {
///             // The lock makes looking and writing one step.
///             let mut rows = self.0.lock().map_err(|_| StoreError::new("poisoned"))?;
///             match rows.get(key) {
///                 Some((earlier, until)) if *until > Instant::now() => {
///                     Ok(Claim::Earlier(earlier.clone()))
///                 }
///                 _ => {
///                     rows.insert(key.to_owned(), (value, Instant::now() + ttl));
///                     Ok(Claim::First)
///                 }
///             }
///         })
///     }
///
///     fn put<'a>(
///         &'a self,
///         key: &'a str,
///         value: Bytes,
///         ttl: Duration,
///     ) -> BoxFuture<'a, Result<(), StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().map_err(|_| StoreError::new("poisoned"))?;
///             rows.insert(key.to_owned(), (value, Instant::now() + ttl));
///             Ok(())
///         })
///     }
///
///     fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().map_err(|_| StoreError::new("poisoned"))?;
///             rows.remove(key);
///             Ok(())
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, hour) = (Table::default(), Duration::from_secs(3600));
/// let begun = Bytes::from_static(b"begun");
/// assert_eq!(store.claim("booking 7", begun.clone(), hour).await?, Claim::First);
/// // Here the seat is booked.
/// store.put("booking 7", Bytes::from_static(b"seat 12A"), hour).await?;
///
/// let again = store.claim("booking 7", begun, hour).await?;
/// assert_eq!(again, Claim::Earlier(Bytes::from_static(b"seat 12A")));
/// # Ok(())
/// # }
/// ```
pub trait OnceStore: Send + Sync + 'static {
    /// Puts `value` under `key` if nothing is there, and says what was there.
    ///
    /// Of all who claim a key while it is kept, on all nodes, exactly one is
    /// told that it is the first. A claim that is not the first changes
    /// nothing, neither the value nor its expiry.
    ///
    /// # Errors
    ///
    /// If the store is full or failed. The key may be claimed or not.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>>;

    /// Puts `value` under `key`, in place of what is there, and keeps it for
    /// `ttl` from now. What has expired meanwhile is written again.
    ///
    /// # Errors
    ///
    /// If the store is full or failed. What was there before is there still,
    /// or has been replaced; it is never lost.
    fn put<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets a claim whose effect was never begun, so that somebody else may
    /// make it. Nothing happens if there is none.
    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// What came of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Nothing was there. The value is there now, and the effect is the
    /// claimant's to do.
    First,
    /// Someone was there before, with this.
    Earlier(Bytes),
}

impl<S: OnceStore + ?Sized> OnceStore for Arc<S> {
    fn claim<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<Claim, StoreError>> {
        S::claim(self, key, value, ttl)
    }

    fn put<'a>(
        &'a self,
        key: &'a str,
        value: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::put(self, key, value, ttl)
    }

    fn release<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        S::release(self, key)
    }
}
