//! Which sessions are evicted, in favor of which client.

use std::{cell::Cell, net::IpAddr, rc::Rc, time::Duration};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
struct Fake(&'static str, Rc<Cell<SessionActivity>>);

impl Evictable for Fake {
    fn activity(&self) -> SessionActivity {
        self.1.get()
    }
}

fn fake(name: &'static str, initialized: bool) -> Fake {
    let activity = SessionActivity {
        initialized,
        connected: false,
        last_used: Instant::now(),
    };
    Fake(name, Rc::new(Cell::new(activity)))
}

fn change(fake: &Fake, change: impl FnOnce(&mut SessionActivity)) {
    let mut activity = fake.1.get();
    change(&mut activity);
    fake.1.set(activity);
}

fn slots(max_sessions: usize, each: usize) -> SessionSlots<Fake> {
    let limits = |max_sessions: usize, max_session_bytes| ClientLimits {
        max_sessions,
        max_session_bytes,
        ..ClientLimits::default()
    };
    SessionSlots::new(limits(max_sessions, 1000), limits(each, 500))
}

fn key(name: &str) -> QuotaKey {
    QuotaKey::Principal(name.into())
}

fn add(
    slots: &mut SessionSlots<Fake>,
    client: &str,
    fake: &Fake,
) -> Result<Vec<&'static str>, NoFreeSlot> {
    add_with(slots, client, fake, 10)
}

fn add_with(
    slots: &mut SessionSlots<Fake>,
    client: &str,
    fake: &Fake,
    bytes: usize,
) -> Result<Vec<&'static str>, NoFreeSlot> {
    let id = SessionId::new(fake.0).expect("an id");
    let evicted = slots.add(&id, &key(client), fake.clone(), bytes)?;
    Ok(evicted.iter().map(|it| it.0).collect())
}

async fn later() {
    tokio::time::advance(Duration::from_secs(1)).await;
}

#[tokio::test(start_paused = true)]
async fn of_whoever_has_most_the_one_that_was_never_initialised_gives_way() {
    let mut slots = slots(4, 9);
    let others = fake("other", true);
    add(&mut slots, "other", &others).expect("room");
    for name in ["a1", "a2", "a3"] {
        later().await;
        add(&mut slots, "a", &fake(name, name != "a2")).expect("room");
    }
    assert_eq!(add(&mut slots, "new", &fake("n", false)), Ok(vec!["a2"]));
    assert_eq!(add(&mut slots, "new", &fake("m", false)), Ok(vec!["a1"]));
    assert_eq!(slots.len(), 4);
    assert!(
        slots
            .get(&SessionId::new("other").expect("an id"))
            .is_some()
    );
}

#[tokio::test(start_paused = true)]
async fn use_since_then_counts() {
    let mut slots = slots(3, 9);
    let all = ["a1", "a2", "a3"].map(|name| fake(name, false));
    for it in &all {
        add(&mut slots, "a", it).expect("room");
    }
    later().await;
    change(&all[0], |it| it.initialized = true);
    change(&all[1], |it| it.last_used = Instant::now());
    assert_eq!(add(&mut slots, "a", &fake("a4", false)), Ok(vec!["a3"]));
    change(&all[0], |it| it.last_used = Instant::now());
    assert_eq!(add(&mut slots, "a", &fake("a5", false)), Ok(vec!["a2"]));
}

