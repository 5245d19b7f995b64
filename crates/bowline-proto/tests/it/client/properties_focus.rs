//! Properties of one thing at a time, without a world around it.

use std::time::Duration;

use bowline_proto::client::{
    CallId, CallOptions, CallPolicy, Connection, Event, Failure, Input, Outcome, ProgressMode,
    Request, SendError,
};
use proptest::{collection::vec, prelude::*};
use serde_json::{Value, json};

use super::{
    properties::check,
    rig::{Rig, Sent, over_http},
};

/// How many requests may be under way at once.
const AT_ONCE: usize = 50;

fn rig(stateless: bool, http: bool) -> Rig {
    let adjust = |config: &mut _| {
        if http {
            over_http(config);
        }
    };
    if stateless {
        Rig::stateless_with(adjust)
    } else {
        Rig::ready_with(adjust)
    }
}

fn call(rig: &mut Rig, nonce: usize) -> (CallId, Sent) {
    let params = json!({"name": "x", "nonce": nonce});
    let id = rig.call_with("tools/call", params, CallOptions::default());
    (id, rig.last_sent().clone())
}

fn wire(sent: &Sent) -> u64 {
    sent.id.expect("a request")
}

/// TST-01: answers in any order, within the time there is; some come twice,
/// and every third is an error.
#[test]
fn answers_may_come_in_any_order() {
    let order = Just((0..AT_ONCE).collect::<Vec<_>>()).prop_shuffle();
    let input = (any::<[bool; 2]>(), order, vec(0..3_u64, AT_ONCE));
    check(&input, |([stateless, http], order, waits)| {
        let mut rig = rig(*stateless, *http);
        let calls: Vec<_> = (0..AT_ONCE).map(|nonce| call(&mut rig, nonce)).collect();
        for (nonce, wait) in order.iter().zip(waits) {
            rig.pass_ms(*wait);
            let id = wire(&calls[*nonce].1);
            if nonce % 3 == 0 {
                let error = json!({"code": -1, "message": nonce.to_string()});
                rig.frame(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            } else {
                rig.answer_to(id, json!({"nonce": nonce}));
            }
            if *wait == 0 {
                rig.answer_to(id, json!({"nonce": "again"}));
            }
        }
        for (nonce, (id, _)) in calls.iter().enumerate() {
            match rig.outcome(*id) {
                Outcome::Result(result) => {
                    let result: Value = serde_json::from_slice(result).expect("JSON");
                    assert_eq!(result["nonce"], nonce);
                }
                Outcome::Error(error) => assert_eq!(error.message, nonce.to_string()),
                Outcome::Failed(failure) => panic!("{failure}"),
            }
        }
        let census = rig.connection.stats();
        assert_eq!(
            (census.calls, census.timers, census.cancelled_calls),
            (0, 0, 0)
        );
    });
}

/// TST-02: some are answered, some time out: the table is empty afterwards,
/// there are no more tombstones than timeouts, and they expire.
#[test]
fn timeouts_leave_tombstones_that_expire() {
    let input = (any::<[bool; 2]>(), vec(any::<bool>(), 1..AT_ONCE));
    check(&input, |([stateless, http], answered)| {
        let mut rig = rig(*stateless, *http);
        let calls: Vec<_> = (0..answered.len())
            .map(|nonce| call(&mut rig, nonce))
            .collect();
        for ((_, sent), _) in calls
            .iter()
            .zip(answered)
            .filter(|(_, answered)| **answered)
        {
            rig.answer_to(wire(sent), json!({}));
        }
        rig.pass(Duration::from_secs(30));
        let silent = answered.iter().filter(|answered| !**answered).count();
        let census = rig.connection.stats();
        assert_eq!((census.calls, census.timers), (0, 0));
        assert_eq!(census.cancelled_calls, silent);
        for ((id, sent), answered) in calls.iter().zip(answered) {
            let timed_out = matches!(rig.outcome(*id), Outcome::Failed(Failure::Timeout { .. }));
            assert_eq!(timed_out, !answered);
            rig.answer_to(wire(sent), json!({"late": true}));
        }
        rig.pass(Duration::from_secs(75 + 60));
        assert_eq!(rig.connection.stats().cancelled_calls, 0);
        assert_eq!(rig.done.len(), calls.len());
    });
}

/// TST-07: the number of sends is one more than the number of times that the
/// queue was full, and never more than three; each call counts for itself.
#[test]
fn a_full_queue_is_tried_three_times() {
    let input = (any::<[bool; 2]>(), vec(0..6_usize, 1..AT_ONCE));
    check(&input, |([stateless, http], busy)| {
        let mut rig = rig(*stateless, *http);
        let calls: Vec<_> = (0..busy.len()).map(|nonce| call(&mut rig, nonce)).collect();
        let (mut seen, mut refused) = (0, vec![0; busy.len()]);
        // Refuse whatever is offered until each has had its share.
        for _ in 0..4 {
            let offered = rig.sent[seen..].to_vec();
            seen += offered.len();
            for sent in offered {
                let nonce = sent.json["params"]["nonce"].as_u64().expect("a nonce");
                let nonce = usize::try_from(nonce).expect("a small one");
                if refused[nonce] < busy[nonce] {
                    refused[nonce] += 1;
                    rig.refuse(wire(&sent), SendError::Busy(sent.frame));
                }
            }
            rig.pass_ms(15);
        }
        for ((id, sent), busy) in calls.iter().zip(busy) {
            let offers = rig.sent.iter().filter(|other| other.id == sent.id);
            assert_eq!(offers.count(), (busy + 1).min(3));
            if *busy < 3 {
                assert!(!rig.has_ended(*id));
                rig.answer_to(wire(sent), json!({}));
                assert!(matches!(rig.outcome(*id), Outcome::Result(_)));
            } else {
                let expected = Outcome::Failed(Failure::Busy { sends: 3 });
                assert_eq!(*rig.outcome(*id), expected);
            }
        }
    });
}

/// TST-04: a stop while a call waits to be offered again ends it with
/// `Shutdown`, and nothing is offered any more.
#[test]
fn a_stop_ends_retries() {
    let input = (any::<[bool; 2]>(), vec(0..3_u8, 1..AT_ONCE), 0..40_u64);
    check(&input, |([stateless, http], busy, moment)| {
        let mut rig = rig(*stateless, *http);
        let calls: Vec<_> = (0..busy.len()).map(|nonce| call(&mut rig, nonce)).collect();
        for (_, sent) in calls
            .iter()
            .zip(busy)
            .filter(|(_, busy)| **busy > 0)
            .map(|(call, _)| call)
        {
            rig.refuse(wire(sent), SendError::Busy(sent.frame.clone()));
        }
        rig.pass_ms(*moment);
        let offers = rig.sent.len();
        assert!(rig.stop());
        rig.pass(Duration::from_secs(1));
        assert_eq!(rig.sent.len(), offers, "something was sent after the stop");
        for (id, _) in &calls {
            assert_eq!(*rig.outcome(*id), Outcome::Failed(Failure::Shutdown));
        }
        assert!(rig.connection.has_ended());
        assert!(!rig.stop());
    });
}

/// TST-06: bursts of notifications arrive whole and in order, whatever comes
/// between them.
#[test]
fn bursts_arrive_in_order() {
    let input = (any::<[bool; 2]>(), 100..300_u64, vec(0..6_u8, 1..40));
    check(&input, |([stateless, http], count, noise)| {
        let mut rig = rig(*stateless, *http);
        for number in 0..*count {
            let noise = noise[usize::try_from(number).expect("small") % noise.len()];
            disturb(&mut rig, noise);
            let params = json!({"level": "info", "data": number});
            rig.frame(
                &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}),
            );
        }
        let mut expected = 0;
        for event in &rig.events {
            if let Event::Notification { params, .. } = event {
                let params = params.as_ref().expect("params");
                let params: Value = serde_json::from_slice(params).expect("JSON");
                assert_eq!(params["data"], expected);
                expected += 1;
            }
        }
        assert_eq!(expected, *count);
    });
}

