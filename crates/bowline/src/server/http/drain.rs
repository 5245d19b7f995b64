//! Stopping in order: nothing new, and some time for what is under way.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{sync::watch, time::Instant};

use crate::{
    proto::server::{Connection, Incoming},
    server::{
        request::Handle,
        serve::{Outlet, Shared},
    },
};

/// Whether the end was called for, and until when what is under way may go on.
pub(super) struct Drain {
    until: watch::Sender<Option<Instant>>,
    sentinel: Arc<Shared>,
}

impl Drain {
    pub(super) fn new(handle: &Arc<dyn Handle>) -> Self {
        Self {
            until: watch::Sender::new(None),
            sentinel: sentinel(handle),
        }
    }

    /// Calls for the end. Doing it again can only shorten the grace.
    pub(super) fn begin(&self, grace: Duration) {
        let wanted = Instant::now() + grace;
        self.until.send_if_modified(|until| {
            let sooner = until.is_none_or(|until| wanted < until);
            if sooner {
                *until = Some(wanted);
            }
            sooner
        });
    }

    /// Whether nothing new is to be begun.
    pub(super) fn has_begun(&self) -> bool {
        self.until.borrow().is_some() || self.sentinel.look(Connection::has_ended)
    }

    /// Waits until the end is called for.
    pub(super) fn begun(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut until = self.until.subscribe();
        async move {
            // If nobody can call for it any more, it does not come.
            if until.wait_for(Option::is_some).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Waits until what is under way must end.
    pub(super) fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut until = self.until.subscribe();
        async move {
            loop {
                let deadline = *until.borrow_and_update();
                tokio::select! {
                    () = sleep_until(deadline) => return,
                    Ok(()) = until.changed() => {}
                }
            }
        }
    }

    /// Until when what is under way may go on.
    pub(super) fn deadline(&self) -> Option<Instant> {
        *self.until.borrow()
    }

    /// Waits until the whole server is told to stop, and calls for the end
    /// then.
    pub(super) async fn watch_server(&self, handle: &Arc<dyn Handle>) {
        let sentinel = sentinel(handle);
        while !sentinel.keep_time().await {}
        self.begin(handle.serving().grace);
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

/// A connection to nobody, which ends when the server is told to stop.
fn sentinel(handle: &Arc<dyn Handle>) -> Arc<Shared> {
    let machine = Connection::new(handle.config().clone());
    let sentinel = Shared::with_outlet(machine, Box::new(Nobody), handle.serving().clone(), None);
    handle.connections().register(&sentinel);
    sentinel
}

struct Nobody;

impl Outlet for Nobody {
    fn send(&mut self, _: Option<Incoming>, _: bool, _: Bytes) {}
}
