//! Whether a caller is still there, and what goes on without them.

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
    proto::server::Reply,
    server::{background::BackgroundTasks, dispatch::request::RequestOrigin},
    transport::BoxFuture,
};

/// What is known of the caller of one call.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    /// How much is under way that must come to its end.
    active_work: AtomicUsize,
    /// The caller called the request off, or is gone.
    detached: AtomicBool,
    /// Nobody waits for the call any more, for whatever reason.
    finished: AtomicBool,
    finished_notify: Notify,
    background: Option<Arc<BackgroundTasks>>,
    /// Whom it counts for, as long as anything of the call is there.
    origin: RequestOrigin,
}

impl Lifecycle {
    /// Something is under way that comes to its end although the caller leaves,
    /// until what this gives is dropped.
    pub(crate) fn begin_work(self: &Arc<Self>) -> WorkGuard {
        self.active_work.fetch_add(1, Ordering::AcqRel);
        WorkGuard(Arc::clone(self))
    }

    pub(crate) fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Does something without the caller.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(background) = &self.background {
            background.spawn(self.origin.caller.clone(), work);
        }
    }

    fn is_busy(&self) -> bool {
        self.active_work.load(Ordering::Acquire) > 0
    }

    /// The call is over.
    pub(crate) fn finish(&self) {
        self.finished.store(true, Ordering::Release);
        self.finished_notify.notify_waiters();
    }

    /// Waits until nobody waits for the call any more.
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

/// Something that must come to its end.
pub(crate) struct WorkGuard(Arc<Lifecycle>);

impl Drop for WorkGuard {
    fn drop(&mut self) {
        self.0.active_work.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The work on a call. If it is dropped while something is under way that must
/// come to its end, it goes on in the background for as long as that takes.
pub(crate) struct DetachOnDrop {
    work: Option<BoxFuture<'static, Reply>>,
    lifecycle: Arc<Lifecycle>,
}

impl DetachOnDrop {
    pub(crate) fn new(
        background: &Arc<BackgroundTasks>,
        origin: RequestOrigin,
        work: impl FnOnce(Arc<Lifecycle>) -> BoxFuture<'static, Reply>,
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

impl Future for DetachOnDrop {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Reply> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let reply = std::task::ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(reply)
    }
}

impl Drop for DetachOnDrop {
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

/// What goes on without the caller.
struct DetachedWork {
    work: BoxFuture<'static, Reply>,
    lifecycle: Arc<Lifecycle>,
}

impl Future for DetachedWork {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let result = self.work.as_mut().poll(cx);
        if result.is_ready() || !self.lifecycle.is_busy() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
