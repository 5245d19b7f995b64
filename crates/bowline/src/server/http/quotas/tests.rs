//! Permits are released, and no client exceeds its limits.

use proptest::prelude::*;

use super::*;

fn quotas(requests: usize, each: usize) -> Quotas {
    Quotas::new(&HttpOptions {
        max_requests: requests,
        client_limits: ClientLimits {
            max_requests: each,
            max_request_bytes: 3 * REQUEST_OVERHEAD,
            ..ClientLimits::default()
        },
        ..HttpOptions::default()
    })
}

fn address(quotas: &Quotas, last: u8) -> Arc<ClientQuota> {
    quotas.for_address([192, 0, 2, last].into())
}

#[test]
fn nobody_takes_the_places_of_others() {
    let quotas = quotas(4, 2);
    let one = address(&quotas, 1);
    let permits: Vec<_> = (0..2).map(|_| one.request_permit(0, || false)).collect();
    assert!(permits.iter().all(Result::is_ok));
    assert_eq!(
        one.request_permit(0, || false).err(),
        Some(QuotaExceeded::Client)
    );
    let two = address(&quotas, 2);
    let other = (
        two.request_permit(0, || false),
        two.request_permit(0, || false),
    );
    assert!(other.0.is_ok() && other.1.is_ok());
    let three = address(&quotas, 3);
    assert_eq!(
        three.request_permit(0, || false).err(),
        Some(QuotaExceeded::Total)
    );
    drop(permits);
    assert!(three.request_permit(0, || false).is_ok());
    assert!(Arc::ptr_eq(&one, &address(&quotas, 1)));
}

#[test]
fn the_last_places_are_for_sessions_that_are_open() {
    let quotas = quotas(16, 16);
    let one = quotas.unknown();
    let permits: Vec<_> = (0..14).map(|_| one.request_permit(0, || false)).collect();
    assert!(permits.iter().all(Result::is_ok));
    assert_eq!(
        one.request_permit(0, || false).err(),
        Some(QuotaExceeded::Total)
    );
    let more = (
        one.request_permit(0, || true),
        one.request_permit(0, || true),
    );
    assert!(more.0.is_ok() && more.1.is_ok());
    assert_eq!(
        one.request_permit(0, || true).err(),
        Some(QuotaExceeded::Total)
    );
}

#[test]
fn bytes_count_until_nobody_holds_them() {
    let quotas = quotas(4, 4);
    let one = address(&quotas, 1);
    let mut permit = one.request_permit(0, || false).expect("a place");
    assert_eq!(permit.grow(REQUEST_OVERHEAD), Ok(()));
    assert_eq!(
        permit.grow(REQUEST_OVERHEAD + 1),
        Err(QuotaExceeded::Client)
    );
    let charge = permit.into_bytes_permit();
    assert_eq!(one.used.requests.used(), 0);
    assert!(one.request_permit(0, || false).is_ok());
    let full = one
        .request_permit(0, || false)
        .and_then(|mut it| it.grow(1));
    assert_eq!(full, Err(QuotaExceeded::Client));
    drop(charge);
    assert_eq!(one.totals.used.request_bytes.used(), 0);
}

#[test]
fn accounts_that_nobody_uses_are_forgotten() {
    let quotas = quotas(4, 4);
    for number in 0..u16::MAX {
        let [high, low] = number.to_be_bytes();
        quotas.for_address([10, 0, high, low].into());
    }
    assert!(sync::lock(&quotas.quotas).len() < 100);
}

#[test]
fn a_large_network_has_twice_what_an_address_has() {
    let quotas = quotas(64, 3);
    let of = |text: &str| quotas.for_address(text.parse().expect("an address"));
    let mut permits = Vec::new();
    for number in 0..6 {
        let account = of(&format!("2001:db8:1:{number}::1"));
        permits.push(account.request_permit(0, || true).expect("a place"));
    }
    let more = of("2001:db8:1:ffff::1");
    assert_eq!(
        more.request_permit(0, || true).err(),
        Some(QuotaExceeded::Client)
    );
    assert_eq!(more.used.requests.used(), 0, "nothing is taken halfway");
    assert!(of("2001:db8:2::1").request_permit(0, || true).is_ok());
    assert!(address(&quotas, 1).request_permit(0, || true).is_ok());
    permits.pop();
    assert!(more.request_permit(0, || true).is_ok());
    permits.clear();
    let network = more.network.as_ref().expect("a network");
    assert_eq!(network.used.requests.used(), 0);
    assert_eq!(network.used.request_bytes.used(), 0);
}

