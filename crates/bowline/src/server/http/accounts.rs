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
    peer::network,
    session::lock,
};

/// Who is counted as one client.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Holder {
    /// Nobody knows who it is. All of them share an account, which has no
    /// limits of its own.
    Unknown,
    Address(IpAddr),
    Principal(Arc<str>),
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
            unknown: Account::new(Holder::Unknown, ClientLimits::NONE, &totals),
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
        if let Some(account) = known.get(&holder).and_then(Weak::upgrade) {
            return account;
        }
        // Now and then: not all of them for each one that is added.
        if known.len() == known.capacity() {
            known.retain(|_, account| account.strong_count() > 0);
        }
        let account = Account::new(holder.clone(), self.limits, &self.unknown.totals);
        known.insert(holder, Arc::downgrade(&account));
        account
    }
}

impl Account {
    fn new(holder: Holder, limits: ClientLimits, totals: &Arc<Totals>) -> Arc<Self> {
        Arc::new(Self {
            holder,
            limits,
            used: Used::default(),
            totals: Arc::clone(totals),
        })
    }

    /// A place for a request. The last places are for those of sessions that
    /// are open: whoever is at work must be able to go on.
    pub(super) fn place(
        self: &Arc<Self>,
        in_session: impl Fn() -> bool,
    ) -> Result<Place, Exhausted> {
        let (own, all) = (&self.used.requests, &self.totals.used.requests);
        let take = |meter: &Meter, max: usize| {
            meter.take(1, max - max / RESERVED) || (in_session() && meter.take(1, max))
        };
        if !take(own, self.limits.max_requests) {
            return Err(Exhausted::Client);
        }
        if !take(all, self.totals.max.max_requests) {
            own.give_back(1);
            return Err(Exhausted::All);
        }
        let charge = Charge {
            account: Arc::clone(self),
            bytes: 0,
        };
        let mut place = Place { charge };
        place.charge.grow(PER_REQUEST)?;
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
        let has_room = |used: &Used, max: usize| {
            let now = used.replay_bytes.used();
            now.checked_add(bytes).is_some_and(|now| now <= max)
        };
        has_room(&self.used, self.limits.max_replay_bytes)
            && has_room(&self.totals.used, self.totals.max.max_replay_bytes)
    }

    /// So much is recorded in place of so much.
    pub(super) fn recorded(&self, before: usize, now: usize) {
        // All sessions share it, so it is not touched in vain.
        if now != before {
            self.used.replay_bytes.exchange(before, now);
            self.totals.used.replay_bytes.exchange(before, now);
        }
    }

    fn take(
        &self,
        which: fn(&Used) -> &Meter,
        max: fn(&ClientLimits) -> usize,
        much: usize,
    ) -> Result<(), Exhausted> {
        if !which(&self.used).take(much, max(&self.limits)) {
            return Err(Exhausted::Client);
        }
        if !which(&self.totals.used).take(much, max(&self.totals.max)) {
            which(&self.used).give_back(much);
            return Err(Exhausted::All);
        }
        Ok(())
    }

    fn give_back(&self, which: fn(&Used) -> &Meter, much: usize) {
        which(&self.used).give_back(much);
        which(&self.totals.used).give_back(much);
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
    fn grow(&mut self, bytes: usize) -> Result<(), Exhausted> {
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
mod tests {
    use super::*;

    fn accounts(requests: usize, each: usize) -> Accounts {
        Accounts::new(&HttpOptions {
            requests,
            per_client: ClientLimits {
                max_requests: each,
                max_request_bytes: 3 * PER_REQUEST,
                ..ClientLimits::default()
            },
            ..HttpOptions::default()
        })
    }

    fn address(accounts: &Accounts, last: u8) -> Arc<Account> {
        accounts.of_address([192, 0, 2, last].into())
    }

    #[test]
    fn nobody_takes_the_places_of_others() {
        let accounts = accounts(4, 2);
        let one = address(&accounts, 1);
        let held: Vec<_> = (0..2).map(|_| one.place(|| false)).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(one.place(|| false).err(), Some(Exhausted::Client));
        let two = address(&accounts, 2);
        let other = (two.place(|| false), two.place(|| false));
        assert!(other.0.is_ok() && other.1.is_ok());
        let three = address(&accounts, 3);
        assert_eq!(three.place(|| false).err(), Some(Exhausted::All));
        drop(held);
        assert!(three.place(|| false).is_ok());
        assert!(Arc::ptr_eq(&one, &address(&accounts, 1)));
    }

    #[test]
    fn the_last_places_are_for_sessions_that_are_open() {
        let accounts = accounts(16, 16);
        let one = accounts.of_unknown();
        let held: Vec<_> = (0..14).map(|_| one.place(|| false)).collect();
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(one.place(|| false).err(), Some(Exhausted::All));
        let more = (one.place(|| true), one.place(|| true));
        assert!(more.0.is_ok() && more.1.is_ok());
        assert_eq!(one.place(|| true).err(), Some(Exhausted::All));
    }

    #[test]
    fn bytes_count_until_nobody_holds_them() {
        let accounts = accounts(4, 4);
        let one = address(&accounts, 1);
        let mut place = one.place(|| false).expect("a place");
        assert_eq!(place.grow(PER_REQUEST), Ok(()));
        assert_eq!(place.grow(PER_REQUEST + 1), Err(Exhausted::Client));
        let charge = place.leave();
        assert_eq!(one.used.requests.used(), 0);
        assert!(one.place(|| false).is_ok());
        let full = one.place(|| false).and_then(|mut it| it.grow(1));
        assert_eq!(full, Err(Exhausted::Client));
        drop(charge);
        assert_eq!(one.totals.used.request_bytes.used(), 0);
    }

    #[test]
    fn accounts_that_nobody_uses_are_forgotten() {
        let accounts = accounts(4, 4);
        for number in 0..u16::MAX {
            let [high, low] = number.to_be_bytes();
            accounts.of_address([10, 0, high, low].into());
        }
        assert!(lock(&accounts.known).len() < 100);
    }
}
