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
    shared::Shared,
    work::{dispatch, resume},
};
use crate::{
    proto::{
        Instant,
        server::{Connection, Incoming, Input},
    },
    server::{
        auth::grant::Granted,
        request::{Handle, SentBy},
    },
};

impl Shared {
    /// Takes something in: does it to the machine, says which requests came of
    /// it, and has them worked on. They may do what is granted, and count for
    /// their sender until nobody works on them any more.
    pub(crate) fn take_in<T>(
        self: &Arc<Self>,
        handle: &Arc<dyn Handle>,
        (granted, sender): (Granted, SentBy),
        act: impl FnOnce(&mut Connection, Instant) -> T,
        arrived: impl FnOnce(Vec<Incoming>),
    ) -> T {
        let now = self.now();
        let taken = {
            let mut inner = self.lock();
            // Somebody else may be about to have theirs worked on.
            let earlier: Vec<_> = inner.arrivals.new_ones().collect();
            inner.granted = granted;
            inner.sender = sender;
            let taken = act(&mut inner.machine, now);
            self.settle(&mut inner, now);
            inner.granted = Granted::default();
            inner.sender = SentBy::default();
            let new = inner.arrivals.new_ones();
            arrived(new.filter(|it| !earlier.contains(it)).collect());
            inner.wake_driver();
            taken
        };
        dispatch(self, handle, now);
        taken
    }

    /// Waits for the machine's next deadline and tells it, or until there is
    /// another one. Says whether the connection is over. Only one may wait.
    pub(crate) async fn keep_time(&self) -> bool {
        let mut timer: Option<Pin<Box<Sleep>>> = None;
        let mut waited = false;
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.ended {
                return Poll::Ready(true);
            }
            inner.driver = Some(cx.waker().clone());
            if !waited && inner.arrivals.has_put_off() {
                // After the others have had their turn.
                cx.waker().wake_by_ref();
            }
            inner.awaited = inner.deadline;
            if let Some(deadline) = inner.deadline.filter(|_| timer.is_none()) {
                timer = Some(Box::pin(tokio::time::sleep_until(self.clock(deadline))));
            }
            let due = timer
                .as_mut()
                .is_some_and(|it| it.as_mut().poll(cx).is_ready());
            if due {
                let now = self.now();
                inner.machine.handle(now, Input::Tick);
                self.settle(&mut inner, now);
            }
            if due || waited {
                return Poll::Ready(inner.ended);
            }
            waited = true;
            Poll::Pending
        })
        .await
    }

    /// What is watched, and how often that changed so far; nothing where the
    /// connection is over.
    pub(crate) fn watched(&self) -> Option<(Vec<Box<str>>, u64)> {
        let inner = self.lock_quietly();
        let uris = || inner.machine.watched().into_iter().map(Box::from).collect();
        (!inner.machine.has_ended()).then(|| (uris(), inner.watch_count))
    }

    /// How often it changed so far what is watched.
    pub(crate) fn watch_count(&self) -> u64 {
        self.lock_quietly().watch_count
    }

    /// Does what came of something that happened by itself, and a part of what
    /// was put off.
    pub(crate) fn attend(self: &Arc<Self>, handle: &Arc<dyn Handle>) {
        dispatch(self, handle, self.now());
        resume(self, handle);
    }

    /// The client is gone: all that was started for it is given up.
    pub(crate) fn close(&self, handle: &Arc<dyn Handle>) {
        let now = self.now();
        let mut inner = self.lock();
        inner.machine.handle(now, Input::Closed);
        self.settle(&mut inner, now);
        inner.let_go();
        inner.wake_driver();
        drop(inner);
        // What this client watched, it watches no longer.
        self.tell_watched(handle);
    }
}
