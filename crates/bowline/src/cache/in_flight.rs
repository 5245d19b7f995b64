//! One request for all who want the same at the same time.

use std::{any::Any, future::Future, sync::Arc};

use tokio::sync::watch;

use super::{
    Shared, State,
    fetch::Fetched,
    key::{Audience, CachedItem, Key, Principal, SourceId},
    store::Value,
};
use crate::client::Error;

/// How a request ended, for all who wait for it.
pub(super) type FetchResult = Result<Value, Arc<Error>>;

/// Where those who wait are told. Nobody listens any more: nobody waits.
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

/// Makes the request, on a task of its own: whoever asked first may go away
/// while others wait. When all have gone, it is given up.
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

/// Waits for the end of a request; `None` if it vanished without one.
pub(super) async fn wait_for_fetch(
    mut receiver: watch::Receiver<Option<FetchResult>>,
) -> Option<FetchResult> {
    let outcome = receiver.wait_for(Option::is_some).await.ok()?;
    outcome.clone()
}

/// A request under way. Whatever becomes of it, it does not stay in the table.
struct FetchGuard<'a> {
    shared: &'a Shared,
    fetch_key: &'a FetchKey,
    sender: &'a InFlightFetch,
}

impl FetchGuard<'_> {
    /// Whether nobody waits. Nobody can begin to, afterwards.
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
                // What became stale on the way is not there any more, and is
                // good only for those who had asked before. What the server
                // has told since is heard at the next look.
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
    /// Takes a request out of the table. Says whether it was there.
    fn remove_fetch(&mut self, fetch_key: &FetchKey, sender: &InFlightFetch) -> bool {
        let is_same = |is_present: &InFlightFetch| Arc::ptr_eq(is_present, sender);
        let is_present = self.in_flight.get(fetch_key).is_some_and(is_same);
        if is_present {
            self.in_flight.remove(fetch_key);
        }
        is_present
    }
}
