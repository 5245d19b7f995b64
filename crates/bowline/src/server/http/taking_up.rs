//! Sessions that are about to be taken up from elsewhere: each is loaded once,
//! for all who ask for it meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::OnceCell;

use super::session::{Session, lock};
use crate::proto::http::SessionId;

/// Those that are under way. There are no more than requests, each of which has
/// a place.
#[derive(Default)]
pub(super) struct TakingUp(Mutex<HashMap<Key, Arc<Loading>>>);

/// Which session, and who asks for it: it is not there for everybody.
type Key = (SessionId, Option<Arc<str>>);
type Loading = OnceCell<Option<Arc<Session>>>;

impl TakingUp {
    /// Loads a session, or waits for somebody else who does. If that one leaves,
    /// another one takes over.
    pub(super) async fn once(
        &self,
        id: &SessionId,
        caller: Option<Arc<str>>,
        load: impl Future<Output = Option<Arc<Session>>>,
    ) -> Option<Arc<Session>> {
        let waiting = Waiting::join(self, (id.clone(), caller));
        waiting.loading.get_or_init(|| load).await.clone()
    }
}

/// One who waits.
struct Waiting<'a> {
    all: &'a TakingUp,
    key: Key,
    loading: Arc<Loading>,
}

impl<'a> Waiting<'a> {
    fn join(all: &'a TakingUp, key: Key) -> Self {
        let mut under_way = lock(&all.0);
        let loading = Arc::clone(under_way.entry(key.clone()).or_default());
        Self { all, key, loading }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut under_way = lock(&self.all.0);
        let known = under_way.get(&self.key);
        let is_known = known.is_some_and(|it| Arc::ptr_eq(it, &self.loading));
        // The table has one, and we have one until the lock is released.
        let loading = std::mem::take(&mut self.loading);
        let is_last = Arc::strong_count(&loading) <= 2;
        if is_known && (is_last || loading.initialized()) {
            under_way.remove(&self.key);
        }
        drop(loading);
    }
}
