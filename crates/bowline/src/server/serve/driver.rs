//! The task that serves one client.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::time::Sleep;

use super::{
    jobs::start_jobs,
    shared::{Inner, SharedConnection},
    turn::Turn,
};
use crate::{
    proto::{Instant, server::Input},
    server::dispatch::request::RequestHandler,
    transport::{ConnectionErrorKind, LinkEvent},
};

/// How many frames are processed before their results are written and other
/// tasks run. With more, the client waits for all responses while we work, and
/// we wait while it works; with fewer, each write is more expensive.
const MAX_FRAMES_PER_TURN: usize = 12;

/// A future that serves one client; ready when the link is down.
pub(super) struct Driver {
    shared: Arc<SharedConnection>,
    handler: Arc<dyn RequestHandler>,
    timer: Pin<Box<Sleep>>,
    /// Set when shutdown begins.
    shutdown_timer: Option<Pin<Box<Sleep>>>,
}

impl Driver {
    pub(super) fn new(shared: Arc<SharedConnection>, handler: Arc<dyn RequestHandler>) -> Self {
        let timer = Box::pin(tokio::time::sleep_until(tokio::time::Instant::now()));
        Self {
            shared,
            handler,
            timer,
            shutdown_timer: None,
        }
    }

    /// Processes the frames received. Returns whether there may be more.
    fn read(&self, inner: &mut Inner, now: Instant, cx: &mut Context<'_>) -> bool {
        for _ in 0..MAX_FRAMES_PER_TURN {
            // Does not read from a client that does not read.
            if inner.input_closed_at.is_some()
                || !inner.machine.is_receiving()
                || !inner.is_flushed()
            {
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
                LinkEvent::OversizedFrame { size, prefix } => {
                    inner
                        .machine
                        .handle(now, Input::OversizedFrame { size, prefix });
                }
                LinkEvent::SendFailed { .. } => {}
                // The client sends no more, but may still read.
                LinkEvent::Down(cause) if *cause.kind() == ConnectionErrorKind::Eof => {
                    inner.close_input(now);
                    inner
                        .machine
                        .shutdown(now, self.shared.serve_options.shutdown_timeout);
                }
                LinkEvent::Down(_) => inner.machine.handle(now, Input::Closed),
            }
            self.shared.process_outputs(inner, now);
        }
        true
    }

    /// The connection has ended, but the client does not read the last frames.
    /// Returns whether that has lasted too long.
    fn shutdown_timed_out(&mut self, cx: &mut Context<'_>) -> bool {
        let timer = self.shutdown_timer.get_or_insert_with(|| {
            Box::pin(tokio::time::sleep(
                self.shared.serve_options.shutdown_timeout,
            ))
        });
        timer.as_mut().poll(cx).is_ready()
    }

    /// Sets the timer. Returns whether it has already expired.
    fn poll_timer(&mut self, inner: &mut Inner, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = inner.deadline else {
            return false;
        };
        let deadline = self.shared.to_tokio_instant(deadline);
        if self.timer.is_elapsed() || self.timer.deadline() != deadline {
            self.timer.as_mut().reset(deadline);
        }
        if self.timer.as_mut().poll(cx).is_pending() {
            return false;
        }
        let now = self.shared.now();
        inner.machine.handle(now, Input::Tick);
        self.shared.process_outputs(inner, now);
        true
    }
}

impl Future for Driver {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let shared = Arc::clone(&this.shared);
        let now = shared.now();
        let mut inner = shared.lock();
        match &mut inner.driver_waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        shared.flush_backlog(&mut inner, now);
        // Nothing more is read until all deferred requests are dispatched.
        let has_deferred = inner.requests.has_deferred();
        let mut more = has_deferred || this.read(&mut inner, now, cx);
        match Turn::take_next(&mut inner, &shared) {
            Some(turn) => {
                drop(inner);
                let dispatched = turn.dispatch(&shared, &this.handler, now);
                inner = shared.lock();
                dispatched.finish(&shared, &mut inner);
            }
            // Cancelled jobs may have freed capacity.
            None => start_jobs(&shared, &mut inner),
        }
        more |= this.poll_timer(&mut inner, cx);
        let flushed = match &mut inner.link {
            Some(link) => link.poll_flush(cx).is_ready(),
            None => true,
        };
        if flushed && !inner.is_flushed() {
            more = true;
        }
        let is_flushed = flushed && inner.is_flushed();
        if inner.ended && (is_flushed || this.shutdown_timed_out(cx)) {
            inner.drop_all();
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

/// Stops serving when the runtime shuts down or serving has ended.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.stop_serving(&self.handler);
    }
}
