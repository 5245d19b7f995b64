//! What one caller, and all together, may store; and what expires makes room.

use std::time::Duration;

use bowline::{
    proto::http::SessionId,
    server::{
        auth::{RevokedTokenStore as _, UsedProof, UsedProofStore as _},
        http::{EventStore as _, SessionStore as _, StoredEvent, StoredSession},
        store::{
            ConversationKey, JournalStore as _, Lease, NewEntry, NewTask, SealedStateStore as _,
            StoreError, TaskStore as _,
        },
    },
};
use bowline_redis::{Limit, RedisStores, StoreLimits};

use super::rig::{HOUR, Redis};

const ADA: &str = "ada0";
const BOB: &str = "b0b0";

async fn limited(redis: &Redis, change: impl FnOnce(&mut StoreLimits)) -> RedisStores {
    let mut limits = StoreLimits::default();
    change(&mut limits);
    let stores = redis.builder().limits(limits).connect().await;
    stores.expect("it runs")
}

/// Two items for each caller, and three for all.
fn few() -> Limit {
    Limit::new(3, 10_000).per_account(2, 5_000)
}

#[track_caller]
fn is_full<T: std::fmt::Debug>(result: Result<T, StoreError>, whose: &str) {
    let message = result.expect_err("it is full").to_string();
    assert!(
        message.contains("is full") && message.contains(whose),
        "{message}"
    );
}

async fn append(stores: &RedisStores, id: &str, account: &str) -> Result<(), StoreError> {
    let entry = NewEntry::new(0, "a", HOUR);
    let journals = stores.journals();
    let key = ConversationKey::new(id, account);
    journals.append(key, entry).await.map(drop)
}

/// Lets an item expire, as if its time had passed.
fn expire(redis: &Redis, kind: &str, id: &str) {
    redis.run::<()>(&["DEL", &format!("{{bowline}}:{kind}:{id}")]);
    let index = format!("{{bowline}}:{kind}-expiries");
    redis.run::<()>(&["ZADD", &index, "XX", "1", id]);
}

/// What is counted as in use.
fn usage(redis: &Redis, kind: &str) -> Vec<(String, i64)> {
    let key = format!("{{bowline}}:{kind}-usage");
    let mut usage: Vec<(String, i64)> = redis.run(&["HGETALL", &key]);
    usage.sort();
    usage
}

#[tokio::test]
async fn one_caller_does_not_take_the_room_of_others() {
    let redis = Redis::start();
    let stores = limited(&redis, |limits| limits.journals = few()).await;
    append(&stores, "1", ADA).await.expect("room");
    append(&stores, "2", ADA).await.expect("room");
    is_full(append(&stores, "3", ADA).await, "for this caller");
    append(&stores, "4", BOB).await.expect("room");
    is_full(append(&stores, "5", BOB).await, "for all callers");
    // What is there can be continued, and leases are not counted.
    let key = ConversationKey::new("6", ADA);
    let journals = stores.journals();
    let opened = journals.open(key, 0, Lease::new("holder", HOUR)).await;
    assert!(opened.expect("it works").acquired);
    let entry = NewEntry::new(1, "b", HOUR);
    let key = ConversationKey::new("1", ADA);
    journals.append(key, entry).await.expect("it is counted");
    // An entry that is too large is refused, and nothing is lost.
    let large = NewEntry::new(2, vec![0; 6_000], HOUR);
    is_full(journals.append(key, large).await, "for this caller");

    expire(&redis, "j", "1");
    append(&stores, "3", ADA).await.expect("room");
    expire(&redis, "j", "2");
    expire(&redis, "j", "3");
    expire(&redis, "j", "4");
    append(&stores, "7", "").await.expect("room");
    let one = [("b", 2), ("b:", 2), ("n", 1), ("n:", 1)];
    let one = one.map(|(field, value)| (field.to_owned(), value));
    assert_eq!(usage(&redis, "j"), one, "only the last is counted");
}

