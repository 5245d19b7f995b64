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
pub(super) enum Holder {
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
const NETWORK_SHARE: usize = 2;

impl Holder {
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
    pub(super) fn share(&self, one: ClientLimits) -> ClientLimits {
        match self {
            Self::Unknown => ClientLimits::NONE,
            Self::Network(_) => one.times(NETWORK_SHARE),
            Self::Address(_) | Self::Principal(_) => one,
        }
    }
}

/// Who is counted for what goes on although its caller left.
impl From<&Holder> for Caller {
    fn from(holder: &Holder) -> Self {
        match holder {
            Holder::Unknown => Self::Unknown,
            Holder::Address(address) | Holder::Network(address) => Self::Address(*address),
            Holder::Principal(principal) => Self::Principal(Arc::clone(principal)),
        }
    }
}

/// The accounts of those who are there.
pub(super) struct Accounts {
    known: Mutex<HashMap<Holder, Weak<Account>>>,
    unknown: Arc<Account>,
    limits: ClientLimits,
}

/// What one client has in use.
pub(super) struct Account {
    pub(super) holder: Holder,
    limits: ClientLimits,
    used: Used,
    /// The account of the larger network that it is a part of.
    network: Option<Arc<Account>>,
    totals: Arc<Totals>,
}

/// What all of them have in use, and may.
struct Totals {
    max: ClientLimits,
    used: Used,
}

#[derive(Default)]
struct Used {
    requests: Meter,
    request_bytes: Meter,
    replay_bytes: Meter,
    listens: Meter,
    connections: Meter,
}

/// One in so many places is kept for sessions that are open.
const RESERVED: usize = 8;
/// What a request takes besides its bytes: its task, and what it stands in.
const PER_REQUEST: usize = 2048;

impl Accounts {
    pub(super) fn new(options: &HttpOptions) -> Self {
        let max = ClientLimits {
            max_sessions: options.sessions,
            max_session_bytes: options.max_session_bytes,
            max_requests: options.requests,
            max_request_bytes: options.max_request_bytes,
            max_replay_bytes: options.replay_bytes,
            max_listens: options.listens,
            // Those wait for a place among all before they are taken.
            max_connections: usize::MAX,
        };
        let totals = Arc::new(Totals {
            max,
            used: Used::default(),
        });
        Self {
            known: Mutex::default(),
            unknown: Account::new(Holder::Unknown, ClientLimits::NONE, None, &totals),
            limits: options.per_client,
        }
    }

    /// The account of a principal.
    pub(super) fn of_principal(&self, principal: Arc<str>) -> Arc<Account> {
        self.of(Holder::Principal(principal))
    }

    /// The account of an address.
    pub(super) fn of_address(&self, address: IpAddr) -> Arc<Account> {
        self.of(Holder::Address(network(address)))
    }

    /// The account of those who are not known.
    pub(super) fn of_unknown(&self) -> &Arc<Account> {
        &self.unknown
    }

    /// How many bytes are recorded.
    pub(super) fn replay_bytes(&self) -> usize {
        self.unknown.totals.used.replay_bytes.used()
    }

    fn of(&self, holder: Holder) -> Arc<Account> {
        let mut known = lock(&self.known);
        self.find(&mut known, holder)
    }

    fn find(&self, known: &mut HashMap<Holder, Weak<Account>>, holder: Holder) -> Arc<Account> {
        if let Some(account) = known.get(&holder).and_then(Weak::upgrade) {
            return account;
        }
        // Now and then: not all of them for each one that is added.
        if known.len() == known.capacity() {
            known.retain(|_, account| account.strong_count() > 0);
        }
        let network = holder.network().map(|network| self.find(known, network));
        let limits = holder.share(self.limits);
        let account = Account::new(holder.clone(), limits, network, &self.unknown.totals);
        known.insert(holder, Arc::downgrade(&account));
        account
    }
}

impl Account {
    fn new(
        holder: Holder,
        limits: ClientLimits,
        network: Option<Arc<Self>>,
        totals: &Arc<Totals>,
    ) -> Arc<Self> {
        Arc::new(Self {
            holder,
            limits,
            used: Used::default(),
            network,
            totals: Arc::clone(totals),
        })
    }

    /// A place for a request with a head of so many bytes. The last places are
    /// for those of sessions that are open: whoever is at work must be able to
    /// go on.
    pub(super) fn place(
        self: &Arc<Self>,
        head: usize,
        in_session: impl Fn() -> bool,
    ) -> Result<Place, Exhausted> {
        let take = |meter: &Meter, limits: &ClientLimits| {
            let max = limits.max_requests;
            meter.take(1, max - max / RESERVED) || (in_session() && meter.take(1, max))
        };
        self.take_by(|used| &used.requests, take, 1)?;
        let charge = Charge {
            account: Arc::clone(self),
            bytes: 0,
        };
        let mut place = Place { charge };
        place.charge.grow(PER_REQUEST + head)?;
        Ok(place)
    }

    /// Room for a stream of changes.
    pub(super) fn listen(self: &Arc<Self>) -> Result<Counted, Exhausted> {
        self.count(|used| &used.listens, |limits| limits.max_listens)
    }

