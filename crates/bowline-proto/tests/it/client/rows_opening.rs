//! The rows I1 to I14 of the transition table: from the dial to the session.
//!
//! The table's `Initializing` is `Opening` here. These rows are about its
//! handshake; what the probe before it does is tested in `opening`.

use bowline_proto::{
    client::{
        Config, ConnectionErrorKind, ConnectionState, Event, Failure, Input, SendError,
        SessionRequirement,
    },
    revision::Era,
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    look::{millis, waiting},
    rig::{Rig, server_capabilities},
};

/// Spares the server the probe, as after an earlier connection.
fn by_handshake(config: &mut Config) {
    config.assumed_era = Some(Era::Handshake);
}

/// A connection that has asked to `initialize`.
fn initializing() -> Rig {
    initializing_with(|_| {})
}

fn initializing_with(adjust: impl FnOnce(&mut Config)) -> Rig {
    let mut rig = Rig::with(|config| {
        by_handshake(config);
        adjust(config);
    })
    .started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
    rig
}

fn accepted() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": server_capabilities(),
        "serverInfo": {"name": "fake", "version": "1"},
        "instructions": "be kind",
    })
}

#[track_caller]
fn assert_fell_and_hung_up(rig: &Rig) {
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!(rig.hangups, [rig.current()]);
    assert_eq!(rig.connection.readable_link(), None);
    rig.assert_first_backoff();
}

#[test]
fn i1_when_the_link_is_up_the_opening_question_goes_out_before_anything_is_read() {
    let mut rig = Rig::with(by_handshake).started();
    assert_eq!(rig.connection.readable_link(), None);
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
    assert_eq!(rig.connection.readable_link(), Some(rig.current()));
}

#[test]
fn i1_a_second_up_asks_nothing_again() {
    let mut rig = initializing();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn i1b_an_opening_question_that_cannot_be_sent_closes_the_link_and_backs_off() {
    let frame = Bytes::from_static(b"{}");
    let failed = ConnectionErrorKind::Io("broken pipe".to_owned()).into();
    for refusal in [SendError::Busy(frame), SendError::Failed(failed)] {
        let mut rig = initializing();
        rig.refuse(rig.last_request(), refusal);
        assert_fell_and_hung_up(&rig);
    }
}

#[test]
fn i2_an_answer_over_the_limit_closes_the_link_and_backs_off() {
    let mut rig = initializing();
    let (link, size) = (rig.current(), 17_000_000);
    let id = rig.last_request();
    for noise in [
        "{".to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"#),
    ] {
        let prefix = noise.into();
        rig.handle(Input::OversizedFrame { link, size, prefix });
        assert_eq!(
            rig.state(),
            ConnectionState::Opening,
            "it is not the answer"
        );
    }
    let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#).into();
    rig.handle(Input::OversizedFrame { link, size, prefix });
    assert_fell_and_hung_up(&rig);
    let oversize = ConnectionErrorKind::OversizedFrame {
        size: 17_000_000,
        limit: 16_777_216,
    };
    assert_eq!(*rig.fell().0, oversize);
}

#[test]
fn i2_a_whole_frame_that_the_driver_should_have_cut_counts_the_same() {
    let mut rig = initializing_with(|config| config.max_frame_size = 200);
    rig.bytes(vec![b' '; 201]);
    assert_eq!(
        rig.state(),
        ConnectionState::Opening,
        "it is not the answer"
    );
    let id = rig.last_request();
    let pad = " ".repeat(200);
    rig.bytes(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}{pad}}}"#
    ));
    assert_fell_and_hung_up(&rig);
}

#[test]
fn i3_a_valid_answer_opens_the_session() {
    let mut rig = initializing();
    rig.answer(accepted());
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert_eq!(rig.last_sent().method(), "notifications/initialized");
    assert!(rig.has_event(|event| matches!(event, Event::Ready { session: 1 })));
    assert_eq!(
        rig.connection.session_requirement(),
        SessionRequirement::Optional
    );
    assert_eq!(rig.connection.readable_link(), Some(rig.current()));

    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision.as_str(), "2025-11-25");
    assert_eq!(server.instructions.as_deref(), Some("be kind"));
    assert!(server.has_capability("resources.subscribe"));
}