#[tokio::test]
async fn responses_leave_room_for_entries() {
    let redis = Redis::start();
    let limit = Limit::new(100, 100_000).per_account(100, 1_000);
    let stores = limited(&redis, |limits| limits.journals = limit).await;
    let journals = stores.journals();
    for (id, is_kept) in [("1", true), ("2", false)] {
        let key = ConversationKey::new(id, ADA);
        let mut last = NewEntry::new(0, "end", HOUR);
        last.response = Some(vec![7; 400].into());
        journals
            .append(key, last)
            .await
            .expect("there is room for the entry");
        let opened = journals.open(key, 0, Lease::new("holder", HOUR)).await;
        let opened = opened.expect("it works");
        assert_eq!(
            (opened.next_position, opened.response.is_some()),
            (1, is_kept)
        );
    }
}

#[tokio::test]
async fn states_tasks_and_sessions_are_limited_too() {
    let redis = Redis::start();
    let stores = limited(&redis, |limits| {
        limits.sealed_states = few();
        limits.tasks = few();
        limits.sessions = few();
    });
    let stores = stores.await;
    let lease = Lease::new("holder", HOUR);
    for (number, id) in ["1", "2", "3"].into_iter().enumerate() {
        let key = ConversationKey::new(id, ADA);
        let saved = stores.sealed_states().save(key, "x".into(), HOUR).await;
        let created = stores
            .tasks()
            .create(key, NewTask::new("x", lease, HOUR))
            .await;
        let session = StoredSession {
            node: "node".to_owned(),
            account: ADA.to_owned(),
            value: "x".into(),
        };
        let session_id = SessionId::new(id).expect("an id");
        let put = stores.sessions().put(&session_id, session, HOUR).await;
        let (created, put) = (created.map(drop), put.map(drop));
        for result in [saved, created, put] {
            match number {
                0 | 1 => result.expect("room"),
                _ => is_full(result, "for this caller"),
            }
        }
    }
    let first = SessionId::new("1").expect("an id");
    stores
        .sessions()
        .remove(&first, "node")
        .await
        .expect("it works");
    assert_eq!(usage(&redis, "h").len(), 4);
    let second = SessionId::new("2").expect("an id");
    stores
        .sessions()
        .remove(&second, "node")
        .await
        .expect("it works");
    assert_eq!(usage(&redis, "h"), []);
}

#[tokio::test]
async fn tasks_that_expired_are_neither_listed_nor_claimed_nor_counted() {
    let redis = Redis::start();
    let stores = redis.stores().await;
    let tasks = stores.tasks();
    let create = async |id: &str| {
        let expired = Lease::new("holder", Duration::ZERO);
        let mut task = NewTask::new("x", expired, HOUR);
        task.max_per_account = 100;
        tasks.create(ConversationKey::new(id, ADA), task).await
    };
    let ids: Vec<String> = (0..100).map(|number| format!("{number:04x}")).collect();
    for id in &ids {
        create(id).await.expect("room");
    }
    for id in &ids[..99] {
        expire(&redis, "t", id);
    }
    let listed = tasks.list(ADA, None, 10).await.expect("it works");
    let listed: Vec<_> = listed.into_iter().map(|(id, _)| id).collect();
    assert_eq!(listed, [&*ids[99]], "the first page has all that there is");
    let lease = Lease::new("other", HOUR);
    let claimed = tasks.claim(lease).await.expect("it works");
    assert_eq!(claimed.map(|claimed| claimed.id).as_ref(), Some(&ids[99]));
    assert_eq!(tasks.claim(lease).await.expect("it works"), None);
    create("1000").await.expect("there is room for 99 others");
    let count = usage(&redis, "t");
    assert!(count.contains(&(format!("n:{ADA}"), 2)), "{count:?}");
}

