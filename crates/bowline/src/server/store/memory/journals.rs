//! In-memory journals.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{
    super::{
        AppendOutcome, ConversationKey, JournalStore, Lease, NewEntry, OpenedJournal, StoreError,
    },
    MAX_SWEPT_PER_WRITE, MIB,
    expiry_index::{Expiry, ExpiryIndex, MAX_TTL},
    quota::{Amount, Quota},
};
use crate::{
    server::{replay::journal::hex, seal::random_bytes},
    sync::{Mutex, MutexGuard, lock},
    transport::BoxFuture,
};

/// A [`JournalStore`] for a server with a single process.
///
/// It is bounded: by default 262,144 journals of 64 MiB in total, and 64 MiB of
/// responses. One account may use an eighth of that; callers without a
/// principal share one account, which may use half. Expired entries make room;
/// if there are none, new entries are rejected and the oldest responses are
/// dropped. The result of a step is part of an entry: if that does not fit, the
/// step has happened and its outcome is unknown. A restart loses everything,
/// including the validity of states already issued.
pub struct MemoryJournalStore {
    instance_id: String,
    journals: Mutex<Journals>,
}

impl MemoryJournalStore {
    /// Creates a store with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(262_144, 64 * MIB, 64 * MIB)
    }

    /// Creates a store with limits on the number of journals, the bytes of
    /// entries and the bytes of responses.
    #[must_use]
    pub fn with_limits(max_journals: usize, max_bytes: usize, max_response_bytes: usize) -> Self {
        let name: [u8; 16] = random_bytes();
        Self {
            instance_id: hex(&name),
            journals: Mutex::new(Journals {
                journals: HashMap::new(),
                expiries: ExpiryIndex::default(),
                responses: BTreeMap::new(),
                quota: Quota::new(max_journals, max_bytes),
                response_quota: Quota::new(usize::MAX, max_response_bytes),
                response_counter: 0,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Journals> {
        lock(&self.journals)
    }
}

struct Journals {
    journals: HashMap<Arc<str>, Journal>,
    expiries: ExpiryIndex,
    /// The ids of journals with a response, by account and age.
    responses: BTreeMap<(Box<str>, u64), Arc<str>>,
    quota: Quota,
    response_quota: Quota,
    /// The number of the last response.
    response_counter: u64,
}

struct Journal {
    account: Box<str>,
    /// The position of the first entry kept.
    first_position: u64,
    entries: Vec<Bytes>,
    /// The total bytes of the entries.
    bytes: usize,
    /// The response, and its number in its account.
    response: Option<(Bytes, u64)>,
    lease: Option<(Box<str>, Instant)>,
    expiry: Expiry,
    change_notify: Option<Arc<Notify>>,
}

impl Journal {
    fn next_position(&self) -> u64 {
        self.first_position + self.entries.len() as u64
    }

    /// Returns its size for the quota: its id and its entries. A journal with
    /// only a lease counts nothing: there are at most as many as running
    /// rounds, and no quota may prevent a lease.
    fn size(&self, id: &str) -> Amount {
        if self.entries.is_empty() {
            return Amount::NONE;
        }
        Amount::one(id.len() + self.bytes)
    }

    fn has_lease(&self, holder: &str) -> bool {
        let lease = self.lease.as_ref();
        lease.is_some_and(|(known, _)| **known == *holder)
    }

    fn is_held_by_other(&self, holder: &str, now: Instant) -> bool {
        let lease = self.lease.as_ref();
        lease.is_some_and(|(other, expires_at)| **other != *holder && *expires_at > now)
    }

    fn notify_change(&mut self) {
        if let Some(waiting) = self.change_notify.take() {
            waiting.notify_waiters();
        }
    }
}

impl JournalStore for MemoryJournalStore {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        Box::pin(async move { Ok(self.lock().open(key, from, lease, Instant::now())) })
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        Box::pin(async move { self.lock().append(key, entry, Instant::now()) })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut journals = self.lock();
            let journal = journals.journals.get(key.id);
            if journal.is_some_and(|journal| journal.has_lease(lease.holder)) {
                journals.acquire(key, lease, Instant::now());
            }
            Ok(())
        })
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().release(key, holder);
            Ok(())
        })
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let mut journals = self.lock();
        let Some(journal) = journals.journals.get_mut(key.id) else {
            return Box::pin(async {});
        };
        let notify = Arc::clone(journal.change_notify.get_or_insert_default());
        // Registers now, before the first poll.
        Box::pin(notify.notified_owned())
    }

    fn instance_id(&self) -> Option<&str> {
        Some(&self.instance_id)
    }
}

