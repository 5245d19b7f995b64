//! The connections of a server, and their common end.

use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use super::{driver::Driver, shared::Shared, stopping::Stopping};
use crate::{
    proto::server::{Config, Connection},
    server::{request::Handle, service::Serving},
    transport::Link,
};

/// The connections of a server, or of a part of it that can end by itself.
#[derive(Default)]
pub(crate) struct Connections {
    open: Mutex<Vec<Weak<Shared>>>,
    parts: Mutex<Vec<Weak<Connections>>>,
    stopping: Stopping,
}

impl Connections {
    /// Serves one client until its link is gone.
    pub(crate) async fn serve(
        &self,
        handle: Arc<dyn Handle>,
        config: Arc<Config>,
        serving: Serving,
        principal: Option<Arc<str>>,
        link: Box<dyn Link>,
    ) {
        let shared = Shared::new(Connection::new(config), link, serving, principal);
        self.register(&shared);
        let serving = Serves(Arc::clone(&shared), Arc::clone(&handle));
        // In a task of its own: `block_on`, where this is likely to be awaited,
        // runs on a thread that has to be woken for each frame.
        let ended = tokio::spawn(Driver::new(shared, handle)).await;
        drop(serving);
        if let Err(error) = ended
            && let Ok(panic) = error.try_into_panic()
        {
            resume_unwind(panic);
        }
    }

    /// Counts a connection among those that are open, for as long as it is
    /// held elsewhere. One that comes after the end was called for ends, too.
    pub(crate) fn register(&self, shared: &Arc<Shared>) {
        add(&self.open, shared);
        if let Some(grace) = self.stopping.grace() {
            stop(shared, grace);
        }
    }

    /// A part, which can end by itself and ends with the whole.
    #[cfg(feature = "http-server")]
    pub(crate) fn part(&self) -> Arc<Self> {
        let part = Arc::new(Self::default());
        add(&self.parts, &part);
        if let Some(grace) = self.stopping.grace() {
            part.stop(grace);
        }
        part
    }

    /// Whether the end was called for.
    pub(crate) fn stopping(&self) -> &Stopping {
        &self.stopping
    }

    /// Does something to every connection that is open.
    pub(crate) fn each(&self, mut act: impl FnMut(&Arc<Shared>)) {
        self.visit(&mut act);
    }

    /// Ends all connections, when their calls are done or the grace is over.
    pub(crate) fn stop(&self, grace: Duration) {
        // First: whoever registers from here on sees it.
        self.stopping.begin(grace);
        alive(&self.open).iter().for_each(|it| stop(it, grace));
        alive(&self.parts).iter().for_each(|it| it.stop(grace));
    }

    fn visit(&self, act: &mut dyn FnMut(&Arc<Shared>)) {
        alive(&self.open).iter().for_each(&mut *act);
        alive(&self.parts).iter().for_each(|part| part.visit(act));
    }
}

/// A client that is being served. Dropping it gives that up, and everything
/// that was started for it.
struct Serves(Arc<Shared>, Arc<dyn Handle>);

impl Drop for Serves {
    fn drop(&mut self) {
        self.0.give_up_serving(&self.1);
    }
}

fn stop(connection: &Shared, grace: Duration) {
    connection.command(|machine, now| machine.shutdown(now, grace));
}

fn add<T>(list: &Mutex<Vec<Weak<T>>>, item: &Arc<T>) {
    let mut list = lock(list);
    // Now and then: not all of them for each one that is added.
    if list.len() == list.capacity() {
        list.retain(|item| item.strong_count() > 0);
    }
    list.push(Arc::downgrade(item));
}

fn alive<T>(list: &Mutex<Vec<Weak<T>>>) -> Vec<Arc<T>> {
    lock(list).iter().filter_map(Weak::upgrade).collect()
}

fn lock<T>(list: &Mutex<Vec<T>>) -> MutexGuard<'_, Vec<T>> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}
