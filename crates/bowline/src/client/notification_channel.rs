//! The bounded channel for notifications.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, Weak},
};

use tokio::sync::broadcast;

use super::notification::Notification;

use crate::sync;

/// The maximum number of notifications buffered for a slow receiver. Beyond it the
/// oldest are dropped.
const MAX_BUFFERED: usize = 1024;

/// The maximum size of the buffered notifications, in bytes. A single notification may
/// exceed it.
const MAX_BUFFERED_BYTES: usize = 4 * 1024 * 1024;

/// The sending half.
pub(super) struct NotificationSender {
    channel: broadcast::Sender<Arc<BufferedNotification>>,
    /// The notifications that a receiver may still be waiting for, oldest first, with
    /// their sizes.
    recent: VecDeque<(Weak<BufferedNotification>, usize)>,
    bytes: usize,
}

/// A notification, or `None` if it was dropped to make room.
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

    /// Sends a notification to all receivers. `size` is its size on the wire.
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
            // Notifications that all receivers have seen are already gone.
            if let Some(oldest) = oldest.upgrade() {
                oldest.discard();
            }
        }
        // There may be no receivers left.
        let _ = self.channel.send(buffered);
    }
}

impl BufferedNotification {
    pub(super) fn get(&self) -> Option<Notification> {
        sync::lock(&self.0).clone()
    }

    fn discard(&self) {
        *sync::lock(&self.0) = None;
    }
}
