//! What every store must keep, and what the stores in memory add to it.
//!
//! The contracts, `once` and `state`, know the traits only, and run on any
//! store for which a [`Rig`] is made.

use std::{error::Error, sync::Arc, time::Duration};

use bowline::{
    server::store::{Claim, MemoryOnce, MemoryState, OnceStore, StateStore, StoreError},
    transport::BoxFuture,
};
use bytes::Bytes;

const TTL: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_secs(1);

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

fn earlier(text: &'static str) -> Claim {
    Claim::Earlier(bytes(text))
}

#[tokio::test(start_paused = true)]
async fn memory_keeps_the_contract_of_once() {
    once::check(|| in_memory(MemoryOnce::new())).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shared_store_keeps_the_contract_of_once() {
    once::check(|| in_memory::<Arc<dyn OnceStore>>(Arc::new(MemoryOnce::new())))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn claims_in_memory_are_atomic_on_several_threads() {
    once::of_many_at_once_one_is_first(in_memory(MemoryOnce::new()))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn memory_keeps_the_contract_of_state() {
    state::check(|| in_memory(MemoryState::new()))
        .await
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_shared_store_keeps_the_contract_of_state() {
    state::check(|| in_memory::<Arc<dyn StateStore>>(Arc::new(MemoryState::new())))
        .await
        .unwrap();
}

/// The contract of a `OnceStore`.
mod once {
    use tokio::task::JoinSet;

    use super::*;

    const TASKS: u8 = 8;

    pub(super) async fn check<S: OnceStore>(make: impl Fn() -> Rig<S>) -> Result<(), StoreError> {
        a_key_is_claimed_once(make()).await?;
        a_later_claim_changes_nothing(make()).await?;
        later_claims_see_what_was_put(make()).await?;
        a_put_needs_no_claim(make()).await?;
        a_put_counts_from_its_own_time(make()).await?;
        an_expired_entry_can_be_put_again(make()).await?;
        any_key_and_value_will_do(make()).await?;
        of_many_at_once_one_is_first(make()).await?;
        Ok(())
    }

    async fn a_key_is_claimed_once<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        assert_eq!(store.claim("a", bytes("1"), TTL).await?, Claim::First);
        assert_eq!(store.claim("a", bytes("2"), TTL).await?, earlier("1"));
        assert_eq!(store.claim("b", bytes("3"), TTL).await?, Claim::First);
        pass(TTL - TICK).await;
        assert_eq!(store.claim("a", bytes("4"), TTL).await?, earlier("1"));
        pass(2 * TICK).await;
        assert_eq!(store.claim("a", bytes("5"), TTL).await?, Claim::First);
        assert_eq!(store.claim("a", bytes("6"), TTL).await?, earlier("5"));
        Ok(())
    }

    async fn a_later_claim_changes_nothing<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.claim("a", bytes("1"), TTL).await?;
        store.claim("a", bytes("2"), 10 * TTL).await?;
        assert_eq!(store.claim("a", bytes("3"), TTL).await?, earlier("1"));
        pass(TTL + TICK).await;
        let claim = store.claim("a", bytes("4"), TTL).await?;
        assert_eq!(claim, Claim::First, "the second did not prolong the first");
        Ok(())
    }

    async fn later_claims_see_what_was_put<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        store.claim("a", bytes("begun"), TTL).await?;
        store.put("a", bytes("done"), TTL).await?;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, earlier("done"));
        store.put("a", bytes("better"), TTL).await?;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, earlier("better"));
        Ok(())
    }

    async fn a_put_needs_no_claim<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        store.put("a", bytes("done"), TTL).await?;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, earlier("done"));
        Ok(())
    }

    async fn a_put_counts_from_its_own_time<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.claim("a", bytes("begun"), TTL).await?;
        pass(TTL / 2).await;
        store.put("a", bytes("done"), TTL).await?;
        pass(TTL - TICK).await;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, earlier("done"));
        pass(2 * TICK).await;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, Claim::First);
        Ok(())
    }

    async fn an_expired_entry_can_be_put_again<S: OnceStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.claim("a", bytes("begun"), TTL).await?;
        pass(TTL + TICK).await;
        store.put("a", bytes("done"), TTL).await?;
        assert_eq!(store.claim("a", bytes("x"), TTL).await?, earlier("done"));
        Ok(())
    }

    async fn any_key_and_value_will_do<S: OnceStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        let long = "k".repeat(300);
        let keys = ["", " ", "a b\n", "é*?[x]", "{a}:b", long.as_str()];
        let values = [
            Bytes::new(),
            Bytes::from_iter(0..=255),
            Bytes::from(vec![7; 70_000]),
        ];
        for (at, key) in keys.into_iter().enumerate() {
            let value = values[at % values.len()].clone();
            let claim = store.claim(key, value.clone(), TTL).await?;
            assert_eq!(claim, Claim::First, "{key:?}");
            let claim = store.claim(key, bytes("x"), TTL).await?;
            assert_eq!(claim, Claim::Earlier(value), "{key:?}");
        }
        Ok(())
    }

    /// On one thread, all tasks begin before any goes on, so that a store which
    /// looks, waits and then writes is caught each time.
    pub(super) async fn of_many_at_once_one_is_first<S: OnceStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = Arc::new(rig.store);
        for round in 0..100 {
            let mut tasks = JoinSet::new();
            for task in 0..TASKS {
                let store = Arc::clone(&store);
                tasks.spawn(async move {
                    let (key, value) = (format!("round {round}"), Bytes::from(vec![task]));
                    let claim = store.claim(&key, value.clone(), TTL).await?;
                    Ok::<_, StoreError>(match claim {
                        Claim::First => (true, value),
                        Claim::Earlier(value) => (false, value),
                    })
                });
            }
            let told: Result<Vec<_>, _> = tasks.join_all().await.into_iter().collect();
            let told = told?;
            let firsts = told.iter().filter(|(first, _)| *first).count();
            assert_eq!(firsts, 1, "in round {round}: {told:?}");
            let agree = told.iter().all(|(_, value)| *value == told[0].1);
            assert!(agree, "all see the value of the first: {told:?}");
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
        any_handle_and_state_will_do(make()).await?;
        Ok(())
    }

    async fn what_is_saved_can_be_loaded_again_and_again<S: StateStore>(
        rig: Rig<S>,
    ) -> Result<(), StoreError> {
        let store = rig.store;
        assert_eq!(store.load("a").await?, None);
        store.save("a", bytes("1"), TTL).await?;
        for _ in 0..2 {
            assert_eq!(store.load("a").await?, Some(bytes("1")));
        }
        assert_eq!(store.load("b").await?, None);
        Ok(())
    }

    async fn the_last_to_save_is_right<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        store.save("a", bytes("1"), TTL).await?;
        store.save("b", bytes("2"), TTL).await?;
        store.save("a", bytes("3"), TTL).await?;
        assert_eq!(store.load("a").await?, Some(bytes("3")));
        assert_eq!(store.load("b").await?, Some(bytes("2")));
        Ok(())
    }

    async fn states_expire_and_no_sooner<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let (store, pass) = (rig.store, rig.pass);
        store.save("a", bytes("1"), TTL).await?;
        store.save("b", bytes("2"), TTL).await?;
        pass(TTL - TICK).await;
        assert_eq!(store.load("a").await?, Some(bytes("1")));
        store.save("b", bytes("3"), TTL).await?;
        pass(2 * TICK).await;
        assert_eq!(store.load("a").await?, None);
        let saved_again = store.load("b").await?;
        assert_eq!(
            saved_again,
            Some(bytes("3")),
            "it counts from the last save"
        );
        Ok(())
    }

    async fn any_handle_and_state_will_do<S: StateStore>(rig: Rig<S>) -> Result<(), StoreError> {
        let store = rig.store;
        let states = [
            Bytes::new(),
            Bytes::from_iter(0..=255),
            Bytes::from(vec![7; 1 << 20]),
        ];
        for (handle, state) in ["", "é*?[x]\n", "{a}:b"].into_iter().zip(states) {
            store.save(handle, state.clone(), TTL).await?;
            assert_eq!(store.load(handle).await?, Some(state), "{handle:?}");
        }
        Ok(())
    }
}

