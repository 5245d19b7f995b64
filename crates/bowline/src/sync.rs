//! Locks, which a model checker may replace.
//!
//! With `--cfg shuttle`, the locks of conversations and their stores are those
//! of `shuttle`, so that tests can try many schedules of the threads that take
//! them. See `cargo xtask schedules`.

#[cfg(shuttle)]
pub(crate) use shuttle::sync::{Mutex, MutexGuard};
#[cfg(not(shuttle))]
pub(crate) use std::sync::{Mutex, MutexGuard};

/// Takes a lock that nothing panics under halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
