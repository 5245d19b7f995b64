//! Locks whose order tests can choose.
//!
//! What conversations and their stores share, they share under locks that are
//! taken here, and nothing waits while it has one. So a schedule of threads is
//! the order in which they take their locks. In tests, `schedules` tries many
//! of these orders: each lock is a place where another thread may go on.

pub(crate) use std::sync::{Mutex, MutexGuard};

/// Takes a lock that nothing panics under halfway.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(test)]
    schedules::yield_point();
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Searching the schedules of threads.
#[cfg(test)]
pub(crate) mod schedules {
    use std::cell::Cell;

    thread_local! {
        /// Whether a search is under way; its threads are all on this one.
        static SEARCHING: Cell<bool> = const { Cell::new(false) };
    }

    /// Where another thread may go on.
    pub(super) fn yield_point() {
        if SEARCHING.get() {
            shuttle::thread::yield_now();
        }
    }

    /// Tries so many schedules of what is spawned with `shuttle::future`. A
    /// schedule in which it panics is printed, to be tried again.
    pub(crate) fn explore(times: usize, test: impl Fn() + Send + Sync + 'static) {
        // Timers need a runtime to belong to. Nothing waits for them.
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .expect("a runtime");
        let _entered = runtime.enter();
        SEARCHING.set(true);
        let _guard = SearchGuard;
        let mut config = shuttle::Config::new();
        // Sealing takes more than there is for a thread otherwise.
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
