//! Servers that are slow, full, read-only, gone or cut off: operations fail within their
//! deadline, in plain words, and nothing happens twice.

use std::{sync::Arc, time::Duration};

use bowline::server::{
    auth::{ProofOutcome, UsedProof, UsedProofStore as _},
    http::{EventStore as _, StoredEvent},
    store::{
        AppendOutcome, ConversationKey, CreateOutcome, JournalStore as _, Lease, LeaseUpdate,
        NewEntry, NewTask, StoreError, TaskStore as _, TaskUpdate, UpdateOutcome,
    },
};
use bowline_redis::{RedisJournalStore, RedisStores};

use super::{
    proxy::Proxy,
    rig::{HOUR, Redis},
};

const HOLDER: &str = "00112233445566778899aabbccddeeff";
const SHORT: Duration = Duration::from_millis(200);

fn key(id: &str) -> ConversationKey<'_> {
    ConversationKey::new(id, "")
}

fn entry(position: u64, value: &'static str) -> NewEntry {
    NewEntry::new(position, value, HOUR)
}

fn lease() -> Lease<'static> {
    Lease::new(HOLDER, HOUR)
}

/// The entries of a journal.
async fn entries(journals: &RedisJournalStore, id: &str) -> Vec<bytes::Bytes> {
    let opened = journals.open(key(id), 0, lease()).await;
    opened.expect("it works").entries
}

#[track_caller]
fn says(error: &StoreError, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
}

async fn short(redis: &Redis) -> Arc<RedisJournalStore> {
    let stores = redis.builder().timeout(SHORT).connect().await;
    stores.expect("it runs").journals()
}

#[tokio::test]
async fn a_paused_server() {
    let redis = Redis::start();
    let journals = short(&redis).await;
    redis.run::<()>(&["CLIENT", "PAUSE", "600000", "WRITE"]);
    let failed = journals.append(key("1"), entry(0, "a")).await;
    says(
        &failed.expect_err("it is paused"),
        &["did not answer within 200ms"],
    );
    redis.run::<()>(&["CLIENT", "UNPAUSE"]);
    // Whether or not it was written, it is there once after the next attempt.
    let again = journals.append(key("1"), entry(0, "a")).await;
    again.expect("it goes on");
    assert_eq!(entries(&journals, "1").await, ["a"]);
}

#[tokio::test]
async fn a_server_without_memory() {
    let redis = Redis::start();
    let journals = short(&redis).await;
    journals
        .append(key("1"), entry(0, "a"))
        .await
        .expect("room");
    redis.set("maxmemory", "1");
    let failed = journals.append(key("1"), entry(1, "b")).await;
    says(
        &failed.expect_err("it is full"),
        &["out of memory", "maxmemory"],
    );
    // Reading needs no memory, but taking a lease does: it fails as a whole.
    let failed = journals.open(key("1"), 0, lease()).await;
    says(&failed.expect_err("it is full"), &["out of memory"]);
    redis.set("maxmemory", "0");
    let appended = journals.append(key("1"), entry(1, "b")).await;
    assert_eq!(appended.expect("there is room"), AppendOutcome::Appended);
    assert_eq!(entries(&journals, "1").await, ["a", "b"]);
}

#[tokio::test]
async fn a_server_that_became_a_replica() {
    let redis = Redis::start();
    let journals = short(&redis).await;
    journals
        .append(key("1"), entry(0, "a"))
        .await
        .expect("room");
    redis.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]);
    let failed = journals.append(key("1"), entry(1, "b")).await;
    says(
        &failed.expect_err("it is read-only"),
        &["read-only replica", "primary"],
    );
    redis.run::<()>(&["REPLICAOF", "NO", "ONE"]);
    let appended = journals.append(key("1"), entry(1, "b")).await;
    assert_eq!(appended.expect("it is writable"), AppendOutcome::Appended);
}

#[tokio::test]
async fn a_server_that_cannot_save() {
    let redis = Redis::start_with(&["--appendonly", "no", "--min-replicas-to-write", "1"]);
    let stores = redis.builder().timeout(SHORT).connect().await;
    let message = stores.expect_err("it has no replica").to_string();
    assert!(message.contains("min-replicas-to-write"), "{message}");
}

#[tokio::test]
async fn a_server_that_is_killed_and_comes_back() {
    let mut redis = Redis::start_persistent();
    let journals = short(&redis).await;
    journals
        .append(key("1"), entry(0, "a"))
        .await
        .expect("room");
    redis.kill();
    let failed = journals.append(key("1"), entry(1, "b")).await;
    says(&failed.expect_err("it is gone"), &["cannot be reached"]);
    redis.restart();
    let appended = journals.append(key("1"), entry(1, "b")).await;
    assert_eq!(appended.expect("it is back"), AppendOutcome::Appended);
    assert_eq!(entries(&journals, "1").await, ["a", "b"]);
}

