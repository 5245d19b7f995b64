//! Journals in memory.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{
    super::{Appended, JournalStore, Key, Lease, NewEntry, Opened, StoreError},
    FOREVER, MIB, SWEEP,
    quota::{Amount, Quota},
};
use crate::{
    server::{replay::journal::hex, seal::random_bytes},
    sync::{Mutex, MutexGuard, lock},
    transport::BoxFuture,
};

/// A [`JournalStore`] for a server that is a single process.
///
/// It is bounded: 262,144 journals of 64 MiB in all, and 64 MiB of answers,
/// unless set otherwise. One account may have an eighth of that; callers without
/// a name have one account together, which may have half. What has expired makes room; when nothing
/// has, entries are refused, and the oldest answers are dropped. What a step
/// returns is a part of an entry: if that has no room, the step has happened and
/// its outcome is unknown. A restart forgets everything, and with it the states
/// that were handed out.
pub struct MemoryJournals {
    name: String,
    kept: Mutex<Kept>,
}

impl MemoryJournals {
    /// A store of the usual size.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(262_144, 64 * MIB, 64 * MIB)
    }

    /// A store for this many journals, this many bytes of entries, and this
    /// many bytes of answers.
    #[must_use]
    pub fn with_limits(max_journals: usize, max_bytes: usize, max_answer_bytes: usize) -> Self {
        let name: [u8; 16] = random_bytes();
        Self {
            name: hex(&name),
            kept: Mutex::new(Kept {
                journals: HashMap::new(),
                expiries: BTreeMap::new(),
                answers: BTreeMap::new(),
                quota: Quota::new(max_journals, max_bytes),
                answer_quota: Quota::new(usize::MAX, max_answer_bytes),
                counter: 0,
            }),
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

struct Kept {
    journals: HashMap<Arc<str>, Journal>,
    /// The ids by expiry. The number keeps equal times apart.
    expiries: BTreeMap<Expiry, Arc<str>>,
    /// The ids of those that have an answer, by account and age.
    answers: BTreeMap<(Box<str>, u64), Arc<str>>,
    quota: Quota,
    answer_quota: Quota,
    /// A number that no other has, and that grows.
    counter: u64,
}

type Expiry = (Instant, u64);

struct Journal {
    account: Box<str>,
    /// The position of the first entry that is kept.
    first: u64,
    entries: Vec<Bytes>,
    /// How many bytes the entries have.
    bytes: usize,
    /// The answer, and its number among the answers of its account.
    answer: Option<(Bytes, u64)>,
    lease: Option<(Box<str>, Instant)>,
    expiry: Expiry,
    waiting: Option<Arc<Notify>>,
}

impl Journal {
    fn next(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// What it takes of the quota: its id and its entries. One that has
    /// nothing but a lease takes nothing: there are no more of them than rounds
    /// under way, and nobody may be kept from a lease by what others hold.
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
        lease.is_some_and(|(other, until)| **other != *holder && *until > now)
    }

    fn wake(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.notify_waiters();
        }
    }
}

impl JournalStore for MemoryJournals {
    fn open<'a>(
        &'a self,
        key: Key<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Opened, StoreError>> {
        Box::pin(async move { Ok(self.kept().open(key, from, lease, Instant::now())) })
    }

    fn append<'a>(
        &'a self,
        key: Key<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<Appended, StoreError>> {
        Box::pin(async move { self.kept().append(key, entry, Instant::now()) })
    }

    fn renew<'a>(
        &'a self,
        key: Key<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let mut kept = self.kept();
            let journal = kept.journals.get(key.id);
            if journal.is_some_and(|journal| journal.has_lease(lease.holder)) {
                kept.acquire(key, lease, Instant::now());
            }
            Ok(())
        })
    }

    fn release<'a>(
        &'a self,
        key: Key<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            self.kept().release(key, holder);
            Ok(())
        })
    }

    fn changed<'a>(&'a self, key: Key<'a>) -> BoxFuture<'a, ()> {
        let mut kept = self.kept();
        let Some(journal) = kept.journals.get_mut(key.id) else {
            return Box::pin(async {});
        };
        let notify = Arc::clone(journal.waiting.get_or_insert_default());
        // From here on, though nobody polls it yet.
        Box::pin(notify.notified_owned())
    }

    fn instance(&self) -> Option<&str> {
        Some(&self.name)
    }
}

