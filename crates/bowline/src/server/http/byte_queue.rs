//! A single-reader queue that tracks how many bytes it holds.

use crate::sync;
use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// How many bytes may wait for a slow reader before optional items are dropped.
pub(super) const MAX_QUEUED_BYTES: usize = 1024 * 1024;

/// An item with a size in bytes.
pub(super) trait ByteSize {
    fn byte_size(&self) -> usize;
}

impl ByteSize for bytes::Bytes {
    fn byte_size(&self) -> usize {
        self.len()
    }
}

/// The sending half.
pub(super) struct Sender<T: ByteSize>(Arc<Mutex<Queue<T>>>);

/// The receiving half.
pub(super) struct Receiver<T: ByteSize>(Arc<Mutex<Queue<T>>>);

/// Created for every request. Most send only their response, so it allocates
/// nothing until the first item.
struct Queue<T> {
    items: VecDeque<T>,
    queued_bytes: usize,
    waker: Option<Waker>,
    /// Whether each half was dropped.
    receiver_dropped: bool,
    sender_dropped: bool,
}

pub(super) fn channel<T: ByteSize>() -> (Sender<T>, Receiver<T>) {
    let queue = Arc::new(Mutex::new(Queue {
        items: VecDeque::new(),
        queued_bytes: 0,
        waker: None,
        receiver_dropped: false,
        sender_dropped: false,
    }));
    (Sender(Arc::clone(&queue)), Receiver(queue))
}

impl<T: ByteSize> Sender<T> {
    /// Sends an item. Returns whether it may still be read.
    pub(super) fn send(&self, item: T) -> bool {
        let mut queue = sync::lock(&self.0);
        if queue.receiver_dropped {
            return false;
        }
        queue.queued_bytes += item.byte_size();
        queue.items.push_back(item);
        let waker = queue.waker.take();
        drop(queue);
        waker.inspect(Waker::wake_by_ref);
        true
    }

    /// Returns whether the reader is so far behind that optional items should
    /// be dropped.
    pub(super) fn is_backlogged(&self) -> bool {
        sync::lock(&self.0).queued_bytes > MAX_QUEUED_BYTES
    }

    pub(super) fn is_closed(&self) -> bool {
        sync::lock(&self.0).receiver_dropped
    }
}

impl<T: ByteSize> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut queue = sync::lock(&self.0);
        queue.sender_dropped = true;
        let waker = queue.waker.take();
        drop(queue);
        waker.inspect(Waker::wake_by_ref);
    }
}

impl<T: ByteSize> Receiver<T> {
    pub(super) async fn recv(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut queue = sync::lock(&self.0);
        let item = queue.pop();
        if item.is_some() || queue.sender_dropped {
            return Poll::Ready(item);
        }
        match &mut queue.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    pub(super) fn try_recv(&mut self) -> Option<T> {
        sync::lock(&self.0).pop()
    }

    /// Returns whether the queue is empty and will stay so.
    pub(super) fn is_finished(&self) -> bool {
        let queue = sync::lock(&self.0);
        queue.items.is_empty() && queue.sender_dropped
    }
}

impl<T: ByteSize> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut queue = sync::lock(&self.0);
        queue.receiver_dropped = true;
        queue.queued_bytes = 0;
        let unread = std::mem::take(&mut queue.items);
        drop(queue);
        drop(unread);
    }
}

impl<T: ByteSize> Queue<T> {
    fn pop(&mut self) -> Option<T> {
        let item = self.items.pop_front()?;
        self.queued_bytes -= item.byte_size();
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
        let (sender, mut receiver) = channel::<Bytes>();
        let reading = tokio::spawn(async move {
            let mut read = Vec::new();
            while let Some(item) = receiver.recv().await {
                read.push(item.len());
            }
            assert!(receiver.is_finished());
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
        let (sender, mut receiver) = channel();
        sender.send(frame(MAX_QUEUED_BYTES));
        assert!(!sender.is_backlogged());
        sender.send(frame(1));
        assert!(sender.is_backlogged());
        assert_eq!(
            receiver.try_recv().map(|it| it.len()),
            Some(MAX_QUEUED_BYTES)
        );
        assert!(!sender.is_backlogged() && !receiver.is_finished());
        drop(receiver);
        assert!(sender.is_closed() && !sender.send(frame(1)));
    }
}
