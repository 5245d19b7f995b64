//! Where exchanges put what arrives, and the link takes it: bounded in bytes.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::transport::LinkEvent;

/// What an event costs besides its bytes, so that many small ones count.
const EVENT_OVERHEAD: usize = 512;

/// Something that an exchange has to say to its link.
pub(super) enum LinkMessage {
    /// For the connection. The permit is given back when it is taken.
    Event(LinkEvent, OwnedSemaphorePermit),
    /// The same, and with it an exchange is over.
    Last(LinkEvent, OwnedSemaphorePermit, ExchangeOwner),
    /// An exchange is over.
    Ended(ExchangeOwner),
}

/// Whose exchange it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeOwner {
    /// That of the request with this id.
    Request(u64),
    /// That of the notification which ends the handshake.
    Initialized,
    /// The opening of the stream that the server speaks on unasked.
    GetStream,
    /// Nobody waits for its end.
    None,
}

/// The end that exchanges hold.
#[derive(Clone)]
pub(super) struct EventSender {
    sender: mpsc::UnboundedSender<LinkMessage>,
    capacity: Arc<Semaphore>,
    max_capacity: u32,
}

/// The end that the link holds.
pub(super) struct EventReceiver {
    receiver: mpsc::UnboundedReceiver<LinkMessage>,
}

/// A pair of ends between which about `bytes` may wait.
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
    /// Hands an event over, once there is room for it. Whoever waits here does
    /// not read on, so that the server feels it. One that is larger than all
    /// the room there is waits for all of it.
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
        // Nobody closes it, and a link that is gone takes nothing.
        let semaphore = Arc::clone(&self.capacity).acquire_many_owned(cost).await;
        semaphore.ok()
    }

    /// Says that an exchange is over when it is dropped, however that comes.
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
    /// Whose exchange it is, until that was said.
    owner: Option<ExchangeOwner>,
}

impl ExchangeGuard {
    /// Hands an event over, as [`EventSender::put`] does.
    pub(super) async fn send(&self, event: LinkEvent) {
        self.event_sender.send(event).await;
    }

    /// Hands the last event over, and says in the same breath that it is the
    /// last: the link need not be woken twice.
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