impl Kept {
    fn open(&mut self, key: Key<'_>, from: u64, lease: Lease<'_>, now: Instant) -> Opened {
        let acquired = self.acquire(key, lease, now);
        let Some(journal) = self.journals.get(key.id) else {
            return Opened::default();
        };
        let known = usize::try_from(from.saturating_sub(journal.first)).unwrap_or(usize::MAX);
        let mut opened = Opened::new(journal.next());
        opened.entries = journal.entries.iter().skip(known).cloned().collect();
        opened.answer = journal.answer.as_ref().map(|(answer, _)| answer.clone());
        opened.acquired = acquired;
        opened
    }

    /// Takes the lease, or makes it longer. Says whether it is the caller's.
    fn acquire(&mut self, key: Key<'_>, lease: Lease<'_>, now: Instant) -> bool {
        self.drop_expired(key.id, now);
        let until = now + lease.duration.min(FOREVER);
        if !self.journals.contains_key(key.id) {
            self.insert(key, until, now);
        }
        let Some(journal) = self.journals.get_mut(key.id) else {
            return false;
        };
        if journal.is_held_by_other(lease.holder, now) {
            return false;
        }
        journal.lease = Some((lease.holder.into(), until));
        self.keep_until(key.id, until);
        true
    }

    fn append(
        &mut self,
        key: Key<'_>,
        entry: NewEntry,
        now: Instant,
    ) -> Result<Appended, StoreError> {
        self.drop_expired(key.id, now);
        let next = self.journals.get(key.id).map_or(0, Journal::next);
        if entry.position != next {
            return Ok(Appended::Taken);
        }
        let until = now + entry.ttl.min(FOREVER);
        if !self.journals.contains_key(key.id) {
            self.insert(key, until, now);
        }
        self.keep_until(key.id, until);
        if let Err(full) = self.write(key, &entry, now) {
            self.remove_empty(key.id);
            return Err(full);
        }
        if let Some(answer) = entry.answer {
            self.keep_answer(key, &answer);
        }
        Ok(Appended::Done)
    }

    /// Writes an entry at the end, if there is room for it.
    fn write(&mut self, key: Key<'_>, entry: &NewEntry, now: Instant) -> Result<(), StoreError> {
        // A copy: the given bytes may be a small part of a large frame, all of
        // which would stay in memory.
        let value = Bytes::copy_from_slice(&entry.value);
        let Some(journal) = self.journals.get(key.id) else {
            return Err(StoreError::new("the journal has expired"));
        };
        let old = journal.size(key.id);
        let first = entry.truncate || old == Amount::NONE;
        let kept = if first { key.id.len() } else { old.bytes };
        let new = Amount::one(kept + value.len());
        while let Err(full) = self.quota.check(key.account, old, new) {
            if !self.drop_first_expired(now) {
                return Err(full.into());
            }
        }
        self.quota.replace(key.account, old, new);
        if let Some(journal) = self.journals.get_mut(key.id) {
            if entry.truncate {
                journal.first = entry.position;
                journal.entries.clear();
                journal.bytes = 0;
            }
            journal.bytes += value.len();
            journal.entries.push(value);
            if entry.answer.is_some() {
                journal.lease = None;
            }
            journal.wake();
        }
        Ok(())
    }

    /// Keeps an answer, if there is room once older ones are gone.
    fn keep_answer(&mut self, key: Key<'_>, answer: &Bytes) {
        self.forget_answer(key.id);
        let size = Amount::one(answer.len());
        if !self.answer_quota.allows(key.account, size) {
            return;
        }
        while self
            .answer_quota
            .check(key.account, Amount::NONE, size)
            .is_err()
        {
            if !self.drop_an_answer(key.account) {
                return;
            }
        }
        self.counter += 1;
        let number = self.counter;
        let Some((id, _)) = self.journals.get_key_value(key.id) else {
            return;
        };
        let id = Arc::clone(id);
        if let Some(journal) = self.journals.get_mut(key.id) {
            journal.answer = Some((Bytes::copy_from_slice(answer), number));
            self.answers.insert((key.account.into(), number), id);
            self.answer_quota.replace(key.account, Amount::NONE, size);
        }
    }

