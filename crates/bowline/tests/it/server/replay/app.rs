//! What the tools under test have at hand: a list of what happened.

use std::{
    collections::HashMap,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bowline::server::{Result, form::Elicit};
use tokio::sync::Notify;

use super::program::World;
use crate::sync::lock;

/// The application: everything that has an effect is noted here, so that
/// tests can say what happened, and how often.
#[derive(Debug, Default)]
pub(crate) struct App {
    noted: Mutex<Vec<String>>,
    changed: Notify,
    world: AtomicU64,
}

/// The plainest form.
#[derive(Clone, Debug, Elicit, PartialEq)]
pub(crate) struct Text {
    /// Anything.
    pub(crate) text: String,
}

impl App {
    /// Something with an effect, which ends at once, and returns its name.
    pub(crate) async fn note(&self, what: &str) -> Result<String> {
        self.lock().push(what.to_owned());
        self.changed.notify_waiters();
        Ok(what.to_owned())
    }

    /// The number of the world, which no conversation should depend on.
    pub(crate) fn world(&self) -> u64 {
        self.world.load(Ordering::SeqCst)
    }

    pub(crate) fn change_the_world(&self) {
        self.world.fetch_add(1, Ordering::SeqCst);
    }

    /// Waits until something has happened. What never does fails the test.
    pub(crate) async fn until(&self, what: &str) {
        let happened = async {
            loop {
                let changed = self.changed.notified();
                if self.lock().iter().any(|noted| noted == what) {
                    return;
                }
                changed.await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(600), happened).await;
        assert!(waited.is_ok(), "{what:?} is not in {:?}", self.noted());
    }

    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// What happened so far.
    pub(crate) fn noted(&self) -> Vec<String> {
        self.lock().clone()
    }

    /// How often each thing happened that happened more than once.
    pub(crate) fn repeated(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for what in self.noted() {
            *counts.entry(what).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        counts
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        lock(&self.noted)
    }
}

impl World for App {
    fn world(&self) -> u64 {
        Self::world(self)
    }

    /// Each application has one conversation.
    async fn note(&self, _: &str, what: &str) -> Result<String> {
        Self::note(self, what).await
    }
}
