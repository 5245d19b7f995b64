//! What is known of one connection: its news, its session, its numbers.

use tokio::sync::watch;

use super::{CacheStats, key::Invalidation};
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
    pub(super) stats: CacheStats,
}

impl Source {
    pub(super) fn new(client: &Client) -> Self {
        let health = client.watch_health();
        let session = health.borrow().sessions;
        Self {
            notifications: client.notifications(),
            health,
            session,
            stats: CacheStats::default(),
        }
    }

    /// What has become stale since the last time.
    pub(super) fn drain_invalidations(&mut self) -> Vec<Invalidation> {
        let mut invalidations = Vec::new();
        let session = self.health.borrow().sessions;
        // What was asked before the first session is answered in it.
        if session != self.session && (self.session, session) != (0, 1) {
            invalidations.push(Invalidation::Everything);
        }
        self.session = session;
        while let Some(notification) = self.notifications.try_next() {
            push_invalidations(notification, &mut invalidations);
        }
        invalidations
    }
}

fn push_invalidations(notification: Notification, invalidations: &mut Vec<Invalidation>) {
    match notification {
        Notification::ToolsChanged => invalidations.push(Invalidation::Tools),
        Notification::PromptsChanged => invalidations.push(Invalidation::Prompts),
        Notification::ResourcesChanged => invalidations.push(Invalidation::ResourceLists),
        Notification::ResourceUpdated(params) => {
            invalidations.push(Invalidation::Related(params.uri.into_boxed_str()));
        }
        // In the gap, changes of the lists may have been missed as well.
        Notification::Resubscribed { uris } => {
            invalidations.push(Invalidation::Lists);
            invalidations.extend(uris.into_iter().map(Invalidation::Related));
        }
        Notification::SubscriptionLost { uri } => invalidations.push(Invalidation::Related(uri)),
        // Among what was lost may have been anything.
        Notification::Lost(_) => invalidations.push(Invalidation::Everything),
        _ => {}
    }
}