#[test]
fn i3_every_session_has_the_next_number() {
    let mut rig = Rig::ready();
    rig.reconnect();
    assert!(rig.has_event(|event| matches!(event, Event::Ready { session: 2 })));
}

#[test]
fn i3_an_open_session_resets_the_backoff() {
    let mut rig = Rig::with(by_handshake).started();
    for _ in 0..3 {
        rig.dial_failed();
        rig.redial();
    }
    assert_eq!(rig.attempts, [0, 1, 2, 3]);
    rig.up();
    rig.answer(accepted());
    rig.down();
    rig.assert_first_backoff();
}

#[test]
fn i4_an_answer_with_a_bad_version_or_bad_capabilities_closes_the_link_and_backs_off() {
    let info = json!({"name": "fake", "version": "1"});
    let results = [
        json!({"protocolVersion": "1999-01-01", "capabilities": {}, "serverInfo": info}),
        json!({"protocolVersion": 20_251_125, "capabilities": {}, "serverInfo": info}),
        json!({"capabilities": {}, "serverInfo": info}),
        json!({"protocolVersion": "2025-11-25", "capabilities": 7, "serverInfo": info}),
        json!([]),
        Value::Null,
    ];
    for result in results {
        let mut rig = initializing();
        rig.answer(result);
        assert_fell_and_hung_up(&rig);
        assert!(rig.connection.server_info().is_err());
    }
}

#[test]
fn i4_capabilities_that_are_absent_are_merely_not_offered() {
    let mut rig = initializing();
    rig.answer(json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "serverInfo": {"name": "fake", "version": "1"},
    }));
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert!(
        !rig.connection
            .server_info()
            .unwrap()
            .has_capability("tools")
    );
}

#[test]
fn i5_a_refused_handshake_closes_the_link_and_backs_off() {
    let mut rig = initializing();
    rig.answer_error(-32603, "not today");
    assert_fell_and_hung_up(&rig);
    assert!(matches!(rig.fell().0, ConnectionErrorKind::Refused(error) if error.code == -32603));
}

#[test]
fn i6_a_frame_that_is_not_json_is_skipped_and_the_next_is_read() {
    let mut rig = initializing();
    rig.bytes("Listening on stdio…");
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert_eq!(rig.connection.readable_link(), Some(rig.current()));
    rig.answer(accepted());
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn i7_everything_else_is_dropped() {
    let mut rig = initializing();
    let frames = [
        json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "result": {}}),
        json!({"jsonrpc": "2.0", "id": "1", "result": {}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}),
    ];
    for frame in frames {
        rig.frame(&frame);
        assert_eq!(rig.state(), ConnectionState::Opening, "{frame}");
    }
    assert_eq!(rig.methods_sent(), ["initialize"]);
    assert!(rig.handed_up().is_empty());
}

#[test]
fn i8_a_handshake_that_takes_too_long_closes_the_link_and_backs_off() {
    let mut rig = initializing();
    rig.pass_ms(9_999);
    assert_eq!(rig.state(), ConnectionState::Opening);
    rig.pass_ms(1);
    assert_fell_and_hung_up(&rig);
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::OpeningTimeout(millis(10_000))
    );
    assert!(rig.cancelled().is_empty(), "initialize is never cancelled");
}

/// Fails one attempt by its deadline, which must be this one, and begins the
/// next.
fn time_out(rig: &mut Rig, ms: u64) {
    rig.forget();
    rig.up();
    rig.pass_ms(ms - 1);
    assert_eq!(rig.state(), ConnectionState::Opening);
    rig.pass_ms(1);
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::OpeningTimeout(millis(ms))
    );
    redial(rig);
}

fn redial(rig: &mut Rig) {
    while rig.state() == ConnectionState::Backoff {
        rig.wake();
    }
}

#[test]
fn i8_a_server_that_is_there_and_slow_is_given_longer_with_each_attempt() {
    let mut rig = Rig::with(by_handshake).started();
    for ms in [10_000, 20_000, 40_000, 80_000, 80_000] {
        time_out(&mut rig, ms);
    }
}

