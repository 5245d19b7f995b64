//! Notifications on their way to those who listen: how many, and how large.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError, Weak},
};

use tokio::sync::broadcast;

use super::notification::Notification;

/// How many notifications wait for a slow listener before the oldest go.
const MAX_WAITING: usize = 1024;

/// How many bytes these may have, unless it is one alone.
const MAX_WAITING_BYTES: usize = 4 * 1024 * 1024;

/// Where notifications are put in.
pub(super) struct News {
    channel: broadcast::Sender<Arc<Kept>>,
    /// Those that may still wait for somebody, the oldest first, and their
    /// sizes.
    recent: VecDeque<(Weak<Kept>, usize)>,
    bytes: usize,
}

/// A notification, unless it had to make room.
#[derive(Debug)]
pub(crate) struct Kept(Mutex<Option<Notification>>);

impl News {
    pub(super) fn new() -> (Self, broadcast::Receiver<Arc<Kept>>) {
        let (channel, receiver) = broadcast::channel(MAX_WAITING);
        let news = Self {
            channel,
            recent: VecDeque::new(),
            bytes: 0,
        };
        (news, receiver)
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<Arc<Kept>> {
        self.channel.subscribe()
    }

    /// Tells all who listen. `size` is that on the wire.
    pub(super) fn tell(&mut self, notification: Notification, size: usize) {
        let kept = Arc::new(Kept(Mutex::new(Some(notification))));
        self.recent.push_back((Arc::downgrade(&kept), size));
        self.bytes += size;
        while self.recent.len() > MAX_WAITING
            || (self.bytes > MAX_WAITING_BYTES && self.recent.len() > 1)
        {
            let Some((oldest, size)) = self.recent.pop_front() else {
                break;
            };
            self.bytes -= size;
            // Those whom all have heard are gone already.
            if let Some(oldest) = oldest.upgrade() {
                oldest.empty();
            }
        }
        // They may all be gone again.
        let _ = self.channel.send(kept);
    }
}

impl Kept {
    pub(super) fn get(&self) -> Option<Notification> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn empty(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
