//! Storing tasks and changing them.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use tokio::sync::{Notify, Semaphore};

use super::{
    options::TaskOptions,
    record::TaskRecord,
    result_waiters::ResultWaiters,
    running::{RunLease, RunningTasks},
};
use crate::{
    proto::{
        jsonrpc::{ErrorObject, code},
        server::errors,
        task::Timestamp,
    },
    server::{
        replay::{error::store_failed, journal::hex, round::Clock, state::unix_millis},
        seal::{SealKeys, random_bytes},
        store::{
            ClaimedTask, ConversationKey, LeaseUpdate, MemoryTaskStore, StoreError, StoredTask,
            TaskStore, TaskUpdate, UpdateOutcome,
        },
    },
    sync::Mutex,
};

/// How often a change is tried again if the task changed meanwhile.
const MAX_CONFLICTS: u32 = 32;

/// The tasks of a server.
///
/// What is not given is created on first use, so a server without tasks has none of
/// it.
pub(crate) struct TaskEngine {
    pub(crate) options: TaskOptions,
    pub(crate) store: OnceLock<Arc<dyn TaskStore>>,
    pub(crate) clock: Clock,
    /// How long the node that runs a task may be silent before another takes over.
    pub(crate) lease_timeout: Duration,
    /// Permits for tasks that run here.
    pub(super) permits: Arc<Semaphore>,
    /// The tasks that run here.
    pub(super) running: Mutex<RunningTasks>,
    /// The requests that wait for results of tasks.
    pub(super) result_waiters: Mutex<ResultWaiters>,
    /// Notified when the last task that runs here has ended.
    pub(super) idle: Notify,
    /// Whether this process takes over tasks of others.
    pub(super) takes_over: OnceLock<()>,
}

/// The address of a task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskKey {
    pub(super) id: Box<str>,
    /// A digest of the principal.
    pub(super) account: Box<str>,
}

impl TaskKey {
    pub(super) fn as_store_key(&self) -> ConversationKey<'_> {
        ConversationKey::new(&self.id, &self.account)
    }
}

/// A task as it was loaded, with what is needed to replace it.
#[derive(Debug)]
pub(super) struct LoadedTask {
    pub(super) record: TaskRecord,
    pub(super) version: u64,
    pub(super) holder: Option<String>,
}

impl LoadedTask {
    /// Returns whether the lease is that of a run.
    pub(super) fn is_held_by(&self, lease: &RunLease) -> bool {
        self.holder.as_deref() == Some(&*lease.holder)
    }

    fn into_changed(self, is_changed: bool) -> ChangedTask {
        ChangedTask {
            record: self.record,
            version: self.version + u64::from(is_changed),
            is_changed,
        }
    }
}

/// What a change led to.
#[derive(Debug)]
pub(super) struct ChangedTask {
    /// The task as it is then.
    pub(super) record: TaskRecord,
    /// Its version.
    pub(super) version: u64,
    /// Whether it was changed.
    pub(super) is_changed: bool,
}

/// A task that was taken over.
pub(super) struct Claimed {
    pub(super) key: TaskKey,
    /// What is stored of it, or `None` if it cannot be opened here: nodes with another
    /// key may share the store.
    pub(super) record: Option<TaskRecord>,
    pub(super) lease: RunLease,
}

impl TaskEngine {
    pub(crate) fn new(
        options: TaskOptions,
        store: Option<Arc<dyn TaskStore>>,
        clock: Clock,
        lease_timeout: Duration,
    ) -> Self {
        let permits = Semaphore::new(options.max_running.min(Semaphore::MAX_PERMITS));
        Self {
            options,
            store: store.map(OnceLock::from).unwrap_or_default(),
            clock,
            lease_timeout,
            permits: Arc::new(permits),
            running: Mutex::default(),
            result_waiters: Mutex::default(),
            idle: Notify::new(),
            takes_over: OnceLock::new(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        Timestamp::from_unix_millis(unix_millis((self.clock)()))
    }

    pub(super) fn store(&self) -> &Arc<dyn TaskStore> {
        let memory = || -> Arc<dyn TaskStore> { Arc::new(MemoryTaskStore::default()) };
        self.store.get_or_init(memory)
    }

    /// Returns an id that nobody can guess.
    pub(super) fn new_id() -> Box<str> {
        let id: [u8; 16] = random_bytes();
        hex(&id).into()
    }
}

/// Access to the store, with values sealed.
pub(super) struct Tasks<'a> {
    pub(super) engine: &'a TaskEngine,
    pub(super) seal_keys: &'a SealKeys,
    pub(super) server_name: &'a str,
}

impl Tasks<'_> {
    /// Loads a task, unless it has expired.
    ///
    /// # Errors
    ///
    /// Returns an error if there is none, or the store failed.
    pub(super) async fn load(&self, key: &TaskKey) -> Result<LoadedTask, ErrorObject> {
        let stored = self.engine.store().load(key.as_store_key()).await;
        let stored = stored.map_err(|error| store_failed(&error))?;
        let stored = stored.ok_or_else(unknown_task)?;
        let loaded = self.open(key, &stored)?;
        match loaded.record.task.is_expired(self.engine.now()) {
            true => Err(unknown_task()),
            false => Ok(loaded),
        }
    }

