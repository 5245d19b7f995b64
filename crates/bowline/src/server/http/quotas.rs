//! How much each client has in use, and how much all of them have together.
//!
//! A client is a principal where one is known, and an address otherwise. What
//! it may have is a part of what all may have, so that nobody shuts others out.

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
    session::lock,
};
use crate::server::background::Caller;

/// Who is counted as one client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum QuotaKey {
    /// Nobody knows who it is. All of them share an account, which has no
    /// limits of its own.
    Unknown,
    /// An address of version 4, or a network of 64 bits.
    Address(IpAddr),
    /// A network of 48 bits, which many have who have one of 64.
    Network(IpAddr),
    Principal(Arc<str>),
}

/// A network of 48 bits may have so many times what one client may.
const NETWORK_FACTOR: usize = 2;

impl QuotaKey {
    /// The larger network that it is a part of, if it is.
    pub(super) fn network(&self) -> Option<Self> {
        match self {
            Self::Address(address) => large_network(*address).map(Self::Network),
            Self::Unknown | Self::Network(_) | Self::Principal(_) => None,
        }
    }

    /// All that what it has counts for.
    pub(super) fn groups(&self) -> impl Iterator<Item = Self> + use<> {
        std::iter::once(self.clone()).chain(self.network())
    }

    /// How much it may have, where one client may have this.
    pub(super) fn limits_for(&self, per_client: ClientLimits) -> ClientLimits {
        match self {
            Self::Unknown => ClientLimits::UNLIMITED,
            Self::Network(_) => per_client.scaled(NETWORK_FACTOR),
            Self::Address(_) | Self::Principal(_) => per_client,
        }
    }
}

/// Who is counted for what goes on although its caller left.
impl From<&QuotaKey> for Caller {
    fn from(key: &QuotaKey) -> Self {
        match key {
            QuotaKey::Unknown => Self::Unknown,
            QuotaKey::Address(address) | QuotaKey::Network(address) => Self::Address(*address),
            QuotaKey::Principal(principal) => Self::Principal(Arc::clone(principal)),
        }
    }
}

/// The accounts of those who are there.
pub(super) struct Quotas {
    quotas: Mutex<HashMap<QuotaKey, Weak<ClientQuota>>>,
    unknown: Arc<ClientQuota>,
    limits: ClientLimits,
}

/// What one client has in use.
pub(super) struct ClientQuota {
    pub(super) key: QuotaKey,
    limits: ClientLimits,
    used: Usage,
    /// The account of the larger network that it is a part of.
    network: Option<Arc<ClientQuota>>,
    totals: Arc<Totals>,
}

/// What all of them have in use, and may.
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

/// One in so many places is kept for sessions that are open.
const SESSION_RESERVE: usize = 8;
/// What a request takes besides its bytes: its task, and what it stands in.
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
            // Those wait for a place among all before they are taken.
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

    /// The account of a principal.
    pub(super) fn for_principal(&self, principal: Arc<str>) -> Arc<ClientQuota> {
        self.get_or_insert(QuotaKey::Principal(principal))
    }

    /// The account of an address.
    pub(super) fn for_address(&self, address: IpAddr) -> Arc<ClientQuota> {
        self.get_or_insert(QuotaKey::Address(network(address)))
    }

    /// The account of those who are not known.
    pub(super) fn unknown(&self) -> &Arc<ClientQuota> {
        &self.unknown
    }

    /// How many bytes are recorded.
    pub(super) fn replay_bytes(&self) -> usize {
        self.unknown.totals.used.replay_bytes.used()
    }

    fn get_or_insert(&self, key: QuotaKey) -> Arc<ClientQuota> {
        let mut quotas = lock(&self.quotas);
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
        // Now and then: not all of them for each one that is added.
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

    /// A place for a request with a head of so many bytes. The last places are
    /// for those of sessions that are open: whoever is at work must be able to
    /// go on.
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

    /// Room for a stream of changes.
    pub(super) fn listen_permit(self: &Arc<Self>) -> Result<QuotaPermit, QuotaExceeded> {
        self.permit(
            |used| &used.listen_streams,
            |limits| limits.max_listen_streams,
        )
    }

    /// Room for a connection.
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

    /// Whether there is room for so much more to be recorded.
    pub(super) fn may_record(&self, bytes: usize) -> bool {
        self.levels().all(|(used, limits, _)| {
            let now = used.replay_bytes.used().checked_add(bytes);
            now.is_some_and(|now| now <= limits.max_replay_bytes)
        })
    }

    /// So much is recorded in place of so much.
    pub(super) fn replace_recorded(&self, before: usize, now: usize) {
        // All sessions share it, so it is not touched in vain.
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

    /// Takes something at each level, or nothing at all.
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

    /// Where what it has counts: its own account, that of its network, and what
    /// all have together; and what may be there.
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

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuotaExceeded {
    /// The client has as much as one may have.
    Client,
    /// All have, together.
    Total,
}

/// A place for a request that is read, or worked on without a session, and its
/// bytes.
pub(super) struct RequestPermit {
    bytes: BytesPermit,
}

impl RequestPermit {
    pub(super) fn quota(&self) -> &Arc<ClientQuota> {
        &self.bytes.quota
    }

    /// So many bytes have come.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), QuotaExceeded> {
        self.bytes.grow(bytes)
    }

    /// It is a batch of so many: each takes what a request takes besides its
    /// bytes.
    pub(super) fn grow_for(&mut self, requests: usize) -> Result<(), QuotaExceeded> {
        self.grow(REQUEST_OVERHEAD * requests.saturating_sub(1))
    }

    /// The place, and the bytes by themselves.
    pub(super) fn split(mut self) -> (Self, BytesPermit) {
        let empty = BytesPermit {
            quota: Arc::clone(self.quota()),
            bytes: 0,
        };
        let bytes = std::mem::replace(&mut self.bytes, empty);
        (self, bytes)
    }

    /// Gives up the place, for what only the bytes of the request count for.
    pub(super) fn into_bytes_permit(self) -> BytesPermit {
        self.split().1
    }
}

impl Drop for RequestPermit {
    fn drop(&mut self) {
        self.quota().release(|used| &used.requests, 1);
    }
}

/// The bytes of a request, for as long as somebody holds them.
pub(super) struct BytesPermit {
    quota: Arc<ClientQuota>,
    bytes: usize,
}

impl BytesPermit {
    /// So much more is held.
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

/// One of something, for as long as it is there.
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

/// How much of something is in use.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes so much, unless that is more than there may be.
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
