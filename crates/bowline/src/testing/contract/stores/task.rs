//! The contract of task stores.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use tokio::{
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    LONG_TTL, Nodes, WRITERS,
    expiry::{EXPIRY_GRACE, Timing, poll_until, with_short_ttl},
    repeat, succeed, unique_id,
};
use crate::server::store::{
    ConversationKey, CreateOutcome, Lease, LeaseUpdate, NewTask, StoredTask, TaskStore, TaskUpdate,
    UpdateOutcome,
};

/// Checks that a [`TaskStore`] does what tasks rely on.
///
/// 1. Every node finds a task as soon as it is created, and only under its account.
/// 2. Of all writers that replace one version, exactly one succeeds.
/// 3. A task whose lease has expired is claimed by exactly one node, and not before
///    that. Its version changes, so the first node cannot replace it any more.
/// 4. A lease that was renewed does not expire; one that was ended is not claimed.
/// 5. An account has no more tasks than allowed, and sees its own only.
/// 6. A task is kept for its `ttl`, and is not returned afterwards.
///
/// `connect` returns one node's connection to the store. It is called more than once,
/// and every connection must reach the same data; see the
/// [module](crate::testing::contract).
///
/// Unlike other contracts, this one must not share the store with others while it
/// runs: what it lets expire, they would claim.
///
/// ```
/// use std::sync::Arc;
///
/// use bowline::{server::store::MemoryTaskStore, testing::contract};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// let store = Arc::new(MemoryTaskStore::new());
/// contract::task_store(async || Arc::clone(&store)).await;
/// # });
/// ```
///
/// # Panics
///
/// Panics if the store breaks the contract, fails, or does not respond.
pub async fn task_store<S: TaskStore + ?Sized>(connect: impl AsyncFn() -> Arc<S>) {
    let tasks = Tasks(Nodes::connect(connect).await);
    tasks.are_found_at_once().await;
    tasks.are_replaced_by_those_who_know_them().await;
    tasks.are_replaced_once_in_races().await;
    tasks.are_listed_in_order().await;
    tasks.are_limited().await;
    with_short_ttl(async |lease| tasks.are_claimed_after(lease).await).await;
    with_short_ttl(async |lease| tasks.are_claimed_once(lease).await).await;
    with_short_ttl(async |ttl| tasks.expire_after(ttl).await).await;
}

struct Tasks<S: ?Sized>(Nodes<S>);

const HOLDER: &str = "00112233445566778899aabbccddeeff";
const OTHER_HOLDER: &str = "ffeeddccbbaa99887766554433221100";

fn lease(duration: Duration) -> Lease<'static> {
    Lease::new(HOLDER, duration)
}

impl<S: TaskStore + ?Sized> Tasks<S> {
    async fn create(&self, key: ConversationKey<'_>, task: NewTask<'_>) -> CreateOutcome {
        succeed("create", self.0.first().create(key, task)).await
    }

    /// Creates a task that is kept long, with a long lease.
    async fn create_long(&self, key: ConversationKey<'_>, value: &'static str) {
        let task = NewTask::new(value, lease(LONG_TTL), LONG_TTL);
        assert_eq!(self.create(key, task).await, CreateOutcome::Created);
    }

    /// Loads at the other node.
    async fn load(&self, key: ConversationKey<'_>) -> Option<StoredTask> {
        succeed("load", self.0.second().load(key)).await
    }

    async fn update(&self, key: ConversationKey<'_>, update: TaskUpdate<'_>) -> UpdateOutcome {
        succeed("update", self.0.second().update(key, update)).await
    }

    async fn are_found_at_once(&self) {
        let (id, account, other) = (unique_id(), unique_id(), unique_id());
        let key = ConversationKey::new(&id, &account);
        assert_eq!(
            self.load(key).await,
            None,
            "`load` returned a task that nobody created"
        );
        self.create_long(key, "a task").await;
        let expected = StoredTask::new("a task", 1, Some(HOLDER.to_owned()));
        assert_eq!(
            self.load(key).await,
            Some(expected),
            "a task that was created at one node is missing or altered at another"
        );
        for account in [&*other, ""] {
            let key = ConversationKey::new(&id, account);
            assert_eq!(
                self.load(key).await,
                None,
                "a task was found under another account"
            );
            let update = TaskUpdate::new(1, "stolen", LeaseUpdate::Keep);
            assert_eq!(
                self.update(key, update).await,
                UpdateOutcome::Conflict,
                "a task was replaced under another account"
            );
        }
    }

