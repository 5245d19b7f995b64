//! The task that serves one client.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::time::Sleep;

use super::{
    shared::{Inner, Shared},
    work::{dispatch, resume},
};
use crate::{
    proto::{Instant, server::Input},
    server::request::Handle,
    transport::{CauseKind, LinkEvent},
};

/// How many frames are taken in before what they led to is written, and others
/// get their turn. Many, and the client waits for all answers while we work,
/// and we wait while it works; few, and each pays for a write alone.
const FRAMES_PER_TURN: usize = 12;

/// Serves one client; ready when the link is gone.
pub(super) struct Driver {
    shared: Arc<Shared>,
    handle: Arc<dyn Handle>,
    timer: Pin<Box<Sleep>>,
    /// Runs from the end on.
    leaving: Option<Pin<Box<Sleep>>>,
}

impl Driver {
    pub(super) fn new(shared: Arc<Shared>, handle: Arc<dyn Handle>) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(tokio::time::Instant::now()));
        Self {
            shared,
            handle,
            timer,
            leaving: None,
        }
    }

    /// Takes in what has arrived. Says whether there may be more.
    fn read(&self, inner: &mut Inner, now: Instant, cx: &mut Context<'_>) -> bool {
        for _ in 0..FRAMES_PER_TURN {
            // A client that does not read is not read from either.
            if inner.deaf || !inner.machine.receiving() || !inner.is_caught_up() {
                return false;
            }
            let Some(link) = &mut inner.link else {
                return false;
            };
            let Poll::Ready(event) = link.poll_event(cx) else {
                return false;
            };
            match event {
                LinkEvent::Frame(frame) => inner.machine.handle(now, Input::Frame(frame)),
                LinkEvent::Oversize { size, prefix } => {
                    inner.machine.handle(now, Input::Oversize { size, prefix });
                }
                LinkEvent::Refused { .. } => {}
                // It has nothing more to say, and may still listen.
                LinkEvent::Down(cause) if *cause.kind() == CauseKind::Eof => {
                    inner.go_deaf();
                    inner.machine.shutdown(now, self.shared.serving.grace);
                }
                LinkEvent::Down(_) => inner.machine.handle(now, Input::Closed),
            }
            self.shared.settle(inner, now);
        }
        true
    }

    /// The end has come, but the client does not read what was said to it.
    /// Says whether that has been waited for long enough.
    fn is_tired(&mut self, cx: &mut Context<'_>) -> bool {
        let leaving = self
            .leaving
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(self.shared.serving.grace)));
        leaving.as_mut().poll(cx).is_ready()
    }

    /// Sets the timer. Says whether it has run out already.
    fn watch_clock(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = inner.deadline else {
            return false;
        };
        let deadline = self.shared.clock(deadline);
        if self.timer.is_elapsed() || self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        let now = self.shared.now();
        inner.machine.handle(now, Input::Tick);
        self.shared.settle(inner, now);
        true
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let shared = Arc::clone(&this.shared);
        let now = shared.now();
        let mut more = {
            let mut inner = shared.lock();
            match &mut inner.driver {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            shared.catch_up(&mut inner, now);
            // Nothing is read before all that was is looked at.
            let put_off = inner.arrivals.has_put_off();
            put_off || this.read(&mut inner, now, cx)
        };
        resume(&shared, &this.handle);
        dispatch(&shared, &this.handle, now);
        let mut inner = shared.lock();
        more |= this.watch_clock(&mut inner, cx);
        let flushed = match &mut inner.link {
            Some(link) => link.poll_flush(cx).is_ready(),
            None => true,
        };
        if flushed && !inner.is_caught_up() {
            more = true;
        }
        let said_all = flushed && inner.is_caught_up();
        if inner.ended && (said_all || this.is_tired(cx)) {
            inner.let_go();
            if let Some(link) = inner.link.take() {
                link.close();
            }
            return Poll::Ready(());
        }
        if more {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// The runtime ends, or serving has ended.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.give_up_serving(&self.handle);
    }
}
