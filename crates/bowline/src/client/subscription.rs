//! Subscriptions to a resource.

use std::sync::Arc;

use futures_core::Stream;

use super::{
    Client, Error, Operation, call,
    notification::{Notification, Notifications},
    shared::Shared,
    unfold::Unfold,
};
use crate::proto::{
    client::CallOptions,
    model::{EmptyResult, ResourceUpdatedParams, method},
};

/// A subscription to the changes of one resource. It survives reconnections and ends
/// when it is dropped.
#[derive(Debug)]
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    notifications: Notifications,
    guard: SubscriptionGuard,
}

/// A change to a subscribed resource.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The resource, or one below it, has changed.
    Updated(Box<ResourceUpdatedParams>),
    /// The resource may have changed: the connection was down for a while, or changes
    /// arrived faster than they were received.
    Missed,
    /// The server no longer honors the subscription. No further changes follow.
    Lost,
}

impl Subscription {
    pub(super) async fn start(
        client: &Client,
        uri: Box<str>,
        options: CallOptions,
    ) -> Result<Self, Error> {
        // Start receiving first, so no change is missed in between.
        let notifications = client.notifications();
        let guard = SubscriptionGuard::acquire(client, &uri);
        let shared = client.shared();
        let method = method::RESOURCES_SUBSCRIBE;
        let pending_call =
            shared.call_method(method, |machine, now| machine.subscribe(now, &uri, options));
        call::decode_outcome::<EmptyResult>(shared, method, pending_call.await)?;
        if let Some(subscribers) = shared.host.subscriptions().get_mut(&uri) {
            subscribers.is_active = true;
        }
        Ok(Self {
            notifications,
            guard,
        })
    }

    /// Returns the URI of the resource.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.guard.uri
    }

    /// Returns the next change, or `None` once the connection or the subscription has
    /// ended.
    pub async fn next(&mut self) -> Option<Change> {
        loop {
            match self.notifications.next().await? {
                Notification::ResourceUpdated(update) if self.matches_uri(&update.uri) => {
                    return Some(Change::Updated(update));
                }
                Notification::Resubscribed { uris } if uris.contains(&self.guard.uri) => {
                    return Some(Change::Missed);
                }
                Notification::Lost(_) => return Some(Change::Missed),
                Notification::SubscriptionLost { uri } if uri == self.guard.uri => {
                    self.notifications.close();
                    return Some(Change::Lost);
                }
                _ => {}
            }
        }
    }

    /// Ends the subscription and waits for the server to confirm. Sends nothing while
    /// there are other subscriptions to the same resource. Fails if the server returns
    /// an error.
    pub fn unsubscribe(self) -> Operation<'static, ()> {
        Operation::new(|options| self.unsubscribe_with(options))
    }

    async fn unsubscribe_with(mut self, options: CallOptions) -> Result<(), Error> {
        if !self.guard.release() {
            return Ok(());
        }
        let uri = self.guard.uri.clone();
        let shared = Arc::clone(&self.guard.shared);
        let method = method::RESOURCES_UNSUBSCRIBE;
        let pending_call = shared.call_method(method, |machine, now| {
            machine.unsubscribe(now, &uri, options)
        });
        call::decode_outcome::<EmptyResult>(&shared, method, pending_call.await).map(drop)
    }

    /// Converts the subscription into a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Change> + Send {
        Unfold::new(self, async |mut subscription| {
            let next = subscription.next().await?;
            Some((next, subscription))
        })
    }

    /// Returns whether a change of `uri` concerns this resource: the server may name
    /// one below it.
    fn matches_uri(&self, uri: &str) -> bool {
        let suffix = uri.strip_prefix(&*self.guard.uri);
        suffix.is_some_and(|rest| {
            rest.is_empty() || self.guard.uri.ends_with('/') || rest.starts_with(['/', '?', '#'])
        })
    }
}

/// The subscribers of a resource.
#[derive(Debug, Default)]
pub(super) struct SubscriberCount {
    /// The number of subscribers.
    count: usize,
    /// Whether the server has been asked to subscribe.
    is_active: bool,
}

/// One subscriber of a resource. Dropping the last one ends the subscription.
struct SubscriptionGuard {
    shared: Arc<Shared>,
    uri: Box<str>,
    released: bool,
}

impl SubscriptionGuard {
    fn acquire(client: &Client, uri: &str) -> Self {
        let shared = Arc::clone(client.shared());
        shared
            .host
            .subscriptions()
            .entry(uri.into())
            .or_default()
            .count += 1;
        Self {
            shared,
            uri: uri.into(),
            released: false,
        }
    }

    /// Releases the guard. Returns whether to unsubscribe from the server.
    fn release(&mut self) -> bool {
        if std::mem::replace(&mut self.released, true) {
            return false;
        }
        let mut subscriptions = self.shared.host.subscriptions();
        match subscriptions.get_mut(&self.uri) {
            Some(subscribers) if subscribers.count > 1 => {
                subscribers.count -= 1;
                false
            }
            _ => subscriptions
                .remove(&self.uri)
                .is_some_and(|subscribers| subscribers.is_active),
        }
    }
}

impl Drop for SubscriptionGuard {
    fn drop(&mut self) {
        if self.release() {
            // The response is not needed.
            let options = CallOptions::default();
            self.shared.command(|machine, now| {
                machine.unsubscribe(now, &self.uri, options);
            });
        }
    }
}

impl std::fmt::Debug for SubscriptionGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.uri.fmt(f)
    }
}
