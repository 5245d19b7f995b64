//! The stores in memory: their limits, and what they add to their contracts,
//! which `contract/stores.rs` checks.

use std::{error::Error, time::Duration};

use bowline::server::store::{
    AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore,
    MemorySealedStateStore, NewEntry, SealedStateStore, StoreError,
};
use bytes::Bytes;

const TTL: Duration = Duration::from_secs(60);
const LEASE: Duration = Duration::from_secs(6);

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

fn key(id: &str) -> ConversationKey<'_> {
    ConversationKey::new(id, "")
}

fn entry(position: u64, value: &'static str) -> NewEntry {
    NewEntry::new(position, value, TTL)
}

/// An entry that makes those before it superfluous.
fn first_entry(position: u64, value: &'static str) -> NewEntry {
    let mut entry = entry(position, value);
    entry.truncate = true;
    entry
}

fn last_entry(position: u64, value: &'static str, answer: impl Into<Bytes>) -> NewEntry {
    let mut entry = first_entry(position, value);
    entry.response = Some(answer.into());
    entry
}

fn lease(holder: &str) -> Lease<'_> {
    Lease::new(holder, LEASE)
}

/// The accounts of two callers who have names.
const ADA: &str = "ada0";
const BOB: &str = "b0b0";

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_entries_and_forgets_none() {
    // Callers without a name may have half of it.
    let store = MemoryJournalStore::with_limits(4, 1000, 1000);
    store.append(key("a"), entry(0, "1")).await.unwrap();
    store.append(key("b"), entry(0, "2")).await.unwrap();
    let full = store.append(key("c"), entry(0, "3")).await.unwrap_err();
    let message = "the in-memory store is full: this caller has reached its quota";
    assert_eq!(full.to_string(), message);
    for (id, value) in [("a", "1"), ("b", "2")] {
        let opened = store.open(key(id), 0, lease("x")).await.unwrap();
        assert_eq!(opened.entries, [bytes(value)]);
    }
    let last = last_entry(1, "end", "answer");
    let ended = store.append(key("a"), last).await.unwrap();
    assert_eq!(ended, AppendOutcome::Appended, "what has a journal may end");
    tokio::time::advance(TTL + LEASE).await;
    let made = store.append(key("c"), entry(0, "3")).await.unwrap();
    assert_eq!(made, AppendOutcome::Appended, "what expired made room");
}

#[tokio::test(start_paused = true)]
async fn one_caller_cannot_fill_the_store_for_others() {
    let store = MemoryJournalStore::with_limits(1000, 8000, 8000);
    let large: &'static str = "x".repeat(400).leak();
    let mut had = 0;
    while store
        .append(
            ConversationKey::new(&format!("{had}"), ADA),
            entry(0, large),
        )
        .await
        .is_ok()
    {
        had += 1;
    }
    assert_eq!(had, 2, "an eighth of 8,000 bytes");
    let other = store
        .append(ConversationKey::new("b0", BOB), entry(0, large))
        .await;
    assert_eq!(other.unwrap(), AppendOutcome::Appended);
    let nobody = store.append(key("n0"), entry(0, large)).await;
    assert_eq!(nobody.unwrap(), AppendOutcome::Appended);
    // Nobody is kept from a lease.
    let opened = store
        .open(ConversationKey::new("a9", ADA), 0, lease("x"))
        .await;
    assert!(opened.unwrap().acquired);
}