    /// Changes a task. `change` may run several times, each time with the current
    /// task, and says what becomes of the lease; nothing is stored if it returns
    /// `None`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such task, or the store failed.
    pub(super) async fn change<'l>(
        &self,
        key: &TaskKey,
        mut change: impl FnMut(&mut LoadedTask) -> Option<LeaseUpdate<'l>>,
    ) -> Result<ChangedTask, ErrorObject> {
        for _ in 0..MAX_CONFLICTS {
            let mut loaded = self.load(key).await?;
            let Some(lease) = change(&mut loaded) else {
                return Ok(loaded.into_changed(false));
            };
            let value = self.seal(key, &loaded.record)?;
            let update = TaskUpdate::new(loaded.version, value, lease);
            let updated = self.engine.store().update(key.as_store_key(), update).await;
            match updated.map_err(|error| store_failed(&error))? {
                UpdateOutcome::Updated => return Ok(loaded.into_changed(true)),
                UpdateOutcome::Conflict => {}
            }
        }
        Err(errors::internal_error("the task changes too often"))
    }

    /// Takes over a task whose node is gone.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    pub(super) async fn claim(&self) -> Result<Option<Claimed>, StoreError> {
        let holder = RunLease::new_holder();
        let claimed = self
            .engine
            .store()
            .claim(self.engine.lease(&holder))
            .await?;
        Ok(claimed.map(
            |ClaimedTask {
                 id, account, task, ..
             }| {
                let key = TaskKey {
                    id: id.into(),
                    account: account.into(),
                };
                let version = task.version;
                let lease = RunLease { holder, version };
                let record = self.open(&key, &task).ok().map(|loaded| loaded.record);
                Claimed { key, record, lease }
            },
        ))
    }

    /// Returns an account's tasks after an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    pub(super) async fn list(
        &self,
        account: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, ErrorObject> {
        let listed = self.engine.store().list(account, after, limit).await;
        let listed = listed.map_err(|error| store_failed(&error))?;
        let now = self.engine.now();
        let records = listed.into_iter().filter_map(|(id, stored)| {
            let key = TaskKey {
                id: id.into(),
                account: account.into(),
            };
            let record = self.open(&key, &stored).ok()?.record;
            (!record.task.is_expired(now)).then_some(record)
        });
        Ok(records.collect())
    }

    pub(super) fn seal(&self, key: &TaskKey, record: &TaskRecord) -> Result<Bytes, ErrorObject> {
        let plain = serde_json::to_vec(record);
        let plain = plain.map_err(|error| errors::internal_error(&error.to_string()))?;
        if self.engine.store().instance_id().is_some() {
            return Ok(plain.into());
        }
        let sealed = self.seal_keys.seal_bytes(&self.purpose(key), &plain);
        Ok(sealed.into())
    }

    fn open(&self, key: &TaskKey, stored: &StoredTask) -> Result<LoadedTask, ErrorObject> {
        let plain = match self.engine.store().instance_id() {
            Some(_) => stored.value.clone(),
            None => {
                let opened = self.seal_keys.open_bytes(&self.purpose(key), &stored.value);
                opened.map_err(|_| unknown_task())?.into()
            }
        };
        let record = serde_json::from_slice(&plain).map_err(|_| unknown_task())?;
        Ok(LoadedTask {
            record,
            version: stored.version,
            holder: stored.holder.clone(),
        })
    }

    /// Binds a sealed value to its task: a store cannot give out one for another.
    fn purpose(&self, key: &TaskKey) -> Vec<u8> {
        let TaskKey { id, account } = key;
        format!("task {id} of {account} in {}", self.server_name).into_bytes()
    }
}

/// Returns the error for a task that does not exist, or belongs to someone else: the
/// same for both.
pub(super) fn unknown_task() -> ErrorObject {
    let message = "Unknown task: it does not exist, or has expired";
    ErrorObject::new(code::INVALID_PARAMS, message)
}
