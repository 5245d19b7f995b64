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
pub(super) struct SessionRestores(Mutex<HashMap<RestoreKey, Arc<RestoreCell>>>);

/// Which session, and who asks for it: it is not there for everybody.
type RestoreKey = (SessionId, Option<Arc<str>>);
type RestoreCell = OnceCell<Option<Arc<Session>>>;

impl SessionRestores {
    /// Loads a session, or waits for somebody else who does. If that one leaves,
    /// another one takes over.
    pub(super) async fn run_once(
        &self,
        id: &SessionId,
        caller: Option<Arc<str>>,
        load: impl Future<Output = Option<Arc<Session>>>,
    ) -> Option<Arc<Session>> {
        let guard = RestoreGuard::join(self, (id.clone(), caller));
        guard.cell.get_or_init(|| load).await.clone()
    }
}

/// One who waits.
struct RestoreGuard<'a> {
    restores: &'a SessionRestores,
    key: RestoreKey,
    cell: Arc<RestoreCell>,
}

impl<'a> RestoreGuard<'a> {
    fn join(restores: &'a SessionRestores, key: RestoreKey) -> Self {
        let mut cells = lock(&restores.0);
        let cell = Arc::clone(cells.entry(key.clone()).or_default());
        Self {
            restores,
            key,
            cell,
        }
    }
}

impl Drop for RestoreGuard<'_> {
    fn drop(&mut self) {
        let mut cells = lock(&self.restores.0);
        let known = cells.get(&self.key);
        let is_known = known.is_some_and(|it| Arc::ptr_eq(it, &self.cell));
        // The table has one, and we have one until the lock is released.
        let cell = std::mem::take(&mut self.cell);
        let is_last = Arc::strong_count(&cell) <= 2;
        if is_known && (is_last || cell.initialized()) {
            cells.remove(&self.key);
        }
        drop(cell);
    }
}