#[track_caller]
fn check_full<T: std::fmt::Debug>(outcome: Result<T, StoreError>) {
    let message = "the store in memory is full of what has not expired";
    assert_eq!(outcome.expect_err("it is full").to_string(), message);
}

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_claims_and_forgets_none() {
    let store = MemoryOnce::with_limits(2, 1000);
    store.claim("a", bytes("1"), TTL).await.unwrap();
    store.claim("b", bytes("2"), 2 * TTL).await.unwrap();
    check_full(store.claim("c", bytes("3"), TTL).await);
    check_full(store.put("c", bytes("3"), TTL).await);
    assert_eq!(
        store.claim("a", bytes("x"), TTL).await.unwrap(),
        earlier("1")
    );
    assert_eq!(
        store.claim("b", bytes("x"), TTL).await.unwrap(),
        earlier("2")
    );
    store
        .put("a", bytes("done"), TTL)
        .await
        .expect("a claim in place has room for its answer");

    tokio::time::advance(TTL).await;
    let claim = store.claim("c", bytes("3"), TTL).await.unwrap();
    assert_eq!(claim, Claim::First, "what expired made room");
    assert_eq!(
        store.claim("b", bytes("x"), TTL).await.unwrap(),
        earlier("2")
    );
}

#[tokio::test(start_paused = true)]
async fn a_put_without_room_leaves_the_claim() {
    let store = MemoryOnce::with_limits(10, 10);
    store.claim("a", bytes("begun"), TTL).await.unwrap();
    check_full(store.put("a", bytes("far too long"), TTL).await);
    assert_eq!(
        store.claim("a", bytes("x"), TTL).await.unwrap(),
        earlier("begun")
    );
    store
        .put("a", bytes("123456789"), TTL)
        .await
        .expect("keys count, and what is replaced does not");
}

