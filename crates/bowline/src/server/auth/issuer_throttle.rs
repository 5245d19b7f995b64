//! Limits on calls to an issuer: one call per token at a time, a number of
//! concurrent calls and a rate, with a share for each client.

use std::{
    collections::HashMap,
    future::Future,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    sync::{Semaphore, SemaphorePermit},
    time::{Instant, timeout},
};

use super::{TokenClaims, VerifyError, issuer_fetch::FETCH_TIMEOUT};

use crate::sync;

/// The default number of concurrent calls.
const DEFAULT_CONCURRENT: usize = 32;
/// The default number of calls per second.
const DEFAULT_PER_SECOND: u32 = 100;
/// One client may use one in this many of these; as many are reserved for
/// tokens that were valid before.
const SHARE_DIVISOR: u32 = 4;
/// The maximum number of clients tracked. A client without calls for a second
/// need not be.
const MAX_PEERS: usize = 10_000;

type VerifyResult = Result<TokenClaims, VerifyError>;

/// Runs calls within limits.
pub(super) struct Throttle {
    /// Calls in flight, by token digest. Requests with the same token wait for
    /// the same result.
    in_flight: Mutex<HashMap<String, Arc<PendingLookup>>>,
    /// Permits for calls.
    permits: Semaphore,
    /// The permits available to unknown tokens.
    unverified_permits: Semaphore,
    rate: Mutex<TokenBucket>,
    peers: Mutex<HashMap<IpAddr, Arc<Peer>>>,
    max_concurrent: usize,
    per_second: u32,
}

/// A call to make, and for which client.
#[derive(Clone, Copy)]
pub(super) struct LookupRequest<'a> {
    /// A digest of the token.
    pub(super) key: &'a str,
    /// Whether the token was valid when it was last verified.
    pub(super) was_valid: bool,
    /// The address of the client, if known.
    pub(super) peer: Option<IpAddr>,
}

/// One call. Its lock is held while the call runs.
#[derive(Default)]
struct PendingLookup(tokio::sync::Mutex<Option<VerifyResult>>);

/// The share of one client for unknown tokens.
struct Peer {
    permits: Semaphore,
    rate: Mutex<TokenBucket>,
}

/// The number of calls that may start now, refilled over time.
struct TokenBucket {
    per_second: f64,
    tokens: f64,
    refilled_at: Instant,
}

impl Throttle {
    pub(super) fn new() -> Self {
        Self::with_limits(DEFAULT_CONCURRENT, DEFAULT_PER_SECOND)
    }

    fn with_limits(concurrent: usize, per_second: u32) -> Self {
        let max_concurrent = concurrent.clamp(1, Semaphore::MAX_PERMITS);
        let per_second = per_second.max(1);
        let reserved = max_concurrent / SHARE_DIVISOR as usize;
        Self {
            in_flight: Mutex::default(),
            permits: Semaphore::new(max_concurrent),
            unverified_permits: Semaphore::new(max_concurrent - reserved),
            rate: Mutex::new(TokenBucket::new(per_second)),
            peers: Mutex::default(),
            max_concurrent,
            per_second,
        }
    }

    pub(super) fn set_concurrent(&mut self, max: usize) {
        *self = Self::with_limits(max, self.per_second);
    }

    pub(super) fn set_per_second(&mut self, max: u32) {
        *self = Self::with_limits(self.max_concurrent, max);
    }

    /// Runs the call for a token, or waits for the one in flight. Tokens that
    /// were valid recently always get a call, so clients with unknown tokens
    /// cannot shut them out.
    pub(super) async fn run(
        &self,
        request: LookupRequest<'_>,
        lookup_future: impl Future<Output = VerifyResult>,
    ) -> VerifyResult {
        let mut guard = InFlightGuard::new(self, request.key);
        let lookup = Arc::clone(&guard.lookup);
        // If the caller is dropped, the next in line makes the call.
        let mut slot = lookup.0.lock().await;
        if let Some(result) = &*slot {
            return result.clone();
        }
        let permit = timeout(FETCH_TIMEOUT, self.acquire(request)).await;
        let result = match permit {
            Ok(Some(_permit)) => {
                let result = lookup_future.await;
                *slot = Some(result.clone());
                result
            }
            // The others may try for themselves.
            Ok(None) | Err(_) => Err(VerifyError::Unavailable),
        };
        guard.is_done = true;
        result
    }

    /// Waits for a permit. Returns `None` if the client makes too many calls.
    async fn acquire(&self, request: LookupRequest<'_>) -> Option<LookupPermit<'_>> {
        let mut permit = LookupPermit::default();
        if !request.was_valid {
            if let Some(peer) = request.peer {
                let peer = self.peer(peer)?;
                if !sync::lock(&peer.rate).try_acquire() {
                    return None;
                }
                permit.peer = Some(PeerPermit::acquire(peer).await?);
            }
            if !sync::lock(&self.rate).try_acquire() {
                return None;
            }
            permit.unverified = Some(self.unverified_permits.acquire().await.ok()?);
        }
        permit.global = Some(self.permits.acquire().await.ok()?);
        Some(permit)
    }

    /// Returns the share of a client, or `None` if there are too many clients
    /// to track.
    fn peer(&self, address: IpAddr) -> Option<Arc<Peer>> {
        let mut peers = sync::lock(&self.peers);
        if let Some(peer) = peers.get(&address) {
            return Some(Arc::clone(peer));
        }
        if peers.len() >= MAX_PEERS {
            peers
                .retain(|_, peer| Arc::strong_count(peer) > 1 || !sync::lock(&peer.rate).is_full());
        }
        if peers.len() >= MAX_PEERS {
            return None;
        }
        let peer = Arc::new(Peer {
            permits: Semaphore::new((self.max_concurrent / SHARE_DIVISOR as usize).max(1)),
            rate: Mutex::new(TokenBucket::new((self.per_second / SHARE_DIVISOR).max(1))),
        });
        peers.insert(address, Arc::clone(&peer));
        Some(peer)
    }
}

/// A permit for a call, among all and among those of its kind.
#[derive(Default)]
struct LookupPermit<'a> {
    peer: Option<PeerPermit>,
    unverified: Option<SemaphorePermit<'a>>,
    global: Option<SemaphorePermit<'a>>,
}

