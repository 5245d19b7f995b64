//! The connections of a server and their shutdown.

use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::{driver::Driver, shared::SharedConnection, shutdown::ShutdownSignal};
use crate::{
    proto::server::{Config, Connection},
    server::{dispatch::request::RequestHandler, service::ServeOptions},
    sync,
    transport::Link,
};

/// The connections of a server, or of a part of it that can shut down
/// separately.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<Vec<Weak<SharedConnection>>>,
    children: Mutex<Vec<Weak<Connections>>>,
    stopping: ShutdownSignal,
}

impl Connections {
    /// Serves one client until its link is down. Returns when the client closed its end,
    /// or now if it did not.
    pub(crate) async fn serve(
        &self,
        handler: Arc<dyn RequestHandler>,
        config: Arc<Config>,
        serving: ServeOptions,
        principal: Option<Arc<str>>,
        link: Box<dyn Link>,
    ) -> Instant {
        let shared = SharedConnection::new(Connection::new(config), link, serving, principal);
        self.register(&shared);
        let serving = ServeGuard(Arc::clone(&shared), Arc::clone(&handler));
        // On its own task: `block_on`, which likely awaits this, runs on a
        // thread that has to be woken for each frame.
        let ended = tokio::spawn(Driver::new(Arc::clone(&shared), handler)).await;
        drop(serving);
        if let Err(error) = ended
            && let Ok(panic) = error.try_into_panic()
        {
            resume_unwind(panic);
        }
        let closed_at = shared.lock().input_closed_at;
        closed_at.map_or_else(Instant::now, |at| shared.to_tokio_instant(at))
    }

    /// Registers a connection that is driven elsewhere, as long as it is alive.
    /// If shutdown has begun, it is stopped too.
    pub(crate) fn register(&self, shared: &Arc<SharedConnection>) {
        add(&self.open, shared);
        if let Some(timeout) = self.stopping.remaining() {
            stop(shared, timeout);
        }
    }

    /// Creates a part that can shut down separately, and shuts down with the
    /// whole.
    #[cfg(feature = "http-server")]
    pub(crate) fn child(&self) -> Arc<Self> {
        let child = Arc::new(Self::default());
        add(&self.children, &child);
        if let Some(timeout) = self.stopping.remaining() {
            child.stop(timeout);
        }
        child
    }

    /// Returns the shutdown signal.
    pub(crate) fn stopping(&self) -> &ShutdownSignal {
        &self.stopping
    }

    /// Applies a function to every open connection.
    pub(crate) fn for_each(&self, mut action: impl FnMut(&Arc<SharedConnection>)) {
        self.for_each_dyn(&mut action);
    }

    /// Closes all connections when their calls are done or the timeout has
    /// passed.
    pub(crate) fn stop(&self, timeout: Duration) {
        // First: connections registered from here on see it.
        self.stopping.begin(timeout);
        upgrade_all(&self.open)
            .iter()
            .for_each(|it| stop(it, timeout));
        upgrade_all(&self.children)
            .iter()
            .for_each(|it| it.stop(timeout));
    }

    fn for_each_dyn(&self, action: &mut dyn FnMut(&Arc<SharedConnection>)) {
        upgrade_all(&self.open).iter().for_each(&mut *action);
        upgrade_all(&self.children)
            .iter()
            .for_each(|child| child.for_each_dyn(action));
    }
}

/// A client being served. Dropping it stops serving, and cancels everything
/// started for it.
struct ServeGuard(Arc<SharedConnection>, Arc<dyn RequestHandler>);

impl Drop for ServeGuard {
    fn drop(&mut self) {
        self.0.stop_serving(&self.1);
    }
}

fn stop(connection: &SharedConnection, timeout: Duration) {
    connection.command(|machine, now| machine.shutdown(now, timeout));
}

fn add<T>(list: &Mutex<Vec<Weak<T>>>, item: &Arc<T>) {
    let mut list = sync::lock(list);
    // Only when the list is full, not for every insertion.
    if list.len() == list.capacity() {
        list.retain(|item| item.strong_count() > 0);
    }
    list.push(Arc::downgrade(item));
}

fn upgrade_all<T>(list: &Mutex<Vec<Weak<T>>>) -> Vec<Arc<T>> {
    sync::lock(list).iter().filter_map(Weak::upgrade).collect()
}
