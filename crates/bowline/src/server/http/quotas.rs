//! Resource quotas per client and for all clients together.
//!
//! A client is a principal if known, and an address otherwise. Its quota is a
//! share of the total, so no client can shut out others.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering},
    },
};

use super::{
    options::{ClientLimits, HttpOptions},
    peer::{large_network, network},
};
use crate::{server::background::Caller, sync};

/// Identifies a client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum QuotaKey {
    /// The client is unknown. All of these share a quota without its own
    /// limits.
    Unknown,
    /// An IPv4 address, or an IPv6 /64 network.
    Address(IpAddr),
    /// An IPv6 /48 network, whose owner may have many /64 networks.
    Network(IpAddr),
    Principal(Arc<str>),
}

/// How many times the quota of one client a /48 network gets.
const NETWORK_FACTOR: usize = 2;

impl QuotaKey {
    /// Returns the larger network that it is part of, if any.
    pub(super) fn network(&self) -> Option<Self> {
        match self {
            Self::Address(address) => large_network(*address).map(Self::Network),
            Self::Unknown | Self::Network(_) | Self::Principal(_) => None,
        }
    }

    /// Iterates over all keys that its usage counts for.
    pub(super) fn groups(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::once(self.clone()).chain(self.network())
    }

    /// Returns its limits, given those of one client.
    pub(super) fn limits_for(&self, per_client: ClientLimits) -> ClientLimits {
        match self {
            Self::Unknown => ClientLimits::UNLIMITED,
            Self::Network(_) => per_client.scaled(NETWORK_FACTOR),
            Self::Address(_) | Self::Principal(_) => per_client,
        }
    }
}

/// The caller charged for work that continues after its client disconnected.
impl From<&QuotaKey> for Caller {
    fn from(key: &QuotaKey) -> Self {
        match key {
            QuotaKey::Unknown => Self::Unknown,
            QuotaKey::Address(address) | QuotaKey::Network(address) => Self::Address(*address),
            QuotaKey::Principal(principal) => Self::Principal(Arc::clone(principal)),
        }
    }
}

/// The quotas of the clients that have something in use.
pub(super) struct Quotas {
    quotas: Mutex<HashMap<QuotaKey, Weak<ClientQuota>>>,
    unknown: Arc<ClientQuota>,
    limits: ClientLimits,
}

/// The resources one client has in use.
pub(super) struct ClientQuota {
    pub(super) key: QuotaKey,
    limits: ClientLimits,
    used: Usage,
    /// The quota of the larger network that it is part of.
    network: Option<Arc<ClientQuota>>,
    totals: Arc<Totals>,
}

/// The usage and the limits of all clients together.
struct Totals {
    max: ClientLimits,
    used: Usage,
}

#[derive(Default)]
struct Usage {
    requests: Counter,
    request_bytes: Counter,
    replay_bytes: Counter,
    listen_streams: Counter,
    connections: Counter,
}

/// One in this many request permits is reserved for open sessions.
const SESSION_RESERVE: usize = 8;
/// The memory a request uses in addition to its bytes, mostly its task.
const REQUEST_OVERHEAD: usize = 2048;

impl Quotas {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let max = ClientLimits {
            max_sessions: options.max_sessions,
            max_session_bytes: options.max_session_bytes,
            max_requests: options.max_requests,
            max_request_bytes: options.max_request_bytes,
            max_replay_bytes: options.max_replay_bytes,
            max_listen_streams: options.max_listen_streams,
            // Connections wait for a permit from the total before they are
            // accepted.
            max_connections: usize::MAX,
        };
        let totals = Arc::new(Totals {
            max,
            used: Usage::default(),
        });
        Self {
            quotas: Mutex::default(),
            unknown: ClientQuota::new(QuotaKey::Unknown, ClientLimits::UNLIMITED, None, &totals),
            limits: options.client_limits,
        }
    }

    /// Returns the quota of a principal.
    pub(super) fn for_principal(&self, principal: Arc<str>) -> Arc<ClientQuota> {
        self.get_or_insert(QuotaKey::Principal(principal))
    }

    /// Returns the quota of an address.
    pub(super) fn for_address(&self, address: IpAddr) -> Arc<ClientQuota> {
        self.get_or_insert(QuotaKey::Address(network(address)))
    }

    /// Returns the quota of unknown clients.
    pub(super) fn unknown(&self) -> &Arc<ClientQuota> {
        &self.unknown
    }

    /// Returns how many bytes are recorded for replay.
    pub(super) fn replay_bytes(&self) -> usize {
        self.unknown.totals.used.replay_bytes.used()
    }

    fn get_or_insert(&self, key: QuotaKey) -> Arc<ClientQuota> {
        let mut quotas = sync::lock(&self.quotas);
        self.find(&mut quotas, key)
    }

    fn find(
        &self,
        quotas: &mut HashMap<QuotaKey, Weak<ClientQuota>>,
        key: QuotaKey,
    ) -> Arc<ClientQuota> {
        if let Some(quota) = quotas.get(&key).and_then(Weak::upgrade) {
            return quota;
        }
        // Only when the map is full, not for every insertion.
        if quotas.len() == quotas.capacity() {
            quotas.retain(|_, quota| quota.strong_count() > 0);
        }
        let network = key.network().map(|network| self.find(quotas, network));
        let limits = key.limits_for(self.limits);
        let quota = ClientQuota::new(key.clone(), limits, network, &self.unknown.totals);
        quotas.insert(key, Arc::downgrade(&quota));
        quota
    }
}