impl Journals {
    fn open(
        &mut self,
        key: ConversationKey<'_>,
        from: u64,
        lease: Lease<'_>,
        now: Instant,
    ) -> OpenedJournal {
        let acquired = self.acquire(key, lease, now);
        let Some(journal) = self.journals.get(key.id) else {
            return OpenedJournal::default();
        };
        let known =
            usize::try_from(from.saturating_sub(journal.first_position)).unwrap_or(usize::MAX);
        let mut opened = OpenedJournal::new(journal.next_position());
        opened.entries = journal.entries.iter().skip(known).cloned().collect();
        opened.response = journal
            .response
            .as_ref()
            .map(|(response, _)| response.clone());
        opened.acquired = acquired;
        opened
    }

    /// Acquires or extends the lease. Returns whether the caller has it.
    fn acquire(&mut self, key: ConversationKey<'_>, lease: Lease<'_>, now: Instant) -> bool {
        self.drop_expired(key.id, now);
        if !self.journals.contains_key(key.id) {
            self.insert(key, lease.duration, now);
        }
        let Some(journal) = self.journals.get_mut(key.id) else {
            return false;
        };
        if journal.is_held_by_other(lease.holder, now) {
            return false;
        }
        let expires_at = now + lease.duration.min(MAX_TTL);
        journal.lease = Some((lease.holder.into(), expires_at));
        self.expiries
            .extend(&mut journal.expiry, now, lease.duration);
        true
    }

    fn append(
        &mut self,
        key: ConversationKey<'_>,
        entry: NewEntry,
        now: Instant,
    ) -> Result<AppendOutcome, StoreError> {
        self.drop_expired(key.id, now);
        let next = self.journals.get(key.id).map_or(0, Journal::next_position);
        if entry.position != next {
            return Ok(AppendOutcome::Conflict);
        }
        match self.journals.get_mut(key.id) {
            Some(journal) => self.expiries.extend(&mut journal.expiry, now, entry.ttl),
            None => self.insert(key, entry.ttl, now),
        }
        if let Err(exceeded) = self.write(key, &entry, now) {
            self.remove_empty(key.id);
            return Err(exceeded);
        }
        if let Some(response) = entry.response {
            self.store_response(key, &response);
        }
        Ok(AppendOutcome::Appended)
    }

    /// Appends an entry if it fits.
    fn write(
        &mut self,
        key: ConversationKey<'_>,
        entry: &NewEntry,
        now: Instant,
    ) -> Result<(), StoreError> {
        // Copied: the bytes may be a small slice of a large frame, which would
        // stay in memory.
        let value = Bytes::copy_from_slice(&entry.value);
        let Some(journal) = self.journals.get(key.id) else {
            return Err(StoreError::new("the journal has expired"));
        };
        let old = journal.size(key.id);
        let first = entry.truncate || old == Amount::NONE;
        let journals = if first { key.id.len() } else { old.bytes };
        let new = Amount::one(journals + value.len());
        while let Err(exceeded) = self.quota.check(key.account, old, new) {
            if !self.drop_first_expired(now) {
                return Err(exceeded.into());
            }
        }
        self.quota.replace(key.account, old, new);
        if let Some(journal) = self.journals.get_mut(key.id) {
            if entry.truncate {
                journal.first_position = entry.position;
                journal.entries.clear();
                journal.bytes = 0;
            }
            journal.bytes += value.len();
            journal.entries.push(value);
            if entry.response.is_some() {
                journal.lease = None;
            }
            journal.notify_change();
        }
        Ok(())
    }

