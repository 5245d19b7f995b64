//! The lifecycle of a call: whether its caller is still there, and the work
//! that continues without it.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use tokio::sync::Notify;

use crate::{
    server::{background::BackgroundTasks, dispatch::request::RequestOrigin},
    transport::BoxFuture,
};

/// The state of one call's caller.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    /// The number of running tasks that must finish.
    active_work: AtomicUsize,
    /// The caller cancelled the request or disconnected.
    detached: AtomicBool,
    /// No one waits for the call any more, for whatever reason.
    finished: AtomicBool,
    finished_notify: Notify,
    background: Option<Arc<BackgroundTasks>>,
    /// The client that the work is charged to, as long as any of it is left.
    origin: RequestOrigin,
}

impl Lifecycle {
    /// Marks the start of work that runs to its end even if the caller leaves,
    /// until the guard is dropped.
    pub(crate) fn begin_work(self: &Arc<Self>) -> WorkGuard {
        self.active_work.fetch_add(1, Ordering::AcqRel);
        WorkGuard(Arc::clone(self))
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Runs work without the caller.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(background) = &self.background {
            background.spawn(self.origin.caller.clone(), work);
        }
    }

    fn is_busy(&self) -> bool {
        self.active_work.load(Ordering::Acquire) > 0
    }

    /// Marks the call as over.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.finished_notify.notify_waiters();
    }

    /// Waits until no one waits for the call any more.
    pub(crate) async fn wait_finished(&self) {
        loop {
            let ended = self.finished_notify.notified();
            if self.finished.load(Ordering::Acquire) {
                return;
            }
            ended.await;
        }
    }
}

/// Keeps the call alive until its work has finished.
pub(crate) struct WorkGuard(Arc<Lifecycle>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.active_work.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The future of a call. If it is dropped while work is running that must
/// finish, it continues in the background until that has ended.
pub(crate) struct DetachOnDrop<T: Send + 'static> {
    work: Option<BoxFuture<'static, T>>,
    lifecycle: Arc<Lifecycle>,
}

impl<T: Send> DetachOnDrop<T> {
    pub(crate) fn new(
        background: &Arc<BackgroundTasks>,
        origin: RequestOrigin,
        work: impl FnOnce(Arc<Lifecycle>) -> BoxFuture<'static, T>,
    ) -> Self {
        let lifecycle = Arc::new(Lifecycle {
            background: Some(Arc::clone(background)),
            origin,
            ..Lifecycle::default()
        });
        Self {
            work: Some(work(Arc::clone(&lifecycle))),
            lifecycle,
        }
    }
}

impl<T: Send> Future for DetachOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let reply = std::task::ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(reply)
    }
}

impl<T: Send + 'static> Drop for DetachOnDrop<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        self.lifecycle.detached.store(true, Ordering::Release);
        self.lifecycle.finish();
        if self.lifecycle.is_busy() {
            let lifecycle = Arc::clone(&self.lifecycle);
            self.lifecycle.spawn(DetachedWork { work, lifecycle });
        }
    }
}

/// The work that continues without the caller.
struct DetachedWork<T> {
    work: BoxFuture<'static, T>,
    lifecycle: Arc<Lifecycle>,
}

impl<T> Future for DetachedWork<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let result = self.work.as_mut().poll(cx);
        if result.is_ready() || !self.lifecycle.is_busy() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
