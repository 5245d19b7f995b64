//! Task stores: what clients ask for later, and which node works on it.

use std::{future::pending, sync::Arc, time::Duration};

use bytes::Bytes;

use super::{ConversationKey, Lease, StoreError};
use crate::transport::BoxFuture;

/// Stores tasks: a value for each, its version, and the lease of the node that works
/// on it.
///
/// The value is replaced only by a writer that knows its version, so no change is
/// lost. A task that is worked on has a lease, which its node renews. A lease that
/// expires means that the node is dead, or cannot reach the store; then another node
/// [claims](Self::claim) the task. That changes the version, so the first node cannot
/// replace the value any more: the version is its fencing token. What the work itself
/// does is protected by the [`JournalStore`](super::JournalStore) in the same way.
///
/// # Expiry
///
/// A task is kept for its `ttl` and must not be returned later. It must never be
/// dropped earlier. A store that is full returns an error.
///
/// # Requirements for multiple nodes
///
/// One store for all nodes, in which comparing the version and replacing the value is
/// atomic, as is taking a lease. A task that was created must be found by every node
/// at once: a client may ask for it right away, at any node.
pub trait TaskStore: Send + Sync + 'static {
    /// Stores a new task, with version 1 and a lease.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The task may or may not be
    /// stored.
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>>;

    /// Returns a task of this account, or `None` if there is none.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>>;

    /// Replaces the value if the version is still the same, and adds one to it.
    ///
    /// # Errors
    ///
    /// Returns an error if the store is full or failed. The value may or may not be
    /// replaced.
    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>>;

    /// Extends a lease by its duration from now, if its holder still has it. Returns
    /// whether it does.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Takes over one task whose lease has expired, if there is any, and adds one to
    /// its version.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed. A task may or may not be taken over.
    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>>;

    /// Returns tasks of an account in the order of their ids, those after `after`, at
    /// most `limit`.
    ///
    /// # Errors
    ///
    /// Returns an error if the store failed.
    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>>;

    /// Returns when the task has changed since this was called, if the store can
    /// notify sooner than polling would. It may return spuriously, and need not
    /// return at all.
    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        let _ = key;
        Box::pin(pending())
    }

    /// Returns a unique id of this store if its contents are lost when the process
    /// ends. Then values are not sealed, and no other node takes tasks over.
    fn instance_id(&self) -> Option<&str> {
        None
    }
}

/// A task to store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NewTask<'a> {
    /// Its value.
    pub value: Bytes,
    /// The node that works on it.
    pub lease: Lease<'a>,
    /// How long it is kept.
    pub ttl: Duration,
    /// How many tasks the account may have at once.
    pub max_per_account: usize,
}

impl<'a> NewTask<'a> {
    /// Creates a task to store, without a limit for the account.
    #[must_use]
    pub fn new(value: impl Into<Bytes>, lease: Lease<'a>, ttl: Duration) -> Self {
        Self {
            value: value.into(),
            lease,
            ttl,
            max_per_account: usize::MAX,
        }
    }
}

/// A task as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredTask {
    /// Its value.
    pub value: Bytes,
    /// How often it was replaced or claimed, plus one.
    pub version: u64,
    /// The holder of the lease, expired or not, if there is one.
    pub holder: Option<String>,
}

impl StoredTask {
    /// Creates a stored task.
    #[must_use]
    pub fn new(value: impl Into<Bytes>, version: u64, holder: Option<String>) -> Self {
        Self {
            value: value.into(),
            version,
            holder,
        }
    }
}

/// A change of a task.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskUpdate<'a> {
    /// The version that is replaced.
    pub version: u64,
    /// The new value.
    pub value: Bytes,
    /// What becomes of the lease.
    pub lease: LeaseUpdate<'a>,
}

impl<'a> TaskUpdate<'a> {
    /// Creates a change.
    #[must_use]
    pub fn new(version: u64, value: impl Into<Bytes>, lease: LeaseUpdate<'a>) -> Self {
        Self {
            version,
            value: value.into(),
            lease,
        }
    }
}

/// What an update does with the lease of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseUpdate<'a> {
    /// Leaves it as it is.
    Keep,
    /// Gives it to this holder.
    Take(Lease<'a>),
    /// Ends it: nobody works on the task, and nobody claims it.
    End,
}

/// The outcome of storing a new task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateOutcome {
    /// It was stored.
    Created,
    /// The account has too many tasks.
    TooMany,
}

/// The outcome of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOutcome {
    /// The value was replaced.
    Updated,
    /// The task has another version, or does not exist.
    Conflict,
}

/// A task that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimedTask {
    /// Its id.
    pub id: String,
    /// The account that it belongs to.
    pub account: String,
    /// The task.
    pub task: StoredTask,
}

impl ClaimedTask {
    /// Creates a task that was taken over.
    #[must_use]
    pub fn new(id: String, account: String, task: StoredTask) -> Self {
        Self { id, account, task }
    }
}

impl<S: TaskStore + ?Sized> TaskStore for Arc<S> {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        S::create(self, key, task)
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        S::load(self, key)
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        S::update(self, key, update)
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        S::renew(self, key, lease)
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        S::claim(self, lease)
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        S::list(self, account, after, limit)
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        S::wait_for_change(self, key)
    }

    fn instance_id(&self) -> Option<&str> {
        S::instance_id(self)
    }
}
