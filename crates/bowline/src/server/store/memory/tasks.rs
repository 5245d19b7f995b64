//! In-memory tasks.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fmt,
    sync::Arc,
};

use bytes::Bytes;
use tokio::{sync::Notify, time::Instant};

use super::{
    super::{
        ClaimedTask, ConversationKey, CreateOutcome, Lease, LeaseUpdate, NewTask, StoreError,
        StoredTask, TaskStore, TaskUpdate, UpdateOutcome,
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

/// A [`TaskStore`] for a server with a single process.
///
/// It is bounded: by default 65,536 tasks of 256 MiB in total. One account may use an
/// eighth of that; callers without a principal share one account, which may use half.
/// Expired tasks make room; if there are none, new tasks are rejected. A restart loses
/// everything.
pub struct MemoryTaskStore {
    instance_id: String,
    tasks: Mutex<Tasks>,
}

impl MemoryTaskStore {
    /// Creates a store with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::with_limits(65_536, 256 * MIB)
    }

    /// Creates a store with limits on the number of tasks and their bytes.
    #[must_use]
    pub fn with_limits(max_tasks: usize, max_bytes: usize) -> Self {
        let name: [u8; 16] = random_bytes();
        Self {
            instance_id: hex(&name),
            tasks: Mutex::new(Tasks {
                entries: HashMap::new(),
                by_account: BTreeMap::new(),
                leases: BTreeSet::new(),
                expiries: ExpiryIndex::default(),
                quota: Quota::new(max_tasks, max_bytes),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Tasks> {
        lock(&self.tasks)
    }
}

struct Tasks {
    entries: HashMap<Arc<str>, Entry>,
    /// The ids of each account's tasks.
    by_account: BTreeMap<Box<str>, BTreeSet<Arc<str>>>,
    /// The ids of tasks with a lease, the one that ends next first.
    leases: BTreeSet<(Instant, Arc<str>)>,
    expiries: ExpiryIndex,
    quota: Quota,
}

struct Entry {
    account: Box<str>,
    value: Bytes,
    version: u64,
    lease: Option<TakenLease>,
    expiry: Expiry,
    change_notify: Option<Arc<Notify>>,
}

struct TakenLease {
    holder: Box<str>,
    until: Instant,
}

impl Entry {
    fn to_stored(&self) -> StoredTask {
        let holder = self.lease.as_ref().map(|lease| lease.holder.to_string());
        StoredTask::new(self.value.clone(), self.version, holder)
    }

    fn size(&self, id: &str) -> Amount {
        Amount::one(id.len() + self.value.len())
    }
}

impl Tasks {
    fn get(&self, key: ConversationKey<'_>, now: Instant) -> Option<&Entry> {
        let entry = self.entries.get(key.id)?;
        (*entry.account == *key.account && !entry.expiry.has_passed(now)).then_some(entry)
    }

    fn create(
        &mut self,
        key: ConversationKey<'_>,
        task: NewTask<'_>,
        now: Instant,
    ) -> Result<CreateOutcome, StoreError> {
        for _ in 0..MAX_SWEPT_PER_WRITE {
            self.drop_expired(now);
        }
        let size = Amount::one(key.id.len() + task.value.len());
        loop {
            let count = self.by_account.get(key.account).map_or(0, BTreeSet::len);
            let is_full = match self.quota.check(key.account, Amount::NONE, size) {
                Ok(()) if count < task.max_per_account => break,
                Ok(()) => None,
                Err(full) => Some(full),
            };
            if !self.drop_expired(now) {
                return is_full.map_or(Ok(CreateOutcome::TooMany), |full| Err(full.into()));
            }
        }
        if self.entries.contains_key(key.id) {
            return Err(StoreError::new("a task with this id exists"));
        }
        let id: Arc<str> = key.id.into();
        self.quota.replace(key.account, Amount::NONE, size);
        let expiry = self.expiries.insert(Arc::clone(&id), now, task.ttl);
        let account = self.by_account.entry(key.account.into()).or_default();
        account.insert(Arc::clone(&id));
        let entry = Entry {
            account: key.account.into(),
            value: task.value,
            version: 1,
            lease: None,
            expiry,
            change_notify: None,
        };
        self.entries.insert(Arc::clone(&id), entry);
        self.set_lease(&id, Some(task.lease), now);
        Ok(CreateOutcome::Created)
    }

    fn update(
        &mut self,
        key: ConversationKey<'_>,
        update: TaskUpdate<'_>,
        now: Instant,
    ) -> Result<UpdateOutcome, StoreError> {
        let Some(entry) = self.get(key, now).filter(|it| it.version == update.version) else {
            return Ok(UpdateOutcome::Conflict);
        };
        let (old, new) = (
            entry.size(key.id),
            Amount::one(key.id.len() + update.value.len()),
        );
        self.quota.check(key.account, old, new)?;
        self.quota.replace(key.account, old, new);
        if let Some(entry) = self.entries.get_mut(key.id) {
            entry.value = update.value;
            entry.version += 1;
        }
        match update.lease {
            LeaseUpdate::Keep => {}
            LeaseUpdate::Take(lease) => self.set_lease(key.id, Some(lease), now),
            LeaseUpdate::End => self.set_lease(key.id, None, now),
        }
        self.notify_change(key.id);
        Ok(UpdateOutcome::Updated)
    }

    fn renew(&mut self, key: ConversationKey<'_>, lease: Lease<'_>, now: Instant) -> bool {
        let held = self.get(key, now).and_then(|entry| entry.lease.as_ref());
        let is_held = held.is_some_and(|held| *held.holder == *lease.holder);
        if is_held {
            self.set_lease(key.id, Some(lease), now);
        }
        is_held
    }

    fn claim(&mut self, lease: Lease<'_>, now: Instant) -> Option<ClaimedTask> {
        while let Some((until, id)) = self.leases.first().cloned() {
            if until > now {
                return None;
            }
            if self
                .entries
                .get(&id)
                .is_none_or(|it| it.expiry.has_passed(now))
            {
                self.remove(&id);
                continue;
            }
            self.set_lease(&id, Some(lease), now);
            let entry = self.entries.get_mut(&id)?;
            entry.version += 1;
            let (account, task) = (entry.account.to_string(), entry.to_stored());
            return Some(ClaimedTask::new(id.to_string(), account, task));
        }
        None
    }

    fn list(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
        now: Instant,
    ) -> Vec<(String, StoredTask)> {
        let ids = self.by_account.get(account).into_iter().flatten();
        let ids = ids.skip_while(|id| after.is_some_and(|after| &***id <= after));
        let tasks = ids.filter_map(|id| {
            let entry = self.get(ConversationKey::new(id, account), now)?;
            Some((id.to_string(), entry.to_stored()))
        });
        tasks.take(limit).collect()
    }

    fn set_lease(&mut self, id: &str, lease: Option<Lease<'_>>, now: Instant) {
        let Some((id, _)) = self.entries.get_key_value(id) else {
            return;
        };
        let id = Arc::clone(id);
        let Some(entry) = self.entries.get_mut(&id) else {
            return;
        };
        if let Some(old) = entry.lease.take() {
            self.leases.remove(&(old.until, Arc::clone(&id)));
        }
        if let Some(lease) = lease {
            let until = now + lease.duration.min(MAX_TTL);
            entry.lease = Some(TakenLease {
                holder: lease.holder.into(),
                until,
            });
            self.leases.insert((until, id));
        }
    }

    fn changed(&mut self, key: ConversationKey<'_>) -> Option<Arc<Notify>> {
        let entry = self.entries.get_mut(key.id)?;
        let notify = entry.change_notify.get_or_insert_default();
        Some(Arc::clone(notify))
    }

    fn notify_change(&mut self, id: &str) {
        let entry = self.entries.get_mut(id);
        if let Some(waiting) = entry.and_then(|entry| entry.change_notify.take()) {
            waiting.notify_waiters();
        }
    }

    /// Drops the task that expired first. Returns whether there was one.
    fn drop_expired(&mut self, now: Instant) -> bool {
        let expired = self.expiries.first_expired(now);
        expired.is_some_and(|id| self.remove(&id))
    }

    fn remove(&mut self, id: &str) -> bool {
        self.set_lease(id, None, Instant::now());
        self.notify_change(id);
        let Some(entry) = self.entries.remove(id) else {
            return false;
        };
        self.expiries.remove(entry.expiry);
        self.quota
            .replace(&entry.account, entry.size(id), Amount::NONE);
        if let Some(ids) = self.by_account.get_mut(&entry.account) {
            ids.remove(id);
            if ids.is_empty() {
                self.by_account.remove(&entry.account);
            }
        }
        true
    }
}

impl TaskStore for MemoryTaskStore {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        Box::pin(async move { self.lock().create(key, task, Instant::now()) })
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        Box::pin(async move { Ok(self.lock().get(key, Instant::now()).map(Entry::to_stored)) })
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        Box::pin(async move { self.lock().update(key, update, Instant::now()) })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move { Ok(self.lock().renew(key, lease, Instant::now())) })
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        Box::pin(async move { Ok(self.lock().claim(lease, Instant::now())) })
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        Box::pin(async move { Ok(self.lock().list(account, after, limit, Instant::now())) })
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        // Registered now, so a change before the first poll is not missed.
        let changed = self.lock().changed(key).map(Notify::notified_owned);
        Box::pin(async move {
            match changed {
                Some(changed) => changed.await,
                // It does not exist, so it cannot change.
                None => std::future::pending().await,
            }
        })
    }

    fn instance_id(&self) -> Option<&str> {
        Some(&self.instance_id)
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

/// Shows the usage, not the contents.
impl fmt::Debug for MemoryTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = self.lock();
        f.debug_tuple("MemoryTaskStore")
            .field(&tasks.quota)
            .finish()
    }
}