    async fn are_replaced_by_those_who_know_them(&self) {
        let id = unique_id();
        let key = ConversationKey::new(&id, "");
        self.create_long(key, "first").await;
        let second = TaskUpdate::new(1, "second", LeaseUpdate::Keep);
        assert_eq!(
            self.update(key, second.clone()).await,
            UpdateOutcome::Updated
        );
        assert_eq!(
            self.update(key, second).await,
            UpdateOutcome::Conflict,
            "a version was replaced twice"
        );
        let third = TaskUpdate::new(2, vec![0, 255, 7], LeaseUpdate::End);
        assert_eq!(self.update(key, third).await, UpdateOutcome::Updated);
        assert_eq!(
            self.load(key).await,
            Some(StoredTask::new(vec![0, 255, 7], 3, None)),
            "after two updates, the last one with the end of the lease"
        );
        let renewed = self.0.first().renew(key, lease(LONG_TTL));
        assert!(
            !succeed("renew", renewed).await,
            "a lease that had ended was renewed"
        );
        let taken = LeaseUpdate::Take(Lease::new(OTHER_HOLDER, LONG_TTL));
        let fourth = TaskUpdate::new(3, "fourth", taken);
        assert_eq!(self.update(key, fourth).await, UpdateOutcome::Updated);
        let holder = self.load(key).await.and_then(|task| task.holder);
        assert_eq!(
            holder.as_deref(),
            Some(OTHER_HOLDER),
            "the lease was not taken"
        );
        let renewed = self.0.first().renew(key, lease(LONG_TTL));
        assert!(
            !succeed("renew", renewed).await,
            "the lease of another node was renewed"
        );
    }

    async fn are_replaced_once_in_races(&self) {
        repeat(async |_| {
            let id = unique_id();
            self.create_long(ConversationKey::new(&id, ""), "new").await;
            let mut writers = JoinSet::new();
            for number in 0..WRITERS {
                let (store, id) = (self.0.of_writer(number), id.clone());
                writers.spawn(async move {
                    let update = TaskUpdate::new(1, number.to_string(), LeaseUpdate::Keep);
                    let update = store.update(ConversationKey::new(&id, ""), update);
                    (number, succeed("update", update).await)
                });
            }
            let outcomes = writers.join_all().await.into_iter();
            let won: Vec<usize> = outcomes
                .filter(|(_, outcome)| *outcome == UpdateOutcome::Updated)
                .map(|(number, _)| number)
                .collect();
            assert_eq!(
                won.len(),
                1,
                "one version was replaced by {} writers",
                won.len()
            );
            let kept = self.load(ConversationKey::new(&id, "")).await;
            let kept = kept.map(|task| (task.value, task.version));
            assert_eq!(
                kept,
                Some((won[0].to_string().into(), 2)),
                "the value is not that of the writer who replaced it"
            );
        })
        .await;
    }

    async fn are_listed_in_order(&self) {
        let account = unique_id();
        let mut ids: Vec<String> = (0..5).map(|_| unique_id()).collect();
        for id in &ids {
            self.create_long(ConversationKey::new(id, &account), "listed")
                .await;
        }
        ids.sort();
        let list = async |after: Option<&str>, limit| {
            let listed = self.0.second().list(&account, after, limit);
            let listed = succeed("list", listed).await.into_iter();
            listed.map(|(id, _)| id).collect::<Vec<_>>()
        };
        assert_eq!(
            list(None, 10).await,
            ids,
            "all tasks of an account, in the order of ids"
        );
        assert_eq!(
            list(None, 2).await,
            ids[..2],
            "at most as many as asked for"
        );
        assert_eq!(list(Some(&ids[1]), 2).await, ids[2..4], "those after an id");
        assert_eq!(list(Some(&ids[4]), 2).await, [""; 0], "none after the last");
    }

    async fn are_limited(&self) {
        let (account, other) = (unique_id(), unique_id());
        let create = async |account: &str| {
            let id = unique_id();
            let mut task = NewTask::new("limited", lease(LONG_TTL), LONG_TTL);
            task.max_per_account = 2;
            self.create(ConversationKey::new(&id, account), task).await
        };
        for expected in [
            CreateOutcome::Created,
            CreateOutcome::Created,
            CreateOutcome::TooMany,
        ] {
            assert_eq!(
                create(&account).await,
                expected,
                "with a limit of 2 tasks per account"
            );
        }
        assert_eq!(
            create(&other).await,
            CreateOutcome::Created,
            "of another account"
        );
    }

