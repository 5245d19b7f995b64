//! Stores that watch, fail and fill up.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore,
        MemorySealedStateStore, NewEntry, OpenedJournal, SealedStateStore, StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;
use tokio::time::sleep;

use crate::sync::lock;

/// Stores in memory that pass for those of a fleet, can be told to fail, and
/// remember what they saw.
#[derive(Debug, Default)]
pub(crate) struct Stores {
    journals: MemoryJournalStore,
    states: MemorySealedStateStore,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// How many more operations of this name fail.
    failing: Option<(&'static str, usize)>,
    /// How many more entries are written without a word.
    unheard: usize,
    /// Whether entries stay that nobody needs any more.
    keeps_all: bool,
    /// The entries that were appended, by how long they are kept.
    appended: Vec<Duration>,
    /// What was kept, as the store sees it.
    values: Vec<Bytes>,
    saved: usize,
}

impl Stores {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Lets the next operations of this name fail.
    pub(crate) fn fail(&self, what: &'static str, times: usize) {
        self.see(|seen| seen.failing = Some((what, times)));
    }

    /// Writes the next entries, and answers as if it had not.
    pub(crate) fn answer_nothing(&self, times: usize) {
        self.see(|seen| seen.unheard = times);
    }

    /// Keeps entries that nobody needs any more, as a store may.
    pub(crate) fn keep_all(&self) {
        self.see(|seen| seen.keeps_all = true);
    }

    /// How long the entries are kept that were appended.
    pub(crate) fn appended(&self) -> Vec<Duration> {
        self.see(|seen| seen.appended.clone())
    }

    /// All that was given to the stores to keep.
    pub(crate) fn values(&self) -> Vec<Bytes> {
        self.see(|seen| seen.values.clone())
    }

    /// How many states were saved.
    pub(crate) fn saved(&self) -> usize {
        self.see(|seen| seen.saved)
    }

    fn see<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut lock(&self.seen))
    }

    fn check(&self, name: &str) -> Result<(), StoreError> {
        self.see(|seen| match &mut seen.failing {
            Some((what, times)) if *times > 0 && name == *what => {
                *times -= 1;
                Err(StoreError::new("out of order"))
            }
            _ => Ok(()),
        })
    }
}

/// How a node reaches a store: late, with luck, or never again.
pub(crate) trait Way: Send + Sync + 'static {
    /// What becomes of an entry on its way.
    fn pass(&self, entry: NewEntry) -> NewEntry {
        entry
    }

    /// What becomes of an operation.
    fn reach<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>>;
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    Open,
    Append,
    Renew,
    Release,
}

/// A store at the end of a way.
pub(crate) struct Through<W, S>(pub(crate) W, pub(crate) S);

impl<W: Way, S: JournalStore> JournalStore for Through<W, S> {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        self.0.reach(Operation::Open, self.1.open(key, from, lease))
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        let appended = self.1.append(key, self.0.pass(entry));
        self.0.reach(Operation::Append, appended)
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.reach(Operation::Renew, self.1.renew(key, lease))
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0
            .reach(Operation::Release, self.1.release(key, holder))
    }
}

/// A way that takes a millisecond.
pub(crate) struct Far;

impl Way for Far {
    fn reach<'a, T: Send + 'a>(
        &'a self,
        _: Operation,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            sleep(Duration::from_millis(1)).await;
            done.await
        })
    }
}

impl JournalStore for Stores {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move {
            self.check("open")?;
            self.journals.open(key, from, lease).await
        })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        mut entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move {
            self.check("append")?;
            let unheard = self.see(|seen| {
                entry.truncate &= !seen.keeps_all;
                seen.appended.push(entry.ttl);
                seen.values.push(entry.value.clone());
                seen.values.extend(entry.response.clone());
                let unheard = seen.unheard > 0;
                seen.unheard = seen.unheard.saturating_sub(1);
                unheard
            });
            let appended = self.journals.append(key, entry).await;
            match unheard {
                true => Err(StoreError::new("no answer")),
                false => appended,
            }
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check("renew")?;
            self.journals.renew(key, lease).await
        })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check("release")?;
            self.journals.release(key, holder).await
        })
    }
}

impl SealedStateStore for Stores {
    fn save<'a>(
        &'a self,
        key: ConversationKey<'a>,
        state: Bytes,
        ttl: Duration,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.check("save")?;
            self.see(|seen| {
                seen.saved += 1;
                seen.values.push(state.clone());
            });
            self.states.save(key, state, ttl).await
        })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<Bytes>, StoreError>> {
        Box::pin(async move {
            self.check("load")?;
            self.states.load(key).await
        })
    }
}
