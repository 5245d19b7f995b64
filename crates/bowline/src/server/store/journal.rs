//! Journal stores: each position of a conversation's journal is written once,
//! so the conversation has a single history.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{ConversationKey, StoreError};
use crate::transport::BoxFuture;

/// Stores a journal for each conversation: a list of entries, each of which is
/// written once and never changed.
///
/// Before a side effect, a writer appends an entry that records it, at the
/// position after the last entry it knows. Only one writer can take a position.
/// A writer that finds it taken learns that another one continued the
/// conversation, and does nothing. So side effects happen once, and in one
/// order, across all nodes.
///
/// A journal also has a lease. It makes writers wait for each other instead of
/// doing the same work twice, and lets them detect soon if its holder died. If
/// two writers believe they hold the lease, the worst result is wasted work:
/// the positions decide.
///
/// # When it is called
///
/// A round of a conversation calls [`open`](Self::open) once, and then
/// [`release`](Self::release) or, if the conversation ends, the last
/// [`append`](Self::append). Steps add one `append` before they start and one
/// after they end; concurrent steps share them. A round that takes longer than
/// a third of its lease calls [`renew`](Self::renew) every third.
///
/// A writer that finds the lease taken calls
/// [`wait_for_change`](Self::wait_for_change) and then `open` again, four times
/// a second or whenever `wait_for_change` returns.
///
/// # Expiry
///
/// A journal is kept for the `ttl` of its last entry. A store may keep it for
/// longer. It must never drop one earlier, not even to make room: a lost entry
/// is a side effect that happens twice. A store that is full returns an error.
/// Only the *response* stored with the last entry may be dropped; then a client
/// that repeats the last round is told that it has ended.
///
/// # After an error
///
/// After an error of `append` it is unknown whether the entry was written. It
/// is appended again, the same bytes at the same position, a few times; then
/// the side effect is not run. In between, the holder of the lease opens the
/// journal again, which must succeed for it any number of times.
///
/// # Requirements for multiple nodes
///
/// - One store for all nodes, in which comparing the position with the next one
///   of the journal and writing is atomic. The next position is stored with the
///   journal: a table of entries alone is not enough, since a position whose
///   entry was dropped would be free again. In SQL, use a row for each journal,
///   updated in the transaction that inserts the entry; in Redis, a short
///   script.
/// - No eviction of unexpired data. In Redis, use the policy `noeviction`.
/// - Writes that survive the loss of a node of the store. With replicas that
///   lag behind, a failover loses the last entries.
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
///     server::store::{AppendOutcome, JournalStore, ConversationKey, Lease, NewEntry, OpenedJournal, StoreError},
///     transport::BoxFuture,
/// };
/// use bytes::Bytes;
///
/// /// Stands in for two tables in a database.
/// #[derive(Default)]
/// struct Tables {
///     rows: Mutex<HashMap<String, Row>>,
/// }
///
/// #[derive(Default)]
/// struct Row {
///     /// The position of the first entry kept.
///     first: u64,
///     entries: Vec<Bytes>,
///     response: Option<Bytes>,
///     lease: Option<(String, Instant)>,
/// }
///
/// impl Row {
///     fn next(&self) -> u64 {
///         self.first + self.entries.len() as u64
///     }
///
///     fn is_held_by(&self, holder: &str) -> bool {
///         self.lease.as_ref().is_some_and(|(known, _)| known == holder)
///     }
///
///     /// Takes the lease, unless another holder has it.
///     fn take(&mut self, lease: Lease<'_>) -> bool {
///         let now = Instant::now();
///         let other = |(holder, until): &(String, Instant)| holder != lease.holder && *until > now;
///         if self.lease.as_ref().is_some_and(other) {
///             return false;
///         }
///         self.lease = Some((lease.holder.to_owned(), now + lease.duration));
///         true
///     }
/// }
///
/// // Expired rows are deleted by a separate job.
/// impl JournalStore for Tables {
///     fn open<'a>(
///         &'a self,
///         key: ConversationKey<'a>,
///         from: u64,
///         lease: Lease<'a>,
///     ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.rows.lock().map_err(|_| StoreError::new("poisoned"))?;
///             let row = rows.entry(key.id.to_owned()).or_default();
///             let known = from.saturating_sub(row.first) as usize;
///             let mut opened = OpenedJournal::new(row.next());
///             opened.entries = row.entries.iter().skip(known).cloned().collect();
///             opened.response = row.response.clone();
///             opened.acquired = row.take(lease);
///             Ok(opened)
///         })
///     }
///
///     fn append<'a>(
///         &'a self,
///         key: ConversationKey<'a>,
///         entry: NewEntry,
///     ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.rows.lock().map_err(|_| StoreError::new("poisoned"))?;
///             let row = rows.entry(key.id.to_owned()).or_default();
///             if entry.position != row.next() {
///                 return Ok(AppendOutcome::Conflict);
///             }
///             if entry.truncate {
///                 row.first = entry.position;
///                 row.entries.clear();
///             }
///             row.entries.push(entry.value);
///             if let Some(response) = entry.response {
///                 row.response = Some(response);
///                 row.lease = None;
///             }
///             Ok(AppendOutcome::Appended)
///         })
///     }
///
///     fn renew<'a>(
///         &'a self,
///         key: ConversationKey<'a>,
///         lease: Lease<'a>,
///     ) -> BoxFuture<'a, Result<(), StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.rows.lock().map_err(|_| StoreError::new("poisoned"))?;
///             let row = rows.entry(key.id.to_owned()).or_default();
///             if row.is_held_by(lease.holder) {
///                 row.take(lease);
///             }
///             Ok(())
///         })
///     }
///
///     fn release<'a>(
///         &'a self,
///         key: ConversationKey<'a>,
///         holder: &'a str,
///     ) -> BoxFuture<'a, Result<(), StoreError>> {
///         Box::pin(async move {
///             let mut rows = self.rows.lock().map_err(|_| StoreError::new("poisoned"))?;
///             let row = rows.entry(key.id.to_owned()).or_default();
///             row.lease.take_if(|(other, _)| other == holder);
///             Ok(())
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, key) = (Tables::default(), ConversationKey::new("00ff", ""));
/// let (ours, theirs) = (Lease::new("we", Duration::from_secs(6)), Lease::new("they", Duration::from_secs(6)));
/// assert!(store.open(key, 0, ours).await?.acquired);
/// assert!(!store.open(key, 0, theirs).await?.acquired);
///
/// let hour = Duration::from_secs(3600);
/// let entry = NewEntry::new(0, "a seat is booked", hour);
/// assert_eq!(store.append(key, entry.clone()).await?, AppendOutcome::Appended);
/// assert_eq!(store.append(key, entry).await?, AppendOutcome::Conflict);
/// # Ok(())
/// # }
/// ```
pub trait JournalStore: Send + Sync + 'static {
    /// Reads the entries from position `from` on, and acquires the lease if no
    /// one else has it. A journal without entries is equivalent to one that
    /// does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. The lease may or may not be
    /// acquired.
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>>;

    /// Appends an entry if its position is the one after the last entry, or 0
    /// if there is none. Of all writers that append at one position, on all
    /// nodes, exactly one gets [`AppendOutcome::Appended`].
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The entry may or may
    /// not be written.
    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>>;

    /// Extends a lease by its duration from now, if its holder still has it: no
    /// one else acquired it, and it was not released.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. The holder continues and tries
    /// again.
    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Releases a lease, if its holder has it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. The lease expires by itself.
    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns when the journal has changed since this was called, or its lease
    /// may be free, if the store can notify sooner than polling would. It may
    /// return spuriously, and need not return at all.
    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let _ = key;
        Box::pin(pending())
    }

    /// Returns a unique id of this store if its contents are lost when the
    /// process ends. Then states issued with another store are rejected, and
    /// entries are not sealed.
    ///
    /// Returns `None` for stores that outlive the process and are shared by all
    /// nodes.
    fn instance_id(&self) -> Option<&str> {
        None
    }

    /// Returns an id of the data that is stored, if the store can tell that it lost all
    /// of it: then the id is another one, for all nodes. States from before are rejected
    /// then, since their journals may have had entries.
    ///
    /// It is called often, and must return at once what is known here.
    fn generation(&self) -> Option<Arc<str>> {
        None
    }
}

