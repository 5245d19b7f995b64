//! Requests that nobody works on yet.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    proto::server::RequestKey,
    server::{dispatch::request::Request, schema::SharedBudget},
};

/// A request that arrived.
pub(super) struct QueuedRequest {
    pub(super) key: RequestKey,
    pub(super) request: Request,
    /// The frame that it came in.
    frame: u64,
}

/// Requests that nobody works on yet.
#[derive(Default)]
pub(super) struct RequestQueue {
    /// Those that came since somebody last looked.
    new: Vec<QueuedRequest>,
    /// Those that came with so many others that they wait for another turn.
    deferred: VecDeque<QueuedRequest>,
    /// How many frames there were.
    frame: u64,
}

impl RequestQueue {
    /// A request of the frame that is read.
    pub(super) fn push(&mut self, key: RequestKey, request: Request) {
        let frame = self.frame;
        self.new.push(QueuedRequest {
            key,
            request,
            frame,
        });
    }

    /// All of a frame was read. What came together shares what it may be to
    /// check it.
    pub(super) fn end_frame(&mut self) {
        let frame = self.frame;
        let same_frame = self.new.iter_mut().rev();
        let mut same_frame = same_frame.take_while(|it| it.frame == frame);
        if let (Some(last), Some(other)) = (same_frame.next(), same_frame.next()) {
            let budget = Arc::new(SharedBudget::default());
            for it in same_frame.chain([last, other]) {
                it.request.validation_budget = Some(Arc::clone(&budget));
            }
        }
        self.frame += 1;
    }

    /// Which requests nobody has looked at so far.
    #[cfg(feature = "http-server")]
    pub(super) fn new_keys(&self) -> impl Iterator<Item = RequestKey> {
        self.new.iter().map(|it| it.key)
    }

    pub(super) fn take_new(&mut self) -> Vec<QueuedRequest> {
        std::mem::take(&mut self.new)
    }

    /// Takes a list back that was taken, to be used again.
    pub(super) fn recycle(&mut self, list: Vec<QueuedRequest>) {
        if self.new.capacity() == 0 {
            self.new = list;
        }
    }

    /// Keeps requests for another turn.
    pub(super) fn defer(&mut self, requests: impl IntoIterator<Item = QueuedRequest>) {
        self.deferred.extend(requests);
    }

    /// Keeps what was taken of those that were put off, and not looked at.
    pub(super) fn requeue(&mut self, requests: impl DoubleEndedIterator<Item = QueuedRequest>) {
        for request in requests.rev() {
            self.deferred.push_front(request);
        }
    }

    pub(super) fn has_deferred(&self) -> bool {
        !self.deferred.is_empty()
    }

    /// As many of those that were put off as one turn is for.
    pub(super) fn take_deferred(&mut self, max: usize) -> Vec<QueuedRequest> {
        let max = max.min(self.deferred.len());
        self.deferred.drain(..max).collect()
    }

    /// Nobody waits for the answer to this one any more.
    pub(super) fn remove(&mut self, request: RequestKey) {
        self.new.retain(|it| it.key != request);
        self.deferred.retain(|it| it.key != request);
    }

    pub(super) fn clear(&mut self) {
        self.new.clear();
        self.deferred.clear();
    }
}