/// An operation of a client.
#[derive(Clone, Debug)]
enum Operation {
    AcquireRequest { client: usize, in_session: bool },
    Grow { which: usize, bytes: usize },
    ReleaseRequest(usize),
    Listen(usize),
    Connect(usize),
    Drop(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    let (who, which) = (0_usize..5, any::<prop::sample::Index>());
    let which = which.prop_map(|it| it.index(1 << 16));
    prop_oneof![
        (who.clone(), any::<bool>()).prop_map(|(who, in_session)| Operation::AcquireRequest {
            client: who,
            in_session
        }),
        (which.clone(), 0..3 * REQUEST_OVERHEAD)
            .prop_map(|(which, bytes)| Operation::Grow { which, bytes }),
        which.clone().prop_map(Operation::ReleaseRequest),
        who.clone().prop_map(Operation::Listen),
        who.prop_map(Operation::Connect),
        which.prop_map(Operation::Drop),
    ]
}

/// The permits held.
enum HeldPermit {
    Request(RequestPermit),
    #[expect(dead_code, reason = "it is held")]
    Bytes(BytesPermit),
    #[expect(dead_code, reason = "it is held")]
    Quota(QuotaPermit),
}

fn counts(used: &Usage) -> [usize; 4] {
    [
        used.requests.used(),
        used.request_bytes.used(),
        used.listen_streams.used(),
        used.connections.used(),
    ]
}

fn limits(limits: &ClientLimits) -> [usize; 4] {
    [
        limits.max_requests,
        limits.max_request_bytes,
        limits.max_listen_streams,
        limits.max_connections,
    ]
}

proptest! {
    #[test]
    fn whatever_clients_do_nobody_has_more_than_its_share_and_all_is_given_back(
        all in prop::collection::vec(operation(), 1..200),
    ) {
        let each = ClientLimits {
            max_requests: 4,
            max_request_bytes: 8 * REQUEST_OVERHEAD,
            max_listen_streams: 3,
            max_connections: 3,
            ..ClientLimits::default()
        };
        let quotas = Quotas::new(&HttpOptions {
            max_requests: 16,
            max_request_bytes: 20 * REQUEST_OVERHEAD,
            max_listen_streams: 6,
            client_limits: each,
            ..HttpOptions::default()
        });
        let of = |text: &str| quotas.for_address(text.parse().expect("an address"));
        let clients = [
            of("192.0.2.1"),
            of("2001:db8:1:1::"),
            of("2001:db8:1:2::"),
            of("2001:db8:1:3::"),
            quotas.for_principal("ada".into()),
        ];
        let mut permits = Vec::new();
        for it in all {
            let len = permits.len().max(1);
            match it {
                Operation::AcquireRequest { client, in_session } => {
                    let permit = clients[client].request_permit(0, || in_session);
                    permits.extend(permit.ok().map(HeldPermit::Request));
                }
                Operation::Grow { which, bytes } => {
                    if let Some(HeldPermit::Request(permit)) = permits.get_mut(which % len) {
                        // If the quota is exhausted, nothing is acquired.
                        let _ = permit.grow(bytes);
                    }
                }
                Operation::ReleaseRequest(which) if matches!(permits.get(which % len), Some(HeldPermit::Request(_))) => {
                    if let HeldPermit::Request(permit) = permits.swap_remove(which % len) {
                        permits.push(HeldPermit::Bytes(permit.into_bytes_permit()));
                    }
                }
                Operation::Listen(who) => permits.extend(clients[who].listen_permit().ok().map(HeldPermit::Quota)),
                Operation::Connect(who) => permits.extend(clients[who].connection_permit().ok().map(HeldPermit::Quota)),
                Operation::Drop(which) if which % len < permits.len() => {
                    permits.swap_remove(which % len);
                }
                Operation::ReleaseRequest(_) | Operation::Drop(_) => {}
            }
            let mut sums = [0; 4];
            for client in &clients {
                let used = counts(&client.used);
                for (level, max, _) in client.levels() {
                    let fits = counts(level).into_iter().zip(limits(max)).all(|(it, max)| it <= max);
                    prop_assert!(fits);
                }
                sums.iter_mut().zip(used).for_each(|(sum, it)| *sum += it);
            }
            prop_assert_eq!(sums, counts(&clients[0].totals.used));
            // A client that has nothing gets a permit for an open session: one
            // in eight is reserved.
            let newcomer = quotas.for_principal("newcomer".into());
            let without_session = permits.iter().filter(|it| matches!(it, HeldPermit::Request(_))).count();
            if without_session < 16 && sums[1] <= 19 * REQUEST_OVERHEAD {
                prop_assert!(newcomer.request_permit(0, || true).is_ok());
            }
        }
        permits.clear();
        for (level, ..) in clients.iter().flat_map(|it| it.levels()) {
            prop_assert_eq!(counts(level), [0; 4]);
        }
    }
}
