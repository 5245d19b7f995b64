//! Locks that ignore poisoning, and whose acquisition order tests can control.
//!
//! State shared by conversations and their stores is protected by locks taken here, and
//! nothing waits while holding one. So a thread schedule is the order in which threads
//! take their locks. In tests, `schedules` explores many of these orders: each lock is
//! a point where another thread may run.

use std::sync::PoisonError;
pub(crate) use std::sync::{Mutex, MutexGuard};
#[cfg(feature = "server")]
pub(crate) use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Takes a lock whose holders do not panic with inconsistent state.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    schedules::yield_point();
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a read lock, as [`lock`] does.
#[cfg(feature = "server")]
pub(crate) fn read<T: ?Sized>(rw_lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    rw_lock.read().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a write lock, as [`lock`] does.
#[cfg(feature = "server")]
pub(crate) fn write<T: ?Sized>(rw_lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    rw_lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// Exploration of thread schedules.
#[cfg(test)]
pub(crate) mod schedules {
    use std::cell::Cell;

    thread_local! {
        /// Whether an exploration is running; all of its threads run on this one.
        static SEARCHING: Cell<bool> = const { Cell::new(false) };
    }

    /// A point where another thread may run.
    pub(super) fn yield_point() {
        if SEARCHING.get() {
            shuttle::thread::yield_now();
        }
    }

    /// Runs the test under this many schedules of the tasks spawned with
    /// `shuttle::future`. A schedule in which it panics is printed so that it can be
    /// replayed.
    pub(crate) fn explore(times: usize, test: impl Fn() + Send + Sync + 'static) {
        // Timers need a runtime. Nothing waits for them.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let _entered = runtime.enter();
        SEARCHING.set(true);
        let _guard = SearchGuard;
        let mut config = shuttle::Config::new();
        // Sealing needs more stack than the default.
        config.stack_size = 1 << 20;
        let scheduler = shuttle::scheduler::RandomScheduler::new(times);
        shuttle::Runner::new(scheduler, config).run(test);
    }

    struct SearchGuard;

    impl Drop for SearchGuard {
        fn drop(&mut self) {
            SEARCHING.set(false);
        }
    }
}
