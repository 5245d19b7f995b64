//! One request for all who want the same at the same time.

use std::{any::Any, future::Future, sync::Arc};

use tokio::sync::watch;

use super::{
    Shared, State,
    fetch::Fetched,
    key::{Holder, Key, Principal, SourceId, What},
    store::Value,
};
use crate::client::Error;

/// How a request ended, for all who wait for it.
pub(super) type Landing = Result<Value, Arc<Error>>;

/// Where those who wait are told. Nobody listens any more: nobody waits.
pub(super) type Flight = Arc<watch::Sender<Option<Landing>>>;

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Route {
    pub(super) source: SourceId,
    pub(super) principal: Principal,
    pub(super) what: What,
}

impl Route {
    pub(super) fn private(&self) -> Key {
        self.key(Holder::Only(self.principal.clone()))
    }

    pub(super) fn public(&self) -> Key {
        self.key(Holder::Everyone)
    }

    fn key(&self, holder: Holder) -> Key {
        Key {
            source: self.source,
            holder,
            what: self.what.clone(),
        }
    }
}

/// Makes the request, on a task of its own: whoever asked first may go away
/// while others wait. When all have gone, it is given up.
pub(super) fn take_off<T: Any + Send + Sync>(
    shared: Arc<Shared>,
    route: Route,
    flight: Flight,
    fetch: impl Future<Output = Result<Fetched<T>, Error>> + Send + 'static,
) {
    tokio::spawn(async move {
        let aloft = Aloft {
            shared: &shared,
            route: &route,
            flight: &flight,
        };
        let mut fetch = std::pin::pin!(fetch);
        let fetched = loop {
            tokio::select! {
                biased;
                fetched = &mut fetch => break fetched,
                () = flight.closed() => if aloft.abandoned() {
                    return;
                },
            }
        };
        aloft.land(fetched);
    });
}

/// Waits for the end of a request; `None` if it vanished without one.
pub(super) async fn landing(mut waiting: watch::Receiver<Option<Landing>>) -> Option<Landing> {
    let landed = waiting.wait_for(Option::is_some).await.ok()?;
    landed.clone()
}

/// A request under way. Whatever becomes of it, it does not stay in the table.
struct Aloft<'a> {
    shared: &'a Shared,
    route: &'a Route,
    flight: &'a Flight,
}

impl Aloft<'_> {
    /// Whether nobody waits. Nobody can begin to, afterwards.
    fn abandoned(&self) -> bool {
        let mut state = self.shared.lock();
        let nobody = self.flight.receiver_count() == 0;
        if nobody {
            state.forget(self.route, self.flight);
        }
        nobody
    }

    fn land<T: Any + Send + Sync>(&self, fetched: Result<Fetched<T>, Error>) {
        let landing = match fetched {
            Ok(fetched) => {
                let value: Value = Arc::new(fetched.value);
                let ttl = self.shared.config.ttl(&self.route.what, &fetched.hints);
                let mut state = self.shared.lock();
                // What became stale on the way is not there any more, and is
                // good only for those who had asked before. What the server
                // has told since is heard at the next look.
                let fresh = state.forget(self.route, self.flight);
                if fresh && fetched.keep {
                    let key = match fetched.hints.is_public() {
                        true => self.route.public(),
                        false => self.route.private(),
                    };
                    state.keep(key, Arc::clone(&value), fetched.bytes, ttl);
                }
                Ok(value)
            }
            Err(error) => Err(Arc::new(error)),
        };
        self.shared.lock().forget(self.route, self.flight);
        self.flight.send_replace(Some(landing));
    }
}

impl Drop for Aloft<'_> {
    fn drop(&mut self) {
        self.shared.lock().forget(self.route, self.flight);
    }
}

impl State {
    /// Takes a request out of the table. Says whether it was there.
    fn forget(&mut self, route: &Route, flight: &Flight) -> bool {
        let ours = |known: &Flight| Arc::ptr_eq(known, flight);
        let known = self.flights.get(route).is_some_and(ours);
        if known {
            self.flights.remove(route);
        }
        known
    }
}
