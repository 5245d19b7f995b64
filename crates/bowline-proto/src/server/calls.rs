//! Our open calls to the client.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::RequestKey;
use crate::Instant;

/// Calls that the client has not answered yet. Ids come from one counter and
/// are never reused.
#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<u64, Call>,
    deadlines: BTreeSet<(Instant, u64)>,
    /// Ids up to and including this one were not issued by this connection.
    ids_after: u64,
    last: u64,
}

/// An open call.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: Cow<'static, str>,
    pub(super) parent: Option<RequestKey>,
    pub(super) started: Instant,
    pub(super) timeout: Duration,
}

impl Call {
    fn deadline(&self) -> Instant {
        self.started + self.timeout
    }
}

impl Calls {
    /// Creates an empty table whose ids are greater than `ids_after`.
    pub(super) fn with_ids_after(ids_after: u64) -> Self {
        Self {
            ids_after,
            last: ids_after,
            ..Self::default()
        }
    }

    pub(super) fn next_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Returns whether the id was ever issued.
    pub(super) fn was_used(&self, id: u64) -> bool {
        self.ids_after < id && id <= self.last
    }

    pub(super) fn open(&mut self, id: u64, call: Call) {
        self.deadlines.insert((call.deadline(), id));
        self.open.insert(id, call);
    }

    pub(super) fn close(&mut self, id: u64) -> Option<Call> {
        let call = self.open.remove(&id)?;
        self.deadlines.remove(&(call.deadline(), id));
        Some(call)
    }

    /// Returns the timeout of a call, if it is open.
    pub(super) fn timeout(&self, id: u64) -> Option<Duration> {
        self.open.get(&id).map(|call| call.timeout)
    }

    /// Returns the request on whose behalf a call is made.
    pub(super) fn parent(&self, id: u64) -> Option<RequestKey> {
        self.open.get(&id)?.parent
    }

    pub(super) fn ids(&self) -> Vec<u64> {
        self.open.keys().copied().collect()
    }

    /// Returns the calls made on behalf of a request.
    pub(super) fn children(&self, parent: RequestKey) -> Vec<u64> {
        let mut children = Vec::new();
        for (id, call) in &self.open {
            if call.parent == Some(parent) {
                children.push(*id);
            }
        }
        children
    }

    /// Returns a call whose deadline has passed.
    pub(super) fn overdue(&self, now: Instant) -> Option<u64> {
        let (at, id) = self.deadlines.first()?;
        (*at <= now).then_some(*id)
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Returns the number of armed deadlines: one per call.
    pub(super) fn deadline_count(&self) -> usize {
        self.deadlines.len()
    }
}