    /// Room for a connection.
    pub(super) fn connect(self: &Arc<Self>) -> Result<Counted, Exhausted> {
        self.count(|used| &used.connections, |limits| limits.max_connections)
    }

    fn count(
        self: &Arc<Self>,
        which: fn(&Used) -> &Meter,
        max: fn(&ClientLimits) -> usize,
    ) -> Result<Counted, Exhausted> {
        let account = Arc::clone(self);
        self.take(which, max, 1)?;
        Ok(Counted { account, which })
    }

    /// Whether there is room for so much more to be recorded.
    pub(super) fn may_record(&self, bytes: usize) -> bool {
        self.levels().all(|(used, limits, _)| {
            let now = used.replay_bytes.used().checked_add(bytes);
            now.is_some_and(|now| now <= limits.max_replay_bytes)
        })
    }

    /// So much is recorded in place of so much.
    pub(super) fn recorded(&self, before: usize, now: usize) {
        // All sessions share it, so it is not touched in vain.
        if now != before {
            for (used, ..) in self.levels() {
                used.replay_bytes.exchange(before, now);
            }
        }
    }

    fn take(
        &self,
        which: fn(&Used) -> &Meter,
        max: fn(&ClientLimits) -> usize,
        much: usize,
    ) -> Result<(), Exhausted> {
        let take = |meter: &Meter, limits: &ClientLimits| meter.take(much, max(limits));
        self.take_by(which, take, much)
    }

    /// Takes something at each level, or nothing at all.
    fn take_by(
        &self,
        which: fn(&Used) -> &Meter,
        take: impl Fn(&Meter, &ClientLimits) -> bool,
        much: usize,
    ) -> Result<(), Exhausted> {
        for (above, (used, limits, why)) in self.levels().enumerate() {
            if !take(which(used), limits) {
                for (used, ..) in self.levels().take(above) {
                    which(used).give_back(much);
                }
                return Err(why);
            }
        }
        Ok(())
    }

    fn give_back(&self, which: fn(&Used) -> &Meter, much: usize) {
        for (used, ..) in self.levels() {
            which(used).give_back(much);
        }
    }

    /// Where what it has counts: its own account, that of its network, and what
    /// all have together; and what may be there.
    fn levels(&self) -> impl Iterator<Item = (&Used, &ClientLimits, Exhausted)> {
        let network = self.network.as_deref();
        let clients = std::iter::once(self).chain(network);
        let clients = clients.map(|it| (&it.used, &it.limits, Exhausted::Client));
        let totals = &self.totals;
        clients.chain(std::iter::once((&totals.used, &totals.max, Exhausted::All)))
    }
}

/// Why there is no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exhausted {
    /// The client has as much as one may have.
    Client,
    /// All have, together.
    All,
}

/// A place for a request that is read, or worked on without a session, and its
/// bytes.
pub(super) struct Place {
    charge: Charge,
}

impl Place {
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.charge.account
    }

    /// So many bytes have come.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        self.charge.grow(bytes)
    }

    /// It is a batch of so many: each takes what a request takes besides its
    /// bytes.
    pub(super) fn grow_for(&mut self, requests: usize) -> Result<(), Exhausted> {
        self.grow(PER_REQUEST * requests.saturating_sub(1))
    }

    /// The place, and the bytes by themselves.
    pub(super) fn split(mut self) -> (Self, Charge) {
        let empty = Charge {
            account: Arc::clone(self.account()),
            bytes: 0,
        };
        let charge = std::mem::replace(&mut self.charge, empty);
        (self, charge)
    }

    /// Gives up the place, for what only the bytes of the request count for.
    pub(super) fn leave(self) -> Charge {
        self.split().1
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.account().give_back(|used| &used.requests, 1);
    }
}

/// The bytes of a request, for as long as somebody holds them.
pub(super) struct Charge {
    account: Arc<Account>,
    bytes: usize,
}

impl Charge {
    /// So much more is held.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
        let max = |limits: &ClientLimits| limits.max_request_bytes;
        self.account.take(|used| &used.request_bytes, max, bytes)?;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account
            .give_back(|used| &used.request_bytes, self.bytes);
    }
}

/// One of something, for as long as it is there.
pub(super) struct Counted {
    account: Arc<Account>,
    which: fn(&Used) -> &Meter,
}

impl Counted {
    pub(super) fn account(&self) -> &Arc<Account> {
        &self.account
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.account.give_back(self.which, 1);
    }
}

/// How much of something is in use.
#[derive(Default)]
struct Meter(AtomicUsize);

impl Meter {
    fn used(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes so much, unless that is more than there may be.
    fn take(&self, much: usize, max: usize) -> bool {
        let taken = self.0.fetch_add(much, Ordering::Relaxed);
        let fits = taken.checked_add(much).is_some_and(|now| now <= max);
        if !fits {
            self.give_back(much);
        }
        fits
    }

    fn give_back(&self, much: usize) {
        self.0.fetch_sub(much, Ordering::Relaxed);
    }

    fn exchange(&self, before: usize, now: usize) {
        self.0
            .fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
