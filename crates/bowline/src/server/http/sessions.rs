//! The sessions that are open, and when they are over.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    options::{ClientLimits, HttpOptions},
    seats::{Full, Seated, Seats, Standing},
    session::{Session, lock},
    store::SessionStore,
};
use crate::proto::http::SessionId;

/// The sessions that are open.
pub(super) struct Sessions {
    open: Arc<Table>,
    pub(super) life: Life,
}

/// How long sessions live, and where that is noted.
#[derive(Clone)]
pub(super) struct Life {
    pub(super) idle: Duration,
    /// The same, for one whose client never said that it is initialised.
    pub(super) uninitialized: Duration,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    /// The name of this node there.
    pub(super) node: Arc<str>,
}

type Table = Mutex<Seats<Arc<Session>>>;

impl Seated for Arc<Session> {
    fn standing(&self) -> Standing {
        Session::standing(self)
    }
}

impl Sessions {
    pub(super) fn new(options: &HttpOptions, life: Life) -> Self {
        let max = ClientLimits {
            max_sessions: options.sessions,
            max_session_bytes: options.max_session_bytes,
            ..ClientLimits::NONE
        };
        Self {
            open: Arc::new(Mutex::new(Seats::new(max, options.per_client))),
            life,
        }
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.open).len()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        lock(&self.open).get(id).cloned()
    }

    /// Keeps a session, and sees to its timers until it is over. If somebody
    /// was first with that id, theirs is the session. Others may have to give
    /// way to it.
    pub(super) fn add(&self, session: Arc<Session>) -> Result<Arc<Session>, Full> {
        let bytes = session.held_bytes();
        let mut table = lock(&self.open);
        if let Some(first) = table.get(&session.id).cloned() {
            drop(table);
            session.close();
            return Ok(first);
        }
        let (id, holder) = (&session.id, &session.account.holder);
        let added = table.add(id, holder, Arc::clone(&session), bytes);
        drop(table);
        match added {
            Ok(gone) => give_up(gone, &self.life),
            Err(Full) => {
                session.close();
                return Err(Full);
            }
        }
        let table = Arc::downgrade(&self.open);
        tokio::spawn(watch(table, Arc::clone(&session), self.life.clone()));
        Ok(session)
    }

    /// Counts what a session keeps anew.
    pub(super) fn reweigh(&self, session: &Session) {
        reweigh(&self.open, session, &self.life);
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
        let open = lock(&self.open).drain();
        open.iter().for_each(|session| session.close());
    }
}

/// Closes those that had to give way. Those that no other node has are not to
/// be taken up elsewhere either: whoever opens many would fill the store.
fn give_up(sessions: Vec<Arc<Session>>, life: &Life) {
    for session in sessions {
        session.close();
        if let Some(store) = life.store.clone() {
            let node = Arc::clone(&life.node);
            tokio::spawn(async move { session.forget_unless_moved(&*store, &node).await });
        }
    }
}

fn reweigh(table: &Table, session: &Session, life: &Life) {
    let bytes = session.held_bytes();
    let gone = lock(table).reweigh(&session.id, bytes);
    give_up(gone, life);
}

impl Life {
    /// How long a session that nobody uses lives.
    pub(super) fn idle(&self, initialized: bool) -> Duration {
        if initialized {
            self.idle
        } else {
            self.uninitialized
        }
    }

    /// When a session is to be closed, if nothing happens until then.
    fn end(&self, session: &Session) -> Instant {
        let Standing {
            initialized,
            connected,
            used,
        } = session.standing();
        let since = if connected { Instant::now() } else { used };
        since + self.idle(initialized)
    }
}

/// Keeps a session's time, and closes it when nobody uses it any more.
async fn watch(table: Weak<Table>, session: Arc<Session>, life: Life) {
    loop {
        let expires = life.end(&session);
        tokio::select! {
            // First, since the other wakes at everything that happens.
            biased;
            () = tokio::time::sleep_until(expires) => {
                if life.end(&session) <= Instant::now() {
                    break;
                }
                if let Some(store) = &life.store {
                    session.note_use(&**store, &life).await;
                }
            }
            ended = session.shared().keep_time() => {
                if ended {
                    break;
                }
                session.attend();
                if let Some(table) = table.upgrade() {
                    reweigh(&table, &session, &life);
                }
                session.note_watched_later(&life);
            }
            () = session.weighs_otherwise.notified() => {
                if let Some(table) = table.upgrade() {
                    reweigh(&table, &session, &life);
                }
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
    if found.is_some_and(|open| Arc::ptr_eq(open, session)) {
        table.remove(&session.id);
    }
}
