//! The rows B1 to B9 of the transition table: between two attempts.

use std::time::Duration;

use bowline_proto::client::{
    CallOptions, ConnectionError, ConnectionErrorKind, ConnectionState, Failure, Input,
    RestartLimit, TelemetryEvent, TransitionReason,
};
use bytes::Bytes;
use serde_json::json;

use super::{
    look::waiting,
    rig::{Rig, exited},
};

/// A session that was open and fell.
fn fallen() -> Rig {
    let mut rig = Rig::ready();
    rig.down();
    rig
}

#[test]
fn b1_when_the_backoff_is_over_a_new_link_is_dialled() {
    let mut rig = fallen();
    let old = rig.current();
    let (_, retry_in) = rig.fell();
    rig.pass(retry_in.unwrap());
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert_ne!(rig.current(), old);
    assert_eq!(
        *rig.attempts.last().unwrap(),
        0,
        "the loss of a session is no failed attempt"
    );
}

#[test]
fn b1_the_waits_double_up_to_the_longest() {
    let windows_ms = [
        (1_000, 1_200),
        (1_600, 2_400),
        (3_200, 4_800),
        (6_400, 9_600),
        (12_800, 19_200),
        (24_000, 30_000),
        (24_000, 30_000),
    ];
    let mut rig = Rig::dialling();
    for (attempt, (low, high)) in windows_ms.into_iter().enumerate() {
        rig.dial_failed();
        let wait = rig.fell().1.unwrap().as_millis();
        assert!((low..=high).contains(&wait), "{attempt}: {wait} ms");
        rig.redial();
    }
}

/// A session that may be restarted twice within a minute.
fn limited() -> Rig {
    Rig::ready_with(|config| {
        config.restart_limit = Some(RestartLimit {
            max_restarts: 2,
            period: Duration::from_secs(60),
        });
    })
}