    /// A lease that is renewed is not claimed, and one that expires is.
    async fn are_claimed_after(&self, duration: Duration) -> Timing {
        let (renewed, dropped, ended) = (unique_id(), unique_id(), unique_id());
        let keys = [&renewed, &dropped, &ended].map(|id| ConversationKey::new(id, ""));
        let began = Instant::now();
        for key in keys {
            let task = NewTask::new("leased", lease(duration), LONG_TTL);
            assert_eq!(self.create(key, task).await, CreateOutcome::Created);
        }
        let end = TaskUpdate::new(1, "ended", LeaseUpdate::End);
        assert_eq!(self.update(keys[2], end).await, UpdateOutcome::Updated);
        sleep_until(began + duration / 2).await;
        let is_held = succeed("renew", self.0.first().renew(keys[0], lease(LONG_TTL))).await;
        let early = self.claim_all(&[&renewed, &dropped, &ended]).await;
        if Instant::now() >= began + duration {
            // What was claimed is not claimed again.
            return Timing::TooSlow;
        }
        assert!(
            is_held,
            "a lease could not be renewed before it had expired"
        );
        assert_eq!(
            early,
            BTreeSet::new(),
            "a task was claimed before its lease had expired"
        );
        let is_claimed =
            poll_until(async || self.claim_all(&[&dropped]).await.contains(&dropped)).await;
        assert!(
            is_claimed,
            "a task was not claimed {EXPIRY_GRACE:?} after its lease had expired"
        );
        let claimed = self.claim_all(&[&renewed, &ended]).await;
        assert_eq!(
            claimed,
            BTreeSet::new(),
            "a task was claimed whose lease was renewed or ended"
        );
        let stored = self
            .load(keys[1])
            .await
            .map(|task| (task.version, task.holder));
        assert_eq!(
            stored,
            Some((2, Some(OTHER_HOLDER.to_owned()))),
            "the version and the holder of a task that was claimed"
        );
        let late = TaskUpdate::new(1, "late", LeaseUpdate::Keep);
        assert_eq!(
            self.update(keys[1], late).await,
            UpdateOutcome::Conflict,
            "a node replaced a task after another had claimed it"
        );
        Timing::Conclusive
    }

    /// Claims what there is, and returns which of these ids were among it.
    async fn claim_all(&self, ids: &[&str]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let lease = Lease::new(OTHER_HOLDER, LONG_TTL);
        while let Some(claimed) = succeed("claim", self.0.second().claim(lease)).await {
            if ids.contains(&&*claimed.id) {
                assert!(found.insert(claimed.id), "a task was claimed twice");
            }
        }
        found
    }

    async fn are_claimed_once(&self, duration: Duration) -> Timing {
        let ids: BTreeSet<String> = (0..WRITERS).map(|_| unique_id()).collect();
        for id in &ids {
            let task = NewTask::new("leased", lease(duration), LONG_TTL);
            self.create(ConversationKey::new(id, ""), task).await;
        }
        let mut claimed: Vec<String> = Vec::new();
        let began = Instant::now();
        while claimed.len() < ids.len() {
            assert!(
                began.elapsed() < duration + EXPIRY_GRACE,
                "some tasks were never claimed"
            );
            let mut nodes = JoinSet::new();
            for number in 0..WRITERS {
                let store = self.0.of_writer(number);
                nodes.spawn(async move {
                    let holder = unique_id();
                    let claim = store.claim(Lease::new(&holder, LONG_TTL));
                    succeed("claim", claim).await.map(|claimed| claimed.id)
                });
            }
            let found = nodes.join_all().await.into_iter().flatten();
            claimed.extend(found.filter(|id| ids.contains(id)));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let distinct: BTreeSet<_> = claimed.iter().collect();
        assert_eq!(
            distinct.len(),
            claimed.len(),
            "a task was claimed by two nodes"
        );
        Timing::Conclusive
    }

    async fn expire_after(&self, ttl: Duration) -> Timing {
        let id = unique_id();
        let key = ConversationKey::new(&id, "");
        let began = Instant::now();
        let task = NewTask::new("short", lease(LONG_TTL), ttl);
        assert_eq!(self.create(key, task).await, CreateOutcome::Created);
        sleep_until(began + ttl * 3 / 4).await;
        let found = self.load(key).await;
        if Instant::now() >= began + ttl {
            return Timing::TooSlow;
        }
        assert!(
            found.is_some(),
            "a task was dropped before its ttl had passed"
        );
        let is_gone = poll_until(async || self.load(key).await.is_none()).await;
        assert!(
            is_gone,
            "a task was still returned {EXPIRY_GRACE:?} after its ttl had passed"
        );
        Timing::Conclusive
    }
}
