//! Input, timers and closing for connections without a link.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use tokio::time::Sleep;

use super::{jobs::start_jobs, shared::SharedConnection, turn::Turn};
use crate::{
    proto::{
        Instant,
        server::{Connection, Input, RequestKey},
    },
    server::{
        auth::permissions::Permissions,
        dispatch::request::{RequestHandler, RequestOrigin},
    },
};

impl SharedConnection {
    /// Applies input to the machine, returns the requests it contains, and
    /// dispatches them. They run with the permissions given, and are charged to
    /// their sender until they are processed.
    pub(crate) fn handle_input<T>(
        self: &Arc<Self>,
        handler: &Arc<dyn RequestHandler>,
        (permissions, origin): (Permissions, RequestOrigin),
        action: impl FnOnce(&mut Connection, Instant) -> T,
        on_requests: impl FnOnce(Vec<RequestKey>),
    ) -> T {
        let now = self.now();
        let (output, turn) = {
            let mut inner = self.lock();
            inner.permissions = permissions;
            inner.origin = origin;
            let output = action(&mut inner.machine, now);
            self.process_outputs(&mut inner, now);
            inner.permissions = Permissions::default();
            inner.origin = RequestOrigin::default();
            // All of them are new: each caller takes its own before it unlocks.
            on_requests(inner.requests.new_keys().collect());
            inner.wake_driver();
            (output, Turn::take_new(&mut inner, self))
        };
        self.dispatch(turn, handler, now);
        output
    }

    /// Waits for the machine's next deadline and handles it, or until the
    /// deadline changes. Returns whether the connection has ended. Only one
    /// caller may wait.
    pub(crate) async fn run_timer(&self) -> bool {
        let mut timer: Option<Pin<Box<Sleep>>> = None;
        let mut was_polled = false;
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.ended {
                return Poll::Ready(true);
            }
            inner.driver_waker = Some(cx.waker().clone());
            if !was_polled && inner.requests.has_deferred() {
                // After other tasks have run.
                cx.waker().wake_by_ref();
            }
            inner.timer_deadline = inner.deadline;
            if let Some(deadline) = inner.deadline.filter(|_| timer.is_none()) {
                timer = Some(Box::pin(tokio::time::sleep_until(
                    self.to_tokio_instant(deadline),
                )));
            }
            let due = timer
                .as_mut()
                .is_some_and(|it| it.as_mut().poll(cx).is_ready());
            if due {
                let now = self.now();
                inner.machine.handle(now, Input::Tick);
                self.process_outputs(&mut inner, now);
            }
            if due || was_polled {
                return Poll::Ready(inner.ended);
            }
            was_polled = true;
            Poll::Pending
        })
        .await
    }

    /// Returns the subscriptions, and how often they changed so far, or `None`
    /// if the connection has ended.
    pub(crate) fn subscriptions(&self) -> Option<(Vec<Box<str>>, u64)> {
        let inner = self.lock_inner();
        let uris = || {
            inner
                .machine
                .subscribed_uris()
                .into_iter()
                .map(Box::from)
                .collect()
        };
        (!inner.machine.has_ended()).then(|| (uris(), inner.subscription_version))
    }

    /// Returns how often the subscriptions changed so far.
    pub(crate) fn subscription_version(&self) -> u64 {
        self.lock_inner().subscription_version
    }

    /// Processes events that did not come from a request, and some deferred
    /// requests.
    pub(crate) fn dispatch_pending(self: &Arc<Self>, handler: &Arc<dyn RequestHandler>) {
        let mut inner = self.lock();
        match Turn::take_next(&mut inner, self) {
            Some(turn) => {
                drop(inner);
                self.dispatch(turn, handler, self.now());
            }
            // Cancelled jobs may have freed capacity.
            None => start_jobs(self, &mut inner),
        }
    }

    fn dispatch(self: &Arc<Self>, turn: Turn, handler: &Arc<dyn RequestHandler>, now: Instant) {
        let dispatched = turn.dispatch(self, handler, now);
        dispatched.finish(self, &mut self.lock());
    }

    /// Closes the connection and cancels everything started for it.
    pub(crate) fn close(&self, handler: &Arc<dyn RequestHandler>) {
        let now = self.now();
        let mut inner = self.lock();
        inner.machine.handle(now, Input::Closed);
        self.process_outputs(&mut inner, now);
        inner.drop_all();
        inner.wake_driver();
        drop(inner);
        // The subscriptions of this client end.
        self.report_subscription_changes(handler);
    }
}
