//! Task stores that break their contract: a sound one in memory, with one fault each.

use std::sync::Arc;

use bowline::{
    server::store::{
        ClaimedTask, ConversationKey, CreateOutcome, Lease, LeaseUpdate, MemoryTaskStore, NewTask,
        StoreError, StoredTask, TaskStore, TaskUpdate, UpdateOutcome,
    },
    testing::contract,
    transport::BoxFuture,
};

use super::{check, violation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    IgnoresAccounts,
    IgnoresVersions,
    ReadsThenWrites,
    IgnoresLimits,
    NeverClaims,
    ClaimsEarly,
    KeepsEndedLeases,
    RenewsForAnyone,
    ClaimsWithoutFencing,
    IgnoresExpiry,
    ExpiresEarly,
}

#[test]
fn each_fault_is_rejected_with_its_sentence() {
    let sentences = [
        (
            Fault::IgnoresAccounts,
            "a task was found under another account",
        ),
        (Fault::IgnoresVersions, "a version was replaced twice"),
        (Fault::ReadsThenWrites, "one version was replaced by"),
        (Fault::IgnoresLimits, "with a limit of 2 tasks per account"),
        (
            Fault::NeverClaims,
            "was not claimed 30s after its lease had expired",
        ),
        (
            Fault::ClaimsEarly,
            "a task was claimed before its lease had expired",
        ),
        (
            Fault::KeepsEndedLeases,
            "the last one with the end of the lease",
        ),
        (
            Fault::RenewsForAnyone,
            "the lease of another node was renewed",
        ),
        (Fault::ClaimsWithoutFencing, "after another had claimed it"),
        (
            Fault::IgnoresExpiry,
            "was still returned 30s after its ttl had passed",
        ),
        (
            Fault::ExpiresEarly,
            "a task was dropped before its ttl had passed",
        ),
    ];
    check(&sentences, |fault| {
        let store = Arc::new(Tasks {
            fault,
            tasks: MemoryTaskStore::new(),
        });
        violation(|| contract::task_store(async || Arc::clone(&store)))
    });
}

struct Tasks {
    fault: Option<Fault>,
    tasks: MemoryTaskStore,
}

impl Tasks {
    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn key<'a>(&self, key: ConversationKey<'a>) -> ConversationKey<'a> {
        match self.has(Fault::IgnoresAccounts) {
            true => ConversationKey::new(key.id, ""),
            false => key,
        }
    }
}

impl TaskStore for Tasks {
    fn create<'a>(
        &'a self,
        key: ConversationKey<'a>,
        mut task: NewTask<'a>,
    ) -> BoxFuture<'a, Result<CreateOutcome, StoreError>> {
        match self.fault {
            Some(Fault::IgnoresLimits) => task.max_per_account = usize::MAX,
            Some(Fault::ClaimsEarly) => task.lease.duration /= 4,
            Some(Fault::ExpiresEarly) => task.ttl /= 2,
            Some(Fault::IgnoresExpiry) => task.ttl *= 100,
            _ => {}
        }
        self.tasks.create(self.key(key), task)
    }

    fn load<'a>(
        &'a self,
        key: ConversationKey<'a>,
    ) -> BoxFuture<'a, Result<Option<StoredTask>, StoreError>> {
        Box::pin(async move {
            let mut loaded = self.tasks.load(self.key(key)).await?;
            if self.has(Fault::ClaimsWithoutFencing)
                && let Some(task) = &mut loaded
                && task.value == "late"
            {
                task.version = 2;
            }
            Ok(loaded)
        })
    }

    fn update<'a>(
        &'a self,
        key: ConversationKey<'a>,
        mut update: TaskUpdate<'a>,
    ) -> BoxFuture<'a, Result<UpdateOutcome, StoreError>> {
        Box::pin(async move {
            let key = self.key(key);
            let known = self.tasks.load(key).await?.map_or(0, |task| task.version);
            match self.fault {
                Some(Fault::IgnoresVersions) => update.version = known,
                Some(Fault::ReadsThenWrites) if update.version == known => {
                    tokio::task::yield_now().await;
                    update.version = self.tasks.load(key).await?.map_or(0, |task| task.version);
                }
                // The claim left the version that the first node knows.
                Some(Fault::ClaimsWithoutFencing) if update.value == "late" => {
                    update.version = known;
                }
                Some(Fault::KeepsEndedLeases) if update.lease == LeaseUpdate::End => {
                    update.lease = LeaseUpdate::Keep;
                }
                _ => {}
            }
            self.tasks.update(key, update).await
        })
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let key = self.key(key);
            let holder = self.tasks.load(key).await?.and_then(|task| task.holder);
            let is_renewed = self.tasks.renew(key, lease).await?;
            Ok(is_renewed || self.has(Fault::RenewsForAnyone) && holder.is_some())
        })
    }

    fn claim<'a>(
        &'a self,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<Option<ClaimedTask>, StoreError>> {
        match self.has(Fault::NeverClaims) {
            true => Box::pin(async { Ok(None) }),
            false => self.tasks.claim(lease),
        }
    }

    fn list<'a>(
        &'a self,
        account: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<(String, StoredTask)>, StoreError>> {
        self.tasks.list(account, after, limit)
    }
}
