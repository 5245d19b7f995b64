//! Sessions being restored from a store: each is loaded once for all requests
//! that wait for it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use tokio::sync::OnceCell;

use super::session::Session;
use crate::{proto::http::SessionId, sync};

/// The restores in progress. There are at most as many as requests, each of
/// which has a permit.
#[derive(Default)]
pub(super) struct SessionRestores(Mutex<HashMap<RestoreKey, Arc<RestoreCell>>>);

/// The session and the caller: only its owner may see it.
type RestoreKey = (SessionId, Option<Arc<str>>);
type RestoreCell = OnceCell<Option<Arc<Session>>>;

impl SessionRestores {
    /// Loads a session, or waits for the request that does. If that one is
    /// cancelled, another takes over.
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

/// A waiting request.
struct RestoreGuard<'a> {
    restores: &'a SessionRestores,
    key: RestoreKey,
    cell: Arc<RestoreCell>,
}

impl<'a> RestoreGuard<'a> {
    fn join(restores: &'a SessionRestores, key: RestoreKey) -> Self {
        let mut cells = sync::lock(&restores.0);
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
        let mut cells = sync::lock(&self.restores.0);
        let known = cells.get(&self.key);
        let is_known = known.is_some_and(|it| Arc::ptr_eq(it, &self.cell));
        // The map holds one reference, and we hold one until the lock is
        // released.
        let cell = std::mem::take(&mut self.cell);
        let is_last = Arc::strong_count(&cell) <= 2;
        if is_known && (is_last || cell.initialized()) {
            cells.remove(&self.key);
        }
        drop(cell);
    }
}