#[tokio::test(start_paused = true)]
async fn a_full_store_refuses_states_and_forgets_none() {
    let store = MemoryState::with_limits(10, 10);
    store.save("a", bytes("1234"), TTL).await.unwrap();
    check_full(store.save("b", bytes("12345"), TTL).await);
    store.save("b", bytes("1234"), TTL).await.unwrap();
    check_full(store.save("", bytes("1"), TTL).await);
    assert_eq!(store.load("a").await.unwrap(), Some(bytes("1234")));
    tokio::time::advance(TTL).await;
    store
        .save("c", bytes("123456789"), TTL)
        .await
        .expect("what expired made room");
}

/// Bytes that come from a request are a part of its frame.
#[tokio::test(start_paused = true)]
async fn a_small_part_does_not_keep_a_large_frame() {
    let frame = Bytes::from(vec![7; 1 << 20]);
    let (once, state) = (MemoryOnce::new(), MemoryState::new());
    once.claim("a", frame.slice(..5), TTL).await.unwrap();
    once.put("b", frame.slice(..5), TTL).await.unwrap();
    state.save("c", frame.slice(..5), TTL).await.unwrap();
    assert!(frame.is_unique(), "the stores have copies");
}

/// A call that is dropped before it began has not happened.
#[tokio::test(start_paused = true)]
async fn nothing_happens_before_the_first_poll() {
    let store = MemoryOnce::new();
    drop(store.claim("a", bytes("1"), TTL));
    assert_eq!(
        store.claim("a", bytes("2"), TTL).await.unwrap(),
        Claim::First
    );
}

#[tokio::test(start_paused = true)]
async fn debug_shows_no_contents() {
    let store = MemoryOnce::with_limits(2, 1000);
    store.claim("key", bytes("value"), TTL).await.unwrap();
    let shown = "MemoryOnce(Shelf { entries: 1, max_entries: 2, bytes: 8, max_bytes: 1000 })";
    assert_eq!(format!("{store:?}"), shown);
}

#[test]
fn errors_tell_their_cause() {
    let bare = StoreError::new("no answer");
    assert!(bare.source().is_none());
    let caused = bare.caused_by(std::io::Error::other("reset"));
    assert_eq!(caused.to_string(), "no answer");
    assert_eq!(caused.source().unwrap().to_string(), "reset");
}
