//! What is known of one connection: its news, its session, its numbers.

use tokio::sync::watch;

use super::{Stats, key::Stale};
use crate::client::{Client, Health, Notification, Notifications};

/// One connection, as seen by the cache.
///
/// News are not taken by a task of their own but by whoever looks something
/// up, before the look. So nobody who knows of a change, because the server
/// told of it earlier on the same connection, is given what was before it.
pub(super) struct Source {
    notifications: Notifications,
    health: watch::Receiver<Health>,
    session: u64,
    pub(super) stats: Stats,
}

impl Source {
    pub(super) fn new(client: &Client) -> Self {
        let health = client.watch_health();
        let session = health.borrow().sessions;
        Self {
            notifications: client.notifications(),
            health,
            session,
            stats: Stats::default(),
        }
    }

    /// What has become stale since the last time.
    pub(super) fn news(&mut self) -> Vec<Stale> {
        let mut stale = Vec::new();
        let session = self.health.borrow().sessions;
        // What was asked before the first session is answered in it.
        if session != self.session && (self.session, session) != (0, 1) {
            stale.push(Stale::Everything);
        }
        self.session = session;
        while let Some(notification) = self.notifications.try_next() {
            tell(notification, &mut stale);
        }
        stale
    }
}

fn tell(notification: Notification, stale: &mut Vec<Stale>) {
    match notification {
        Notification::ToolsChanged => stale.push(Stale::Tools),
        Notification::PromptsChanged => stale.push(Stale::Prompts),
        Notification::ResourcesChanged => stale.push(Stale::ResourceLists),
        Notification::ResourceUpdated(params) => {
            stale.push(Stale::Around(params.uri.into_boxed_str()));
        }
        // In the gap, changes of the lists may have been missed as well.
        Notification::Resubscribed { uris } => {
            stale.push(Stale::Lists);
            stale.extend(uris.into_iter().map(Stale::Around));
        }
        Notification::SubscriptionLost { uri } => stale.push(Stale::Around(uri)),
        // Among what was lost may have been anything.
        Notification::Lost(_) => stale.push(Stale::Everything),
        _ => {}
    }
}