    /// Drops the oldest answer of the account. Where it has none, others have
    /// them all, each within its share, and this one does without.
    fn drop_an_answer(&mut self, account: &str) -> bool {
        let own = (account.into(), 0)..=(account.into(), u64::MAX);
        let Some((place, id)) = self.answers.range(own).next() else {
            return false;
        };
        let (place, id) = (place.clone(), Arc::clone(id));
        self.answers.remove(&place);
        self.forget_answer(&id);
        true
    }

    fn forget_answer(&mut self, id: &str) {
        if let Some(journal) = self.journals.get_mut(id)
            && let Some((answer, number)) = journal.answer.take()
        {
            let (account, size) = (&journal.account, Amount::one(answer.len()));
            self.answer_quota.replace(account, size, Amount::NONE);
            self.answers.remove(&(account.clone(), number));
        }
    }

    fn release(&mut self, key: Key<'_>, holder: &str) {
        let Some(journal) = self.journals.get_mut(key.id) else {
            return;
        };
        if !journal.has_lease(holder) {
            return;
        }
        journal.lease = None;
        journal.wake();
        self.remove_empty(key.id);
    }

    /// Removes a journal that has neither entries nor a lease.
    fn remove_empty(&mut self, id: &str) {
        let journal = self.journals.get(id);
        if journal.is_some_and(|journal| journal.next() == 0 && journal.lease.is_none()) {
            self.remove(id);
        }
    }
}

/// What goes by the clock.
impl Kept {
    /// A journal without entries, for as long as somebody has its lease.
    fn insert(&mut self, key: Key<'_>, until: Instant, now: Instant) {
        for _ in 0..SWEEP {
            self.drop_first_expired(now);
        }
        self.counter += 1;
        let (id, expiry): (Arc<str>, _) = (key.id.into(), (until, self.counter));
        self.expiries.insert(expiry, Arc::clone(&id));
        let journal = Journal {
            account: key.account.into(),
            first: 0,
            entries: Vec::new(),
            bytes: 0,
            answer: None,
            lease: None,
            expiry,
            waiting: None,
        };
        self.journals.insert(id, journal);
    }

    /// Keeps a journal until then, if that is later than now.
    fn keep_until(&mut self, id: &str, until: Instant) {
        let Some(journal) = self.journals.get_mut(id) else {
            return;
        };
        if journal.expiry.0 >= until {
            return;
        }
        if let Some(id) = self.expiries.remove(&journal.expiry) {
            self.counter += 1;
            journal.expiry = (until, self.counter);
            self.expiries.insert(journal.expiry, id);
        }
    }

    /// Drops this one if it has expired.
    fn drop_expired(&mut self, id: &str, now: Instant) {
        let journal = self.journals.get(id);
        if journal.is_some_and(|journal| journal.expiry.0 <= now) {
            self.remove(id);
        }
    }

    /// Drops the one that expired first. Says whether there was one.
    fn drop_first_expired(&mut self, now: Instant) -> bool {
        let expired = match self.expiries.first_key_value() {
            Some(((until, _), id)) if *until <= now => Arc::clone(id),
            _ => return false,
        };
        self.remove(&expired);
        true
    }

    fn remove(&mut self, id: &str) {
        self.forget_answer(id);
        let Some((id, mut journal)) = self.journals.remove_entry(id) else {
            return;
        };
        self.expiries.remove(&journal.expiry);
        let size = journal.size(&id);
        self.quota.replace(&journal.account, size, Amount::NONE);
        journal.wake();
    }
}

impl Default for MemoryJournals {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows how full it is, and no contents.
impl fmt::Debug for MemoryJournals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.kept();
        f.debug_struct("MemoryJournals")
            .field("journals", &kept.quota)
            .field("answers", &kept.answer_quota)
            .finish()
    }
}
