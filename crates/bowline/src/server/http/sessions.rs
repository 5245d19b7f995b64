//! The open sessions and their expiry.

use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    options::{ClientLimits, HttpOptions},
    session::Session,
    session_seal::SessionSeal,
    session_slots::{Evictable, NoFreeSlot, SessionActivity, SessionSlots},
    session_stores::SessionStore,
};
use crate::{proto::http::SessionId, sync};

/// The open sessions.
pub(super) struct Sessions {
    table: Arc<SessionTable>,
    pub(super) config: SessionConfig,
}

/// How long sessions live, and where they are stored.
#[derive(Clone)]
pub(super) struct SessionConfig {
    pub(super) idle_timeout: Duration,
    /// The timeout of sessions whose client has not confirmed initialization.
    pub(super) uninitialized_timeout: Duration,
    pub(super) store: Option<Arc<dyn SessionStore>>,
    /// The name of this node in the store.
    pub(super) node: Arc<str>,
    pub(super) seal: Arc<SessionSeal>,
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
        sync::lock(&self.table).len()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<Arc<Session>> {
        sync::lock(&self.table).get(id).cloned()
    }

    /// Adds a session and runs its timers until it ends. If a session with that
    /// id exists, returns that one. May evict other sessions.
    pub(super) fn add(&self, session: Arc<Session>) -> Result<Arc<Session>, NoFreeSlot> {
        let bytes = session.update_accounted_bytes();
        let mut table = sync::lock(&self.table);
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

    /// Updates the size of a session.
    pub(super) fn update_bytes(&self, session: &Session) {
        update_bytes(&self.table, session, &self.config);
    }

    /// Closes a session.
    pub(super) fn remove(&self, session: &Arc<Session>) {
        remove_from(&self.table, session);
        session.close();
    }
}

/// Closes the sessions, which are no longer reachable.
impl Drop for Sessions {
    fn drop(&mut self) {
        let open = sync::lock(&self.table).drain();
        open.iter().for_each(|session| session.close());
    }
}

/// Closes evicted sessions. Their records are removed unless another node has
/// taken the session over: otherwise a client that opens many would fill the store.
fn close_evicted(sessions: Vec<Arc<Session>>, config: &SessionConfig) {
    for session in sessions {
        session.close();
        if let Some(store) = config.store.clone() {
            let node = Arc::clone(&config.node);
            tokio::spawn(async move { session.remove_stored(&*store, &node).await });
        }
    }
}

fn update_bytes(table: &SessionTable, session: &Session, config: &SessionConfig) {
    let bytes = session.update_accounted_bytes();
    let evicted = sync::lock(table).update_bytes(&session.id, bytes);
    close_evicted(evicted, config);
}

impl SessionConfig {
    /// Returns the idle timeout of a session.
    pub(super) fn timeout(&self, initialized: bool) -> Duration {
        if initialized {
            self.idle_timeout
        } else {
            self.uninitialized_timeout
        }
    }

    /// Returns when a session expires if nothing happens until then.
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

/// Runs the timers of a session and closes it when it is idle.
async fn expire_when_idle(table: Weak<SessionTable>, session: Arc<Session>, config: SessionConfig) {
    loop {
        let expires = config.expires_at(&session);
        tokio::select! {
            // First, since the other branch wakes on every event.
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

/// Removes a session from the table, but not one that replaced it.
fn remove_from(table: &SessionTable, session: &Arc<Session>) {
    let mut table = sync::lock(table);
    let found = table.get(&session.id);
    if found.is_some_and(|open| Arc::ptr_eq(open, session)) {
        table.remove(&session.id);
    }
}
