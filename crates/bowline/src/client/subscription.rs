//! Hearing of the changes of one resource.

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

/// The changes of one resource, for as long as this is kept. It survives
/// reconnections; dropping it ends the subscription.
#[derive(Debug)]
#[must_use = "dropping a subscription ends it"]
pub struct Subscription {
    notifications: Notifications,
    guard: SubscriptionGuard,
}

/// What is known of a resource that is subscribed to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// It has changed, or one below it has.
    Updated(Box<ResourceUpdatedParams>),
    /// It may have changed: the connection was down for a while, or changes
    /// came faster than they were taken.
    Missed,
    /// The server does not honour the subscription any more. Nothing follows.
    Lost,
}

impl Subscription {
    pub(super) async fn start(
        client: &Client,
        uri: Box<str>,
        options: CallOptions,
    ) -> Result<Self, Error> {
        // Listening comes first, so that no change falls between.
        let notifications = client.unsolicited_notifications();
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

    /// The resource.
    #[must_use]
    pub fn uri(&self) -> &str {
        &self.guard.uri
    }

    /// The next change; `None` once the connection, or the subscription, is
    /// over.
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

    /// Ends the subscription and waits for the server to confirm. Does nothing
    /// on the wire while others subscribe to the same resource. Fails where the
    /// server refuses.
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

    /// The same changes as a [`Stream`].
    pub fn into_stream(self) -> impl Stream<Item = Change> + Send {
        Unfold::new(self, async |mut subscription| {
            let next = subscription.next().await?;
            Some((next, subscription))
        })
    }

    /// Whether news of `uri` are news of the resource: the server may name one
    /// below it.
    fn matches_uri(&self, uri: &str) -> bool {
        let suffix = uri.strip_prefix(&*self.guard.uri);
        suffix.is_some_and(|rest| {
            rest.is_empty() || self.guard.uri.ends_with('/') || rest.starts_with(['/', '?', '#'])
        })
    }
}

/// How a resource is wanted.
#[derive(Debug, Default)]
pub(super) struct SubscriberCount {
    /// By how many.
    count: usize,
    /// Whether the server was told.
    is_active: bool,
}

/// One of those who want a resource to be subscribed to. The last one to go
/// ends the subscription.
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

    /// Lets go; says whether the server should be told.
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
            // Nobody waits for the answer.
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