#[test]
fn i8_one_that_takes_15_seconds_is_up_with_the_second_attempt() {
    let mut rig = Rig::with(by_handshake).started();
    time_out(&mut rig, 10_000);
    rig.up();
    rig.pass_ms(15_000);
    rig.answer(accepted());
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert_eq!(rig.dials.len(), 2);
}

#[test]
fn i8_one_that_did_something_else_is_given_no_longer() {
    for died in [true, false] {
        let mut rig = Rig::with(by_handshake).started();
        time_out(&mut rig, 10_000);
        time_out(&mut rig, 20_000);
        rig.up();
        if died {
            rig.down();
        } else {
            rig.answer(accepted());
            rig.down();
        }
        redial(&mut rig);
        time_out(&mut rig, 10_000);
    }
}

#[test]
fn i8_one_that_said_something_wrong_is_given_no_longer() {
    for wrong in ["starting…".to_owned(), "x".repeat(17 * 1024 * 1024)] {
        let mut rig = Rig::with(by_handshake).started();
        time_out(&mut rig, 10_000);
        rig.up();
        rig.bytes(wrong);
        rig.pass_ms(20_000);
        assert_eq!(
            *rig.fell().0,
            ConnectionErrorKind::OpeningTimeout(millis(20_000))
        );
        redial(&mut rig);
        time_out(&mut rig, 10_000);
        // That one said nothing.
        time_out(&mut rig, 20_000);
    }
}

#[test]
fn i8_one_that_was_never_there_is_given_no_longer() {
    let mut rig = Rig::with(by_handshake).started();
    for _ in 0..3 {
        rig.forget();
        rig.pass_ms(10_000);
        assert_eq!(
            *rig.fell().0,
            ConnectionErrorKind::OpeningTimeout(millis(10_000))
        );
        redial(&mut rig);
    }
}

#[test]
fn i9_a_link_that_dies_backs_off() {
    let mut rig = initializing();
    rig.down();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(rig.hangups.is_empty(), "a dead link is not hung up");
    assert!(matches!(rig.fell().0, ConnectionErrorKind::Exited { .. }));
    rig.assert_first_backoff();
}

#[test]
fn i10_stop_closes_the_link() {
    for up in [false, true] {
        let mut rig = Rig::with(by_handshake).started();
        if up {
            rig.up();
        }
        assert!(rig.stop());
        assert_eq!(rig.state(), ConnectionState::Closing);
        assert_eq!(rig.hangups, [rig.current()]);
        assert_eq!(rig.connection.readable_link(), None);
    }
}

#[test]
fn i11_a_call_is_refused_and_told_the_state() {
    let mut rig = initializing();
    let call = rig.call("tools/list");
    let opening = Failure::NotReady {
        state: ConnectionState::Opening,
        retry_in: None,
    };
    assert_eq!(*rig.failure(call), opening);
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn i12_a_ping_is_answered_before_the_session_is_open() {
    let mut rig = initializing();
    rig.frame(&json!({"jsonrpc": "2.0", "id": "p", "method": "ping"}));
    assert_eq!(
        *rig.answered(),
        json!({"jsonrpc": "2.0", "id": "p", "result": {}})
    );
    assert_eq!(rig.state(), ConnectionState::Opening);
}

/// The deadline counts from the dial: a link that never comes up is given up.
#[test]
fn i13_a_link_that_never_comes_up_cannot_hang_the_connection() {
    let mut rig = Rig::dialling();
    rig.pass_ms(10_000);
    assert_fell_and_hung_up(&rig);
}

/// A link that comes up after it was given up is an old one, and refused.
#[test]
fn i13_a_link_that_comes_up_too_late_stays_given_up() {
    let mut rig = Rig::dialling();
    rig.pass_ms(10_000);
    rig.up();
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(rig.sent.is_empty());
    assert_eq!(rig.observed("link.stale"), 1);
}

/// Calls of the old session have ended, and their timers with them; what waits
/// for the new one keeps its deadline.
#[test]
fn i14_no_timer_of_an_old_session_fires_in_the_next_opening() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.call("tools/list");
    rig.busy();
    rig.down();
    rig.assert_no_calls();
    rig.redial();
    rig.done.clear();
    rig.pass_ms(9_999);
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert!(rig.done.is_empty());

    let parked = rig.call_with("tools/list", json!({}), waiting());
    assert!(!rig.has_ended(parked));
}
