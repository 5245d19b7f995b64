//! The sessions that are open, and when they are over.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use super::{
    session::{Session, lock},
    store::SessionStore,
};
use crate::proto::http::SessionId;

/// The sessions that are open.
pub(super) struct Sessions {
    open: Arc<Table>,
    places: Arc<Semaphore>,
    life: Life,
}

/// How long sessions live, and where that is noted.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) idle: Duration,
    pub(super) store: Option<Arc<dyn SessionStore>>,
}

struct Open {
    session: Arc<Session>,
    _place: OwnedSemaphorePermit,
}

type Table = Mutex<HashMap<SessionId, Open>>;

impl Sessions {
    pub(super) fn new(most: usize, life: Life) -> Self {
        Self {
            open: Arc::default(),
            places: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            life,
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

    /// Keeps a session, and sees to its timers until it is over. If somebody
    /// was first with that id, theirs is the session.
    pub(super) fn add(&self, session: Arc<Session>, place: OwnedSemaphorePermit) -> Arc<Session> {
        let mut table = lock(&self.open);
        if let Some(first) = table.get(&session.id) {
            let first = Arc::clone(&first.session);
            drop(table);
            session.close();
            return first;
        }
        let open = Open {
            session: Arc::clone(&session),
            _place: place,
        };
        table.insert(session.id.clone(), open);
        drop(table);
        let table = Arc::downgrade(&self.open);
        tokio::spawn(watch(table, Arc::clone(&session), self.life.clone()));
        session
    }

    /// Ends a session.
    pub(super) fn remove(&self, session: &Arc<Session>) {
        take_out(&self.open, session);
        session.close();
    }
}

/// Nobody can reach them any more.
impl Drop for Sessions {
    fn drop(&mut self) {
        let open = std::mem::take(&mut *lock(&self.open));
        open.into_values().for_each(|open| open.session.close());
    }
}

/// Keeps a session's time, and closes it when nobody uses it any more.
async fn watch(table: Weak<Table>, session: Arc<Session>, life: Life) {
    loop {
        let expires = session.expires(life.idle);
        tokio::select! {
            // First, since the other wakes at everything that happens.
            biased;
            () = tokio::time::sleep_until(expires) => {
                if session.expires(life.idle) <= Instant::now() {
                    break;
                }
                if let Some(store) = &life.store {
                    session.note_use(&**store, life.idle).await;
                }
            }
            ended = session.shared().keep_time() => {
                if ended {
                    break;
                }
                session.attend();
            }
        }
    }
    if let Some(table) = table.upgrade() {
        take_out(&table, &session);
    }
    session.close();
}

/// Takes a session out of the table, and none that was taken up in its place.
fn take_out(table: &Table, session: &Arc<Session>) {
    let mut table = lock(table);
    let found = table.get(&session.id);
    if found.is_some_and(|open| Arc::ptr_eq(&open.session, session)) {
        table.remove(&session.id);
    }
}
