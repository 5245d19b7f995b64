//! The queue of observations made under the lock of a connection, shared by clients and
//! servers.
//!
//! Observers are application code: a callback or a `tracing` subscriber. The thread
//! that unlocks the connection delivers the queued observations, one thread at a time,
//! so observers see everything in order. Observations made during a delivery are
//! queued, even if an observer caused them. The queue is bounded, and so is the number
//! that one thread delivers before it gets back to its own work.

use std::{collections::VecDeque, mem};

/// The maximum number of queued observations.
const MAX_QUEUED: usize = 8192;
/// The approximate maximum size of the queue, in bytes.
const MAX_BYTES: usize = 2 * 1024 * 1024;
/// The maximum number of observations delivered in one batch.
const MAX_PER_BATCH: usize = 256;
/// The maximum number delivered by a thread that has no driver to leave the rest to.
pub(crate) const MAX_FINAL: usize = 2 * MAX_QUEUED;

/// An observation.
pub(crate) trait Observed: Sized {
    /// Truncates long strings. Returns the resulting size in bytes.
    fn truncate(&mut self) -> usize;

    /// Creates the marker that replaces `count` lost observations, of which this is the
    /// last.
    fn lost_marker(&self, count: usize) -> Self;
}

/// Observations that were not delivered yet.
pub(crate) struct ObservationQueue<T> {
    queued: VecDeque<QueuedObservation<T>>,
    bytes: usize,
    /// The number of observations dropped since the last queued one, and the marker
    /// that replaces them.
    lost: Option<(usize, T)>,
    /// Whether a thread is delivering a batch.
    is_delivering: bool,
    /// A spare buffer for batches, to avoid allocations.
    spare: Vec<T>,
}

struct QueuedObservation<T> {
    observation: T,
    bytes: usize,
}

impl<T> Default for ObservationQueue<T> {
    fn default() -> Self {
        Self {
            queued: VecDeque::new(),
            bytes: 0,
            lost: None,
            is_delivering: false,
            spare: Vec::new(),
        }
    }
}

impl<T: Observed> ObservationQueue<T> {
    /// Queues an observation, or counts it as lost if the queue is full.
    pub(crate) fn push(&mut self, mut observation: T) {
        let bytes = size_of::<QueuedObservation<T>>() + observation.truncate();
        if self.queued.len() >= MAX_QUEUED || self.bytes + bytes > MAX_BYTES {
            let count = self.lost.take().map_or(0, |(count, _)| count) + 1;
            self.lost = Some((count, observation.lost_marker(count)));
            return;
        }
        // The marker comes first, in place of the lost observations.
        if let Some((_, marker)) = self.lost.take() {
            self.enqueue(marker, size_of::<QueuedObservation<T>>());
        }
        self.enqueue(observation, bytes);
    }

    fn enqueue(&mut self, observation: T, bytes: usize) {
        self.bytes += bytes;
        self.queued
            .push_back(QueuedObservation { observation, bytes });
    }

    /// Takes the next batch, unless another thread is delivering one.
    pub(crate) fn begin_batch(&mut self, batch: &mut Vec<T>) {
        if self.queued.is_empty() || self.is_delivering {
            return;
        }
        self.is_delivering = true;
        if batch.capacity() == 0 {
            mem::swap(batch, &mut self.spare);
        }
        let batch_len = MAX_PER_BATCH.min(self.queued.len());
        for QueuedObservation { observation, bytes } in self.queued.drain(..batch_len) {
            self.bytes -= bytes;
            batch.push(observation);
        }
        if self.queued.is_empty() {
            batch.extend(self.lost.take().map(|(_, marker)| marker));
        }
    }

    /// Ends the delivery of a batch. Returns whether more observations are queued.
    pub(crate) fn end_batch(&mut self, batch: &mut Vec<T>) -> bool {
        batch.clear();
        self.is_delivering = false;
        self.spare = mem::take(batch);
        !self.queued.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    enum TestObservation {
        Number(usize),
        Text(String),
        Lost(usize),
    }

    impl Observed for TestObservation {
        fn truncate(&mut self) -> usize {
            match self {
                Self::Text(text) => text.len(),
                Self::Number(_) | Self::Lost(_) => 0,
            }
        }

        fn lost_marker(&self, count: usize) -> Self {
            Self::Lost(count)
        }
    }

    /// Shows one turn.
    fn deliver_batch(
        observations: &mut ObservationQueue<TestObservation>,
    ) -> (Vec<TestObservation>, bool) {
        let mut batch = Vec::new();
        observations.begin_batch(&mut batch);
        let delivered = mem::take(&mut batch);
        (delivered, observations.end_batch(&mut batch))
    }

    #[test]
    fn a_turn_is_bounded_and_the_rest_is_shown_in_order() {
        let mut observations = ObservationQueue::default();
        (0..600).for_each(|number| observations.push(TestObservation::Number(number)));
        let mut delivered = Vec::new();
        for (size, has_more) in [(256, true), (256, true), (88, false)] {
            let (batch, more) = deliver_batch(&mut observations);
            assert_eq!((batch.len(), more), (size, has_more));
            delivered.extend(batch);
        }
        assert!(
            delivered
                .into_iter()
                .eq((0..600).map(TestObservation::Number))
        );
        assert_eq!(deliver_batch(&mut observations), (Vec::new(), false));
        assert_eq!(observations.bytes, 0);
    }

    #[test]
    fn what_there_is_no_room_for_is_counted_where_it_was_lost() {
        let mut observations = ObservationQueue::default();
        let all = MAX_QUEUED + 10;
        (0..all).for_each(|number| observations.push(TestObservation::Number(number)));
        let (mut delivered, _) = deliver_batch(&mut observations);
        // There is room again.
        observations.push(TestObservation::Number(all));
        loop {
            let (batch, more) = deliver_batch(&mut observations);
            delivered.extend(batch);
            if !more {
                break;
            }
        }
        let expected = (0..MAX_QUEUED).map(TestObservation::Number);
        let expected = expected.chain([TestObservation::Lost(10), TestObservation::Number(all)]);
        assert!(delivered.into_iter().eq(expected));
    }

    #[test]
    fn that_the_last_ones_were_lost_is_told_too() {
        let mut observations = ObservationQueue::default();
        (0..=MAX_QUEUED).for_each(|number| observations.push(TestObservation::Number(number)));
        let mut last = None;
        loop {
            let (batch, more) = deliver_batch(&mut observations);
            last = batch.into_iter().next_back().or(last);
            if !more {
                break;
            }
        }
        assert_eq!(last, Some(TestObservation::Lost(1)));
    }

    #[test]
    fn what_waits_is_bounded_by_its_bytes_too() {
        let mut observations = ObservationQueue::default();
        let text = "x".repeat(MAX_BYTES / 4);
        (0..8).for_each(|_| observations.push(TestObservation::Text(text.clone())));
        assert!(observations.bytes <= MAX_BYTES);
        let (delivered, _) = deliver_batch(&mut observations);
        assert_eq!(
            delivered.len(),
            4,
            "three that wait, and that five were lost"
        );
        assert_eq!(delivered[3], TestObservation::Lost(5));
    }

    #[test]
    fn one_thread_shows_at_a_time() {
        let mut observations = ObservationQueue::default();
        observations.push(TestObservation::Number(1));
        let (mut mine, mut theirs) = (Vec::new(), Vec::new());
        observations.begin_batch(&mut mine);
        observations.push(TestObservation::Number(2));
        observations.begin_batch(&mut theirs);
        assert_eq!((mine.len(), theirs.len()), (1, 0));
        assert!(observations.end_batch(&mut mine), "the second one waits");
    }
}
