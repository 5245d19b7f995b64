//! A node's way to the tasks, on which replies are lost and operations wait.

use std::sync::{Arc, Mutex};

use bowline::{
    server::store::{
        ClaimedTask, ConversationKey, CreateOutcome, Lease, NewTask, StoreError, StoredTask,
        TaskStore, TaskUpdate, UpdateOutcome,
    },
    transport::BoxFuture,
};
use tokio::sync::Semaphore;

use crate::sync::lock;

/// An operation of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Load,
    Update,
    Renew,
    Claim,
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is done, and the reply is lost.
    LosesReply,
    /// It is done when the test lets it.
    WaitsBefore,
    /// It is done, and the reply comes when the test lets it.
    WaitsAfter,
}

/// The tasks as one node reaches them.
pub(super) struct FaultyTasks {
    tasks: Arc<dyn TaskStore>,
    /// What becomes of the next operations of a kind, each once.
    faults: Mutex<Vec<(Operation, Fault)>>,
    /// The operations that always fail.
    unreachable: Mutex<Vec<Operation>>,
    /// One for each operation that began to wait.
    waiting: Semaphore,
    /// One for each that may go on.
    gate: Semaphore,
}

impl FaultyTasks {
    pub(super) fn new(tasks: Arc<dyn TaskStore>) -> Arc<Self> {
        Arc::new(Self {
            tasks,
            faults: Mutex::default(),
            unreachable: Mutex::default(),
            waiting: Semaphore::new(0),
            gate: Semaphore::new(0),
        })
    }

    /// Says what becomes of the next operation of a kind for which nothing was said yet.
    pub(super) fn next(&self, operation: Operation, fault: Fault) {
        lock(&self.faults).push((operation, fault));
    }

    /// Lets these operations fail from now on, and all others succeed.
    pub(super) fn cut_off(&self, operations: &[Operation]) {
        *lock(&self.unreachable) = operations.to_vec();
    }

    /// Waits until an operation waits.
    pub(super) async fn wait_until_held(&self) {
        let permit = self.waiting.acquire().await.expect("it is open");
        permit.forget();
    }

    /// Lets an operation that waits go on.
    pub(super) fn let_go(&self) {
        self.gate.add_permits(1);
    }

    async fn hold(&self) {
        self.waiting.add_permits(1);
        self.gate.acquire().await.expect("it is open").forget();
    }

    fn take_fault(&self, operation: Operation) -> Option<Fault> {
        let mut faults = lock(&self.faults);
        let place = faults.iter().position(|(of, _)| *of == operation)?;
        Some(faults.remove(place).1)
    }

    fn reach<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        done: BoxFuture<'a, Result<T, StoreError>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        Box::pin(async move {
            if lock(&self.unreachable).contains(&operation) {
                return Err(StoreError::new("cut off"));
            }
            let fault = self.take_fault(operation);
            if fault == Some(Fault::WaitsBefore) {
                self.hold().await;
            }
            let outcome = done.await;
            if fault == Some(Fault::WaitsAfter) {
                self.hold().await;
            }
            match fault {
                Some(Fault::LosesReply) => Err(StoreError::new("no reply")),
                _ => outcome,
            }
        })
    }
}

impl TaskStore for FaultyTasks {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        self.reach(Operation::Create, self.tasks.create(key, task))
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        self.reach(Operation::Load, self.tasks.load(key))
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        self.reach(Operation::Update, self.tasks.update(key, update))
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.reach(Operation::Renew, self.tasks.renew(key, lease))
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        self.reach(Operation::Claim, self.tasks.claim(lease))
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        self.tasks.list(account, after, limit)
    }

    fn wait_for_change<'a>(&'a self, key: ConversationKey<'a>) -> BoxFuture<'a, ()> {
        self.tasks.wait_for_change(key)
    }

    fn instance_id(&self) -> Option<&str> {
        self.tasks.instance_id()
    }
}
