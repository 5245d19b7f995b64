//! Who gives way, to whom, and who does not.

use std::{cell::Cell, net::IpAddr, rc::Rc, time::Duration};

use proptest::prelude::*;

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
    let gone = seats.add(&id, &holder(whose), fake.clone(), bytes)?;
    Ok(gone.iter().map(|it| it.0).collect())
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
async fn whoever_has_most_of_what_is_scarce_gives_way() {
    let mut seats = seats(5, 9);
    add_with(&mut seats, "large", &fake("large", true), 400).expect("room");
    for name in ["a1", "a2", "a3"] {
        later().await;
        add(&mut seats, "a", &fake(name, true)).expect("room");
    }
    let c = fake("c", true);
    add_with(&mut seats, "c", &c, 300).expect("room");
    // There are too few seats, and `a` has most of them.
    assert_eq!(add(&mut seats, "new", &fake("n", true)), Ok(vec!["a1"]));
    seats.remove(&SessionId::new("n").expect("an id"));
    // There are too few bytes, and `large` has most of them.
    let d = fake("d", true);
    assert_eq!(add_with(&mut seats, "d", &d, 300), Ok(vec!["large"]));
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_costs_nobody_a_seat() {
    let mut seats = seats(9, 9);
    let used = fake("used", true);
    change(&used, |it| it.connected = true);
    add_with(&mut seats, "a", &used, 300).expect("room");
    add(&mut seats, "a", &fake("idle", true)).expect("room");
    let new = fake("new", true);
    assert_eq!(add_with(&mut seats, "a", &new, 300), Err(Full));
    assert_eq!((seats.len(), seats.bytes), (2, 310));
    // Nor does one that keeps too much by itself.
    let gone = seats.reweigh(&SessionId::new("used").expect("an id"), 501);
    assert_eq!(gone.iter().map(|it| it.0).collect::<Vec<_>>(), ["used"]);
    assert_eq!((seats.len(), seats.bytes), (1, 10));
    // And all that was put back gives way in its turn.
    let large = fake("large", true);
    assert_eq!(add_with(&mut seats, "a", &large, 495), Ok(vec!["idle"]));
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
    assert!(seats.holders.is_empty());
    assert!(seats.by_seats.is_empty() && seats.by_bytes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn those_of_one_large_network_have_a_share_together() {
    let mut seats = seats(9, 2);
    let in_network = |number: u8| {
        let address = format!("2001:db8:1:{number}::").parse::<IpAddr>();
        Holder::Address(address.expect("an address"))
    };
    for (number, name) in (1..).zip(["s1", "s2", "s3", "s4"]) {
        later().await;
        let id = SessionId::new(name).expect("an id");
        let added = seats.add(&id, &in_network(number), fake(name, true), 10);
        assert!(added.is_ok_and(|gone| gone.is_empty()));
    }
    let id = SessionId::new("s5").expect("an id");
    let gone = seats.add(&id, &in_network(5), fake("s5", true), 10);
    let gone = gone.expect("room");
    assert_eq!(gone.iter().map(|it| it.0).collect::<Vec<_>>(), ["s1"]);
    // It is one, where others look for whoever has most.
    for name in ["o1", "o2", "o3", "o4", "o5"] {
        add(&mut seats, name, &fake(name, true)).expect("room");
    }
    for (name, gone) in [("p", "s2"), ("q", "s3")] {
        assert_eq!(add(&mut seats, name, &fake(name, true)), Ok(vec![gone]));
    }
}

/// Something that happens to seats.
#[derive(Clone, Debug)]
enum Happens {
    Added { whose: usize, bytes: usize },
    Removed(usize),
    Reweighed(usize, usize),
    Connected(usize, bool),
    Initialized(usize),
    Later,
}

fn happens() -> impl Strategy<Value = Happens> {
    let some = 0_usize..40;
    prop_oneof![
        4 => (0_usize..8, 1_usize..300)
            .prop_map(|(whose, bytes)| Happens::Added { whose, bytes }),
        1 => some.clone().prop_map(Happens::Removed),
        2 => (some.clone(), 0_usize..600).prop_map(|(which, bytes)| Happens::Reweighed(which, bytes)),
        2 => (some.clone(), any::<bool>()).prop_map(|(which, on)| Happens::Connected(which, on)),
        1 => some.prop_map(Happens::Initialized),
        1 => Just(Happens::Later),
    ]
}

/// Principals, and addresses of which two are in one large network.
fn holders() -> Vec<Holder> {
    let addresses = [
        "192.0.2.1",
        "2001:db8:1:1::",
        "2001:db8:1:2::",
        "2001:db8:2::",
    ];
    let addresses = addresses.map(|it| Holder::Address(it.parse().expect("an address")));
    let principals = ["a", "b", "c", "d"].map(holder);
    addresses.into_iter().chain(principals).collect()
}

/// All that is known agrees, and nobody has more than they may.
fn check(seats: &Seats<Fake>) {
    let mut counted: HashMap<Holder, (usize, usize)> = HashMap::new();
    let mut bytes = 0;
    for (id, seat) in &seats.open {
        bytes += seat.bytes;
        for group in seat.holder.groups() {
            assert_eq!(seats.holders[&group].turns.get(&seat.turn), Some(id));
            let of_group = counted.entry(group).or_default();
            *of_group = (of_group.0 + 1, of_group.1 + seat.bytes);
        }
    }
    assert_eq!(seats.bytes, bytes);
    assert!(seats.len() <= seats.max.max_sessions && bytes <= seats.max.max_session_bytes);
    assert_eq!(seats.holders.len(), counted.len());
    for (group, (had, bytes)) in &counted {
        let held = &seats.holders[group];
        assert_eq!((held.turns.len(), held.bytes), (*had, *bytes));
        let share = group.share(seats.per_client);
        assert!(*had <= share.max_sessions && *bytes <= share.max_session_bytes);
        let is_ranked = group.network().is_none();
        assert_eq!(seats.by_seats.contains(&(*had, group.clone())), is_ranked);
        assert_eq!(seats.by_bytes.contains(&(*bytes, group.clone())), is_ranked);
    }
    let ranked = counted.keys().filter(|it| it.network().is_none()).count();
    assert_eq!(
        (seats.by_seats.len(), seats.by_bytes.len()),
        (ranked, ranked)
    );
}

proptest! {
    #[test]
    fn whatever_happens_sums_are_right_and_nobody_has_more_than_its_share(
        all in prop::collection::vec(happens(), 1..120),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (mut seats, whose) = (seats(12, 4), holders());
            let mut made: Vec<(SessionId, Fake)> = Vec::new();
            for it in all {
                let some = |which: usize| made.get(which % made.len().max(1));
                match it {
                    Happens::Added { whose: who, bytes } => {
                        let id = SessionId::new(&made.len().to_string()).expect("an id");
                        let fake = fake("any", false);
                        let before = (seats.len(), seats.bytes);
                        let added = seats.add(&id, &whose[who], fake.clone(), bytes);
                        if added.is_err() {
                            prop_assert_eq!((seats.len(), seats.bytes), before);
                        }
                        made.push((id, fake));
                    }
                    Happens::Removed(which) => {
                        some(which).map(|(id, _)| seats.remove(id));
                    }
                    Happens::Reweighed(which, bytes) => {
                        some(which).map(|(id, _)| seats.reweigh(id, bytes));
                    }
                    Happens::Connected(which, on) => {
                        some(which).into_iter().for_each(|(_, it)| change(it, |it| it.connected = on));
                    }
                    Happens::Initialized(which) => {
                        let now = Instant::now();
                        let set = |it: &mut Standing| (it.initialized, it.used) = (true, now);
                        some(which).into_iter().for_each(|(_, it)| change(it, set));
                    }
                    Happens::Later => later().await,
                }
                check(&seats);
            }
            // Who has nothing gets a seat, where anybody has more than one.
            let has_more = seats.by_seats.last().is_some_and(|(most, _)| *most > 1);
            let new = fake("new", true);
            let added = add_with(&mut seats, "newcomer", &new, 1);
            prop_assert!(added.is_ok() || !has_more);
            check(&seats);
            for (id, _) in made {
                seats.remove(&id);
            }
            seats.remove(&SessionId::new("new").expect("an id"));
            prop_assert_eq!((seats.len(), seats.bytes), (0, 0));
            prop_assert!(seats.holders.is_empty() && seats.by_seats.is_empty());
            Ok(())
        })?;
    }
}
