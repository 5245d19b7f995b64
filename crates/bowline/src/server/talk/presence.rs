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
    server::{background::Background, request::SentBy},
    transport::BoxFuture,
};

/// What is known of the caller of one call.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// How much is under way that must come to its end.
    busy: AtomicUsize,
    /// The caller called the request off, or is gone.
    left: AtomicBool,
    /// Nobody waits for the call any more, for whatever reason.
    over: AtomicBool,
    ended: Notify,
    background: Option<Arc<Background>>,
    /// Whom it counts for, as long as anything of the call is there.
    sender: SentBy,
}

impl Presence {
    /// Something is under way that comes to its end although the caller leaves,
    /// until what this gives is dropped.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.busy.fetch_add(1, Ordering::AcqRel);
        Busy(Arc::clone(self))
    }

    pub(crate) fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Does something without the caller.
    pub(crate) fn go_on_with(&self, work: impl Future<Output = ()> + Send + 'static) {
        if let Some(background) = &self.background {
            background.spawn(self.sender.caller.clone(), work);
        }
    }

    fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    /// The call is over.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.ended.notify_waiters();
    }

    /// Waits until nobody waits for the call any more.
    pub(crate) async fn until_over(&self) {
        loop {
            let ended = self.ended.notified();
            if self.over.load(Ordering::Acquire) {
                return;
            }
            ended.await;
        }
    }
}

/// Something that must come to its end.
pub(crate) struct Busy(Arc<Presence>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The work on a call. If it is dropped while something is under way that must
/// come to its end, it goes on in the background for as long as that takes.
pub(crate) struct Staying {
    work: Option<BoxFuture<'static, Reply>>,
    presence: Arc<Presence>,
}

impl Staying {
    pub(crate) fn new(
        background: &Arc<Background>,
        sender: SentBy,
        work: impl FnOnce(Arc<Presence>) -> BoxFuture<'static, Reply>,
    ) -> Self {
        let presence = Arc::new(Presence {
            background: Some(Arc::clone(background)),
            sender,
            ..Presence::default()
        });
        Self {
            work: Some(work(Arc::clone(&presence))),
            presence,
        }
    }
}

impl Future for Staying {
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

impl Drop for Staying {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else {
            return;
        };
        self.presence.left.store(true, Ordering::Release);
        self.presence.end();
        if self.presence.is_busy() {
            let presence = Arc::clone(&self.presence);
            self.presence.go_on_with(Remaining { work, presence });
        }
    }
}

/// What goes on without the caller.
struct Remaining {
    work: BoxFuture<'static, Reply>,
    presence: Arc<Presence>,
}

impl Future for Remaining {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = self.work.as_mut().poll(cx);
        if polled.is_ready() || !self.presence.is_busy() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
