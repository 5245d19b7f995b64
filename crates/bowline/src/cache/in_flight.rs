//! Sharing of concurrent requests for the same item.

use std::{any::Any, future::Future, sync::Arc};

use tokio::sync::watch;

use super::{
    Shared, State,
    fetch::Fetched,
    key::{Audience, CachedItem, Key, Principal, SourceId},
    store::Value,
};
use crate::client::Error;

/// The outcome of a request, shared by all waiters.
pub(super) type FetchResult = Result<Value, Arc<Error>>;

/// The channel to the waiters of a request. It has no receivers once nothing waits.
pub(super) type InFlightFetch = Arc<watch::Sender<Option<FetchResult>>>;

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FetchKey {
    pub(super) source: SourceId,
    pub(super) principal: Principal,
    pub(super) item: CachedItem,
}

impl FetchKey {
    pub(super) fn private(&self) -> Key {
        self.key(Audience::Only(self.principal.clone()))
    }

    pub(super) fn public(&self) -> Key {
        self.key(Audience::Everyone)
    }

    fn key(&self, audience: Audience) -> Key {
        Key {
            source: self.source,
            audience,
            item: self.item.clone(),
        }
    }
}

/// Spawns the request on a separate task: the first caller may go away while others
/// wait. The request is cancelled when all waiters are gone.
pub(super) fn spawn_fetch<T: Any + Send + Sync>(
    shared: Arc<Shared>,
    fetch_key: FetchKey,
    sender: InFlightFetch,
    fetch: impl Future<Output = Result<Fetched<T>, Error>> + Send + 'static,
) {
    tokio::spawn(async move {
        let guard = FetchGuard {
            shared: &shared,
            fetch_key: &fetch_key,
            sender: &sender,
        };
        let mut fetch = std::pin::pin!(fetch);
        let fetched = loop {
            tokio::select! {
                biased;
                fetched = &mut fetch => break fetched,
                () = sender.closed() => if guard.is_abandoned() {
                    return;
                },
            }
        };
        guard.complete(fetched);
    });
}

/// Waits for the outcome of a request; `None` if its task ended without one.
pub(super) async fn wait_for_fetch(
    mut receiver: watch::Receiver<Option<FetchResult>>,
) -> Option<FetchResult> {
    let outcome = receiver.wait_for(Option::is_some).await.ok()?;
    outcome.clone()
}

/// A request in progress. It is removed from the table however it ends.
struct FetchGuard<'a> {
    shared: &'a Shared,
    fetch_key: &'a FetchKey,
    sender: &'a InFlightFetch,
}

impl FetchGuard<'_> {
    /// Returns whether there are no waiters left. None can be added afterwards.
    fn is_abandoned(&self) -> bool {
        let mut state = self.shared.lock();
        let is_unused = self.sender.receiver_count() == 0;
        if is_unused {
            state.remove_fetch(self.fetch_key, self.sender);
        }
        is_unused
    }

    fn complete<T: Any + Send + Sync>(&self, fetched: Result<Fetched<T>, Error>) {
        let outcome = match fetched {
            Ok(fetched) => {
                let value: Value = Arc::new(fetched.value);
                let ttl = self.shared.config.ttl(&self.fetch_key.item, &fetched.hints);
                let mut state = self.shared.lock();
                // An item that became stale in the meantime is no longer in the table
                // and is only valid for callers that asked before. Later notifications
                // are applied at the next lookup.
                let is_current = state.remove_fetch(self.fetch_key, self.sender);
                if is_current && fetched.is_cacheable {
                    let key = match fetched.hints.is_public() {
                        true => self.fetch_key.public(),
                        false => self.fetch_key.private(),
                    };
                    state.insert(key, Arc::clone(&value), fetched.bytes, ttl);
                }
                Ok(value)
            }
            Err(error) => Err(Arc::new(error)),
        };
        self.shared.lock().remove_fetch(self.fetch_key, self.sender);
        self.sender.send_replace(Some(outcome));
    }
}

impl Drop for FetchGuard<'_> {
    fn drop(&mut self) {
        self.shared.lock().remove_fetch(self.fetch_key, self.sender);
    }
}

impl State {
    /// Removes a request from the table. Returns whether it was there.
    fn remove_fetch(&mut self, fetch_key: &FetchKey, sender: &InFlightFetch) -> bool {
        let is_same = |is_present: &InFlightFetch| Arc::ptr_eq(is_present, sender);
        let is_present = self.in_flight.get(fetch_key).is_some_and(is_same);
        if is_present {
            self.in_flight.remove(fetch_key);
        }
        is_present
    }
}
