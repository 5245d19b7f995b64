//! A gate that polls a rare event only after it was woken.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use crate::sync;

/// Sits between a task and an additional future. A task that is woken often
/// would otherwise poll it each time, which is not cheap: on some systems,
/// checking for a child's exit is a system call.
#[derive(Debug)]
pub(super) struct WakeGate {
    flag: Arc<WakeFlag>,
    /// The waker that is passed to the inner future.
    waker: Waker,
}

#[derive(Debug)]
struct WakeFlag {
    is_woken: AtomicBool,
    task: Mutex<Waker>,
}

impl WakeGate {
    pub(super) fn new() -> Self {
        let flag = Arc::new(WakeFlag {
            // It must be polled once before it can wake.
            is_woken: AtomicBool::new(true),
            task: Mutex::new(Waker::noop().clone()),
        });
        let waker = Waker::from(Arc::clone(&flag));
        Self { flag, waker }
    }

    /// Calls `poll`, if it was woken since the last poll.
    pub(super) fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // Store the waker first, then check the flag; the reverse order would
        // lose wakeups.
        self.flag.task().clone_from(cx.waker());
        if !self.flag.is_woken.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        poll(&mut Context::from_waker(&self.waker))
    }
}

impl WakeFlag {
    fn task(&self) -> std::sync::MutexGuard<'_, Waker> {
        sync::lock(&self.task)
    }
}

impl Wake for WakeFlag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.task().wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_at_first_and_after_each_ring() {
        let gate = WakeGate::new();
        let mut waker = None;
        let mut cx = Context::from_waker(Waker::noop());
        let mut is_polled = |waker: &mut Option<Waker>| {
            let mut is_polled = false;
            let _ = gate.poll(&mut cx, |cx| {
                is_polled = true;
                *waker = Some(cx.waker().clone());
                Poll::<()>::Pending
            });
            is_polled
        };
        assert!(is_polled(&mut waker));
        assert!(!is_polled(&mut waker));
        waker.take().expect("it was asked").wake();
        assert!(is_polled(&mut waker));
        assert!(!is_polled(&mut waker));
    }
}