/// A permit from one client's share.
struct PeerPermit(Arc<Peer>);

impl PeerPermit {
    async fn acquire(peer: Arc<Peer>) -> Option<Self> {
        peer.permits.acquire().await.ok()?.forget();
        Some(Self(peer))
    }
}

impl Drop for PeerPermit {
    fn drop(&mut self) {
        self.0.permits.add_permits(1);
    }
}

/// A request that waits for a call or makes it. The one that completes it, or
/// else the last to wait, removes it from those in flight: the next call is a
/// new one.
struct InFlightGuard<'a> {
    throttle: &'a Throttle,
    key: &'a str,
    lookup: Arc<PendingLookup>,
    is_done: bool,
}

impl<'a> InFlightGuard<'a> {
    fn new(throttle: &'a Throttle, key: &'a str) -> Self {
        let mut lookups = sync::lock(&throttle.in_flight);
        let lookup = Arc::clone(lookups.entry(key.to_owned()).or_default());
        drop(lookups);
        Self {
            throttle,
            key,
            lookup,
            is_done: false,
        }
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        let mut lookups = sync::lock(&self.throttle.in_flight);
        // Dropped under the lock, so exactly one is the last.
        let lookup = std::mem::take(&mut self.lookup);
        let Some(current) = lookups.get(self.key) else {
            return;
        };
        // A new call for the same token may already be in flight.
        if !Arc::ptr_eq(current, &lookup) {
            return;
        }
        drop(lookup);
        if self.is_done || Arc::strong_count(current) == 1 {
            lookups.remove(self.key);
        }
    }
}

impl TokenBucket {
    fn new(per_second: u32) -> Self {
        Self {
            per_second: f64::from(per_second),
            tokens: f64::from(per_second),
            refilled_at: Instant::now(),
        }
    }

    fn try_acquire(&mut self) -> bool {
        self.refill();
        let enough = self.tokens >= 1.0;
        if enough {
            self.tokens -= 1.0;
        }
        enough
    }

    /// Returns whether no call was made for a while.
    fn is_full(&mut self) -> bool {
        self.refill();
        self.tokens >= self.per_second
    }

    fn refill(&mut self) {
        let now = Instant::now();
        let refilled = (now - self.refilled_at).as_secs_f64() * self.per_second;
        self.tokens = (self.tokens + refilled).min(self.per_second);
        self.refilled_at = now;
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        pin::pin,
        task::Poll,
    };

    use super::*;

    fn lookup_request(key: &str) -> LookupRequest<'_> {
        LookupRequest {
            key,
            was_valid: false,
            peer: Some([192, 0, 2, 1].into()),
        }
    }

    fn in_flight_count(throttle: &Throttle) -> usize {
        sync::lock(&throttle.in_flight).len()
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_given_up_before_it_is_asked_leaves_nothing() {
        let throttle = Throttle::new();
        poll_fn(|cx| {
            // A task that used up its budget is told to wait.
            while pin!(tokio::task::consume_budget()).poll(cx).is_ready() {}
            let mut lookup_task = Box::pin(throttle.run(lookup_request("token"), pending()));
            assert!(lookup_task.as_mut().poll(cx).is_pending());
            drop(lookup_task);
            Poll::Ready(())
        })
        .await;
        assert_eq!(in_flight_count(&throttle), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_asks_if_the_first_one_leaves() {
        let throttle = Throttle::new();
        let mut first = Box::pin(throttle.run(lookup_request("token"), pending()));
        let refused = async { Err(VerifyError::Invalid("it is made up")) };
        let mut second = Box::pin(throttle.run(lookup_request("token"), refused));
        poll_fn(|cx| {
            assert!(first.as_mut().poll(cx).is_pending());
            assert!(second.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        drop(first);
        assert_eq!(in_flight_count(&throttle), 1, "the second one waits");
        let refused = second.await.map(drop);
        assert_eq!(refused, Err(VerifyError::Invalid("it is made up")));
        assert_eq!(in_flight_count(&throttle), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn callers_are_forgotten_who_ask_nothing_more() {
        let throttle = Throttle::with_limits(32, u32::MAX);
        for number in 0..=MAX_PEERS {
            let [.., high, middle, low] = number.to_be_bytes();
            let about = LookupRequest {
                peer: Some([10, high, middle, low].into()),
                ..lookup_request("token")
            };
            let result = throttle
                .run(about, async { Err(VerifyError::OtherIssuer) })
                .await;
            let unavailable = result.map(drop) == Err(VerifyError::Unavailable);
            assert_eq!(unavailable, number == MAX_PEERS, "{number}");
        }
        tokio::time::advance(std::time::Duration::from_secs(1)).await;
        let result = throttle.run(lookup_request("token"), async {
            Err(VerifyError::OtherIssuer)
        });
        assert_eq!(result.await.map(drop), Err(VerifyError::OtherIssuer));
        assert_eq!(sync::lock(&throttle.peers).len(), 1);
    }
}
