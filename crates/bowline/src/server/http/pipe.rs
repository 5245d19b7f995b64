//! A queue to one reader, which knows how much waits in it.

use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use tokio::sync::mpsc;

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
#[derive(Debug)]
pub(super) struct Sender<T> {
    items: mpsc::UnboundedSender<T>,
    waiting: Arc<AtomicUsize>,
}

/// The reading end.
#[derive(Debug)]
pub(super) struct Receiver<T> {
    items: mpsc::UnboundedReceiver<T>,
    waiting: Arc<AtomicUsize>,
}

pub(super) fn pipe<T: Weigh>() -> (Sender<T>, Receiver<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let sender = Sender {
        items: sender,
        waiting: Arc::clone(&waiting),
    };
    let receiver = Receiver {
        items: receiver,
        waiting,
    };
    (sender, receiver)
}

impl<T: Weigh> Sender<T> {
    /// Sends something; says whether somebody may still read it.
    pub(super) fn send(&self, item: T) -> bool {
        self.waiting.fetch_add(item.weight(), Ordering::Relaxed);
        self.items.send(item).is_ok()
    }

    /// Whether the reader is so far behind that no more should be sent to it
    /// than must.
    pub(super) fn is_behind(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > MOST_WAITING
    }

    pub(super) fn is_closed(&self) -> bool {
        self.items.is_closed()
    }
}

impl<T: Weigh> Receiver<T> {
    pub(super) async fn recv(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let item = self.items.poll_recv(cx);
        item.map(|item| item.inspect(|item| self.took(item)))
    }

    pub(super) fn try_recv(&mut self) -> Option<T> {
        let item = self.items.try_recv().ok();
        item.inspect(|item| self.took(item))
    }

    /// Whether nothing waits, and nothing will come.
    pub(super) fn is_over(&self) -> bool {
        self.items.is_empty() && self.items.is_closed()
    }

    fn took(&self, item: &T) {
        self.waiting.fetch_sub(item.weight(), Ordering::Relaxed);
    }
}
