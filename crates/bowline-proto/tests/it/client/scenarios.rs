//! The scenarios that must pass, whole stories from the outside.

use bowline_proto::client::{CallOptions, ConnectionState, Failure, Input};
use bytes::Bytes;
use serde_json::json;

use super::{
    look::{millis, within},
    rig::{Rig, exited, server_capabilities},
};

/// TST-09: busy is counted for each request, not for the link.
#[test]
fn two_requests_that_are_busy_twice_each_both_succeed_after_six_sends() {
    let mut rig = Rig::ready();
    let calls = [rig.call("tools/list"), rig.call("prompts/list")];
    for _ in 0..2 {
        let refused: Vec<_> = rig.sent[rig.sent.len() - 2..].to_vec();
        for sent in refused {
            let refusal = bowline_proto::client::SendError::Busy(sent.frame);
            rig.refuse(sent.id.unwrap(), refusal);
        }
        rig.pass_ms(15);
    }
    assert_eq!(rig.sent.len(), 6);
    let ids: Vec<_> = rig.sent[4..].iter().map(|sent| sent.id.unwrap()).collect();
    for id in ids {
        rig.answer_to(id, json!({"for": id}));
    }
    for call in calls {
        assert!(rig.result(call)["for"].is_number());
    }
}

/// TST-09, the other half.
#[test]
fn a_request_that_is_always_busy_fails_after_three_attempts() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    while !rig.has_ended(call) {
        rig.busy();
        rig.pass_ms(15);
    }
    assert_eq!(rig.sent.len(), 3);
    let failure = rig.failure(call);
    assert!(failure.to_string().ends_with("after 3 attempts"));
    assert!(failure.is_transient());
}

/// TST-10.
#[test]
fn a_link_lost_with_one_call_in_flight_and_one_retrying_fails_both_and_leaves_nothing() {
    let mut rig = Rig::ready();
    let in_flight = rig.call("tools/list");
    let retrying = rig.call("prompts/list");
    rig.busy();
    rig.down();
    for call in [in_flight, retrying] {
        assert_eq!(*rig.failure(call), Failure::ConnectionLost(exited()));
    }
    rig.assert_no_calls();
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

/// TST-11.
#[test]
fn where_that_is_not_tolerated_a_frame_of_seventeen_million_bytes_closes_the_link() {
    let mut rig = Rig::ready_with(|config| config.strict = true);
    rig.bytes(vec![b' '; 17_000_000]);
    assert_eq!(rig.hangups, [rig.current()]);
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!(rig.connection.readable_link(), None);
}

/// TST-11, the other half.
#[test]
fn a_frame_of_exactly_the_limit_is_not_refused_for_its_size() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let head = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[],"pad":""#,
        rig.last_request()
    );
    let tail = r#""}}"#;
    let mut frame = head.into_bytes();
    frame.resize(16_777_216 - tail.len(), b'x');
    frame.extend_from_slice(tail.as_bytes());
    assert_eq!(frame.len(), 16_777_216);
    rig.bytes(frame);
    assert_eq!(rig.result(call)["tools"], json!([]));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

/// TST-12.
#[test]
fn a_wrong_version_backs_off_and_a_right_one_later_resets_the_delay() {
    let mut rig = Rig::dialling();
    let info = json!({"name": "fake", "version": "1"});
    for _ in 0..2 {
        rig.up();
        rig.answer_error(-32601, "no such method");
        rig.answer(
            json!({"protocolVersion": "2023-01-01", "capabilities": {}, "serverInfo": info}),
        );
        assert_eq!(rig.state(), ConnectionState::Backoff);
        rig.redial();
    }
    rig.up();
    rig.answer_error(-32601, "no such method");
    let capabilities = server_capabilities();
    rig.answer(
        json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}),
    );
    assert_eq!(rig.state(), ConnectionState::Ready);
    rig.down();
    rig.assert_first_backoff();
}

/// TST-13.
#[test]
fn a_stop_during_a_retry_is_shutdown_and_nothing_follows() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.busy();
    rig.stop();
    assert_eq!(*rig.failure(call), Failure::Shutdown);
    let sent = rig.sent.len();
    rig.pass_ms(1_000);
    assert_eq!(rig.sent.len(), sent);
    assert_eq!(*rig.failure(call), Failure::Shutdown);
    assert!(rig.connection.has_ended());
}

/// TST-14.
#[test]
fn junk_disturbs_neither_the_opening_nor_the_session() {
    let mut rig = Rig::dialling();
    rig.up();
    let junk = |rig: &mut Rig| {
        for junk in ["npm notice", "{\"jsonrpc\":", "\0\0\0", "}{"] {
            rig.bytes(Bytes::from_static(junk.as_bytes()));
            assert_eq!(rig.connection.readable_link(), Some(rig.current()));
        }
    };
    junk(&mut rig);
    rig.answer_error(-32601, "no such method");
    junk(&mut rig);
    rig.answer(json!({
        "protocolVersion": "2025-11-25",
        "capabilities": server_capabilities(),
        "serverInfo": {"name": "fake", "version": "1"},
    }));
    assert_eq!(rig.state(), ConnectionState::Ready);
    junk(&mut rig);
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
}

/// CON-09: one slow answer must not shift all that follow it.
#[test]
fn after_a_call_that_timed_out_the_next_call_gets_its_own_answer() {
    let mut rig = Rig::ready();
    let slow = rig.call_with("tools/call", json!({"name": "slow"}), within(millis(100)));
    let late = rig.last_request();
    rig.pass_ms(100);
    assert!(matches!(rig.failure(slow), Failure::Timeout { .. }));

    let next = rig.call_with(
        "tools/call",
        json!({"name": "next"}),
        CallOptions::default(),
    );
    let own = rig.last_request();
    rig.answer_to(late, json!({"content": "slow"}));
    assert!(
        !rig.has_ended(next),
        "the late answer is not the next call's"
    );
    rig.answer_to(own, json!({"content": "next"}));
    assert_eq!(rig.result(next), json!({"content": "next"}));
    assert!(matches!(rig.failure(slow), Failure::Timeout { .. }));
}

/// CON-09, across a reconnection: ids of the old session mean nothing new.
#[test]
fn after_a_reconnection_no_answer_can_meet_an_older_calls_id() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    let lost = rig.last_request();
    rig.reconnect();
    let call = rig.call("tools/list");
    assert!(rig.last_request() > lost);
    rig.answer_to(lost, json!({"tools": ["old"]}));
    assert!(!rig.has_ended(call));
    rig.handle(Input::Tick);
    rig.answer(json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
}
