//! A server that has lost its data: that is noticed, by every node.

use bowline::server::store::{AppendOutcome, ConversationKey, JournalStore as _, Lease, NewEntry};

use super::rig::{HOUR, Redis};

fn key() -> ConversationKey<'static> {
    ConversationKey::new("1", "")
}

#[tokio::test]
async fn a_restart_without_persistence_is_noticed_once_by_each_node() {
    let mut redis = Redis::start();
    let nodes = [redis.stores().await, redis.stores().await];
    let generation = nodes[0].journals().generation();
    assert_eq!(nodes[1].journals().generation(), generation);
    let journals = nodes[0].journals();
    let appended = journals.append(key(), NewEntry::new(0, "a", HOUR));
    appended.await.expect("it works");
    redis.kill();
    redis.restart();
    for node in &nodes {
        let journals = node.journals();
        let failed = journals.append(key(), NewEntry::new(1, "b", HOUR)).await;
        let message = failed.expect_err("the data is gone").to_string();
        assert!(message.contains("has lost its data"), "{message}");
        assert_ne!(journals.generation(), generation);
    }
    let [first, second] = nodes.map(|node| node.journals());
    assert_eq!(first.generation(), second.generation());
    let appended = first.append(key(), NewEntry::new(0, "c", HOUR)).await;
    assert_eq!(appended.expect("it works"), AppendOutcome::Appended);
    let opened = second.open(key(), 0, Lease::new("holder", HOUR)).await;
    assert_eq!(opened.expect("it works").entries, ["c"]);
}

#[tokio::test]
async fn a_restart_with_persistence_loses_nothing() {
    let mut redis = Redis::start_persistent();
    let stores = redis.stores().await;
    assert_eq!(stores.warnings(), [""; 0]);
    let generation = stores.journals().generation();
    for position in 0..3 {
        let entry = NewEntry::new(position, position.to_string(), HOUR);
        let appended = stores.journals().append(key(), entry).await;
        assert_eq!(appended.expect("it works"), AppendOutcome::Appended);
    }
    redis.kill();
    redis.restart();
    let journals = stores.journals();
    let opened = journals.open(key(), 0, Lease::new("holder", HOUR));
    assert_eq!(opened.await.expect("it works").entries, ["0", "1", "2"]);
    assert_eq!(stores.journals().generation(), generation);
    assert_eq!(redis.stores().await.journals().generation(), generation);
}

#[tokio::test]
async fn stores_with_other_prefixes_are_not_concerned() {
    let redis = Redis::start();
    let ours = redis.stores().await;
    let theirs = redis.builder().prefix("other").connect().await;
    let theirs = theirs.expect("it runs");
    let entry = NewEntry::new(0, "a", HOUR);
    let appended = ours.journals().append(key(), entry.clone()).await;
    assert_eq!(appended.expect("it works"), AppendOutcome::Appended);
    let appended = theirs.journals().append(key(), entry).await;
    assert_eq!(appended.expect("it works"), AppendOutcome::Appended);
    redis.run::<()>(&["DEL", "{other}:generation"]);
    let failed = theirs.journals().release(key(), "holder").await;
    failed.expect_err("its data is gone");
    ours.journals()
        .release(key(), "holder")
        .await
        .expect("it is not");
}
