//! Where exchanges put what arrives, and the link takes it: bounded in bytes.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use crate::transport::LinkEvent;

/// What an event costs besides its bytes, so that many small ones count.
const EACH: usize = 512;

/// Something that an exchange has to say to its link.
pub(super) enum News {
    /// For the connection. The permit is given back when it is taken.
    Event(LinkEvent, OwnedSemaphorePermit),
    /// The same, and with it an exchange is over.
    Last(LinkEvent, OwnedSemaphorePermit, Whose),
    /// An exchange is over.
    Over(Whose),
}

/// Whose exchange it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// That of the request with this id.
    Request(u64),
    /// That of the notification which ends the handshake.
    Initialized,
    /// The opening of the stream that the server speaks on unasked.
    Standing,
    /// Nobody waits for its end.
    Nobody,
}

/// The end that exchanges hold.
#[derive(Clone)]
pub(super) struct Outbox {
    sender: mpsc::UnboundedSender<News>,
    room: Arc<Semaphore>,
    most: u32,
}

/// The end that the link holds.
pub(super) struct Inbox {
    receiver: mpsc::UnboundedReceiver<News>,
}

/// A pair of ends between which about `bytes` may wait.
pub(super) fn pair(bytes: usize) -> (Outbox, Inbox) {
    let most = u32::try_from(bytes.max(EACH)).unwrap_or(u32::MAX);
    let (sender, receiver) = mpsc::unbounded_channel();
    let room = Arc::new(Semaphore::new(usize::try_from(most).unwrap_or(EACH)));
    (Outbox { sender, room, most }, Inbox { receiver })
}

impl Outbox {
    /// Hands an event over, once there is room for it. Whoever waits here does
    /// not read on, so that the server feels it. One that is larger than all
    /// the room there is waits for all of it.
    pub(super) async fn put(&self, event: LinkEvent) {
        if let Some(permit) = self.room_for(&event).await {
            let _ = self.sender.send(News::Event(event, permit));
        }
    }

    async fn room_for(&self, event: &LinkEvent) -> Option<OwnedSemaphorePermit> {
        let size = match event {
            LinkEvent::Frame(frame) => frame.len(),
            _ => 0,
        };
        let cost = u32::try_from(size + EACH)
            .unwrap_or(u32::MAX)
            .min(self.most);
        // Nobody closes it, and a link that is gone takes nothing.
        let room = Arc::clone(&self.room).acquire_many_owned(cost).await;
        room.ok()
    }

    /// Says that an exchange is over when it is dropped, however that comes.
    pub(super) fn until_over(&self, whose: Whose) -> Watch {
        Watch {
            outbox: self.clone(),
            whose: Some(whose),
        }
    }
}

impl Inbox {
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<News>> {
        self.receiver.poll_recv(cx)
    }
}

/// Lives as long as an exchange.
pub(super) struct Watch {
    outbox: Outbox,
    /// Whose exchange it is, until that was said.
    whose: Option<Whose>,
}

impl Watch {
    /// Hands an event over, as [`Outbox::put`] does.
    pub(super) async fn put(&self, event: LinkEvent) {
        self.outbox.put(event).await;
    }

    /// Hands the last event over, and says in the same breath that it is the
    /// last: the link need not be woken twice.
    pub(super) async fn put_last(mut self, event: LinkEvent) {
        if let Some(permit) = self.outbox.room_for(&event).await
            && let Some(whose) = self.whose.take()
        {
            let _ = self.outbox.sender.send(News::Last(event, permit, whose));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(whose) = self.whose.take() {
            let _ = self.outbox.sender.send(News::Over(whose));
        }
    }
}