#[test]
fn b1_sessions_that_fall_again_and_again_end_the_connection() {
    let mut rig = limited();
    for _ in 0..2 {
        rig.down();
        rig.redial();
        rig.open_by_handshake("2025-11-25");
    }
    // One that may be sent again waits for a connection that will not be.
    let repeatable = CallOptions {
        retry_on_disconnect: true,
        ..CallOptions::default()
    };
    let waiting = rig.call_with("tools/list", json!({}), repeatable);
    rig.down();
    let (kind, retry_in) = rig.fell();
    assert_eq!(retry_in, None);
    match kind {
        ConnectionErrorKind::TooManyRestarts {
            restarts: 2, last, ..
        } => assert_eq!(*last, exited()),
        other => panic!("{other:?}"),
    }
    let (cause, text) = (ConnectionError::new(kind.clone()), kind.to_string());
    assert!(text.contains("after 2 restarts within 60s"), "{text}");
    assert!(rig.connection.has_ended());
    let later = rig.call("tools/list");
    for call in [waiting, later] {
        let failure = rig.failure(call);
        assert_eq!(*failure, Failure::GaveUp(cause.clone()));
        assert!(!failure.is_transient());
    }
    let last = rig.telemetry.iter().rev().find_map(|seen| match seen {
        TelemetryEvent::Transition { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(last, Some(&TransitionReason::GaveUp(cause)));
}

#[test]
fn b1_sessions_that_fall_now_and_then_are_opened_again() {
    let mut rig = limited();
    for _ in 0..10 {
        rig.down();
        rig.redial();
        rig.open_by_handshake("2025-11-25");
        rig.pass(Duration::from_secs(30));
    }
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn b1_attempts_that_fail_are_no_restarts() {
    let mut rig = limited();
    rig.down();
    for _ in 0..5 {
        rig.redial();
        rig.dial_failed();
    }
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn b1_after_the_last_allowed_attempt_the_connection_ends() {
    let mut rig = Rig::with(|config| config.max_connect_attempts = Some(2)).started();
    let parked = rig.call_with("tools/list", json!({}), waiting());
    rig.dial_failed();
    rig.redial();
    assert!(!rig.has_ended(parked));
    rig.dial_failed();
    assert!(rig.connection.has_ended());
    assert_eq!(rig.fell().1, None);
    let failure = rig.failure(parked);
    assert!(matches!(failure, Failure::GaveUp(cause)
        if matches!(cause.kind(), ConnectionErrorKind::Unreachable(_))));
    assert!(!failure.is_transient(), "there will be no connection");
}

/// In backoff no link exists: what comes up is an old link, and refused. The
/// row's "current generation" cannot occur.
#[test]
fn b2_a_link_that_comes_up_is_an_old_one_and_refused() {
    let mut rig = Rig::dialling();
    rig.pass_ms(10_000);
    rig.up();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(rig.sent.is_empty());
}

#[test]
fn b3_frames_are_dropped_and_nothing_is_read() {
    let mut rig = fallen();
    rig.forget();
    assert_eq!(rig.connection.readable_link(), None);
    rig.notified("notifications/tools/list_changed", json!({}));
    rig.asked(json!(1), "ping", json!({}));
    let (link, size, prefix) = (rig.current(), 17_000_000, Bytes::new());
    rig.handle(Input::OversizedFrame { link, size, prefix });
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(rig.sent.is_empty() && rig.events.is_empty());
    assert_eq!(rig.observed("link.stale"), 3);
}

#[test]
fn b4_a_second_loss_of_the_same_link_is_ignored() {
    let mut rig = fallen();
    let due = rig.deadline;
    rig.forget();
    rig.down();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(rig.events.is_empty());
    assert_eq!(rig.deadline, due, "the next attempt stays where it was");
}

#[test]
fn b5_a_call_is_refused_and_told_when_the_next_attempt_is_due() {
    let mut rig = fallen();
    let wait = rig.fell().1;
    rig.pass_ms(400);
    let call = rig.call("tools/list");
    let backoff = Failure::NotReady {
        state: ConnectionState::Backoff,
        retry_in: wait.map(|wait| wait - super::look::millis(400)),
    };
    assert_eq!(*rig.failure(call), backoff);
}

#[test]
fn b6_stop_ends_at_once_because_there_is_no_link_to_wait_for() {
    let mut rig = fallen();
    let parked = rig.call_with("tools/list", json!({}), waiting());
    assert!(rig.stop());
    assert_eq!(rig.state(), ConnectionState::Closing);
    assert!(rig.connection.has_ended());
    assert_eq!(*rig.failure(parked), Failure::Shutdown);
    assert_eq!(rig.deadline, None, "no further attempt is due");
}

#[test]
fn b7_tombstones_are_swept_while_the_server_is_away() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.down();
    assert_eq!(rig.connection.stats().cancelled_calls, 1);
    while rig.connection.stats().cancelled_calls == 1 {
        assert!(rig.now.since_origin().as_secs() < 200, "never swept");
        match rig.state() {
            ConnectionState::Backoff => rig.wake(),
            _ => rig.dial_failed(),
        }
    }
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn b8_no_timer_of_the_lost_session_fires() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.call("tools/list");
    rig.busy();
    rig.down();
    let (sent, done) = (rig.sent.len(), rig.done.len());
    rig.pass_ms(900);
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!((rig.sent.len(), rig.done.len()), (sent, done));
    rig.assert_no_calls();
}

/// A redial that fails is met in `Opening`, like the first.
#[test]
fn b9_a_redial_that_fails_schedules_the_next_longer_backoff() {
    let mut rig = fallen();
    rig.redial();
    rig.dial_failed();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    let wait = rig.fell().1.unwrap().as_millis();
    assert!((1_600..=2_400).contains(&wait), "{wait} ms");
}

#[test]
fn b4_the_cause_of_a_loss_is_told_with_the_servers_last_words() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.down();
    let Failure::ConnectionLost(cause) = rig.failure(call) else {
        panic!("the call outlived the link");
    };
    assert_eq!(cause.detail(), exited().detail());
    assert!(cause.to_string().contains("out of ideas"));
}
