//! What a connection is about at this moment, for whoever keeps its time.
//!
//! Requests come by the thousand over one connection, and are answered sooner
//! than a timer is set. So nothing is set for them: they leave a note, and the
//! one timer of the connection reads it when it goes off.

use std::{
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::accounts::{Account, Counted};

/// Shared by all that belong to one connection, which is served by one task.
pub(super) struct Pulse {
    /// The connection, as one of its client's.
    connection: Counted,
    address: IpAddr,
    began: Instant,
    /// A request is answered.
    answering: AtomicBool,
    /// Something waits for the client to take it.
    stuck: AtomicBool,
    /// When the client was last sent something, after the beginning.
    written: AtomicU64,
}

impl Pulse {
    pub(super) fn new(connection: Counted, address: IpAddr) -> Arc<Self> {
        Arc::new(Self {
            connection,
            address,
            began: Instant::now(),
            answering: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
            written: AtomicU64::new(0),
        })
    }

    /// The other end.
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// A request is there. It is answered when this is dropped.
    pub(super) fn answering(self: &Arc<Self>) -> Answering {
        self.answering.store(true, Ordering::Relaxed);
        Answering(Arc::clone(self))
    }

    /// The client took something that was sent to it.
    pub(super) fn written(&self) {
        self.stuck.store(false, Ordering::Relaxed);
        // Nobody asks while there is more to come.
        if !self.answering.load(Ordering::Relaxed) {
            let now = self.began.elapsed().as_micros();
            let now = u64::try_from(now).unwrap_or(u64::MAX);
            self.written.store(now, Ordering::Relaxed);
        }
    }

    /// The client does not take what is sent to it.
    pub(super) fn stuck(&self) {
        self.stuck.store(true, Ordering::Relaxed);
    }

    /// Since when it is the client's turn to ask, if it is.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        if self.answering.load(Ordering::Relaxed) || self.stuck.load(Ordering::Relaxed) {
            return None;
        }
        let written = Duration::from_micros(self.written.load(Ordering::Relaxed));
        Some(self.began + written)
    }
}

/// A request is answered as long as this lives.
pub(super) struct Answering(Arc<Pulse>);

impl Answering {
    /// The account of the address that the connection comes from.
    pub(super) fn account(&self) -> &Arc<Account> {
        self.0.connection.account()
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.answering.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::{HttpOptions, accounts::Accounts};

    #[tokio::test(start_paused = true)]
    async fn the_clients_turn_begins_with_the_last_that_it_took() {
        let accounts = Accounts::new(&HttpOptions::default());
        let connection = accounts.of_unknown().connect().expect("room");
        let pulse = Pulse::new(connection, [192, 0, 2, 1].into());
        let began = Instant::now();
        assert_eq!(pulse.waiting_since(), Some(began));
        let answering = pulse.answering();
        tokio::time::advance(Duration::from_secs(3)).await;
        pulse.written();
        assert_eq!(pulse.waiting_since(), None, "there is more to come");
        drop(answering);
        pulse.stuck();
        assert_eq!(pulse.waiting_since(), None, "it has not all of the answer");
        tokio::time::advance(Duration::from_secs(4)).await;
        pulse.written();
        tokio::time::advance(Duration::from_secs(5)).await;
        let since = began + Duration::from_secs(7);
        assert_eq!(pulse.waiting_since(), Some(since));
    }
}
