//! What every store must keep, and what the stores in memory add to it.
//!
//! The contracts, `journal` and `state`, know the traits only, and run on any
//! store for which a [`Rig`] is made.

use std::{error::Error, sync::Arc, time::Duration};

use bowline::{
    server::store::{
        AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore, MemoryStateStore,
        NewEntry, StateStore, StoreError,
    },
    transport::BoxFuture,
};
use bytes::Bytes;

const TTL: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(6);

/// An empty store, and how time passes for it.
struct Rig<S> {
    store: S,
    pass: fn(Duration) -> BoxFuture<'static, ()>,
}

fn in_memory<S>(store: S) -> Rig<S> {
    let pass = |by| -> BoxFuture<'static, ()> { Box::pin(tokio::time::advance(by)) };
    Rig { store, pass }
}

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

#[tokio::test(start_paused = true)]
async fn memory_keeps_the_contract_of_journals() {
    journal::check(|| in_memory(MemoryJournalStore::new()))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shared_store_keeps_the_contract_of_journals() {
    journal::check(|| in_memory::<Arc<dyn JournalStore>>(Arc::new(MemoryJournalStore::new())))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn entries_in_memory_are_written_once_by_several_threads() {
    journal::of_many_at_once_one_has_the_position(in_memory(MemoryJournalStore::new()))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn memory_keeps_the_contract_of_state() {
    state::check(|| in_memory(MemoryStateStore::new()))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shared_store_keeps_the_contract_of_state() {
    state::check(|| in_memory::<Arc<dyn StateStore>>(Arc::new(MemoryStateStore::new())))
        .await
        .unwrap();
}

/// The contract of a `JournalStore`.
mod journal {
    use tokio::task::JoinSet;

    use super::*;

    const TASKS: u8 = 8;

    pub(super) async fn check<S: JournalStore>(
        make: impl Fn() -> Rig<S>,
    ) -> Result<(), StoreError> {
        a_position_is_written_once(make()).await?;
        entries_are_read_from_where_they_are_news(make()).await?;
        what_is_superfluous_may_go_and_positions_stay(make()).await?;
        the_last_entry_has_an_answer_and_frees_the_lease(make()).await?;
        a_lease_is_for_one_until_it_ends(make()).await?;
        a_lease_is_given_back_by_its_holder_only(make()).await?;
        a_journal_is_kept_from_its_last_entry_on(make()).await?;
        any_value_will_do(make()).await?;
        of_many_at_once_one_has_the_position(make()).await?;
        Ok(())
    }

    async fn a_position_is_written_once<S: JournalStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        assert_eq!(
            store.append(key("a"), entry(1, "gap")).await?,
            AppendOutcome::Conflict
        );
        assert_eq!(
            store.append(key("a"), entry(0, "1")).await?,
            AppendOutcome::Appended
        );
        assert_eq!(
            store.append(key("a"), entry(0, "2")).await?,
            AppendOutcome::Conflict
        );
        assert_eq!(
            store.append(key("a"), entry(2, "gap")).await?,
            AppendOutcome::Conflict
        );
        assert_eq!(
            store.append(key("b"), entry(0, "3")).await?,
            AppendOutcome::Appended
        );
        assert_eq!(
            store.append(key("a"), entry(1, "4")).await?,
            AppendOutcome::Appended
        );
        let opened = store.open(key("a"), 0, lease("x")).await?;
        assert_eq!(opened.entries, [bytes("1"), bytes("4")]);
        assert_eq!(opened.next_position, 2);
        Ok(())
    }

    async fn entries_are_read_from_where_they_are_news<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        assert_eq!(store.open(key("a"), 0, lease("x")).await?.next_position, 0);
        for (position, value) in [(0, "0"), (1, "1"), (2, "2")] {
            store.append(key("a"), entry(position, value)).await?;
        }
        let all = [bytes("0"), bytes("1"), bytes("2")];
        for from in 0..=3_usize {
            let opened = store.open(key("a"), from as u64, lease("x")).await?;
            assert_eq!(
                opened.entries,
                all.iter().skip(from).cloned().collect::<Vec<_>>()
            );
            assert_eq!(opened.next_position, 3);
            assert_eq!(opened.response, None);
        }
        assert!(
            store
                .open(key("a"), 9, lease("x"))
                .await?
                .entries
                .is_empty()
        );
        Ok(())
    }

    async fn what_is_superfluous_may_go_and_positions_stay<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        store.append(key("a"), entry(0, "0")).await?;
        store.append(key("a"), first_entry(1, "1")).await?;
        store.append(key("a"), entry(2, "2")).await?;
        let opened = store.open(key("a"), 1, lease("x")).await?;
        assert_eq!(opened.entries, [bytes("1"), bytes("2")]);
        assert_eq!(opened.next_position, 3);
        // Whoever knows less finds what is kept, which is not what it expects.
        let opened = store.open(key("a"), 0, lease("x")).await?;
        assert_eq!(opened.entries.last(), Some(&bytes("2")));
        assert_eq!(
            store.append(key("a"), entry(0, "x")).await?,
            AppendOutcome::Conflict
        );
        Ok(())
    }

    async fn the_last_entry_has_an_answer_and_frees_the_lease<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        assert!(store.open(key("a"), 0, lease("x")).await?.acquired);
        store.append(key("a"), entry(0, "0")).await?;
        assert!(!store.open(key("a"), 0, lease("y")).await?.acquired);
        store.append(key("a"), last_entry(1, "end", "42")).await?;
        let opened = store.open(key("a"), 0, lease("y")).await?;
        assert_eq!(opened.entries.last(), Some(&bytes("end")));
        assert_eq!(opened.response, Some(bytes("42")));
        assert_eq!(opened.next_position, 2);
        assert!(opened.acquired);
        Ok(())
    }

    async fn a_lease_is_for_one_until_it_ends<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        assert!(store.open(key("a"), 0, lease("x")).await?.acquired);
        assert!(store.open(key("a"), 0, lease("x")).await?.acquired, "again");
        assert!(!store.open(key("a"), 0, lease("y")).await?.acquired);
        pass(LEASE - TICK).await;
        store.renew(key("a"), lease("y")).await?;
        assert!(!store.open(key("a"), 0, lease("y")).await?.acquired);
        store.renew(key("a"), lease("x")).await?;
        pass(2 * TICK).await;
        assert!(
            !store.open(key("a"), 0, lease("y")).await?.acquired,
            "renewed"
        );
        pass(LEASE).await;
        assert!(store.open(key("a"), 0, lease("y")).await?.acquired);
        store.renew(key("a"), lease("x")).await?;
        assert!(!store.open(key("a"), 0, lease("x")).await?.acquired, "lost");
        store.release(key("a"), "y").await?;
        store.renew(key("a"), lease("y")).await?;
        let opened = store.open(key("a"), 0, lease("x")).await?;
        assert!(opened.acquired, "what was given back is not renewed");
        Ok(())
    }

    async fn a_lease_is_given_back_by_its_holder_only<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        store.release(key("a"), "x").await?;
        assert!(store.open(key("a"), 0, lease("x")).await?.acquired);
        store.append(key("a"), entry(0, "0")).await?;
        store.release(key("a"), "y").await?;
        assert!(!store.open(key("a"), 0, lease("y")).await?.acquired);
        store.release(key("a"), "x").await?;
        let opened = store.open(key("a"), 0, lease("y")).await?;
        assert!(opened.acquired);
        assert_eq!(opened.next_position, 1, "what was written stays");
        Ok(())
    }

    async fn a_journal_is_kept_from_its_last_entry_on<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.append(key("a"), entry(0, "0")).await?;
        pass(TTL / 2).await;
        store.append(key("a"), entry(1, "1")).await?;
        pass(TTL - TICK).await;
        assert_eq!(store.open(key("a"), 0, lease("x")).await?.next_position, 2);
        pass(LEASE + 2 * TICK).await;
        assert_eq!(
            store.append(key("a"), entry(0, "new")).await?,
            AppendOutcome::Appended
        );
        Ok(())
    }

    async fn any_value_will_do<S: JournalStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        let id = "f".repeat(65);
        let values = [
            Bytes::new(),
            Bytes::from_iter(0..=255),
            Bytes::from(vec![7; 70_000]),
        ];
        for (position, value) in (0..).zip(&values) {
            let entry = NewEntry::new(position, value.clone(), TTL);
            assert_eq!(
                store.append(key(&id), entry).await?,
                AppendOutcome::Appended
            );
        }
        assert_eq!(store.open(key(&id), 0, lease("x")).await?.entries, values);
        Ok(())
    }

    /// On one thread, all tasks begin before any goes on, so that a store which
    /// looks, waits and then writes is caught each time.
    pub(super) async fn of_many_at_once_one_has_the_position<S: JournalStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = Arc::new(rig.store);
        for position in 0..100 {
            let mut tasks = JoinSet::new();
            for task in 0..TASKS {
                let store = Arc::clone(&store);
                tasks.spawn(async move {
                    let entry = NewEntry::new(position, vec![task], TTL);
                    let appended = store.append(key("a"), entry).await?;
                    Ok::<_, StoreError>((task, appended))
                });
            }
            let told: Result<Vec<_>, _> = tasks.join_all().await.into_iter().collect();
            let mut done = told?;
            done.retain(|(_, appended)| *appended == AppendOutcome::Appended);
            let [(task, _)] = *done else {
                panic!("at {position}: {done:?}");
            };
            let opened = store.open(key("a"), position, lease("x")).await?;
            assert_eq!(opened.entries, [vec![task]]);
        }
        Ok(())
    }
}

