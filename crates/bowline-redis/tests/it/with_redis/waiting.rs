//! Waiting for changes of other nodes.

use std::time::Duration;

use bowline::server::store::{
    ConversationKey, JournalStore as _, Lease, LeaseUpdate, NewEntry, NewTask, TaskStore as _,
    TaskUpdate,
};
use tokio::time::timeout;

use super::rig::{HOUR, Redis};

const CHANNEL: &str = "{bowline}:j:1";
/// Something is wrong if it takes this long.
const TOO_LONG: Duration = Duration::from_secs(60);

fn key() -> ConversationKey<'static> {
    ConversationKey::new("1", "")
}

fn subscribers(redis: &Redis) -> u64 {
    let found: (String, u64) = redis.run(&["PUBSUB", "NUMSUB", CHANNEL]);
    found.1
}

/// Waits until the node has subscribed, as it does while someone waits.
async fn until_subscribed(redis: &Redis, node: &bowline_redis::RedisJournalStore) {
    let subscribing = async {
        while subscribers(redis) == 0 {
            node.wait_for_change(key()).await;
        }
    };
    timeout(TOO_LONG, subscribing).await.expect("it subscribes");
}

#[tokio::test]
async fn a_change_at_one_node_wakes_another() {
    let redis = Redis::start();
    let (one, other) = (redis.stores().await, redis.stores().await);
    let (one, other) = (one.journals(), other.journals());
    until_subscribed(&redis, &one).await;
    // Begun before the change, and first polled after it.
    let changed = one.wait_for_change(key());
    let appended = other.append(key(), NewEntry::new(0, "a", HOUR));
    appended.await.expect("it works");
    timeout(TOO_LONG, changed).await.expect("it wakes up");
    let opened = one.open(key(), 0, Lease::new("holder", HOUR)).await;
    assert_eq!(opened.expect("it works").entries, ["a"]);
}

/// Without messages, each of these waits would take a quarter of a second at least.
#[tokio::test]
async fn changes_are_noticed_by_messages_and_not_only_by_checking_again() {
    let redis = Redis::start();
    let (one, other) = (redis.stores().await, redis.stores().await);
    let (one, other) = (one.journals(), other.journals());
    until_subscribed(&redis, &one).await;
    let changes = async {
        for position in 0..500 {
            let changed = one.wait_for_change(key());
            let entry = NewEntry::new(position, "a", HOUR);
            other.append(key(), entry).await.expect("it works");
            changed.await;
        }
    };
    timeout(TOO_LONG, changes).await.expect("it wakes up");
}

/// Every operation that others may wait for is published.
#[tokio::test]
async fn changes_are_published() {
    let redis = Redis::start();
    let stores = redis.stores().await;
    let client = redis::Client::open(redis.url()).expect("an address");
    let mut connection = client.get_connection().expect("it runs");
    let mut messages = connection.as_pubsub();
    messages
        .set_read_timeout(Some(TOO_LONG))
        .expect("a timeout");
    messages.psubscribe("*").expect("it works");
    let mut published = || {
        let message = messages.get_message().expect("a message");
        message.get_channel_name().to_owned()
    };
    let (journals, tasks) = (stores.journals(), stores.tasks());
    let opened = journals.open(key(), 0, Lease::new("holder", HOUR)).await;
    assert!(opened.expect("it works").acquired);
    let entry = NewEntry::new(0, "a", HOUR);
    journals.append(key(), entry).await.expect("it works");
    assert_eq!(published(), CHANNEL, "an entry was appended");
    journals.release(key(), "holder").await.expect("it works");
    assert_eq!(published(), CHANNEL, "the lease was released");
    let lease = Lease::new("holder", Duration::ZERO);
    let task = NewTask::new("a", lease, HOUR);
    tasks.create(key(), task).await.expect("it works");
    tasks.claim(lease).await.expect("it works");
    assert_eq!(published(), "{bowline}:t:1", "the task was claimed");
    let update = TaskUpdate::new(2, "b", LeaseUpdate::Keep);
    tasks.update(key(), update).await.expect("it works");
    assert_eq!(published(), "{bowline}:t:1", "the task was changed");
}

#[tokio::test]
async fn all_who_wait_share_one_subscription() {
    let redis = Redis::start();
    let node = redis.stores().await.journals();
    until_subscribed(&redis, &node).await;
    let waiting: Vec<_> = (0..100).map(|_| node.wait_for_change(key())).collect();
    assert_eq!(subscribers(&redis), 1);
    let appended = node.append(key(), NewEntry::new(0, "a", HOUR));
    appended.await.expect("it works");
    for waiting in waiting {
        timeout(TOO_LONG, waiting).await.expect("it wakes up");
    }
}

#[tokio::test]
async fn a_subscription_that_was_cut_is_made_again() {
    let redis = Redis::start();
    let node = redis.stores().await.journals();
    until_subscribed(&redis, &node).await;
    let waiting = node.wait_for_change(key());
    let killed: u64 = redis.run(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    assert_eq!(killed, 1);
    // It may have missed something.
    timeout(TOO_LONG, waiting).await.expect("it wakes up");
    until_subscribed(&redis, &node).await;
}

#[tokio::test]
async fn nobody_waits_forever_for_a_server_that_is_gone() {
    let mut redis = Redis::start();
    let node = redis.stores().await.journals();
    redis.kill();
    for _ in 0..3 {
        let waiting = node.wait_for_change(key());
        timeout(TOO_LONG, waiting).await.expect("it wakes up");
    }
}