impl ClientQuota {
    /// Returns the address whose quota it is.
    #[cfg(feature = "cluster")]
    pub(super) fn address(&self) -> Option<IpAddr> {
        match self.key {
            QuotaKey::Address(address) => Some(address),
            QuotaKey::Unknown | QuotaKey::Network(_) | QuotaKey::Principal(_) => None,
        }
    }

    fn new(
        key: QuotaKey,
        limits: ClientLimits,
        network: Option<Arc<Self>>,
        totals: &Arc<Totals>,
    ) -> Arc<Self> {
        Arc::new(Self {
            key,
            limits,
            used: Usage::default(),
            network,
            totals: Arc::clone(totals),
        })
    }

    /// Acquires a permit for a request with a head of this size. The last
    /// permits are reserved for open sessions, so clients can continue their
    /// work.
    pub(super) fn request_permit(
        self: &Arc<Self>,
        head: usize,
        in_session: impl Fn() -> bool,
    ) -> Result<RequestPermit, QuotaExceeded> {
        let try_acquire = |counter: &Counter, limits: &ClientLimits| {
            let max = limits.max_requests;
            counter.acquire(1, max - max / SESSION_RESERVE)
                || (in_session() && counter.acquire(1, max))
        };
        self.acquire_with(|used| &used.requests, try_acquire, 1)?;
        let bytes = BytesPermit {
            quota: Arc::clone(self),
            bytes: 0,
        };
        let mut permit = RequestPermit { bytes };
        permit.bytes.grow(REQUEST_OVERHEAD + head)?;
        Ok(permit)
    }

    /// Acquires a permit for a stream of changes.
    pub(super) fn listen_permit(self: &Arc<Self>) -> Result<QuotaPermit, QuotaExceeded> {
        self.permit(
            |used| &used.listen_streams,
            |limits| limits.max_listen_streams,
        )
    }

    /// Acquires a permit for a connection.
    pub(super) fn connection_permit(self: &Arc<Self>) -> Result<QuotaPermit, QuotaExceeded> {
        self.permit(|used| &used.connections, |limits| limits.max_connections)
    }

    fn permit(
        self: &Arc<Self>,
        select: fn(&Usage) -> &Counter,
        max: fn(&ClientLimits) -> usize,
    ) -> Result<QuotaPermit, QuotaExceeded> {
        let quota = Arc::clone(self);
        self.acquire(select, max, 1)?;
        Ok(QuotaPermit {
            quota,
            counter: select,
        })
    }

    /// Returns whether this many more bytes may be recorded.
    pub(super) fn may_record(&self, bytes: usize) -> bool {
        self.levels().all(|(used, limits, _)| {
            let now = used.replay_bytes.used().checked_add(bytes);
            now.is_some_and(|now| now <= limits.max_replay_bytes)
        })
    }

    /// Updates the number of recorded bytes.
    pub(super) fn replace_recorded(&self, before: usize, now: usize) {
        // Shared by all sessions, so avoid needless writes.
        if now != before {
            for (used, ..) in self.levels() {
                used.replay_bytes.replace(before, now);
            }
        }
    }

