//! The channel from exchanges to their link, bounded in bytes.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::transport::LinkEvent;

/// The cost of an event besides its bytes, so many small ones count.
const EVENT_OVERHEAD: usize = 512;

/// A message from an exchange to its link.
pub(super) enum LinkMessage {
    /// An event for the connection. The permit is released when it is received.
    Event(LinkEvent, OwnedSemaphorePermit),
    /// The last event of an exchange.
    Last(LinkEvent, OwnedSemaphorePermit, ExchangeOwner),
    /// An exchange has ended.
    Ended(ExchangeOwner),
}

/// The owner of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeOwner {
    /// The request with this id.
    Request(u64),
    /// The notification that ends the handshake.
    Initialized,
    /// The opening of the GET stream for messages that the server sends on its
    /// own.
    GetStream,
    /// Nobody waits for its end.
    None,
}

/// The sending end, held by exchanges.
#[derive(Clone)]
pub(super) struct EventSender {
    sender: mpsc::UnboundedSender<LinkMessage>,
    capacity: Arc<Semaphore>,
    max_capacity: u32,
}

/// The receiving end, held by the link.
pub(super) struct EventReceiver {
    receiver: mpsc::UnboundedReceiver<LinkMessage>,
}

/// Creates a channel that holds about `bytes` bytes.
pub(super) fn channel(bytes: usize) -> (EventSender, EventReceiver) {
    let max_capacity = u32::try_from(bytes.max(EVENT_OVERHEAD)).unwrap_or(u32::MAX);
    let (sender, receiver) = mpsc::unbounded_channel();
    let semaphore = Arc::new(Semaphore::new(
        usize::try_from(max_capacity).unwrap_or(EVENT_OVERHEAD),
    ));
    (
        EventSender {
            sender,
            capacity: semaphore,
            max_capacity,
        },
        EventReceiver { receiver },
    )
}

impl EventSender {
    /// Sends an event, once there is capacity. An exchange that waits here does
    /// not read on, which applies back pressure to the server. An event larger
    /// than the whole capacity waits for all of it.
    pub(super) async fn send(&self, event: LinkEvent) {
        if let Some(permit) = self.reserve(&event).await {
            let _ = self.sender.send(LinkMessage::Event(event, permit));
        }
    }

    async fn reserve(&self, event: &LinkEvent) -> Option<OwnedSemaphorePermit> {
        let size = match event {
            LinkEvent::Frame(frame) => frame.len(),
            _ => 0,
        };
        let cost = u32::try_from(size + EVENT_OVERHEAD)
            .unwrap_or(u32::MAX)
            .min(self.max_capacity);
        // The semaphore is never closed, and a dropped link receives nothing.
        let semaphore = Arc::clone(&self.capacity).acquire_many_owned(cost).await;
        semaphore.ok()
    }

    /// Returns a guard that reports the end of an exchange when dropped.
    pub(super) fn guard(&self, owner: ExchangeOwner) -> ExchangeGuard {
        ExchangeGuard {
            event_sender: self.clone(),
            owner: Some(owner),
        }
    }
}

impl EventReceiver {
    pub(super) fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<LinkMessage>> {
        self.receiver.poll_recv(cx)
    }
}

/// Lives as long as an exchange.
pub(super) struct ExchangeGuard {
    event_sender: EventSender,
    /// The owner, until the end was reported.
    owner: Option<ExchangeOwner>,
}

impl ExchangeGuard {
    /// Sends an event, as [`EventSender::send`] does.
    pub(super) async fn send(&self, event: LinkEvent) {
        self.event_sender.send(event).await;
    }

    /// Sends the last event together with the end of the exchange, so the link
    /// is woken only once.
    pub(super) async fn send_last(mut self, event: LinkEvent) {
        if let Some(permit) = self.event_sender.reserve(&event).await
            && let Some(owner) = self.owner.take()
        {
            let _ = self
                .event_sender
                .sender
                .send(LinkMessage::Last(event, permit, owner));
        }
    }
}

impl Drop for ExchangeGuard {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take() {
            let _ = self.event_sender.sender.send(LinkMessage::Ended(owner));
        }
    }
}