/// A request for the exclusive right to write a journal for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease<'a> {
    /// The writer; 32 random characters of `0-9` and `a-f`.
    pub holder: &'a str,
    /// How long the lease lasts unless renewed.
    pub duration: Duration,
}

impl<'a> Lease<'a> {
    /// Creates a lease, for tests of stores.
    #[must_use]
    pub fn new(holder: &'a str, duration: Duration) -> Self {
        Self { holder, duration }
    }
}

/// An entry to append to a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewEntry {
    /// Its position.
    pub position: u64,
    /// Its contents.
    pub value: Bytes,
    /// Whether all entries before it may be dropped.
    pub truncate: bool,
    /// With the last entry, the response sent to the client. It is stored
    /// beside the entries and may be dropped. The lease ends with it.
    pub response: Option<Bytes>,
    /// How long to keep the journal from now on.
    pub ttl: Duration,
}

impl NewEntry {
    /// Creates an entry without a response.
    #[must_use]
    pub fn new(position: u64, value: impl Into<Bytes>, ttl: Duration) -> Self {
        Self {
            position,
            value: value.into(),
            truncate: false,
            response: None,
            ttl,
        }
    }
}

/// The contents of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedJournal {
    /// The position after the last entry.
    pub next_position: u64,
    /// The entries from the requested position on, as far as they are kept.
    pub entries: Vec<Bytes>,
    /// The response stored with the last entry, if it is still kept.
    pub response: Option<Bytes>,
    /// Whether the caller now has the lease.
    pub acquired: bool,
}

impl OpenedJournal {
    /// Creates an empty result with this next position.
    #[must_use]
    pub fn new(next: u64) -> Self {
        Self {
            next_position: next,
            ..Self::default()
        }
    }
}

/// The outcome of an append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The entry was written.
    Appended,
    /// The position is taken, or is beyond the end of the journal.
    Conflict,
}

impl<S: JournalStore + ?Sized> JournalStore for Arc<S> {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        S::open(self, key, from, lease)
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        S::append(self, key, entry)
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::renew(self, key, lease)
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        S::release(self, key, holder)
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        S::wait_for_change(self, key)
    }

    fn instance_id(&self) -> Option<&str> {
        S::instance_id(self)
    }

    fn generation(&self) -> Option<Arc<str>> {
        S::generation(self)
    }
}
