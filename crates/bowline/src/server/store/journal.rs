//! What makes a conversation take one course: a journal in which every place
//! is written once.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{ConversationKey, StoreError};
use crate::transport::BoxFuture;

/// Keeps a journal for each conversation: a list of entries, each of which is
/// written once and never changed.
///
/// Before an effect, its doer appends an entry that says so, at the position
/// after the last entry that it knows. Only one writer can have a position. Who
/// finds it taken learns that somebody else went on with the conversation, and
/// does nothing. So effects happen once, and in one order, on all nodes.
///
/// A journal also has a lease. It makes writers wait for each other instead of
/// doing the same work twice, and tells them soon if the one who has it died.
/// Nothing worse than wasted work comes of a lease that two believe to have:
/// the positions decide.
///
/// # When it is called
///
/// A round of a conversation calls [`open`](Self::open) once, and then
/// [`release`](Self::release) or, if the conversation ends, the last
/// [`append`](Self::append). Steps add one `append` before they begin and one
/// after they end; steps that run at once share them. A round that takes
/// longer than a third of its lease calls [`renew`](Self::renew) each third.
///
/// Who finds the lease taken calls [`changed`](Self::changed) and then `open`
/// again, four times a second or whenever `changed` returns.
///
/// # At expiry
///
/// A journal is kept for the `ttl` of its last entry. A store may keep it for
/// longer. It may never drop one earlier, not even to make room: a forgotten
/// entry is an effect that happens twice. A store that is full answers with an
/// error. Only the *answer* that comes with the last entry may be dropped; then
/// whoever repeats the last round is told that it has ended.
///
/// # After an error
///
/// After an error of `append` nobody knows whether the entry was written. It is
/// appended again, the same bytes at the same position, a few times; then the
/// effect is not run. In between, whoever has the lease opens the journal again,
/// which must succeed for it as often as it likes.
///
/// # What a fleet needs
///
/// - One store for all nodes, in which it is atomic to compare the position with
///   the next one of the journal and to write. The next position is kept with
///   the journal: a table of entries alone does not do, since a position whose
///   entry was dropped would be free again. In SQL, that is a row for each
///   journal, changed in the transaction that inserts the entry; in Redis, a
///   script of a few lines.
/// - No eviction of what has not expired. In Redis, the policy `noeviction`.
/// - Writes that survive the loss of a node of the store. With replicas that
///   lag behind, a failover forgets the last entries.
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
/// /// In place of two tables in a database.
/// #[derive(Default)]
/// struct Tables {
///     rows: Mutex<HashMap<String, Row>>,
/// }
///
/// #[derive(Default)]
/// struct Row {
///     /// The position of the first entry that is kept.
///     first: u64,
///     entries: Vec<Bytes>,
///     answer: Option<Bytes>,
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
///     /// Takes the lease for `holder`, unless somebody else has it.
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
/// // Rows that have expired are left to a job that deletes them.
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
///             opened.answer = row.answer.clone();
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
///                 return Ok(AppendOutcome::Taken);
///             }
///             if entry.truncate {
///                 row.first = entry.position;
///                 row.entries.clear();
///             }
///             row.entries.push(entry.value);
///             if let Some(answer) = entry.answer {
///                 row.respond = Some(respond);
///                 row.lease = None;
///             }
///             Ok(AppendOutcome::Done)
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
/// assert_eq!(store.append(key, entry.clone()).await?, AppendOutcome::Done);
/// assert_eq!(store.append(key, entry).await?, AppendOutcome::Taken);
/// # Ok(())
/// # }
/// ```
pub trait JournalStore: Send + Sync + 'static {
    /// Reads the entries from position `from` on, and takes the lease if nobody
    /// else has it. A journal without entries is as good as one that is not
    /// there.
    ///
    /// # Errors
    ///
    /// If the store failed. The lease may be taken or not.
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>>;

    /// Appends an entry, if its position is the one after the last entry; 0
    /// where there is none. Of all who append at one position, on all nodes,
    /// exactly one is told that it is done.
    ///
    /// # Errors
    ///
    /// If the store is full or failed. The entry may be there or not.
    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>>;

    /// Makes a lease last for its duration from now on, if it is still the
    /// holder's: nobody else took it, and it was not given back.
    ///
    /// # Errors
    ///
    /// If the store failed. The holder goes on, and tries again.
    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Gives a lease back, if it is the holder's.
    ///
    /// # Errors
    ///
    /// If the store failed. The lease ends by itself.
    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Returns when there is something new in the journal since this was called,
    /// or its lease may be free: sooner than it would be seen otherwise, if the
    /// store can tell. It may return for no reason, and need not return at all.
    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let _ = key;
        Box::pin(pending())
    }

    /// A name of this store that no other has, if what it keeps is gone when
    /// the process ends. Then no state is believed that was handed out with
    /// another store, and entries are not sealed.
    ///
    /// None for stores that outlive the process, which all nodes share.
    fn instance_id(&self) -> Option<&str> {
        None
    }
}

/// Who wants to be the only one to write a journal, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease<'a> {
    /// The writer; 32 random characters of `0-9` and `a-f`.
    pub holder: &'a str,
    /// How long it has the lease, unless it renews it.
    pub duration: Duration,
}

impl<'a> Lease<'a> {
    /// A lease, for tests of stores.
    #[must_use]
    pub fn new(holder: &'a str, duration: Duration) -> Self {
        Self { holder, duration }
    }
}

/// What is to be appended to a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewEntry {
    /// Where it belongs.
    pub position: u64,
    /// What it says.
    pub value: Bytes,
    /// Whether all entries before it may be dropped.
    pub truncate: bool,
    /// With the last entry, what the client was answered. It is kept beside
    /// the entries, and may be dropped. The lease ends with it.
    pub response: Option<Bytes>,
    /// How long the journal is to be kept, from now on.
    pub ttl: Duration,
}

impl NewEntry {
    /// An entry among others.
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

/// What is in a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenedJournal {
    /// The position after the last entry.
    pub next_position: u64,
    /// The entries from the position on that was asked for, as far as they are
    /// kept.
    pub entries: Vec<Bytes>,
    /// The answer that came with the last entry, if it is still kept.
    pub response: Option<Bytes>,
    /// Whether the lease is the caller's now.
    pub acquired: bool,
}

impl OpenedJournal {
    /// A journal whose next entry has this position.
    #[must_use]
    pub fn new(next: u64) -> Self {
        Self {
            next_position: next,
            ..Self::default()
        }
    }
}

/// What came of an attempt to append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AppendOutcome {
    /// The entry is there.
    Appended,
    /// There is another one, or the journal does not reach this far.
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
}
