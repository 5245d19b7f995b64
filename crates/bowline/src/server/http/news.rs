//! What a stream of changes has yet to tell.
//!
//! A client that does not read must not fill the memory, and must not miss a
//! change either. But one notice of a change is enough, however often it
//! happened before the client heard of it; and notices of the same change are
//! the same.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;

use super::pipe::MOST_WAITING;

/// What waits to be told. Clones share it.
#[derive(Clone, Default)]
pub(super) struct News(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    queue: VecDeque<Bytes>,
    known: HashSet<Bytes>,
    bytes: usize,
    /// The queue ends with the answer, or was given up.
    over: bool,
    reader: Option<Waker>,
}

impl News {
    /// One more thing to tell; with an answer, the last.
    pub(super) fn add(&self, answer: bool, frame: Bytes) {
        let mut waiting = self.lock();
        if waiting.over || !waiting.known.insert(frame.clone()) {
            return;
        }
        waiting.bytes += frame.len();
        waiting.queue.push_back(frame);
        waiting.over = answer;
        // Changes that are all different, and too many: a client that finds
        // its stream closed knows that it must look for itself.
        if waiting.bytes > MOST_WAITING && !answer {
            waiting.queue.clear();
            waiting.known.clear();
            waiting.over = true;
        }
        if let Some(reader) = waiting.reader.take() {
            drop(waiting);
            reader.wake();
        }
    }

    /// The next thing, if there is one, and whether it is the last.
    pub(super) fn next(&self) -> Option<(Bytes, bool)> {
        let mut waiting = self.lock();
        let frame = waiting.take()?;
        let last = waiting.over && waiting.queue.is_empty();
        Some((frame, last))
    }

    pub(super) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut waiting = self.lock();
        match waiting.take() {
            Some(frame) => Poll::Ready(Some(frame)),
            None if waiting.over => Poll::Ready(None),
            None => {
                waiting.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that holds the lock can panic halfway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn take(&mut self) -> Option<Bytes> {
        let frame = self.queue.pop_front()?;
        self.known.remove(&frame);
        self.bytes -= frame.len();
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(news: &News) -> Vec<Bytes> {
        std::iter::from_fn(|| news.next().map(|(frame, _)| frame)).collect()
    }

    #[test]
    fn what_waits_already_is_not_told_twice() {
        let news = News::default();
        for frame in ["a", "b", "a", "a"] {
            news.add(false, Bytes::from_static(frame.as_bytes()));
        }
        assert_eq!(all(&news), ["a", "b"]);
        news.add(false, Bytes::from_static(b"a"));
        assert_eq!(all(&news), ["a"], "what was told may happen again");
    }

    #[test]
    fn nothing_follows_the_answer() {
        let news = News::default();
        news.add(true, Bytes::from_static(b"end"));
        news.add(false, Bytes::from_static(b"more"));
        assert_eq!(news.next(), Some((Bytes::from_static(b"end"), true)));
        assert_eq!(news.next(), None);
    }

    #[test]
    fn too_much_that_is_different_ends_the_stream() {
        let news = News::default();
        for number in 0..5 {
            news.add(false, vec![number; MOST_WAITING / 4].into());
        }
        assert_eq!(all(&news).len(), 0);
        let mut cx = Context::from_waker(Waker::noop());
        assert_eq!(news.poll_next(&mut cx), Poll::Ready(None));
    }
}