#[tokio::test(start_paused = true)]
async fn old_answers_make_room_for_new_ones_of_the_same_caller() {
    let store = MemoryJournalStore::with_limits(1000, 80_000, 8000);
    let answer = || vec![7; 400];
    let ids = ["a0", "a1", "a2", "a3"];
    let bob = ConversationKey::new("b0", BOB);
    store
        .append(bob, last_entry(0, "end", answer()))
        .await
        .unwrap();
    for id in ids {
        let key = ConversationKey::new(id, ADA);
        store
            .append(key, last_entry(0, "end", answer()))
            .await
            .unwrap();
    }
    let mut kept = Vec::new();
    for id in ids {
        let opened = store
            .open(ConversationKey::new(id, ADA), 0, lease("x"))
            .await
            .unwrap();
        assert_eq!(opened.entries, [bytes("end")], "that it has ended is known");
        kept.push(opened.response.is_some());
    }
    assert_eq!(kept, [false, false, true, true]);
    let opened = store.open(bob, 0, lease("x")).await.unwrap();
    assert!(opened.response.is_some(), "it is another's");
    // One that never has room is not kept, and takes no others along.
    let large = last_entry(0, "end", vec![7; 2000]);
    store
        .append(ConversationKey::new("a4", ADA), large)
        .await
        .unwrap();
    let opened = store
        .open(ConversationKey::new("a4", ADA), 0, lease("x"))
        .await;
    assert_eq!(opened.unwrap().response, None);
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_told_when_something_changes() {
    let store = MemoryJournalStore::new();
    store.open(key("a"), 0, lease("x")).await.unwrap();
    let appended = store.wait_for_change(key("a"));
    store.append(key("a"), entry(0, "0")).await.unwrap();
    appended.await;
    let released = store.wait_for_change(key("a"));
    store.release(key("a"), "x").await.unwrap();
    released.await;
}

#[tokio::test(start_paused = true)]
async fn a_lease_alone_leaves_nothing_behind() {
    let store = MemoryJournalStore::with_limits(0, 0, 0);
    let empty = format!("{store:?}");
    for id in ["a", "b", "c"] {
        assert!(store.open(key(id), 0, lease("x")).await.unwrap().acquired);
        store.release(key(id), "x").await.unwrap();
    }
    assert_eq!(format!("{store:?}"), empty);
}

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_states_and_forgets_none() {
    let store = MemorySealedStateStore::with_limits(20, 20);
    store.save(key("a"), bytes("1234"), TTL).await.unwrap();
    store.save(key("b"), bytes("12345"), TTL).await.unwrap_err();
    store.save(key("b"), bytes("1234"), TTL).await.unwrap();
    store.save(key(""), bytes("1"), TTL).await.unwrap_err();
    assert_eq!(store.load(key("a")).await.unwrap(), Some(bytes("1234")));
    tokio::time::advance(TTL).await;
    store
        .save(key("c"), bytes("123456789"), TTL)
        .await
        .expect("what expired made room");
}

/// Bytes that come from a request are a part of its frame.
#[tokio::test(start_paused = true)]
async fn a_small_part_does_not_keep_a_large_frame() {
    let frame = Bytes::from(vec![7; 1 << 20]);
    let (journals, states) = (MemoryJournalStore::new(), MemorySealedStateStore::new());
    let mut entry = NewEntry::new(0, frame.slice(..5), TTL);
    entry.response = Some(frame.slice(..5));
    journals.append(key("a"), entry).await.unwrap();
    let state = frame.slice(..5);
    states.save(key("c"), state, TTL).await.unwrap();
    assert!(frame.is_unique(), "the stores have copies");
}

/// A call that is dropped before it began has not happened.
#[tokio::test(start_paused = true)]
async fn nothing_happens_before_the_first_poll() {
    let store = MemoryJournalStore::new();
    drop(store.append(key("a"), entry(0, "1")));
    let appended = store.append(key("a"), entry(0, "2")).await;
    assert_eq!(appended.unwrap(), AppendOutcome::Appended);
}

#[tokio::test(start_paused = true)]
async fn debug_shows_no_contents() {
    let store = MemoryJournalStore::new();
    store
        .append(key("secret"), entry(0, "value"))
        .await
        .unwrap();
    let shown = format!("{store:?}");
    assert!(shown.contains("bytes: 11"), "{shown}");
    assert!(
        !shown.contains("secret") && !shown.contains("value"),
        "{shown}"
    );
}

#[test]
fn stores_in_memory_have_a_name_that_no_other_has() {
    let (one, other) = (MemoryJournalStore::new(), MemoryJournalStore::new());
    assert!(one.instance_id().is_some());
    assert_ne!(one.instance_id(), other.instance_id());
}

#[test]
fn errors_tell_their_cause() {
    let bare = StoreError::new("no answer");
    assert!(bare.source().is_none());
    let caused = bare.with_source(std::io::Error::other("reset"));
    assert_eq!(caused.to_string(), "no answer");
    assert_eq!(caused.source().unwrap().to_string(), "reset");
}