/// Something that happens between two notifications.
fn disturb(rig: &mut Rig, noise: u8) {
    match noise {
        0 => rig.bytes("junk"),
        1 => rig.answer_to(9_999, json!({})),
        2 => {
            call(rig, 0);
        }
        3 => rig.pass_ms(1),
        4 => rig.handle(Input::Tick),
        _ => {}
    }
}

fn extreme() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        Just(Duration::from_nanos(1)),
        Just(Duration::from_secs(30)),
        Just(Duration::MAX),
    ]
}

/// Settings at the edge of what a type can hold are obeyed, not stumbled over.
#[test]
fn extreme_settings_are_survived() {
    let input = (
        vec(extreme(), 10),
        prop_oneof![Just(0_usize), Just(1), Just(usize::MAX)],
        any::<bool>(),
        any::<bool>(),
    );
    check(&input, |(durations, count, stateless, finite)| {
        let mut rig = Rig::with(|config| {
            // Opening takes no time here, so that it may have little.
            config.timeouts.connect = durations[0];
            config.timeouts.probe = durations[1].max(Duration::from_millis(1));
            config.timeouts.resource = durations[2];
            config.timeouts.tool = durations[3];
            config.timeouts.other = durations[4];
            config.timeouts.input = durations[5];
            config.sweep_interval = durations[6];
            config.close_timeout = durations[7];
            config.queue_full_retry.delay = durations[8];
            config.max_cancelled_calls = *count;
            config.max_server_requests = *count;
            config.max_connect_attempts = finite.then_some(2);
        })
        .started();
        if *stateless {
            rig.open_by_discovery();
        } else {
            rig.open_by_handshake("2025-06-18");
        }
        let options = CallOptions {
            timeout: Some(durations[9]),
            policy: CallPolicy::WaitForConnection,
            progress: ProgressMode::ExtendDeadline { max: durations[3] },
            ..CallOptions::default()
        };
        for _ in 0..8 {
            rig.call_with("tools/call", json!({"name": "x"}), options.clone());
            rig.busy();
        }
        let request = Request::without_params("ping");
        rig.act(|connection, now| {
            connection.call(now, request, CallOptions::default());
            connection.subscribe(now, "file:///x", CallOptions::default());
        });
        step_through_time(&mut rig);
        rig.down();
        step_through_time(&mut rig);
        rig.act(|connection, now| {
            Connection::stop(connection, now);
        });
        let census = rig.connection.stats();
        assert_eq!((census.calls, census.timers), (0, 0));
    });
}

/// A few wake-ups, each when the machine asks for it, if it ever will.
fn step_through_time(rig: &mut Rig) {
    for _ in 0..20 {
        let soon = |deadline: &_| *deadline - rig.now < Duration::from_secs(1_000);
        if rig.deadline.as_ref().is_some_and(soon) {
            rig.wake();
            let later = rig.deadline.is_none_or(|deadline| deadline > rig.now);
            assert!(later, "a wake-up that changes nothing");
        }
    }
}
