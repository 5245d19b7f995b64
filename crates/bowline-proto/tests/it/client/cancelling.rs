//! Giving calls up: what the server hears of it, on each wire and in each era.

use bowline_proto::client::{CallId, CallOptions, Cancellation, Failure};
use serde_json::json;

use super::{
    look::millis,
    rig::{Rig, over_http},
};

/// The ways in which a call is given up.
type GiveUp = fn(&mut Rig, CallId);

const WAYS: [(&str, GiveUp); 3] = [
    ("asked", |rig, call| {
        rig.cancel(call, Cancellation::Requested(Some("enough".into())));
    }),
    ("dropped", |rig, call| {
        rig.cancel(call, Cancellation::Dropped);
    }),
    ("timed out", |rig, _| rig.pass_ms(30_000)),
];

/// Gives a call up in each way and looks at what goes out: which requests are
/// cancelled by message, and which exchanges are let go.
#[track_caller]
fn check(rig: fn() -> Rig, by_message: bool, by_abort: bool) {
    for (name, give_up) in WAYS {
        let mut rig = rig();
        let call = rig.call("tools/call");
        let id = rig.last_request();
        give_up(&mut rig, call);
        let only = |wanted: bool| if wanted { vec![id] } else { Vec::new() };
        assert_eq!(rig.cancelled(), only(by_message), "{name}");
        assert_eq!(rig.aborts, only(by_abort), "{name}");
        assert_eq!(rig.connection.stats().cancelled_calls, 1, "{name}");
        assert_eq!(rig.observed("cancel.sent"), 1, "{name}");
        assert!(rig.has_ended(call), "{name}");
        rig.assert_no_calls();
    }
}

#[test]
fn over_a_stream_the_server_is_told_in_both_eras() {
    check(Rig::ready, true, false);
    check(Rig::stateless, true, false);
}

#[test]
fn over_http_the_handshake_era_is_told_and_the_exchange_let_go() {
    check(|| Rig::ready_with(over_http), true, true);
}

#[test]
fn over_http_letting_go_of_the_exchange_is_all_that_the_stateless_era_hears() {
    check(|| Rig::stateless_with(over_http), false, true);
}

#[test]
fn the_server_is_told_why() {
    let reasons = [
        (Cancellation::Requested(Some("enough".into())), "enough"),
        (Cancellation::Requested(None), "cancelled by the caller"),
        (Cancellation::Dropped, "no longer needed"),
    ];
    for (cancel, reason) in reasons {
        let mut rig = Rig::ready();
        let call = rig.call("tools/call");
        rig.cancel(call, cancel);
        assert_eq!(*rig.failure(call), Failure::Cancelled);
        assert_eq!(rig.last_sent().json["params"]["reason"], reason);
    }
}

#[test]
fn a_call_that_never_went_out_is_given_up_in_silence() {
    for (_, give_up) in WAYS {
        let mut rig = Rig::dialling();
        let call = rig.call_with("tools/call", json!({"name": "x"}), super::look::waiting());
        give_up(&mut rig, call);
        assert!(rig.has_ended(call));
        assert!(rig.cancelled().is_empty() && rig.aborts.is_empty());
    }
}

#[test]
fn only_the_call_that_was_given_up_ends() {
    let mut rig = Rig::ready();
    let kept = rig.call("tools/call");
    let kept_id = rig.last_request();
    let dropped = rig.call("tools/call");
    rig.cancel(dropped, Cancellation::Dropped);
    assert!(!rig.has_ended(kept));
    rig.answer_to(kept_id, json!({"content": []}));
    assert_eq!(rig.result(kept), json!({"content": []}));
}

#[test]
fn a_cancelled_calls_answer_that_was_on_its_way_is_dropped() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/call");
    rig.cancel(call, Cancellation::Dropped);
    rig.answer_to(rig.last_request(), json!({"content": []}));
    assert_eq!(*rig.failure(call), Failure::Cancelled);
    assert_eq!(rig.observed("response.late"), 1);
}

#[test]
fn a_call_that_was_sent_again_after_a_busy_link_is_cancelled_under_its_own_id() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(CallOptions::default());
    let id = rig.last_request();
    rig.busy();
    rig.pass(millis(15));
    rig.cancel(call, Cancellation::Dropped);
    assert_eq!(rig.cancelled(), [id]);
}

#[test]
fn a_call_that_waited_for_the_session_is_cancelled_under_the_id_it_got() {
    let mut rig = Rig::dialling();
    let call = rig.call_with("tools/call", json!({"name": "x"}), super::look::waiting());
    rig.open_by_handshake("2025-11-25");
    let id = rig.last_request();
    rig.cancel(call, Cancellation::Dropped);
    assert_eq!(rig.cancelled(), [id]);
}
