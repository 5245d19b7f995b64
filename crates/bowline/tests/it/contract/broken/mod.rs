//! Stores with one fault each, and the sentence with which their contract
//! rejects them.
//!
//! Without a fault they satisfy the contract, so it is the fault that is found.

#[cfg(all(feature = "auth", feature = "http-server"))]
mod auth;
mod journals;
#[cfg(feature = "http-server")]
mod sessions;
mod states;
mod tasks;
#[cfg(all(feature = "auth", feature = "http-client"))]
mod tokens;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard},
};

/// Runs a contract in paused time, and returns the message of its panic.
fn violation<F: Future<Output = ()>>(contract: impl FnOnce() -> F) -> Option<String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let checked = catch_unwind(AssertUnwindSafe(|| runtime.block_on(contract())));
    let panic = checked.err()?;
    let message = match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(panic) => panic.downcast::<&str>().expect("a message").to_string(),
    };
    // What follows are the two values.
    message.lines().next().map(str::to_owned)
}

/// Checks the sentence with which a contract rejects a fault; without a fault,
/// there is none.
fn check<T: Copy + std::fmt::Debug>(
    cases: &[(T, &str)],
    violation: impl Fn(Option<T>) -> Option<String>,
) {
    assert_eq!(violation(None), None, "without a fault");
    let others: Vec<_> = cases
        .iter()
        .map(|(fault, expected)| (fault, *expected, violation(Some(*fault))))
        .filter(|(_, expected, found)| !found.as_ref().is_some_and(|it| it.contains(expected)))
        .collect();
    assert!(others.is_empty(), "not the expected sentence: {others:#?}");
}

/// A table that several nodes share.
struct Table<K, V>(Arc<Mutex<Vec<(K, V)>>>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: PartialEq + Clone, V: Clone> Table<K, V> {
    fn rows(&self) -> MutexGuard<'_, Vec<(K, V)>> {
        self.0.lock().expect("no holder panics")
    }

    fn get(&self, key: &K) -> Option<V> {
        let rows = self.rows();
        let row = rows.iter().find(|(known, _)| known == key);
        row.map(|(_, value)| value.clone())
    }

    fn put(&self, key: K, value: V) {
        let mut rows = self.rows();
        rows.retain(|(known, _)| *known != key);
        rows.push((key, value));
    }

    fn remove(&self, key: &K) {
        self.rows().retain(|(known, _)| known != key);
    }

    /// Writes without atomicity: reads the whole table, and writes all of it
    /// back after others had their turn.
    async fn put_slowly(&self, key: K, value: V) {
        let mut rows = self.rows().clone();
        tokio::task::yield_now().await;
        rows.retain(|(known, _)| *known != key);
        rows.push((key, value));
        *self.rows() = rows;
    }
}
