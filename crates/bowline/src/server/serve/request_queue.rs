//! Requests that are not dispatched yet.

use std::{collections::VecDeque, sync::Arc};

use crate::{proto::server::RequestKey, server::dispatch::request::Request};
use bowline_schema::Budget;

/// A received request.
pub(super) struct QueuedRequest {
    pub(super) key: RequestKey,
    pub(super) request: Request,
    /// The number of its frame.
    frame: u64,
}

/// Requests that are not dispatched yet.
#[derive(Default)]
pub(super) struct RequestQueue {
    /// Those received since the last dispatch.
    new: Vec<QueuedRequest>,
    /// Those deferred because their batch was too large for one slice.
    deferred: VecDeque<QueuedRequest>,
    /// The number of frames so far.
    frame: u64,
}

impl RequestQueue {
    /// Adds a request of the current frame.
    pub(super) fn push(&mut self, key: RequestKey, request: Request) {
        let frame = self.frame;
        self.new.push(QueuedRequest {
            key,
            request,
            frame,
        });
    }

    /// Ends a frame. Requests of the same frame share a validation budget.
    pub(super) fn end_frame(&mut self) {
        let frame = self.frame;
        let same_frame = self.new.iter_mut().rev();
        let mut same_frame = same_frame.take_while(|it| it.frame == frame);
        if let (Some(last), Some(other)) = (same_frame.next(), same_frame.next()) {
            let budget = Arc::new(Budget::default());
            for it in same_frame.chain([last, other]) {
                it.request.validation_budget = Some(Arc::clone(&budget));
            }
        }
        self.frame += 1;
    }

    /// Iterates over the requests received since the last dispatch.
    #[cfg(feature = "http-server")]
    pub(super) fn new_keys(&self) -> impl Iterator<Item = RequestKey> {
        self.new.iter().map(|it| it.key)
    }

    pub(super) fn take_new(&mut self) -> Vec<QueuedRequest> {
        std::mem::take(&mut self.new)
    }

    /// Returns a list for reuse.
    pub(super) fn recycle(&mut self, list: Vec<QueuedRequest>) {
        if self.new.capacity() == 0 {
            self.new = list;
        }
    }

    /// Defers requests.
    pub(super) fn defer(&mut self, requests: impl IntoIterator<Item = QueuedRequest>) {
        self.deferred.extend(requests);
    }

    /// Puts deferred requests back that were taken but not dispatched.
    pub(super) fn requeue(&mut self, requests: Vec<QueuedRequest>) {
        for request in requests.into_iter().rev() {
            self.deferred.push_front(request);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.new.is_empty() && self.deferred.is_empty()
    }

    pub(super) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// Takes as many deferred requests as fit in one slice.
    pub(super) fn take_deferred(&mut self, max: usize) -> Vec<QueuedRequest> {
        let max = max.min(self.deferred.len());
        self.deferred.drain(..max).collect()
    }

    /// Removes a cancelled request.
    pub(super) fn remove(&mut self, request: RequestKey) {
        self.new.retain(|it| it.key != request);
        self.deferred.retain(|it| it.key != request);
    }

    pub(super) fn clear(&mut self) {
        self.new.clear();
        self.deferred.clear();
    }
}