fn event(sequence: u64, message: &'static [u8]) -> StoredEvent {
    StoredEvent {
        stream: "a".to_owned(),
        sequence,
        is_standalone: false,
        message: message.into(),
    }
}

#[tokio::test]
async fn a_session_keeps_its_latest_events() {
    let redis = Redis::start();
    let stores = limited(&redis, |limits| {
        limits.max_events_per_session = 3;
        limits.max_event_bytes_per_session = 1_000;
    });
    let (events, session) = (stores.await.events(), SessionId::new("1").expect("an id"));
    for sequence in 1..=5 {
        events
            .append(&session, event(sequence, b"x"), HOUR)
            .await
            .expect("room");
    }
    let kept = events
        .events_after(&session, "a", 0)
        .await
        .expect("it works");
    assert_eq!(kept, [event(3, b"x"), event(4, b"x"), event(5, b"x")]);
    let large = event(6, &[b'x'; 900]);
    events
        .append(&session, large.clone(), HOUR)
        .await
        .expect("room");
    let kept = events
        .events_after(&session, "a", 0)
        .await
        .expect("it works");
    assert_eq!(kept.last(), Some(&large));
    let too_large = events
        .append(&session, event(7, &[b'x'; 1_000]), HOUR)
        .await;
    is_full(too_large, "");
    events.remove(&session).await.expect("it works");
    assert_eq!(usage(&redis, "e"), [], "nothing is left");
}

#[tokio::test]
async fn nobody_takes_all_the_room_of_proofs_and_revoked_tokens_are_limited() {
    let redis = Redis::start();
    let stores = limited(&redis, |limits| {
        limits.max_used_proofs = 80;
        limits.max_revoked_tokens = 2;
    });
    let stores = stores.await;
    let insert = async |id: String, account| {
        let proofs = stores.used_proofs();
        proofs.insert(UsedProof::new(&id, account, HOUR)).await
    };
    let mut taken = 0;
    while insert(format!("ada {taken}"), ADA).await.is_ok() {
        taken += 1;
    }
    assert!(
        (5..=10).contains(&taken),
        "an eighth of what is free: {taken}"
    );
    insert("bob".to_owned(), BOB)
        .await
        .expect("there is room for others");

    for token in ["1", "2"] {
        stores
            .revoked_tokens()
            .revoke(token, HOUR)
            .await
            .expect("room");
    }
    is_full(stores.revoked_tokens().revoke("3", HOUR).await, "");
    stores
        .revoked_tokens()
        .revoke("1", HOUR)
        .await
        .expect("known");
    redis.run::<()>(&["ZADD", "{bowline}:revoked-expiries", "XX", "1", "1"]);
    stores
        .revoked_tokens()
        .revoke("3", HOUR)
        .await
        .expect("room");
}

/// A full index is swept a few at a time, so no write takes long.
#[tokio::test]
async fn what_expired_is_swept_little_by_little() {
    let redis = Redis::start();
    let stores = redis.stores().await;
    for number in 0..600 {
        append(&stores, &format!("{number:x}"), ADA)
            .await
            .expect("room");
    }
    for number in 0..600 {
        expire(&redis, "j", &format!("{number:x}"));
    }
    let left = || redis.run::<u64>(&["ZCARD", "{bowline}:j-expiries"]);
    append(&stores, "new", ADA).await.expect("room");
    assert_eq!(left(), 600 - 8 + 1);
    let full = limited(&redis, |limits| {
        limits.journals = Limit::new(594, 100_000).per_account(594, 100_000);
    });
    append(&full.await, "newer", ADA).await.expect("room");
    assert_eq!(left(), 593 - 8 + 1);
    let full = limited(&redis, |limits| {
        limits.journals = Limit::new(400, 100_000).per_account(400, 100_000);
    });
    append(&full.await, "newest", ADA).await.expect("room");
    assert_eq!(left(), 586 - 8 - 256 + 1);
}