    /// Stores a response if it fits once older ones are dropped.
    fn store_response(&mut self, key: ConversationKey<'_>, response: &Bytes) {
        self.remove_response(key.id);
        let size = Amount::one(response.len());
        if !self.response_quota.allows(key.account, size) {
            return;
        }
        while self
            .response_quota
            .check(key.account, Amount::NONE, size)
            .is_err()
        {
            if !self.evict_response(key.account) {
                return;
            }
        }
        self.response_counter += 1;
        let number = self.response_counter;
        let Some((id, _)) = self.journals.get_key_value(key.id) else {
            return;
        };
        let id = Arc::clone(id);
        if let Some(journal) = self.journals.get_mut(key.id) {
            journal.response = Some((Bytes::copy_from_slice(response), number));
            self.responses.insert((key.account.into(), number), id);
            self.response_quota.replace(key.account, Amount::NONE, size);
        }
    }

    /// Drops the oldest response of the account. If it has none, the others are
    /// within their shares, and this response is not stored.
    fn evict_response(&mut self, account: &str) -> bool {
        let range = (account.into(), 0)..=(account.into(), u64::MAX);
        let Some((response_key, id)) = self.responses.range(range).next() else {
            return false;
        };
        let (response_key, id) = (response_key.clone(), Arc::clone(id));
        self.responses.remove(&response_key);
        self.remove_response(&id);
        true
    }

    fn remove_response(&mut self, id: &str) {
        if let Some(journal) = self.journals.get_mut(id)
            && let Some((response, number)) = journal.response.take()
        {
            let (account, size) = (&journal.account, Amount::one(response.len()));
            self.response_quota.replace(account, size, Amount::NONE);
            self.responses.remove(&(account.clone(), number));
        }
    }

    fn release(&mut self, key: ConversationKey<'_>, holder: &str) {
        let Some(journal) = self.journals.get_mut(key.id) else {
            return;
        };
        if !journal.has_lease(holder) {
            return;
        }
        journal.lease = None;
        journal.notify_change();
        self.remove_empty(key.id);
    }

    /// Removes a journal that has neither entries nor a lease.
    fn remove_empty(&mut self, id: &str) {
        let journal = self.journals.get(id);
        if journal.is_some_and(|journal| journal.next_position() == 0 && journal.lease.is_none()) {
            self.remove(id);
        }
    }
}

/// Expiry.
impl Journals {
    /// Inserts a journal without entries.
    fn insert(&mut self, key: ConversationKey<'_>, ttl: Duration, now: Instant) {
        for _ in 0..MAX_SWEPT_PER_WRITE {
            self.drop_first_expired(now);
        }
        let id: Arc<str> = key.id.into();
        let expiry = self.expiries.insert(Arc::clone(&id), now, ttl);
        let journal = Journal {
            account: key.account.into(),
            first_position: 0,
            entries: Vec::new(),
            bytes: 0,
            response: None,
            lease: None,
            expiry,
            change_notify: None,
        };
        self.journals.insert(id, journal);
    }

    /// Drops this journal if it has expired.
    fn drop_expired(&mut self, id: &str, now: Instant) {
        let journal = self.journals.get(id);
        if journal.is_some_and(|journal| journal.expiry.has_passed(now)) {
            self.remove(id);
        }
    }

    /// Drops the journal that expired first. Returns whether there was one.
    fn drop_first_expired(&mut self, now: Instant) -> bool {
        let expired = self.expiries.first_expired(now);
        expired.inspect(|id| self.remove(id)).is_some()
    }

    fn remove(&mut self, id: &str) {
        self.remove_response(id);
        let Some((id, mut journal)) = self.journals.remove_entry(id) else {
            return;
        };
        self.expiries.remove(journal.expiry);
        let size = journal.size(&id);
        self.quota.replace(&journal.account, size, Amount::NONE);
        journal.notify_change();
    }
}

impl Default for MemoryJournalStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the usage, not the contents.
impl fmt::Debug for MemoryJournalStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let journals = self.lock();
        f.debug_struct("MemoryJournalStore")
            .field("journals", &journals.quota)
            .field("answers", &journals.response_quota)
            .finish()
    }
}