#[tokio::test(start_paused = true)]
async fn of_many_that_were_all_used_since_one_gives_way_all_the_same() {
    let names: Vec<&'static str> = (0..200)
        .map(|number| &*format!("a{number}").leak())
        .collect();
    let mut slots = slots(200, 900);
    let all: Vec<_> = names.iter().map(|name| fake(name, false)).collect();
    for it in &all {
        add_with(&mut slots, "a", it, 1).expect("room");
    }
    for round in 0..3 {
        later().await;
        for it in &all {
            change(it, |it| {
                it.initialized = true;
                it.last_used = Instant::now();
            });
        }
        let newcomer = fake(["n0", "n1", "n2"][round], true);
        let evicted = add_with(&mut slots, "b", &newcomer, 1).expect("somebody gives way");
        assert_eq!(evicted.len(), 1);
        assert!(evicted[0].starts_with('a'), "{evicted:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_in_use_gives_way_only_to_those_who_have_less() {
    let mut slots = slots(3, 9);
    let all = ["a1", "a2", "a3"].map(|name| fake(name, true));
    for it in &all {
        add(&mut slots, "a", it).expect("room");
        change(it, |it| it.connected = true);
    }
    assert_eq!(add(&mut slots, "a", &fake("a4", true)), Err(NoFreeSlot));
    assert_eq!(
        add(&mut slots, "b", &fake("b1", true)).map(|it| it.len()),
        Ok(1)
    );
    assert_eq!(slots.len(), 3);
    let one = fake("b2", true);
    assert_eq!(
        add(&mut slots, "b", &one),
        Ok(vec!["b1"]),
        "its own, which is idle"
    );
}

#[tokio::test(start_paused = true)]
async fn a_client_has_no_more_than_its_share() {
    let mut slots = slots(9, 2);
    for name in ["a1", "a2"] {
        add(&mut slots, "a", &fake(name, true)).expect("room");
        later().await;
    }
    assert_eq!(add(&mut slots, "a", &fake("a3", true)), Ok(vec!["a1"]));
    assert_eq!(
        add_with(&mut slots, "a", &fake("a4", true), 495),
        Ok(vec!["a2", "a3"])
    );
    assert_eq!(
        add_with(&mut slots, "a", &fake("a5", true), 501),
        Err(NoFreeSlot)
    );
    let (id, by) = (SessionId::new("b").expect("an id"), fake("b", true));
    add(&mut slots, "b", &by).expect("room");
    let evicted = slots.update_bytes(&id, 501);
    assert_eq!(evicted.iter().map(|it| it.0).collect::<Vec<_>>(), ["b"]);
}

#[tokio::test(start_paused = true)]
async fn whoever_has_most_of_what_is_scarce_gives_way() {
    let mut slots = slots(5, 9);
    add_with(&mut slots, "large", &fake("large", true), 400).expect("room");
    for name in ["a1", "a2", "a3"] {
        later().await;
        add(&mut slots, "a", &fake(name, true)).expect("room");
    }
    let c = fake("c", true);
    add_with(&mut slots, "c", &c, 300).expect("room");
    // There are too few slots, and `a` has most of them.
    assert_eq!(add(&mut slots, "new", &fake("n", true)), Ok(vec!["a1"]));
    slots.remove(&SessionId::new("n").expect("an id"));
    // There are too few bytes, and `large` has most of them.
    let d = fake("d", true);
    assert_eq!(add_with(&mut slots, "d", &d, 300), Ok(vec!["large"]));
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_costs_nobody_a_seat() {
    let mut slots = slots(9, 9);
    let used = fake("used", true);
    change(&used, |it| it.connected = true);
    add_with(&mut slots, "a", &used, 300).expect("room");
    add(&mut slots, "a", &fake("idle", true)).expect("room");
    let new = fake("new", true);
    assert_eq!(add_with(&mut slots, "a", &new, 300), Err(NoFreeSlot));
    assert_eq!((slots.len(), slots.bytes), (2, 310));
    // Nor does one that keeps too much by itself.
    let evicted = slots.update_bytes(&SessionId::new("used").expect("an id"), 501);
    assert_eq!(evicted.iter().map(|it| it.0).collect::<Vec<_>>(), ["used"]);
    assert_eq!((slots.len(), slots.bytes), (1, 10));
    // And all that were moved back are evicted in turn.
    let large = fake("large", true);
    assert_eq!(add_with(&mut slots, "a", &large, 495), Ok(vec!["idle"]));
}

#[tokio::test(start_paused = true)]
async fn whoever_leaves_leaves_nothing() {
    let mut slots = slots(9, 9);
    for name in ["a1", "a2"] {
        add(&mut slots, "a", &fake(name, true)).expect("room");
    }
    for name in ["a1", "a2"] {
        assert!(
            slots
                .remove(&SessionId::new(name).expect("an id"))
                .is_some()
        );
    }
    assert_eq!((slots.len(), slots.bytes), (0, 0));
    assert!(slots.clients.is_empty());
    assert!(slots.by_count.is_empty() && slots.by_bytes.is_empty());
}

#[tokio::test(start_paused = true)]
async fn those_of_one_large_network_have_a_share_together() {
    let mut slots = slots(9, 2);
    let in_network = |number: u8| {
        let address = format!("2001:db8:1:{number}::").parse::<IpAddr>();
        QuotaKey::Address(address.expect("an address"))
    };
    for (number, name) in (1..).zip(["s1", "s2", "s3", "s4"]) {
        later().await;
        let id = SessionId::new(name).expect("an id");
        let added = slots.add(&id, &in_network(number), fake(name, true), 10);
        assert!(added.is_ok_and(|evicted| evicted.is_empty()));
    }
    let id = SessionId::new("s5").expect("an id");
    let evicted = slots.add(&id, &in_network(5), fake("s5", true), 10);
    let evicted = evicted.expect("room");
    assert_eq!(evicted.iter().map(|it| it.0).collect::<Vec<_>>(), ["s1"]);
    // It counts as one when the client with the most is looked for.
    for name in ["o1", "o2", "o3", "o4", "o5"] {
        add(&mut slots, name, &fake(name, true)).expect("room");
    }
    for (name, evicted) in [("p", "s2"), ("q", "s3")] {
        assert_eq!(add(&mut slots, name, &fake(name, true)), Ok(vec![evicted]));
    }
}

/// An operation on the slots.
#[derive(Clone, Debug)]
enum Operation {
    Added { client: usize, bytes: usize },
    Removed(usize),
    Resized(usize, usize),
    Connected(usize, bool),
    Initialized(usize),
    TimePassed,
}

fn operation() -> impl Strategy<Value = Operation> {
    let some = 0_usize..40;
    prop_oneof![
        4 => (0_usize..8, 1_usize..300)
            .prop_map(|(client, bytes)| Operation::Added { client, bytes }),
        1 => some.clone().prop_map(Operation::Removed),
        2 => (some.clone(), 0_usize..600).prop_map(|(which, bytes)| Operation::Resized(which, bytes)),
        2 => (some.clone(), any::<bool>()).prop_map(|(which, on)| Operation::Connected(which, on)),
        1 => some.prop_map(Operation::Initialized),
        1 => Just(Operation::TimePassed),
    ]
}

/// Principals, and addresses of which two are in one large network.
fn keys() -> Vec<QuotaKey> {
    let addresses = [
        "192.0.2.1",
        "2001:db8:1:1::",
        "2001:db8:1:2::",
        "2001:db8:2::",
    ];
    let addresses = addresses.map(|it| QuotaKey::Address(it.parse().expect("an address")));
    let principals = ["a", "b", "c", "d"].map(key);
    addresses.into_iter().chain(principals).collect()
}

/// Checks that all maps agree, and that no client exceeds its limits.
fn check(slots: &SessionSlots<Fake>) {
    let mut counted: HashMap<QuotaKey, (usize, usize)> = HashMap::new();
    let mut bytes = 0;
    for (id, seat) in &slots.slots {
        bytes += seat.bytes;
        for group in seat.client.groups() {
            assert_eq!(slots.clients[&group].by_order.get(&seat.order), Some(id));
            let of_group = counted.entry(group).or_default();
            *of_group = (of_group.0 + 1, of_group.1 + seat.bytes);
        }
    }
    assert_eq!(slots.bytes, bytes);
    assert!(slots.len() <= slots.max.max_sessions && bytes <= slots.max.max_session_bytes);
    assert_eq!(slots.clients.len(), counted.len());
    for (group, (had, bytes)) in &counted {
        let sessions = &slots.clients[group];
        assert_eq!((sessions.by_order.len(), sessions.bytes), (*had, *bytes));
        let share = group.limits_for(slots.per_client);
        assert!(*had <= share.max_sessions && *bytes <= share.max_session_bytes);
        let is_ranked = group.network().is_none();
        assert_eq!(slots.by_count.contains(&(*had, group.clone())), is_ranked);
        assert_eq!(slots.by_bytes.contains(&(*bytes, group.clone())), is_ranked);
    }
    let ranked = counted.keys().filter(|it| it.network().is_none()).count();
    assert_eq!(
        (slots.by_count.len(), slots.by_bytes.len()),
        (ranked, ranked)
    );
}

proptest! {
    #[test]
    fn whatever_happens_sums_are_right_and_nobody_has_more_than_its_share(
        all in prop::collection::vec(operation(), 1..120),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let (mut slots, client) = (slots(12, 4), keys());
            let mut created: Vec<(SessionId, Fake)> = Vec::new();
            for it in all {
                let some = |which: usize| created.get(which % created.len().max(1));
                match it {
                    Operation::Added { client: who, bytes } => {
                        let id = SessionId::new(&created.len().to_string()).expect("an id");
                        let fake = fake("any", false);
                        let before = (slots.len(), slots.bytes);
                        let added = slots.add(&id, &client[who], fake.clone(), bytes);
                        if added.is_err() {
                            prop_assert_eq!((slots.len(), slots.bytes), before);
                        }
                        created.push((id, fake));
                    }
                    Operation::Removed(which) => {
                        some(which).map(|(id, _)| slots.remove(id));
                    }
                    Operation::Resized(which, bytes) => {
                        some(which).map(|(id, _)| slots.update_bytes(id, bytes));
                    }
                    Operation::Connected(which, on) => {
                        some(which).into_iter().for_each(|(_, it)| change(it, |it| it.connected = on));
                    }
                    Operation::Initialized(which) => {
                        let now = Instant::now();
                        let set = |it: &mut SessionActivity| (it.initialized, it.last_used) = (true, now);
                        some(which).into_iter().for_each(|(_, it)| change(it, set));
                    }
                    Operation::TimePassed => later().await,
                }
                check(&slots);
            }
            // A client that has nothing gets a slot if any client has more than
            // one.
            let has_more = slots.by_count.last().is_some_and(|(max_count, _)| *max_count > 1);
            let new = fake("new", true);
            let added = add_with(&mut slots, "newcomer", &new, 1);
            prop_assert!(added.is_ok() || !has_more);
            check(&slots);
            for (id, _) in created {
                slots.remove(&id);
            }
            slots.remove(&SessionId::new("new").expect("an id"));
            prop_assert_eq!((slots.len(), slots.bytes), (0, 0));
            prop_assert!(slots.clients.is_empty() && slots.by_count.is_empty());
            Ok(())
        })?;
    }
}
