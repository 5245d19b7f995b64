//! Resource subscriptions and their notifications.
//!
//! The state machines keep the sets; this module grants subscriptions, adds
//! them up over all connections, and reports them to the application.

use std::{
    collections::{BTreeSet, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard},
};

use super::{
    request::{Dispatched, OpenChannel, Request, SubscriptionChange, pending},
    tools::check_scopes,
};
use crate::{
    proto::{
        jsonrpc::ErrorObject,
        model::{EmptyResult, SubscribeParams},
        server::{Reply, errors},
    },
    server::{
        capability::CapabilitySet,
        changes::Change,
        service::{Core, Service},
    },
    sync,
};

/// Called with the subscribed URIs.
pub(crate) type SubscriptionsCallback = Arc<dyn Fn(&BTreeSet<String>) + Send + Sync>;

/// The listener for subscribed URIs, and its state.
#[derive(Default)]
pub(crate) struct SubscriptionListener {
    pub(crate) listener: Option<SubscriptionsCallback>,
    counts: Mutex<SubscriptionCounts>,
}

/// The subscribed URIs and their counts. Updated incrementally: searching all
/// connections on each change would let one client keep all others waiting.
#[derive(Default)]
struct SubscriptionCounts {
    /// Shared with the application while it is notified.
    uris: Arc<BTreeSet<String>>,
    /// Whether the application has yet to be notified of the last change.
    has_changed: bool,
    /// Whether the application is being notified.
    is_notifying: bool,
    /// Negative if the end of a subscription was counted before its start.
    counts: HashMap<Box<str>, isize>,
}

impl SubscriptionCounts {
    /// Counts a change. The application is notified if a URI is newly
    /// subscribed to, or no longer.
    fn apply(&mut self, change: SubscriptionChange) {
        let SubscriptionChange { uri, is_subscribed } = change;
        let count = self.counts.entry(uri.clone()).or_default();
        *count += if is_subscribed { 1 } else { -1 };
        let count = *count;
        if count == 0 {
            self.counts.remove(&uri);
        }
        let is_subscribed = count > 0;
        if is_subscribed == self.uris.contains(&*uri) {
            return;
        }
        self.has_changed = true;
        let uris = Arc::make_mut(&mut self.uris);
        if is_subscribed {
            uris.insert(uri.into());
        } else {
            uris.remove(&*uri);
        }
    }
}

impl SubscriptionListener {
    pub(crate) fn new(listener: Option<SubscriptionsCallback>) -> Self {
        Self {
            listener,
            counts: Mutex::default(),
        }
    }

    /// Notifies the application, if there are changes.
    fn notify(&self, changes: Vec<SubscriptionChange>) {
        let Some(listener) = &self.listener else {
            return;
        };
        let mut counts = self.lock_counts();
        for change in changes {
            counts.apply(change);
        }
        // One at a time, so the application receives changes in order. Changes
        // made during a notification, perhaps by the listener itself, are
        // reported next by the same caller.
        if counts.is_notifying {
            return;
        }
        counts.is_notifying = true;
        while std::mem::take(&mut counts.has_changed) {
            let uris = Arc::clone(&counts.uris);
            drop(counts);
            // This is application code, called inline: a panic must not escape.
            let _ = catch_unwind(AssertUnwindSafe(|| listener(&uris)));
            drop(uris);
            counts = self.lock_counts();
        }
        counts.is_notifying = false;
    }

    fn lock_counts(&self) -> MutexGuard<'_, SubscriptionCounts> {
        sync::lock(&self.counts)
    }
}

/// Notifying subscribers.
impl<S: Send + Sync + 'static> Service<S> {
    /// Notifies all clients that are subscribed to a resource that it changed.
    /// Returns whether this node has any; with a
    /// [`change_bus`](crate::server::Server::change_bus), those of other nodes are
    /// notified too.
    ///
    /// Subscriptions are by exact URI: if a change below a subscribed resource
    /// is a change of it too, report both.
    pub fn resource_updated(&self, uri: &str) -> bool {
        self.core.relay_change(|| Change::Resource(uri.into()));
        self.core.notify_clients_of_resource(uri)
    }

    /// Returns the resources that clients are subscribed to.
    #[must_use]
    pub fn subscribed_resources(&self) -> BTreeSet<String> {
        self.core.subscribed_resources()
    }
}

impl Core {
    /// Notifies the application of changed subscriptions.
    pub(crate) fn notify_subscriptions_changed(&self, changes: Vec<SubscriptionChange>) {
        self.subscription_listener.notify(changes);
    }

