//! The sessions that are open, and when they are over.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::session::Session;
use crate::proto::http::SessionId;

/// The sessions that are open.
pub(super) struct Sessions {
    open: Arc<Mutex<HashMap<SessionId, Open>>>,
    places: Arc<Semaphore>,
    idle: Duration,
}

struct Open {
    session: Arc<Session>,
    _place: OwnedSemaphorePermit,
}

type Table = Mutex<HashMap<SessionId, Open>>;

impl Sessions {
    pub(super) fn new(most: usize, idle: Duration) -> Self {
        Self {
            open: Arc::default(),
            places: Arc::new(Semaphore::new(most)),
            idle,
        }
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.open).len()
    }

    /// A place for one more, if there is one.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        let open = lock(&self.open);
        open.get(id).map(|open| Arc::clone(&open.session))
    }

    /// Keeps a session, and sees to its timers until it is over.
    pub(super) fn add(&self, session: &Arc<Session>, place: OwnedSemaphorePermit) {
        let watch = watch(Arc::downgrade(&self.open), Arc::clone(session), self.idle);
        let open = Open {
            session: Arc::clone(session),
            _place: place,
        };
        lock(&self.open).insert(session.id.clone(), open);
        tokio::spawn(watch);
    }

    pub(super) fn remove(&self, id: &SessionId) {
        let removed = lock(&self.open).remove(id);
        if let Some(open) = removed {
            open.session.close();
        }
    }
}

fn lock(table: &Table) -> MutexGuard<'_, HashMap<SessionId, Open>> {
    // Nothing that holds the lock can panic halfway.
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a session's time, and closes it when nobody uses it any more.
async fn watch(table: Weak<Table>, session: Arc<Session>, idle: Duration) {
    loop {
        let expires = session.expires(idle);
        tokio::select! {
            ended = session.shared().keep_time() => {
                if ended {
                    break;
                }
            }
            () = tokio::time::sleep_until(expires) => {
                if session.expires(idle) <= tokio::time::Instant::now() {
                    break;
                }
            }
        }
    }
    if let Some(table) = table.upgrade() {
        lock(&table).remove(&session.id);
    }
    session.close();
}
