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

use super::quotas::{ClientQuota, QuotaPermit};

/// Shared by all that belong to one connection, which is served by one task.
pub(super) struct ConnectionActivity {
    /// The connection, as one of its client's.
    permit: QuotaPermit,
    address: IpAddr,
    started: Instant,
    /// A request is answered.
    is_serving_request: AtomicBool,
    /// Something waits for the client to take it.
    is_write_blocked: AtomicBool,
    /// When the client was last sent something, after the beginning.
    last_write: AtomicU64,
}

impl ConnectionActivity {
    pub(super) fn new(connection: QuotaPermit, address: IpAddr) -> Arc<Self> {
        Arc::new(Self {
            permit: connection,
            address,
            started: Instant::now(),
            is_serving_request: AtomicBool::new(false),
            is_write_blocked: AtomicBool::new(false),
            last_write: AtomicU64::new(0),
        })
    }

    /// The other end.
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// A request is there. It is answered when this is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestGuard {
        self.is_serving_request.store(true, Ordering::Relaxed);
        RequestGuard(Arc::clone(self))
    }

    /// The client took something that was sent to it.
    pub(super) fn record_write(&self) {
        self.is_write_blocked.store(false, Ordering::Relaxed);
        // Nobody asks while there is more to come.
        if !self.is_serving_request.load(Ordering::Relaxed) {
            let now = self.started.elapsed().as_micros();
            let now = u64::try_from(now).unwrap_or(u64::MAX);
            self.last_write.store(now, Ordering::Relaxed);
        }
    }

    /// The client does not take what is sent to it.
    pub(super) fn record_blocked_write(&self) {
        self.is_write_blocked.store(true, Ordering::Relaxed);
    }

    /// Since when it is the client's turn to ask, if it is.
    pub(super) fn idle_since(&self) -> Option<Instant> {
        if self.is_serving_request.load(Ordering::Relaxed)
            || self.is_write_blocked.load(Ordering::Relaxed)
        {
            return None;
        }
        let written = Duration::from_micros(self.last_write.load(Ordering::Relaxed));
        Some(self.started + written)
    }
}

/// A request is answered as long as this lives.
pub(super) struct RequestGuard(Arc<ConnectionActivity>);

impl RequestGuard {
    /// The account of the address that the connection comes from.
    pub(super) fn quota(&self) -> &Arc<ClientQuota> {
        self.0.permit.quota()
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.is_serving_request.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::http::{HttpOptions, quotas::Quotas};

    #[tokio::test(start_paused = true)]
    async fn the_clients_turn_begins_with_the_last_that_it_took() {
        let accounts = Quotas::new(&HttpOptions::default());
        let connection = accounts.unknown().connection_permit().expect("room");
        let activity = ConnectionActivity::new(connection, [192, 0, 2, 1].into());
        let began = Instant::now();
        assert_eq!(activity.idle_since(), Some(began));
        let guard = activity.begin_request();
        tokio::time::advance(Duration::from_secs(3)).await;
        activity.record_write();
        assert_eq!(activity.idle_since(), None, "there is more to come");
        drop(guard);
        activity.record_blocked_write();
        assert_eq!(activity.idle_since(), None, "it has not all of the answer");
        tokio::time::advance(Duration::from_secs(4)).await;
        activity.record_write();
        tokio::time::advance(Duration::from_secs(5)).await;
        let since = began + Duration::from_secs(7);
        assert_eq!(activity.idle_since(), Some(since));
    }
}
