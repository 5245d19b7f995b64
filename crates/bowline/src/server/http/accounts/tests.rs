//! What is taken is given back, and nobody takes more than there is for them.

use proptest::prelude::*;

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
    let held: Vec<_> = (0..2).map(|_| one.place(0, || false)).collect();
    assert!(held.iter().all(Result::is_ok));
    assert_eq!(one.place(0, || false).err(), Some(Exhausted::Client));
    let two = address(&accounts, 2);
    let other = (two.place(0, || false), two.place(0, || false));
    assert!(other.0.is_ok() && other.1.is_ok());
    let three = address(&accounts, 3);
    assert_eq!(three.place(0, || false).err(), Some(Exhausted::All));
    drop(held);
    assert!(three.place(0, || false).is_ok());
    assert!(Arc::ptr_eq(&one, &address(&accounts, 1)));
}

#[test]
fn the_last_places_are_for_sessions_that_are_open() {
    let accounts = accounts(16, 16);
    let one = accounts.of_unknown();
    let held: Vec<_> = (0..14).map(|_| one.place(0, || false)).collect();
    assert!(held.iter().all(Result::is_ok));
    assert_eq!(one.place(0, || false).err(), Some(Exhausted::All));
    let more = (one.place(0, || true), one.place(0, || true));
    assert!(more.0.is_ok() && more.1.is_ok());
    assert_eq!(one.place(0, || true).err(), Some(Exhausted::All));
}

#[test]
fn bytes_count_until_nobody_holds_them() {
    let accounts = accounts(4, 4);
    let one = address(&accounts, 1);
    let mut place = one.place(0, || false).expect("a place");
    assert_eq!(place.grow(PER_REQUEST), Ok(()));
    assert_eq!(place.grow(PER_REQUEST + 1), Err(Exhausted::Client));
    let charge = place.leave();
    assert_eq!(one.used.requests.used(), 0);
    assert!(one.place(0, || false).is_ok());
    let full = one.place(0, || false).and_then(|mut it| it.grow(1));
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

#[test]
fn a_large_network_has_twice_what_an_address_has() {
    let accounts = accounts(64, 3);
    let of = |text: &str| accounts.of_address(text.parse().expect("an address"));
    let mut held = Vec::new();
    for number in 0..6 {
        let account = of(&format!("2001:db8:1:{number}::1"));
        held.push(account.place(0, || true).expect("a place"));
    }
    let more = of("2001:db8:1:ffff::1");
    assert_eq!(more.place(0, || true).err(), Some(Exhausted::Client));
    assert_eq!(more.used.requests.used(), 0, "nothing is taken halfway");
    assert!(of("2001:db8:2::1").place(0, || true).is_ok());
    assert!(address(&accounts, 1).place(0, || true).is_ok());
    held.pop();
    assert!(more.place(0, || true).is_ok());
    held.clear();
    let network = more.network.as_ref().expect("a network");
    assert_eq!(network.used.requests.used(), 0);
    assert_eq!(network.used.request_bytes.used(), 0);
}

/// Something that clients do.
#[derive(Clone, Debug)]
enum Does {
    Place { who: usize, in_session: bool },
    Grow { which: usize, bytes: usize },
    Leave(usize),
    Listen(usize),
    Connect(usize),
    Drop(usize),
}

fn does() -> impl Strategy<Value = Does> {
    let (who, which) = (0_usize..5, any::<prop::sample::Index>());
    let which = which.prop_map(|it| it.index(1 << 16));
    prop_oneof![
        (who.clone(), any::<bool>()).prop_map(|(who, in_session)| Does::Place { who, in_session }),
        (which.clone(), 0..3 * PER_REQUEST).prop_map(|(which, bytes)| Does::Grow { which, bytes }),
        which.clone().prop_map(Does::Leave),
        who.clone().prop_map(Does::Listen),
        who.prop_map(Does::Connect),
        which.prop_map(Does::Drop),
    ]
}

/// What they hold.
enum Holds {
    Place(Place),
    #[expect(dead_code, reason = "it is held")]
    Bytes(Charge),
    #[expect(dead_code, reason = "it is held")]
    One(Counted),
}

fn figures(used: &Used) -> [usize; 4] {
    [
        used.requests.used(),
        used.request_bytes.used(),
        used.listens.used(),
        used.connections.used(),
    ]
}

fn limits(limits: &ClientLimits) -> [usize; 4] {
    [
        limits.max_requests,
        limits.max_request_bytes,
        limits.max_listens,
        limits.max_connections,
    ]
}

proptest! {
    #[test]
    fn whatever_clients_do_nobody_has_more_than_its_share_and_all_is_given_back(
        all in prop::collection::vec(does(), 1..200),
    ) {
        let each = ClientLimits {
            max_requests: 4,
            max_request_bytes: 8 * PER_REQUEST,
            max_listens: 3,
            max_connections: 3,
            ..ClientLimits::default()
        };
        let accounts = Accounts::new(&HttpOptions {
            requests: 16,
            max_request_bytes: 20 * PER_REQUEST,
            listens: 6,
            per_client: each,
            ..HttpOptions::default()
        });
        let of = |text: &str| accounts.of_address(text.parse().expect("an address"));
        let clients = [
            of("192.0.2.1"),
            of("2001:db8:1:1::"),
            of("2001:db8:1:2::"),
            of("2001:db8:1:3::"),
            accounts.of_principal("ada".into()),
        ];
        let mut held = Vec::new();
        for it in all {
            let len = held.len().max(1);
            match it {
                Does::Place { who, in_session } => {
                    let place = clients[who].place(0, || in_session);
                    held.extend(place.ok().map(Holds::Place));
                }
                Does::Grow { which, bytes } => {
                    if let Some(Holds::Place(place)) = held.get_mut(which % len) {
                        // Where there is no room, nothing is taken.
                        let _ = place.grow(bytes);
                    }
                }
                Does::Leave(which) if matches!(held.get(which % len), Some(Holds::Place(_))) => {
                    if let Holds::Place(place) = held.swap_remove(which % len) {
                        held.push(Holds::Bytes(place.leave()));
                    }
                }
                Does::Listen(who) => held.extend(clients[who].listen().ok().map(Holds::One)),
                Does::Connect(who) => held.extend(clients[who].connect().ok().map(Holds::One)),
                Does::Drop(which) if which % len < held.len() => {
                    held.swap_remove(which % len);
                }
                Does::Leave(_) | Does::Drop(_) => {}
            }
            let mut sums = [0; 4];
            for client in &clients {
                let used = figures(&client.used);
                for (level, max, _) in client.levels() {
                    let fits = figures(level).into_iter().zip(limits(max)).all(|(it, max)| it <= max);
                    prop_assert!(fits);
                }
                sums.iter_mut().zip(used).for_each(|(sum, it)| *sum += it);
            }
            prop_assert_eq!(sums, figures(&clients[0].totals.used));
            // Whoever has nothing, and a session that is open, gets a place: one
            // in eight is kept for those.
            let newcomer = accounts.of_principal("newcomer".into());
            let without_session = held.iter().filter(|it| matches!(it, Holds::Place(_))).count();
            if without_session < 16 && sums[1] <= 19 * PER_REQUEST {
                prop_assert!(newcomer.place(0, || true).is_ok());
            }
        }
        held.clear();
        for (level, ..) in clients.iter().flat_map(|it| it.levels()) {
            prop_assert_eq!(figures(level), [0; 4]);
        }
    }
}
