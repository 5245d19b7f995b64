//! Something that rarely happens, looked at only when it may have.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Stands between a task and something that it waits for besides. A task that
/// is woken often would otherwise ask each time, which is not cheap: of a
/// child's end, some systems must be asked with a system call.
#[derive(Debug)]
pub(super) struct Alarm {
    bell: Arc<Bell>,
    /// The bell, as it is given to what is waited for.
    waker: Waker,
}

#[derive(Debug)]
struct Bell {
    rung: AtomicBool,
    task: Mutex<Waker>,
}

impl Alarm {
    pub(super) fn new() -> Self {
        let bell = Arc::new(Bell {
            // It must be asked once before it can ring.
            rung: AtomicBool::new(true),
            task: Mutex::new(Waker::noop().clone()),
        });
        let waker = Waker::from(Arc::clone(&bell));
        Self { bell, waker }
    }

    /// Polls it, if anything may have happened since it was polled last.
    pub(super) fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        // First who is to be woken, then whether it rang: never the other way.
        self.bell.task().clone_from(cx.waker());
        if !self.bell.rung.swap(false, Ordering::AcqRel) {
            return Poll::Pending;
        }
        poll(&mut Context::from_waker(&self.waker))
    }
}

impl Bell {
    fn task(&self) -> std::sync::MutexGuard<'_, Waker> {
        self.task.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::Release);
        self.task().wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_at_first_and_after_each_ring() {
        let alarm = Alarm::new();
        let mut kept = None;
        let mut cx = Context::from_waker(Waker::noop());
        let mut asked = |kept: &mut Option<Waker>| {
            let mut asked = false;
            let _ = alarm.poll(&mut cx, |cx| {
                asked = true;
                *kept = Some(cx.waker().clone());
                Poll::<()>::Pending
            });
            asked
        };
        assert!(asked(&mut kept));
        assert!(!asked(&mut kept));
        kept.take().expect("it was asked").wake();
        assert!(asked(&mut kept));
        assert!(!asked(&mut kept));
    }
}
