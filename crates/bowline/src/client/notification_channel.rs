//! Notifications on their way to those who listen: how many, and how large.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::broadcast;

use super::notification::Notification;

/// How many notifications wait for a slow listener before the oldest go.
const MAX_BUFFERED: usize = 1024;

/// How many bytes these may have, unless it is one alone.
const MAX_BUFFERED_BYTES: usize = 4 * 1024 * 1024;

/// Where notifications are put in.
pub(super) struct NotificationSender {
    channel: broadcast::Sender<Arc<BufferedNotification>>,
    /// Those that may still wait for somebody, the oldest first, and their
    /// sizes.
    recent: VecDeque<(Weak<BufferedNotification>, usize)>,
    bytes: usize,
}

/// A notification, unless it had to make room.
#[derive(Debug)]
pub(crate) struct BufferedNotification(Mutex<Option<Notification>>);

impl NotificationSender {
    pub(super) fn new() -> (Self, broadcast::Receiver<Arc<BufferedNotification>>) {
        let (channel, receiver) = broadcast::channel(MAX_BUFFERED);
        let sender = Self {
            channel,
            recent: VecDeque::new(),
            bytes: 0,
        };
        (sender, receiver)
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Arc<BufferedNotification>> {
        self.channel.subscribe()
    }

    /// Tells all who listen. `size` is that on the wire.
    pub(super) fn send(&mut self, notification: Notification, size: usize) {
        let buffered = Arc::new(BufferedNotification(Mutex::new(Some(notification))));
        self.recent.push_back((Arc::downgrade(&buffered), size));
        self.bytes += size;
        while self.recent.len() > MAX_BUFFERED
            || (self.bytes > MAX_BUFFERED_BYTES && self.recent.len() > 1)
        {
            let Some((oldest, size)) = self.recent.pop_front() else {
                break;
            };
            self.bytes -= size;
            // Those whom all have heard are gone already.
            if let Some(oldest) = oldest.upgrade() {
                oldest.discard();
            }
        }
        // They may all be gone again.
        let _ = self.channel.send(buffered);
    }
}

impl BufferedNotification {
    pub(super) fn get(&self) -> Option<Notification> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn discard(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
