//! Taking messages in and keeping time, where there is no link to drive.

use std::{
    future::{Future as _, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use tokio::time::Sleep;

use super::{shared::Shared, work::dispatch};
use crate::{
    proto::{
        Instant,
        server::{Connection, Incoming, Input},
    },
    server::request::Handle,
};

impl Shared {
    /// Takes something in: does it to the machine, says which requests came of
    /// it, and has them worked on.
    pub(crate) fn take_in<T>(
        self: &Arc<Self>,
        handle: &Arc<dyn Handle>,
        act: impl FnOnce(&mut Connection, Instant) -> T,
        arrived: impl FnOnce(&[Incoming]),
    ) -> T {
        let now = self.now();
        let taken = {
            let mut inner = self.lock();
            let taken = act(&mut inner.machine, now);
            self.settle(&mut inner, now);
            let requests: Vec<_> = inner.arrived.iter().map(|it| it.incoming).collect();
            arrived(&requests);
            inner.wake_driver();
            taken
        };
        dispatch(self, handle);
        taken
    }

    /// Waits for the machine's next deadline and tells it, or until something
    /// else happens. Says whether the connection is over.
    pub(crate) async fn keep_time(&self) -> bool {
        let mut timer: Option<Pin<Box<Sleep>>> = None;
        let mut woken = false;
        poll_fn(|cx| {
            let mut inner = self.lock();
            if inner.ended || woken {
                return Poll::Ready(inner.ended);
            }
            woken = true;
            inner.driver = Some(cx.waker().clone());
            let Some(deadline) = inner.deadline else {
                return Poll::Pending;
            };
            let until = self.clock(deadline);
            let sleep = timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(until)));
            if sleep.as_mut().poll(cx).is_ready() {
                let now = self.now();
                inner.machine.handle(now, Input::Tick);
                self.settle(&mut inner, now);
                return Poll::Ready(inner.ended);
            }
            Poll::Pending
        })
        .await
    }
}