/// Within its deadline, an operation does not even notice a restart.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_comes_back_in_time() {
    let mut redis = Redis::start_persistent();
    let patient = redis.builder().timeout(Duration::from_secs(60));
    let journals = patient.connect().await.expect("it runs").journals();
    journals
        .append(key("1"), entry(0, "a"))
        .await
        .expect("room");
    redis.kill();
    let waiting = tokio::spawn({
        let journals = Arc::clone(&journals);
        async move { journals.append(key("1"), entry(1, "b")).await }
    });
    redis.restart();
    let appended = waiting.await.expect("it does not panic");
    assert_eq!(appended.expect("it is back"), AppendOutcome::Appended);
    assert_eq!(entries(&journals, "1").await, ["a", "b"]);
}

/// What is done when its connection is cut: before the server gets the request, or after
/// it has done what it was asked.
async fn with_cuts(check: impl AsyncFn(&RedisStores, &dyn Fn())) {
    let redis = Redis::start();
    let proxy = Proxy::start(&redis.socket());
    let stores = RedisStores::connect(&proxy.url()).await.expect("it runs");
    let cuts: [&dyn Fn(); 2] = [&|| proxy.cut_request(), &|| proxy.cut_answer()];
    for cut in cuts {
        check(&stores, cut).await;
        assert!(!proxy.is_armed(), "the connection was not cut");
        redis.run::<()>(&["FLUSHALL"]);
        // The stores notice that their data is gone, and start anew.
        let noticed = stores.journals().release(key("0"), HOLDER).await;
        noticed.expect_err("everything is gone");
    }
}

#[tokio::test]
async fn an_entry_is_appended_once_although_the_connection_is_cut() {
    with_cuts(async |stores, cut| {
        let journals = stores.journals();
        journals
            .append(key("1"), entry(0, "a"))
            .await
            .expect("room");
        cut();
        let appended = journals.append(key("1"), entry(1, "b")).await;
        assert_eq!(appended.expect("sent again"), AppendOutcome::Appended);
        assert_eq!(entries(&journals, "1").await, ["a", "b"]);
        // Someone else who writes the same is someone else.
        let other = journals.append(key("1"), entry(1, "b")).await;
        assert_eq!(other.expect("it works"), AppendOutcome::Conflict);
    })
    .await;
}

#[tokio::test]
async fn a_task_is_changed_once_although_the_connection_is_cut() {
    with_cuts(async |stores, cut| {
        let tasks = stores.tasks();
        // Loads the scripts.
        let first = NewTask::new("0", lease(), HOUR);
        tasks.create(key("0"), first.clone()).await.expect("room");
        let change = || TaskUpdate::new(1, "1", LeaseUpdate::Keep);
        tasks.update(key("0"), change()).await.expect("it works");

        cut();
        let created = tasks.create(key("1"), first).await;
        assert_eq!(created.expect("sent again"), CreateOutcome::Created);
        cut();
        let updated = tasks.update(key("1"), change()).await;
        assert_eq!(updated.expect("sent again"), UpdateOutcome::Updated);
        let stored = tasks.load(key("1")).await.expect("it works");
        assert_eq!(stored.expect("it is stored").version, 2);
        let other = tasks.update(key("1"), change()).await;
        assert_eq!(other.expect("it works"), UpdateOutcome::Conflict);
    })
    .await;
}

#[tokio::test]
async fn a_proof_is_new_once_although_the_connection_is_cut() {
    with_cuts(async |stores, cut| {
        let proofs = stores.used_proofs();
        let proof = |id| UsedProof::new(id, "ada", HOUR);
        proofs.insert(proof("0")).await.expect("room");
        cut();
        let inserted = proofs.insert(proof("1")).await;
        assert_eq!(inserted.expect("sent again"), ProofOutcome::New);
        let again = proofs.insert(proof("1")).await;
        assert_eq!(again.expect("it works"), ProofOutcome::Used);
    })
    .await;
}

#[tokio::test]
async fn an_event_is_stored_once_although_the_connection_is_cut() {
    with_cuts(async |stores, cut| {
        let events = stores.events();
        let session = bowline::proto::http::SessionId::new("session").expect("an id");
        let event = |sequence| StoredEvent {
            stream: "a".to_owned(),
            sequence,
            is_standalone: false,
            message: "message".into(),
        };
        events.append(&session, event(1), HOUR).await.expect("room");
        cut();
        events.append(&session, event(2), HOUR).await.expect("room");
        let stored = events.events_after(&session, "a", 0).await;
        assert_eq!(stored.expect("it works"), [event(1), event(2)]);
    })
    .await;
}

/// A claim is not sent again: it could take a second task.
#[tokio::test]
async fn a_claim_takes_at_most_one_task_although_the_connection_is_cut() {
    with_cuts(async |stores, cut| {
        let tasks = stores.tasks();
        let claim = || tasks.claim(lease());
        assert_eq!(claim().await.expect("it works"), None);
        for id in ["1", "2"] {
            let expired = Lease::new(HOLDER, Duration::ZERO);
            let created = tasks.create(key(id), NewTask::new("x", expired, HOUR));
            assert_eq!(created.await.expect("room"), CreateOutcome::Created);
        }
        cut();
        claim().await.expect_err("its outcome is not known");
        let mut left = 0;
        while claim().await.expect("it works").is_some() {
            left += 1;
        }
        assert!((1..=2).contains(&left), "{left} of 2 tasks were left");
    })
    .await;
}
