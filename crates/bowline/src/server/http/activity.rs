//! The state of a connection, for its timeouts.
//!
//! A connection may carry thousands of requests, each answered sooner than a
//! timer would fire. So no timer is set per request: requests update this
//! state, and the connection's single timer reads it when it fires.

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

/// Shared by everything that belongs to one connection, which is served by one
/// task.
pub(super) struct ConnectionActivity {
    /// The connection's permit from its client's quota.
    permit: QuotaPermit,
    address: IpAddr,
    started: Instant,
    /// A request is being answered.
    is_serving_request: AtomicBool,
    /// A write waits for the client to read.
    is_write_blocked: AtomicBool,
    /// When the client last read something, relative to the start.
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

    /// Returns the address of the peer.
    pub(super) fn address(&self) -> IpAddr {
        self.address
    }

    /// Marks the start of a request. It ends when the guard is dropped.
    pub(super) fn begin_request(self: &Arc<Self>) -> RequestGuard {
        self.is_serving_request.store(true, Ordering::Relaxed);
        RequestGuard(Arc::clone(self))
    }

    /// Records that the client read something.
    pub(super) fn record_write(&self) {
        self.is_write_blocked.store(false, Ordering::Relaxed);
        // The value is not used while a request is being answered.
        if !self.is_serving_request.load(Ordering::Relaxed) {
            let now = self.started.elapsed().as_micros();
            let now = u64::try_from(now).unwrap_or(u64::MAX);
            self.last_write.store(now, Ordering::Relaxed);
        }
    }

    /// Records that the client does not read what is sent.
    pub(super) fn record_blocked_write(&self) {
        self.is_write_blocked.store(true, Ordering::Relaxed);
    }

    /// Returns since when the connection is idle, if it is.
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

/// A request that is being answered. Dropping it ends the request.
pub(super) struct RequestGuard(Arc<ConnectionActivity>);

impl RequestGuard {
    /// Returns the quota of the address that the connection comes from.
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