    fn acquire(
        &self,
        select: fn(&Usage) -> &Counter,
        max: fn(&ClientLimits) -> usize,
        amount: usize,
    ) -> Result<(), QuotaExceeded> {
        let try_acquire =
            |counter: &Counter, limits: &ClientLimits| counter.acquire(amount, max(limits));
        self.acquire_with(select, try_acquire, amount)
    }

    /// Acquires at every level, or not at all.
    fn acquire_with(
        &self,
        select: fn(&Usage) -> &Counter,
        try_acquire: impl Fn(&Counter, &ClientLimits) -> bool,
        amount: usize,
    ) -> Result<(), QuotaExceeded> {
        for (index, (used, limits, why)) in self.levels().enumerate() {
            if !try_acquire(select(used), limits) {
                for (used, ..) in self.levels().take(index) {
                    select(used).release(amount);
                }
                return Err(why);
            }
        }
        Ok(())
    }

    fn release(&self, select: fn(&Usage) -> &Counter, amount: usize) {
        for (used, ..) in self.levels() {
            select(used).release(amount);
        }
    }

    /// Iterates over the levels its usage counts for, with their limits: its
    /// own quota, that of its network, and the total.
    fn levels(&self) -> impl Iterator<Item = (&Usage, &ClientLimits, QuotaExceeded)> {
        let network = self.network.as_deref();
        let clients = std::iter::once(self).chain(network);
        let clients = clients.map(|it| (&it.used, &it.limits, QuotaExceeded::Client));
        let totals = &self.totals;
        clients.chain(std::iter::once((
            &totals.used,
            &totals.max,
            QuotaExceeded::Total,
        )))
    }
}

/// The quota that is exhausted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuotaExceeded {
    /// The client's.
    Client,
    /// The total.
    Total,
}

/// A permit for a request being read, or processed without a session, and its
/// bytes.
pub(super) struct RequestPermit {
    bytes: BytesPermit,
}

impl RequestPermit {
    pub(super) fn quota(&self) -> &Arc<ClientQuota> {
        &self.bytes.quota
    }

    /// Accounts for more bytes.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), QuotaExceeded> {
        self.bytes.grow(bytes)
    }

    /// Accounts for the overhead of a batch of this many requests.
    pub(super) fn grow_for(&mut self, requests: usize) -> Result<(), QuotaExceeded> {
        self.grow(REQUEST_OVERHEAD * requests.saturating_sub(1))
    }

    /// Splits off the bytes from the permit.
    pub(super) fn split(mut self) -> (Self, BytesPermit) {
        let empty = BytesPermit {
            quota: Arc::clone(self.quota()),
            bytes: 0,
        };
        let bytes = std::mem::replace(&mut self.bytes, empty);
        (self, bytes)
    }

    /// Releases the permit and keeps the bytes, for requests that count only
    /// for these.
    pub(super) fn into_bytes_permit(self) -> BytesPermit {
        self.split().1
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.quota().release(|used| &used.requests, 1);
    }
}

/// The bytes of a request, released on drop.
pub(super) struct BytesPermit {
    quota: Arc<ClientQuota>,
    bytes: usize,
}

impl BytesPermit {
    /// Accounts for more bytes.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), QuotaExceeded> {
        let max = |limits: &ClientLimits| limits.max_request_bytes;
        self.quota.acquire(|used| &used.request_bytes, max, bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for BytesPermit {
    fn drop(&mut self) {
        self.quota.release(|used| &used.request_bytes, self.bytes);
    }
}

/// One unit of a resource, released on drop.
pub(super) struct QuotaPermit {
    quota: Arc<ClientQuota>,
    counter: fn(&Usage) -> &Counter,
}

impl QuotaPermit {
    pub(super) fn quota(&self) -> &Arc<ClientQuota> {
        &self.quota
    }
}

impl Drop for QuotaPermit {
    fn drop(&mut self) {
        self.quota.release(self.counter, 1);
    }
}

/// The amount of a resource in use.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Acquires an amount, unless that exceeds the maximum.
    fn acquire(&self, amount: usize, max: usize) -> bool {
        let before = self.0.fetch_add(amount, Ordering::Relaxed);
        let is_within = before.checked_add(amount).is_some_and(|now| now <= max);
        if !is_within {
            self.release(amount);
        }
        is_within
    }

    fn release(&self, amount: usize) {
        self.0.fetch_sub(amount, Ordering::Relaxed);
    }

    fn replace(&self, before: usize, now: usize) {
        self.0
            .fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
