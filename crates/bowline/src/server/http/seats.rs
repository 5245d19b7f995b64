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

/// How many sessions are looked at for one that gives way: they are in their
/// order as far as that is known, and may have been used since.
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
    holders: HashMap<Holder, Held>,
    /// Whoever has most is the last.
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
    /// give way, which are to be closed.
    pub(super) fn add(
        &mut self,
        id: &SessionId,
        holder: &Holder,
        session: T,
        bytes: usize,
    ) -> (Result<(), Full>, Vec<T>) {
        let mut gone = Vec::new();
        let result = self.make_room(holder, 1, bytes, &mut gone);
        if result.is_ok() {
            let standing = session.standing();
            self.next += 1;
            let turn = Turn(standing.initialized, standing.used, self.next);
            let held = self.holders.entry(holder.clone()).or_default();
            held.turns.insert(turn, id.clone());
            let seat = Seat {
                session,
                holder: holder.clone(),
                bytes: 0,
                turn,
            };
            self.open.insert(id.clone(), seat);
            self.charge(id, bytes);
        }
        (result, gone)
    }

    /// A session keeps more, or less, than it did. Gives those that had to give
    /// way; it may be one of them.
    pub(super) fn reweigh(&mut self, id: &SessionId, bytes: usize) -> Vec<T> {
        let mut gone = Vec::new();
        let Some(seat) = self.open.get(id).filter(|seat| seat.bytes != bytes) else {
            return gone;
        };
        let (holder, more) = (seat.holder.clone(), bytes > seat.bytes);
        self.charge(id, bytes);
        if more && self.make_room(&holder, 0, 0, &mut gone).is_err() {
            gone.extend(self.remove(id));
        }
        gone
    }

    pub(super) fn remove(&mut self, id: &SessionId) -> Option<T> {
        self.charge(id, 0);
        let seat = self.open.remove(id)?;
        if let Some(held) = self.holders.get_mut(&seat.holder) {
            held.turns.remove(&seat.turn);
            if held.turns.is_empty() {
                self.by_bytes.remove(&(held.bytes, seat.holder.clone()));
                self.holders.remove(&seat.holder);
            }
        }
        Some(seat.session)
    }

    /// Takes all of them out.
    pub(super) fn drain(&mut self) -> Vec<T> {
        self.holders.clear();
        self.by_bytes.clear();
        self.bytes = 0;
        self.open.drain().map(|(_, seat)| seat.session).collect()
    }

    fn charge(&mut self, id: &SessionId, bytes: usize) {
        let Some(seat) = self.open.get_mut(id) else {
            return;
        };
        let before = std::mem::replace(&mut seat.bytes, bytes);
        self.bytes = self.bytes - before + bytes;
        if let Some(held) = self.holders.get_mut(&seat.holder) {
            self.by_bytes.remove(&(held.bytes, seat.holder.clone()));
            held.bytes = held.bytes - before + bytes;
            self.by_bytes.insert((held.bytes, seat.holder.clone()));
        }
    }

    /// Sees to it that there is room for so much more of this client's.
    fn make_room(
        &mut self,
        holder: &Holder,
        seats: usize,
        bytes: usize,
        gone: &mut Vec<T>,
    ) -> Result<(), Full> {
        let share = self.share(holder);
        if bytes > share.max_session_bytes.min(self.max.max_session_bytes) {
            return Err(Full);
        }
        while self.is_over(share, holder, seats, bytes) {
            gone.push(self.give_way(holder, false)?);
        }
        while self.open.len() + seats > self.max.max_sessions
            || self.bytes + bytes > self.max.max_session_bytes
        {
            let Some((most, greediest)) = self.by_bytes.last().cloned() else {
                return Err(Full);
            };
            // Who has more than the newcomer would have loses one even if it is
            // in use.
            let own = self.holders.get(holder).map_or(0, |held| held.bytes);
            let greedier = greediest != *holder && most > own + bytes;
            let gives_way = self.give_way(&greediest, greedier);
            gone.push(gives_way.or_else(|Full| self.give_way(holder, false))?);
        }
        Ok(())
    }

    fn share(&self, holder: &Holder) -> ClientLimits {
        match holder {
            Holder::Unknown => ClientLimits::NONE,
            Holder::Address(_) | Holder::Principal(_) => self.per_client,
        }
    }

    fn is_over(&self, share: ClientLimits, holder: &Holder, seats: usize, bytes: usize) -> bool {
        let held = self.holders.get(holder);
        let (had, had_bytes) = held.map_or((0, 0), |held| (held.turns.len(), held.bytes));
        had + seats > share.max_sessions || had_bytes + bytes > share.max_session_bytes
    }

    /// Takes out the session of a client's that gives way first; one that is in
    /// use only if that is all there is, and only where that may be. Where all
    /// that were looked at have been used since, it is the one of these that was
    /// idle for longest.
    fn give_way(&mut self, holder: &Holder, even_connected: bool) -> Result<T, Full> {
        let mut in_use = None;
        let mut idle: Option<(Turn, SessionId)> = None;
        for _ in 0..MOST_LOOKED_AT {
            let held = self.holders.get_mut(holder).ok_or(Full)?;
            let (turn, id) = held.turns.pop_first().ok_or(Full)?;
            let seat = self.open.get_mut(&id).ok_or(Full)?;
            let Standing {
                initialized,
                connected,
                used,
            } = seat.session.standing();
            let used = if connected { Instant::now() } else { used };
            let now = Turn(initialized || connected, used, turn.2);
            seat.turn = now;
            held.turns.insert(now, id.clone());
            if !connected && now == turn {
                return self.remove(&id).ok_or(Full);
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
        let victim = idle.map(|(_, id)| id).or(in_use).ok_or(Full)?;
        self.remove(&victim).ok_or(Full)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, rc::Rc, time::Duration};

    use super::*;

    #[derive(Clone, Debug)]
    struct Fake(&'static str, Rc<Cell<Standing>>);

    impl Seated for Fake {
        fn standing(&self) -> Standing {
            self.1.get()
        }
    }

    fn fake(name: &'static str, initialized: bool) -> Fake {
        let standing = Standing {
            initialized,
            connected: false,
            used: Instant::now(),
        };
        Fake(name, Rc::new(Cell::new(standing)))
    }

    fn change(fake: &Fake, change: impl FnOnce(&mut Standing)) {
        let mut standing = fake.1.get();
        change(&mut standing);
        fake.1.set(standing);
    }

    fn seats(max_sessions: usize, each: usize) -> Seats<Fake> {
        let limits = |max_sessions: usize, max_session_bytes| ClientLimits {
            max_sessions,
            max_session_bytes,
            ..ClientLimits::default()
        };
        Seats::new(limits(max_sessions, 1000), limits(each, 500))
    }

    fn holder(name: &str) -> Holder {
        Holder::Principal(name.into())
    }

    fn add(seats: &mut Seats<Fake>, whose: &str, fake: &Fake) -> Result<Vec<&'static str>, Full> {
        add_with(seats, whose, fake, 10)
    }

    fn add_with(
        seats: &mut Seats<Fake>,
        whose: &str,
        fake: &Fake,
        bytes: usize,
    ) -> Result<Vec<&'static str>, Full> {
        let id = SessionId::new(fake.0).expect("an id");
        let (result, gone) = seats.add(&id, &holder(whose), fake.clone(), bytes);
        result.map(|()| gone.iter().map(|it| it.0).collect())
    }

    async fn later() {
        tokio::time::advance(Duration::from_secs(1)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn of_whoever_has_most_the_one_that_was_never_initialised_gives_way() {
        let mut seats = seats(4, 9);
        let others = fake("other", true);
        add(&mut seats, "other", &others).expect("room");
        for name in ["a1", "a2", "a3"] {
            later().await;
            add(&mut seats, "a", &fake(name, name != "a2")).expect("room");
        }
        assert_eq!(add(&mut seats, "new", &fake("n", false)), Ok(vec!["a2"]));
        assert_eq!(add(&mut seats, "new", &fake("m", false)), Ok(vec!["a1"]));
        assert_eq!(seats.len(), 4);
        assert!(
            seats
                .get(&SessionId::new("other").expect("an id"))
                .is_some()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn use_since_then_counts() {
        let mut seats = seats(3, 9);
        let all = ["a1", "a2", "a3"].map(|name| fake(name, false));
        for it in &all {
            add(&mut seats, "a", it).expect("room");
        }
        later().await;
        change(&all[0], |it| it.initialized = true);
        change(&all[1], |it| it.used = Instant::now());
        assert_eq!(add(&mut seats, "a", &fake("a4", false)), Ok(vec!["a3"]));
        change(&all[0], |it| it.used = Instant::now());
        assert_eq!(add(&mut seats, "a", &fake("a5", false)), Ok(vec!["a2"]));
    }

    #[tokio::test(start_paused = true)]
    async fn of_many_that_were_all_used_since_one_gives_way_all_the_same() {
        let names: Vec<&'static str> = (0..200)
            .map(|number| &*format!("a{number}").leak())
            .collect();
        let mut seats = seats(200, 900);
        let all: Vec<_> = names.iter().map(|name| fake(name, false)).collect();
        for it in &all {
            add_with(&mut seats, "a", it, 1).expect("room");
        }
        for round in 0..3 {
            later().await;
            for it in &all {
                change(it, |it| {
                    it.initialized = true;
                    it.used = Instant::now();
                });
            }
            let newcomer = fake(["n0", "n1", "n2"][round], true);
            let gone = add_with(&mut seats, "b", &newcomer, 1).expect("somebody gives way");
            assert_eq!(gone.len(), 1);
            assert!(gone[0].starts_with('a'), "{gone:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_in_use_gives_way_only_to_those_who_have_less() {
        let mut seats = seats(3, 9);
        let all = ["a1", "a2", "a3"].map(|name| fake(name, true));
        for it in &all {
            add(&mut seats, "a", it).expect("room");
            change(it, |it| it.connected = true);
        }
        assert_eq!(add(&mut seats, "a", &fake("a4", true)), Err(Full));
        assert_eq!(
            add(&mut seats, "b", &fake("b1", true)).map(|it| it.len()),
            Ok(1)
        );
        assert_eq!(seats.len(), 3);
        let one = fake("b2", true);
        assert_eq!(
            add(&mut seats, "b", &one),
            Ok(vec!["b1"]),
            "its own, which is idle"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_no_more_than_its_share() {
        let mut seats = seats(9, 2);
        for name in ["a1", "a2"] {
            add(&mut seats, "a", &fake(name, true)).expect("room");
            later().await;
        }
        assert_eq!(add(&mut seats, "a", &fake("a3", true)), Ok(vec!["a1"]));
        assert_eq!(
            add_with(&mut seats, "a", &fake("a4", true), 495),
            Ok(vec!["a2", "a3"])
        );
        assert_eq!(add_with(&mut seats, "a", &fake("a5", true), 501), Err(Full));
        let (id, by) = (SessionId::new("b").expect("an id"), fake("b", true));
        add(&mut seats, "b", &by).expect("room");
        let gone = seats.reweigh(&id, 501);
        assert_eq!(gone.iter().map(|it| it.0).collect::<Vec<_>>(), ["b"]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_leaves_leaves_nothing() {
        let mut seats = seats(9, 9);
        for name in ["a1", "a2"] {
            add(&mut seats, "a", &fake(name, true)).expect("room");
        }
        for name in ["a1", "a2"] {
            assert!(
                seats
                    .remove(&SessionId::new(name).expect("an id"))
                    .is_some()
            );
        }
        assert_eq!((seats.len(), seats.bytes), (0, 0));
        assert!(seats.holders.is_empty() && seats.by_bytes.is_empty());
    }
}
