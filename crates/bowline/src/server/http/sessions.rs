//! The sessions that are open, and when they are over.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    options::{ClientLimits, HttpOptions},
    session::{Session, lock},
    session_slots::{Evictable, NoFreeSlot, SessionActivity, SessionSlots},
    store::SessionStore,
};
use crate::proto::http::SessionId;

/// The sessions that are open.
pub(super) struct Sessions {
    table: Arc<SessionTable>,
    pub(super) config: SessionConfig,
}

/// How long sessions live, and where that is noted.
#[derive(Clone)]
pub(super) struct SessionConfig {
    pub(super) idle_timeout: Duration,
    /// The same, for one whose client never said that it is initialised.
    pub(super) uninitialized_timeout: Duration,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    /// The name of this node there.
    pub(super) node: Arc<str>,
}

type SessionTable = Mutex<SessionSlots<Arc<Session>>>;

impl Evictable for Arc<Session> {
    fn activity(&self) -> SessionActivity {
        Session::activity(self)
    }
}

impl Sessions {
    pub(super) fn new(options: &HttpOptions, config: SessionConfig) -> Self {
        let max = ClientLimits {
            max_sessions: options.max_sessions,
            max_session_bytes: options.max_session_bytes,
            ..ClientLimits::UNLIMITED
        };
        Self {
            table: Arc::new(Mutex::new(SessionSlots::new(max, options.client_limits))),
            config,
        }
    }

    pub(super) fn len(&self) -> usize {
        lock(&self.table).len()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        lock(&self.table).get(id).cloned()
    }

    /// Keeps a session, and sees to its timers until it is over. If somebody
    /// was first with that id, theirs is the session. Others may have to give
    /// way to it.
    pub(super) fn add(&self, session: Arc<Session>) -> Result<Arc<Session>, NoFreeSlot> {
        let bytes = session.update_accounted_bytes();
        let mut table = lock(&self.table);
        if let Some(first) = table.get(&session.id).cloned() {
            drop(table);
            session.close();
            return Ok(first);
        }
        let (id, client) = (&session.id, &session.quota.key);
        let added = table.add(id, client, Arc::clone(&session), bytes);
        drop(table);
        match added {
            Ok(evicted) => close_evicted(evicted, &self.config),
            Err(NoFreeSlot) => {
                session.close();
                return Err(NoFreeSlot);
            }
        }
        let table = Arc::downgrade(&self.table);
        tokio::spawn(expire_when_idle(
            table,
            Arc::clone(&session),
            self.config.clone(),
        ));
        Ok(session)
    }

    /// Counts what a session keeps anew.
    pub(super) fn update_bytes(&self, session: &Session) {
        update_bytes(&self.table, session, &self.config);
    }

    /// Ends a session.
    pub(super) fn remove(&self, session: &Arc<Session>) {
        remove_from(&self.table, session);
        session.close();
    }
}

/// Nobody can reach them any more.
impl Drop for Sessions {
    fn drop(&mut self) {
        let open = lock(&self.table).drain();
        open.iter().for_each(|session| session.close());
    }
}

/// Closes those that had to give way. Those that no other node has are not to
/// be taken up elsewhere either: whoever opens many would fill the store.
fn close_evicted(sessions: Vec<Arc<Session>>, config: &SessionConfig) {
    for session in sessions {
        session.close();
        if let Some(store) = config.store.clone() {
            let node = Arc::clone(&config.node);
            tokio::spawn(async move { session.remove_stored_unless_moved(&*store, &node).await });
        }
    }
}

fn update_bytes(table: &SessionTable, session: &Session, config: &SessionConfig) {
    let bytes = session.update_accounted_bytes();
    let evicted = lock(table).update_bytes(&session.id, bytes);
    close_evicted(evicted, config);
}

impl SessionConfig {
    /// How long a session that nobody uses lives.
    pub(super) fn timeout(&self, initialized: bool) -> Duration {
        if initialized {
            self.idle_timeout
        } else {
            self.uninitialized_timeout
        }
    }

    /// When a session is to be closed, if nothing happens until then.
    fn expires_at(&self, session: &Session) -> Instant {
        let SessionActivity {
            initialized,
            connected,
            last_used,
        } = session.activity();
        let since = if connected { Instant::now() } else { last_used };
        since + self.timeout(initialized)
    }
}

/// Keeps a session's time, and closes it when nobody uses it any more.
async fn expire_when_idle(table: Weak<SessionTable>, session: Arc<Session>, config: SessionConfig) {
    loop {
        let expires = config.expires_at(&session);
        tokio::select! {
            // First, since the other wakes at everything that happens.
            biased;
            () = tokio::time::sleep_until(expires) => {
                if config.expires_at(&session) <= Instant::now() {
                    break;
                }
                if let Some(store) = &config.store {
                    session.refresh_stored(&**store, &config).await;
                }
            }
            ended = session.shared().run_timer() => {
                if ended {
                    break;
                }
                session.dispatch_pending();
                if let Some(table) = table.upgrade() {
                    update_bytes(&table, &session, &config);
                }
                session.schedule_store_subscriptions(&config);
            }
            () = session.size_changed.notified() => {
                if let Some(table) = table.upgrade() {
                    update_bytes(&table, &session, &config);
                }
            }
        }
    }
    if let Some(table) = table.upgrade() {
        remove_from(&table, &session);
    }
    session.close();
}

/// Takes a session out of the table, and none that was taken up in its place.
fn remove_from(table: &SessionTable, session: &Arc<Session>) {
    let mut table = lock(table);
    let found = table.get(&session.id);
    if found.is_some_and(|open| Arc::ptr_eq(open, session)) {
        table.remove(&session.id);
    }
}
