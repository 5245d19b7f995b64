//! A queue to one reader, which knows how much waits in it.

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use super::session::lock;

/// How much may wait for a reader that does not read, before what can be left
/// out is.
pub(super) const MOST_WAITING: usize = 1024 * 1024;

/// Something that takes room.
pub(super) trait Weigh {
    fn weight(&self) -> usize;
}

impl Weigh for bytes::Bytes {
    fn weight(&self) -> usize {
        self.len()
    }
}

/// The writing end.
pub(super) struct Sender<T: Weigh>(Arc<Mutex<Queue<T>>>);

/// The reading end.
pub(super) struct Receiver<T: Weigh>(Arc<Mutex<Queue<T>>>);

/// One for every request, most of which say nothing but their answer: it has no
/// room until something is said.
struct Queue<T> {
    items: VecDeque<T>,
    waiting: usize,
    reader: Option<Waker>,
    /// Whether there is nobody at the other end, by end.
    unread: bool,
    unwritten: bool,
}

pub(super) fn pipe<T: Weigh>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Mutex::new(Queue {
        items: VecDeque::new(),
        waiting: 0,
        reader: None,
        unread: false,
        unwritten: false,
    }));
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

impl<T: Weigh> Sender<T> {
    /// Sends something; says whether somebody may still read it.
    pub(super) fn send(&self, item: T) -> bool {
        let mut queue = lock(&self.0);
        if queue.unread {
            return false;
        }
        queue.waiting += item.weight();
        queue.items.push_back(item);
        let reader = queue.reader.take();
        drop(queue);
        reader.inspect(Waker::wake_by_ref);
        true
    }

    /// Whether the reader is so far behind that no more should be sent to it
    /// than must.
    pub(super) fn is_behind(&self) -> bool {
        lock(&self.0).waiting > MOST_WAITING
    }

    pub(super) fn is_closed(&self) -> bool {
        lock(&self.0).unread
    }
}

impl<T: Weigh> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.unwritten = true;
        let reader = queue.reader.take();
        drop(queue);
        reader.inspect(Waker::wake_by_ref);
    }
}

impl<T: Weigh> Receiver<T> {
    pub(super) async fn recv(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut queue = lock(&self.0);
        let item = queue.take();
        if item.is_some() || queue.unwritten {
            return Poll::Ready(item);
        }
        match &mut queue.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn try_recv(&mut self) -> Option<T> {
        lock(&self.0).take()
    }

    /// Whether nothing waits, and nothing will come.
    pub(super) fn is_over(&self) -> bool {
        let queue = lock(&self.0);
        queue.items.is_empty() && queue.unwritten
    }
}

impl<T: Weigh> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = lock(&self.0);
        queue.unread = true;
        queue.waiting = 0;
        let unread = std::mem::take(&mut queue.items);
        drop(queue);
        drop(unread);
    }
}

impl<T: Weigh> Queue<T> {
    fn take(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.waiting -= item.weight();
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn frame(size: usize) -> Bytes {
        vec![b'x'; size].into()
    }

    #[tokio::test]
    async fn what_was_sent_is_read_in_order_and_to_its_end() {
        let (sender, mut receiver) = pipe::<Bytes>();
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            while let Some(item) = receiver.recv().await {
                read.push(item.len());
            }
            assert!(receiver.is_over());
            read
        });
        for size in 0..5 {
            tokio::task::yield_now().await;
            assert!(sender.send(frame(size)));
        }
        drop(sender);
        assert_eq!(reading.await.unwrap(), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_reader_is_behind_until_it_reads() {
        let (sender, mut receiver) = pipe();
        sender.send(frame(MOST_WAITING));
        assert!(!sender.is_behind());
        sender.send(frame(1));
        assert!(sender.is_behind());
        assert_eq!(receiver.try_recv().map(|it| it.len()), Some(MOST_WAITING));
        assert!(!sender.is_behind() && !receiver.is_over());
        drop(receiver);
        assert!(sender.is_closed() && !sender.send(frame(1)));
    }
}