    /// Notifies the clients of this node that are subscribed to a resource. Returns
    /// whether there are any.
    pub(crate) fn notify_clients_of_resource(&self, uri: &str) -> bool {
        let mut notified = false;
        self.connections.for_each(|connection| {
            notified |= connection.resource_updated(uri);
        });
        notified
    }

    pub(crate) fn subscribed_resources(&self) -> BTreeSet<String> {
        let mut uris = BTreeSet::new();
        self.connections.for_each(|connection| {
            connection.inspect(|machine| {
                uris.extend(machine.subscribed_uris().into_iter().map(str::to_owned));
            });
        });
        uris
    }
}

impl Core {
    pub(crate) fn subscribe(self: Arc<Self>, request: Request, _: OpenChannel<'_>) -> Dispatched {
        pending(async move { self.try_subscribe(&request) })
    }

    /// Grants a subscription to what exists: a resource, a URI that matches a
    /// template, and any URI that a source allows, whether it exists or not.
    fn try_subscribe(&self, request: &Request) -> Result<Reply, ErrorObject> {
        let params: SubscribeParams = request.parse_params()?;
        let uri = &params.uri;
        let declared = CapabilitySet::declared_by(&request.context.client.capabilities);
        let is_allowed = |needs: CapabilitySet| needs.difference(declared).is_empty();
        let catalog = self.catalog();
        check_scopes(catalog.resource_scopes(uri), &request.permissions)?;
        let mut templates = catalog.templates.items().iter();
        let is_granted = match catalog.resources.get(uri) {
            Some(resource) => is_allowed(resource.shared.needs),
            None => {
                templates.any(|it| {
                    is_allowed(it.shared.needs) && it.shared.pattern.parse_uri(uri).is_some()
                }) || self
                    .sources
                    .iter()
                    .any(|source| is_allowed(source.needs) && source.is_subscribable(uri))
            }
        };
        if is_granted {
            Ok(request.encode_reply(EmptyResult::default()))
        } else {
            Err(errors::resource_not_found(request.context.rules, uri))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{OnceLock, mpsc},
        time::Duration,
    };

    use super::*;

    fn change(uri: &str, is_subscribed: bool) -> SubscriptionChange {
        let uri = uri.into();
        SubscriptionChange { uri, is_subscribed }
    }

    #[test]
    fn the_application_hears_of_the_first_who_watches_and_of_the_last() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&reported);
        let subscriptions =
            SubscriptionListener::new(Some(Arc::new(move |uris: &BTreeSet<String>| {
                log.lock().expect("no panic").push(uris.len());
            })));
        subscriptions.notify(vec![change("a:1", true), change("a:2", true)]);
        subscriptions.notify(vec![change("a:1", true)]);
        subscriptions.notify(vec![change("a:1", false)]);
        subscriptions.notify(vec![change("a:1", false)]);
        assert_eq!(*reported.lock().expect("no panic"), [2, 1]);
        // The order of the changes does not matter.
        subscriptions.notify(vec![change("a:3", false)]);
        subscriptions.notify(vec![change("a:3", true)]);
        subscriptions.notify(vec![change("a:2", false)]);
        assert_eq!(*reported.lock().expect("no panic"), [2, 1, 0]);
        let watched = subscriptions.lock_counts();
        assert!(watched.counts.is_empty() && watched.uris.is_empty());
    }

    #[test]
    fn the_application_may_bring_about_changes_when_it_hears_of_one() {
        let subscriptions = Arc::new(OnceLock::<SubscriptionListener>::new());
        let theirs = Arc::clone(&subscriptions);
        let (sender, reported) = mpsc::channel();
        let listener = move |uris: &BTreeSet<String>| {
            sender.send(uris.len()).expect("somebody listens");
            if uris.len() == 1 {
                let subscriptions = theirs.get().expect("it is there");
                subscriptions.notify(vec![change("a:2", true)]);
                // The listener is notified of that once it returns.
                sender.send(0).expect("somebody listens");
            }
        };
        let set = subscriptions.set(SubscriptionListener::new(Some(Arc::new(listener))));
        assert!(set.is_ok());
        // On its own thread, so that the test fails if a lock is taken twice.
        std::thread::spawn(move || {
            let subscriptions = subscriptions.get().expect("it is there");
            subscriptions.notify(vec![change("a:1", true)]);
        });
        let next = || reported.recv_timeout(Duration::from_secs(60));
        let all = [next(), next(), next()].map(|it| it.expect("it is not stuck"));
        assert_eq!(all, [1, 0, 2]);
    }
}
