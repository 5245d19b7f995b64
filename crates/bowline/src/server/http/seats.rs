//! Who has how many sessions, and which of them gives way when there are too
//! many.
//!
//! One that its client never finished opening goes first, then the one that was
//! idle for longest, of the client that has most. So nobody can take all seats
//! and keep others out; whoever opens sessions and leaves them loses those.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::time::Instant;

use super::{accounts::Holder, options::ClientLimits};
use crate::proto::http::SessionId;

/// How many sessions are looked at for one that gives way, and those of how many
/// clients: they are in their order as far as that is known, and may have been
/// used since.
const MOST_LOOKED_AT: usize = 64;

/// What is known of a session that may have to give way.
pub(super) trait Seated: Clone {
    fn standing(&self) -> Standing;
}

/// How a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// Whether its client finished opening it.
    pub(super) initialized: bool,
    /// Whether somebody is connected to it.
    pub(super) connected: bool,
    /// When it was used last.
    pub(super) used: Instant,
}

/// The sessions that are open.
pub(super) struct Seats<T> {
    max: ClientLimits,
    per_client: ClientLimits,
    open: HashMap<SessionId, Seat<T>>,
    /// What clients have, and the networks of those that are part of a larger
    /// one.
    holders: HashMap<Holder, Held>,
    /// Whoever has most is the last. Clients that are part of a larger network
    /// are here as that.
    by_seats: BTreeSet<(usize, Holder)>,
    by_bytes: BTreeSet<(usize, Holder)>,
    bytes: usize,
    next: u64,
}

struct Seat<T> {
    session: T,
    holder: Holder,
    bytes: usize,
    turn: Turn,
}

/// What one client has.
#[derive(Default)]
struct Held {
    bytes: usize,
    /// In which order they give way.
    turns: BTreeMap<Turn, SessionId>,
}

/// Those that were not initialised first, then by when they were used; a number
/// tells those of one moment apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn(bool, Instant, u64);

/// What there is not enough of.
#[derive(Clone, Copy)]
enum Scarce {
    Seats,
    Bytes,
}

