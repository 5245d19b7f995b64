//! Changes that a stream has not delivered yet.
//!
//! A client that does not read must neither fill the memory nor miss a change.
//! One notification per change is enough, however often it happened before it
//! was delivered, and notifications of the same change are equal.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

use super::byte_queue::MAX_QUEUED_BYTES;

use crate::sync;

/// The queue of pending notifications. Clones share it.
#[derive(Clone, Default)]
pub(super) struct PendingChanges(Arc<Mutex<ChangeQueue>>);

#[derive(Default)]
struct ChangeQueue {
    frames: VecDeque<Bytes>,
    queued_set: HashSet<Bytes>,
    bytes: usize,
    /// Whether the queue ended with the response, or was dropped.
    is_ended: bool,
    waker: Option<Waker>,
}

impl PendingChanges {
    /// Adds a frame. A response is the last one.
    pub(super) fn push(&self, is_response: bool, frame: Bytes) {
        let mut queue = self.lock();
        if queue.is_ended || !queue.queued_set.insert(frame.clone()) {
            return;
        }
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        queue.is_ended = is_response;
        // Too many different changes: a client that finds its stream closed
        // knows that it must fetch the current state.
        if queue.bytes > MAX_QUEUED_BYTES && !is_response {
            queue.frames.clear();
            queue.queued_set.clear();
            queue.is_ended = true;
        }
        if let Some(waker) = queue.waker.take() {
            drop(queue);
            waker.wake();
        }
    }

    /// Returns the next frame, if any, and whether it is the last.
    pub(super) fn next(&self) -> Option<(Bytes, bool)> {
        let mut queue = self.lock();
        let frame = queue.pop()?;
        let last = queue.is_ended && queue.frames.is_empty();
        Some((frame, last))
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut queue = self.lock();
        match queue.pop() {
            Some(frame) => Poll::Ready(Some(frame)),
            None if queue.is_ended => Poll::Ready(None),
            None => {
                queue.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, ChangeQueue> {
        // No code panics while it holds the lock.
        sync::lock(&self.0)
    }
}

impl ChangeQueue {
    fn pop(&mut self) -> Option<Bytes> {
        let frame = self.frames.pop_front()?;
        self.queued_set.remove(&frame);
        self.bytes -= frame.len();
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(changes: &PendingChanges) -> Vec<Bytes> {
        std::iter::from_fn(|| changes.next().map(|(frame, _)| frame)).collect()
    }

    #[test]
    fn what_waits_already_is_not_told_twice() {
        let changes = PendingChanges::default();
        for frame in ["a", "b", "a", "a"] {
            changes.push(false, Bytes::from_static(frame.as_bytes()));
        }
        assert_eq!(all(&changes), ["a", "b"]);
        changes.push(false, Bytes::from_static(b"a"));
        assert_eq!(all(&changes), ["a"], "what was told may happen again");
    }

    #[test]
    fn nothing_follows_the_answer() {
        let changes = PendingChanges::default();
        changes.push(true, Bytes::from_static(b"end"));
        changes.push(false, Bytes::from_static(b"more"));
        assert_eq!(changes.next(), Some((Bytes::from_static(b"end"), true)));
        assert_eq!(changes.next(), None);
    }

    #[test]
    fn too_much_that_is_different_ends_the_stream() {
        let changes = PendingChanges::default();
        for number in 0..5 {
            changes.push(false, vec![number; MAX_QUEUED_BYTES / 4].into());
        }
        assert_eq!(all(&changes).len(), 0);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(changes.poll_next(&mut cx), Poll::Ready(None));
    }
}
