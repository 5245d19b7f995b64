//! Taking messages in, keeping time and ending, where there is no link to
//! drive.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use tokio::time::Sleep;

use super::{
    jobs::{dispatch, dispatch_deferred},
    shared::SharedConnection,
};
use crate::{
    proto::{
        Instant,
        server::{Connection, Input, RequestKey},
    },
    server::{
        auth::grant::Permissions,
        dispatch::request::{RequestHandler, RequestOrigin},
    },
};

impl SharedConnection {
    /// Takes something in: does it to the machine, says which requests came of
    /// it, and has them worked on. They may do what is granted, and count for
    /// their sender until nobody works on them any more.
    pub(crate) fn handle_input<T>(
        self: &Arc<Self>,
        handler: &Arc<dyn RequestHandler>,
        (permissions, origin): (Permissions, RequestOrigin),
        action: impl FnOnce(&mut Connection, Instant) -> T,
        on_requests: impl FnOnce(Vec<RequestKey>),
    ) -> T {
        let now = self.now();
        let output = {
            let mut inner = self.lock();
            // Somebody else may be about to have theirs worked on.
            let earlier: Vec<_> = inner.requests.new_keys().collect();
            inner.permissions = permissions;
            inner.origin = origin;
            let output = action(&mut inner.machine, now);
            self.process_outputs(&mut inner, now);
            inner.permissions = Permissions::default();
            inner.origin = RequestOrigin::default();
            let new = inner.requests.new_keys();
            on_requests(new.filter(|it| !earlier.contains(it)).collect());
            inner.wake_driver();
            output
        };
        dispatch(self, handler, now);
        output
    }

    /// Waits for the machine's next deadline and tells it, or until there is
    /// another one. Says whether the connection is over. Only one may wait.
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
                // After the others have had their turn.
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

    /// What is watched, and how often that changed so far; nothing where the
    /// connection is over.
    pub(crate) fn subscriptions(&self) -> Option<(Vec<Box<str>>, u64)> {
        let inner = self.lock_unobserved();
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

    /// How often it changed so far what is watched.
    pub(crate) fn subscription_version(&self) -> u64 {
        self.lock_unobserved().subscription_version
    }

    /// Does what came of something that happened by itself, and a part of what
    /// was put off.
    pub(crate) fn dispatch_pending(self: &Arc<Self>, handler: &Arc<dyn RequestHandler>) {
        dispatch(self, handler, self.now());
        dispatch_deferred(self, handler);
    }

    /// The client is gone: all that was started for it is given up.
    pub(crate) fn close(&self, handler: &Arc<dyn RequestHandler>) {
        let now = self.now();
        let mut inner = self.lock();
        inner.machine.handle(now, Input::Closed);
        self.process_outputs(&mut inner, now);
        inner.drop_all();
        inner.wake_driver();
        drop(inner);
        // What this client watched, it watches no longer.
        self.report_subscription_changes(handler);
    }
}
