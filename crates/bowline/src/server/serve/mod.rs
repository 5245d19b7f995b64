//! Serving clients over links: one machine, one link, one task for each.
//!
//! [`shared`] is what the task and the handlers share, behind one lock;
//! [`driver`] is the task; [`mod@line`] is how a handler reaches its client;
//! [`owed`] is what a client that does not read is told later; [`extension`] is
//! what a server serves that is not in the protocol.

mod driver;
pub(crate) mod extension;
mod line;
mod outlet;
mod owed;
mod shared;
#[cfg(feature = "http-server")]
mod time;
mod work;

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use super::{request::Handle, service::Serving};
use crate::{
    proto::server::{Config, Connection},
    transport::Link,
};
use driver::Driver;
#[cfg(feature = "http-server")]
pub(crate) use outlet::Outlet;
pub(crate) use shared::Shared;

/// The connections of a server.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<Vec<Weak<Shared>>>,
}

impl Connections {
    /// Serves one client until its link is gone.
    pub(crate) async fn serve(
        &self,
        handle: Arc<dyn Handle>,
        config: Config,
        serving: Serving,
        principal: Option<Arc<str>>,
        link: Box<dyn Link>,
    ) {
        let shared = Shared::new(Connection::new(config), link, serving, principal);
        self.register(&shared);
        Driver::new(shared, handle).await;
    }

    /// Counts a connection among those that are open, for as long as it is
    /// held elsewhere.
    pub(crate) fn register(&self, shared: &Arc<Shared>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // Now and then: not all of them for each one that is added.
        if open.len() == open.capacity() {
            open.retain(|connection| connection.strong_count() > 0);
        }
        open.push(Arc::downgrade(shared));
    }

    /// Does something to every connection that is open.
    pub(crate) fn each(&self, act: impl FnMut(&Arc<Shared>)) {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let open: Vec<_> = open.iter().filter_map(Weak::upgrade).collect();
        open.iter().for_each(act);
    }

    pub(crate) fn stop(&self, grace: Duration) {
        self.each(|connection| connection.command(|machine, now| machine.shutdown(now, grace)));
    }
}