/// The contract of a `StateStore`.
mod state {
    use super::*;

    pub(super) async fn check<S: StateStore>(make: impl Fn() -> Rig<S>) -> Result<(), StoreError> {
        what_is_saved_can_be_loaded_again_and_again(make()).await?;
        the_last_to_save_is_right(make()).await?;
        states_expire_and_no_sooner(make()).await?;
        any_state_will_do(make()).await?;
        Ok(())
    }

    async fn what_is_saved_can_be_loaded_again_and_again<S: StateStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        assert_eq!(store.load(key("a")).await?, None);
        store.save(key("a"), bytes("1"), TTL).await?;
        for _ in 0..2 {
            assert_eq!(store.load(key("a")).await?, Some(bytes("1")));
        }
        assert_eq!(store.load(key("b")).await?, None);
        Ok(())
    }

    async fn the_last_to_save_is_right<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        store.save(key("a"), bytes("1"), TTL).await?;
        store.save(key("b"), bytes("2"), TTL).await?;
        store.save(key("a"), bytes("3"), TTL).await?;
        assert_eq!(store.load(key("a")).await?, Some(bytes("3")));
        assert_eq!(store.load(key("b")).await?, Some(bytes("2")));
        Ok(())
    }

    async fn states_expire_and_no_sooner<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.save(key("a"), bytes("1"), TTL).await?;
        store.save(key("b"), bytes("2"), TTL).await?;
        pass(TTL - TICK).await;
        assert_eq!(store.load(key("a")).await?, Some(bytes("1")));
        store.save(key("b"), bytes("3"), TTL).await?;
        pass(2 * TICK).await;
        assert_eq!(store.load(key("a")).await?, None);
        let saved_again = store.load(key("b")).await?;
        assert_eq!(
            saved_again,
            Some(bytes("3")),
            "it counts from the last save"
        );
        Ok(())
    }

    async fn any_state_will_do<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        let states = [
            Bytes::new(),
            Bytes::from_iter(0..=255),
            Bytes::from(vec![7; 1 << 20]),
        ];
        for (id, state) in ["a", "0f/1e", "b"].into_iter().zip(states) {
            store.save(key(id), state.clone(), TTL).await?;
            assert_eq!(store.load(key(id)).await?, Some(state), "{id:?}");
        }
        Ok(())
    }
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
    let store = MemoryStateStore::with_limits(20, 20);
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
    let (journals, states) = (MemoryJournalStore::new(), MemoryStateStore::new());
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
