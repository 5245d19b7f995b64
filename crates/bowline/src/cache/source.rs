//! The state of one connection: its notifications, session and statistics.

use tokio::sync::watch;

use super::{CacheStats, key::Invalidation};
use crate::client::{Client, Health, Notification, Notifications};

/// One connection, as seen by the cache.
///
/// Notifications are processed not by a separate task but at each lookup, before it. So
/// a caller that knows of a change, because the server sent it earlier on the same
/// connection, never gets an older item.
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
            notifications: client.subscribe_to_list_changes(),
            health,
            session,
            stats: CacheStats::default(),
        }
    }

    /// Returns the invalidations since the last call.
    pub(super) fn drain_invalidations(&mut self) -> Vec<Invalidation> {
        let mut invalidations = Vec::new();
        let session = self.health.borrow().sessions;
        // Requests made before the first session are answered in it.
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
        // List changes may also have been missed while disconnected.
        Notification::Resubscribed { uris } => {
            invalidations.push(Invalidation::Lists);
            invalidations.extend(uris.into_iter().map(Invalidation::Related));
        }
        Notification::SubscriptionLost { uri } => invalidations.push(Invalidation::Related(uri)),
        // The lost notifications may have been about anything.
        Notification::Lost(_) => invalidations.push(Invalidation::Everything),
        _ => {}
    }
}