/// There is no room, and nobody who gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl<T: Seated> Seats<T> {
    pub(super) fn new(max: ClientLimits, per_client: ClientLimits) -> Self {
        Self {
            max,
            per_client,
            open: HashMap::new(),
            holders: HashMap::new(),
            by_seats: BTreeSet::new(),
            by_bytes: BTreeSet::new(),
            bytes: 0,
            next: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    pub(super) fn get(&self, id: &SessionId) -> Option<&T> {
        self.open.get(id).map(|seat| &seat.session)
    }

    /// Takes in a session with an id that no other has. Gives those that had to
    /// give way, which are to be closed. If there is no room, nobody gives way.
    pub(super) fn add(
        &mut self,
        id: &SessionId,
        holder: &Holder,
        session: T,
        bytes: usize,
    ) -> Result<Vec<T>, Full> {
        let gone = self.make_room(holder, 1, bytes)?;
        let standing = session.standing();
        self.next += 1;
        let seat = Seat {
            session,
            holder: holder.clone(),
            bytes,
            turn: Turn(standing.initialized, standing.used, self.next),
        };
        self.insert(id.clone(), seat);
        Ok(gone)
    }

    /// A session keeps more, or less, than it did. Gives those that had to give
    /// way; it may be one of them, and then it is the only one.
    pub(super) fn reweigh(&mut self, id: &SessionId, bytes: usize) -> Vec<T> {
        let Some(seat) = self.open.get_mut(id).filter(|seat| seat.bytes != bytes) else {
            return Vec::new();
        };
        let before = std::mem::replace(&mut seat.bytes, bytes);
        let holder = seat.holder.clone();
        self.bytes = self.bytes - before + bytes;
        for group in holder.groups() {
            self.change(&group, |held| held.bytes = held.bytes - before + bytes);
        }
        if bytes < before {
            return Vec::new();
        }
        match self.make_room(&holder, 0, 0) {
            Ok(gone) => gone,
            Err(Full) => self.remove(id).into_iter().collect(),
        }
    }

    pub(super) fn remove(&mut self, id: &SessionId) -> Option<T> {
        self.take(id).map(|seat| seat.session)
    }

    /// Takes all of them out.
    pub(super) fn drain(&mut self) -> Vec<T> {
        self.holders.clear();
        self.by_seats.clear();
        self.by_bytes.clear();
        self.bytes = 0;
        self.open.drain().map(|(_, seat)| seat.session).collect()
    }

    fn insert(&mut self, id: SessionId, seat: Seat<T>) {
        self.bytes += seat.bytes;
        for group in seat.holder.groups() {
            self.change(&group, |held| {
                held.bytes += seat.bytes;
                held.turns.insert(seat.turn, id.clone());
            });
        }
        self.open.insert(id, seat);
    }

    fn take(&mut self, id: &SessionId) -> Option<Seat<T>> {
        let seat = self.open.remove(id)?;
        self.bytes -= seat.bytes;
        for group in seat.holder.groups() {
            self.change(&group, |held| {
                held.bytes -= seat.bytes;
                held.turns.remove(&seat.turn);
            });
        }
        Some(seat)
    }

    /// Changes what a client or a network has, and where that puts it among
    /// others.
    fn change(&mut self, group: &Holder, change: impl FnOnce(&mut Held)) {
        let held = self.holders.entry(group.clone()).or_default();
        let is_ranked = group.network().is_none();
        if is_ranked {
            self.by_seats.remove(&(held.turns.len(), group.clone()));
            self.by_bytes.remove(&(held.bytes, group.clone()));
        }
        change(held);
        if held.turns.is_empty() {
            self.holders.remove(group);
        } else if is_ranked {
            self.by_seats.insert((held.turns.len(), group.clone()));
            self.by_bytes.insert((held.bytes, group.clone()));
        }
    }

    /// Sees to it that there is room for so much more of this client's. Gives
    /// those that gave way: none where that is not enough.
    fn make_room(&mut self, holder: &Holder, seats: usize, bytes: usize) -> Result<Vec<T>, Full> {
        let mut gone = Vec::new();
        let made = self.try_to_make_room(holder, seats, bytes, &mut gone);
        if let Err(Full) = made {
            for (id, seat) in gone {
                self.insert(id, seat);
            }
            return Err(Full);
        }
        Ok(gone.into_iter().map(|(_, seat)| seat.session).collect())
    }

    fn try_to_make_room(
        &mut self,
        holder: &Holder,
        seats: usize,
        bytes: usize,
        gone: &mut Vec<(SessionId, Seat<T>)>,
    ) -> Result<(), Full> {
        for group in holder.groups() {
            let share = group.share(self.per_client);
            if bytes > share.max_session_bytes.min(self.max.max_session_bytes) {
                return Err(Full);
            }
            while self.is_over(share, &group, seats, bytes) {
                gone.push(self.give_way(&group, false)?);
            }
        }
        while self.open.len() + seats > self.max.max_sessions {
            gone.push(self.give_way_to(holder, Scarce::Seats, seats)?);
        }
        while self.bytes + bytes > self.max.max_session_bytes {
            gone.push(self.give_way_to(holder, Scarce::Bytes, bytes)?);
        }
        Ok(())
    }

    fn is_over(&self, share: ClientLimits, group: &Holder, seats: usize, bytes: usize) -> bool {
        let held = self.holders.get(group);
        let (had, had_bytes) = held.map_or((0, 0), |held| (held.turns.len(), held.bytes));
        had + seats > share.max_sessions || had_bytes + bytes > share.max_session_bytes
    }

    /// Takes out a session in favour of a client that wants so much more: of
    /// whoever has most of what is scarce, if that is not less than the client
    /// would have. Who has more than that loses one even if it is in use.
    fn give_way_to(
        &mut self,
        holder: &Holder,
        scarce: Scarce,
        more: usize,
    ) -> Result<(SessionId, Seat<T>), Full> {
        let own = holder.network().unwrap_or_else(|| holder.clone());
        let ranks = match scarce {
            Scarce::Seats => &self.by_seats,
            Scarce::Bytes => &self.by_bytes,
        };
        let had = self.holders.get(&own).map_or(0, |held| match scarce {
            Scarce::Seats => held.turns.len(),
            Scarce::Bytes => held.bytes,
        });
        let would_have = had + more;
        let others = ranks.iter().rev().filter(|(_, other)| *other != own);
        let others = others.take_while(|(has, _)| *has >= would_have);
        let others: Vec<_> = others.take(MOST_LOOKED_AT).cloned().collect();
        for (has, other) in others {
            if let Ok(gone) = self.give_way(&other, has > would_have) {
                return Ok(gone);
            }
        }
        let gone = self.give_way(holder, false);
        gone.or_else(|Full| self.give_way(&own, false))
    }

    /// Takes out the session of a client's, or of a network's, that gives way
    /// first; one that is in use only if that is all there is, and only where
    /// that may be. Where all that were looked at have been used since, it is
    /// the one of these that was idle for longest.
    fn give_way(
        &mut self,
        group: &Holder,
        even_connected: bool,
    ) -> Result<(SessionId, Seat<T>), Full> {
        let mut in_use = None;
        let mut idle: Option<(Turn, SessionId)> = None;
        for _ in 0..MOST_LOOKED_AT {
            let held = self.holders.get(group).ok_or(Full)?;
            let (turn, id) = held.turns.first_key_value().ok_or(Full)?;
            let (turn, id) = (*turn, id.clone());
            let Standing {
                initialized,
                connected,
                used,
            } = self.get(&id).ok_or(Full)?.standing();
            let now = if connected {
                // Behind all others, also those of this moment.
                self.next += 1;
                Turn(true, Instant::now(), self.next)
            } else {
                Turn(initialized, used, turn.2)
            };
            self.set_turn(&id, now);
            if !connected && now == turn {
                idle = Some((now, id));
                break;
            }
            if !connected && idle.as_ref().is_none_or(|(before, _)| now < *before) {
                idle = Some((now, id));
                continue;
            }
            if connected && in_use.replace(id.clone()).is_some_and(|first| first == id) {
                break;
            }
        }
        let in_use = in_use.filter(|_| even_connected);
        let id = idle.map(|(_, id)| id).or(in_use).ok_or(Full)?;
        let seat = self.take(&id).ok_or(Full)?;
        Ok((id, seat))
    }

    /// A session has its turn at another time.
    fn set_turn(&mut self, id: &SessionId, now: Turn) {
        let Some(seat) = self.open.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut seat.turn, now);
        for group in seat.holder.groups() {
            if let Some(held) = self.holders.get_mut(&group) {
                held.turns.remove(&before);
                held.turns.insert(now, id.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
