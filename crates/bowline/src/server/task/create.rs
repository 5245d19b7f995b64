//! Storing a new task, and what becomes of one that may or may not be stored.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};

use super::{
    engine::{TaskKey, Tasks, unknown_task},
    record::TaskRecord,
    running::RunLease,
};
use crate::{
    proto::jsonrpc::{ErrorObject, code},
    server::{
        background::Caller,
        replay::error::store_failed,
        service::Core,
        store::{CreateOutcome, NewTask},
    },
};

/// The number of attempts to store a task.
const CREATE_ATTEMPTS: u32 = 3;
/// The delay before the second attempt. It doubles each time.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(50);

/// Why a task was not created.
pub(super) enum NotCreated {
    /// The caller has this many, and may not have more.
    TooMany(usize),
    /// The store failed. It may have stored the task.
    StoreFailed(ErrorObject),
}

impl From<NotCreated> for ErrorObject {
    fn from(why: NotCreated) -> Self {
        match why {
            NotCreated::TooMany(limit) => {
                let message = format!(
                    "Too many tasks: the limit is {limit}. Wait until some have ended and expired"
                );
                Self::new(code::INVALID_REQUEST, message)
            }
            NotCreated::StoreFailed(error) => error,
        }
    }
}

impl Core {
    /// Stores a new task, which this process runs. Returns the lease of the run.
    ///
    /// A task that its client does not learn of, because of an error or because the client
    /// has left, is cancelled: otherwise another node would run it later.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller has too many, or the store failed.
    pub(super) async fn store_new_task(
        self: &Arc<Self>,
        key: &TaskKey,
        record: &TaskRecord,
        caller: &Caller,
    ) -> Result<RunLease, NotCreated> {
        let mut unseen = UnseenTask {
            core: Arc::clone(self),
            key: Some(key.clone()),
            caller: caller.clone(),
        };
        let created = self.tasks().create(key, record).await;
        if !matches!(created, Err(NotCreated::StoreFailed(_))) {
            unseen.key = None;
        }
        created
    }

    /// Cancels a task that its client does not know. Until its lease has ended, nobody
    /// else runs it; and until then, the store may still receive it.
    async fn cancel_unseen_task(&self, key: TaskKey) {
        let (since, lease) = (Instant::now(), self.task_engine.lease_timeout);
        loop {
            match self.cancel_task(&key).await {
                Ok(_) => return,
                Err(error) if error == unknown_task() && since.elapsed() > lease => return,
                Err(_) => sleep(lease / 6).await,
            }
        }
    }
}

/// A task that may be stored while its client does not know it. It is cancelled when this
/// is dropped, in the background, as far as that is possible.
struct UnseenTask {
    core: Arc<Core>,
    /// `None` once its client learns of it, or it is certain that it is not stored.
    key: Option<TaskKey>,
    caller: Caller,
}

impl Drop for UnseenTask {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            let core = Arc::clone(&self.core);
            let work = async move { core.cancel_unseen_task(key).await };
            self.core.background.spawn(self.caller.clone(), work);
        }
    }
}

impl Tasks<'_> {
    /// Stores a new task. After an error, it is looked for, and stored again if it is not
    /// there.
    async fn create(&self, key: &TaskKey, record: &TaskRecord) -> Result<RunLease, NotCreated> {
        let (store, options) = (self.engine.store(), &self.engine.options);
        let holder = RunLease::new_holder();
        let value = self.seal(key, record).map_err(NotCreated::StoreFailed)?;
        let ttl = record.task.ttl().unwrap_or(options.max_ttl);
        let mut task = NewTask::new(value, self.engine.lease(&holder), ttl);
        task.max_per_account = options.max_per_caller;
        let mut delay = FIRST_RETRY_DELAY;
        let mut attempt = 1;
        loop {
            let error = match store.create(key.as_store_key(), task.clone()).await {
                Ok(CreateOutcome::Created) => break,
                Ok(CreateOutcome::TooMany) if attempt == 1 => {
                    return Err(NotCreated::TooMany(options.max_per_caller));
                }
                // An earlier attempt may have succeeded, and count.
                Ok(CreateOutcome::TooMany) => NotCreated::TooMany(options.max_per_caller).into(),
                Err(error) => store_failed(&error),
            };
            // Nobody else knows the id, so whatever has it is this task.
            if let Ok(Some(_)) = store.load(key.as_store_key()).await {
                break;
            }
            if attempt == CREATE_ATTEMPTS {
                return Err(NotCreated::StoreFailed(error));
            }
            sleep(delay).await;
            delay *= 2;
            attempt += 1;
        }
        Ok(RunLease { holder, version: 1 })
    }
}
