//! Calls: their deadlines, their ids, their progress, and their waiting.

use bowline_proto::{
    ErrorKind,
    client::{CallOptions, ConnectionState, Failure, ProgressMode, Timeouts, Violation},
};
use serde_json::{Value, json};

use super::{
    look::{millis, reporting, waiting, within},
    rig::{Rig, exited, server_capabilities},
};

fn progress(rig: &mut Rig, token: Value, progress: u32) {
    let params = [("progressToken", token), ("progress", progress.into())];
    rig.notified("notifications/progress", Value::from_iter(params));
}

fn extending(at_most: u64) -> CallOptions {
    CallOptions {
        progress: ProgressMode::ExtendDeadline {
            max: millis(at_most),
        },
        timeout: Some(millis(1_000)),
        ..CallOptions::default()
    }
}

#[track_caller]
fn assert_times_out_after(rig: &mut Rig, method: &'static str, expected: u64) {
    let call = rig.call(method);
    rig.pass_ms(expected - 1);
    assert!(!rig.has_ended(call), "{method} has {expected} ms");
    rig.pass_ms(1);
    let after = millis(expected);
    assert_eq!(*rig.failure(call), Failure::Timeout { after }, "{method}");
}

#[test]
fn each_class_of_request_has_a_deadline_of_its_own() {
    let mut rig = Rig::ready_with(|config| config.timeouts = Timeouts::interactive());
    assert_times_out_after(&mut rig, "resources/read", 500);
    assert_times_out_after(&mut rig, "resources/list", 500);
    assert_times_out_after(&mut rig, "tools/call", 1_000);
    assert_times_out_after(&mut rig, "tools/list", 1_000);
    assert_times_out_after(&mut rig, "prompts/get", 1_000);
    assert_times_out_after(&mut rig, "ping", 1_000);
    assert_times_out_after(&mut rig, "acme/do", 1_000);
}

#[test]
fn the_standard_preset_gives_every_request_half_a_minute() {
    let mut rig = Rig::ready();
    for method in ["resources/read", "tools/call", "prompts/get"] {
        assert_times_out_after(&mut rig, method, 30_000);
    }
}

#[test]
fn the_interactive_preset_opens_within_two_seconds() {
    let mut rig = Rig::with(|config| config.timeouts = Timeouts::interactive()).started();
    rig.up();
    rig.pass_ms(1_999);
    assert_eq!(rig.state(), ConnectionState::Opening);
    rig.pass_ms(1);
    assert_eq!(rig.state(), ConnectionState::Backoff);
}

#[test]
fn tombstones_live_by_the_longest_deadline_that_is_configured() {
    let mut rig = Rig::ready_with(|config| {
        config.timeouts.connect = millis(20_000);
        config.timeouts.tool = millis(60_000);
        config.backoff =
            bowline_proto::client::Backoff::new(millis(1_000), millis(60_000), 0.2).unwrap();
        assert_eq!(config.cancelled_call_ttl(), millis(145_000));
    });
    rig.call("resources/read");
    let id = rig.last_request();
    rig.pass_ms(30_000);
    rig.pass_ms(144_999);
    rig.answer_to(id, json!({}));
    assert_eq!(rig.observed("response.late"), 1);
}

#[test]
fn a_callers_own_deadline_wins() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(within(millis(70)));
    rig.pass_ms(70);
    let after = millis(70);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert_eq!(rig.failure(call).kind(), ErrorKind::Timeout);
}

#[test]
fn a_callers_own_deadline_survives_busy_retries() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(within(millis(50)));
    for _ in 0..2 {
        rig.busy();
        rig.pass_ms(15);
    }
    rig.pass_ms(19);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    let after = millis(50);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert_eq!(rig.cancelled(), [rig.last_request()]);
}

#[test]
fn a_frame_is_offered_once_more_than_it_was_refused_but_three_times_at_most() {
    for (refused, offered) in [(0, 1), (1, 2), (2, 3), (3, 3), (9, 3)] {
        let mut rig = Rig::ready();
        let call = rig.call("tools/list");
        for _ in 0..refused {
            if !rig.has_ended(call) {
                rig.busy();
                rig.pass_ms(15);
            }
        }
        assert_eq!(rig.sent.len(), offered, "refused {refused} times");
        assert_eq!(rig.has_ended(call), refused >= 3);
    }
}

#[test]
fn waiting_for_the_connection_counts_against_the_deadline() {
    let mut rig = Rig::dialling();
    let mut options = waiting();
    options.timeout = Some(millis(500));
    let call = rig.tool_call(options);
    rig.pass_ms(499);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    let after = millis(500);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert!(rig.sent.is_empty());
}

#[test]
fn calls_that_waited_go_out_in_the_order_in_which_they_came() {
    let mut rig = Rig::new();
    let methods = ["tools/list", "prompts/list", "resources/list", "ping"];
    let park = |rig: &mut Rig, at: usize| {
        rig.call_with(methods[at], json!({}), waiting());
    };
    park(&mut rig, 0);
    let mut rig = rig.started();
    park(&mut rig, 1);
    rig.dial_failed();
    park(&mut rig, 2);
    rig.redial();
    rig.up();
    park(&mut rig, 3);
    rig.answer_error(-32601, "no such method");
    rig.accept(server_capabilities());
    let sent = rig.methods_sent();
    assert_eq!(sent[sent.len() - 4..], methods);
}

#[test]
fn a_call_that_waited_gets_its_own_answer() {
    let mut rig = Rig::dialling();
    let first = rig.call_with("tools/list", json!({}), waiting());
    let second = rig.call_with("prompts/list", json!({}), waiting());
    rig.open_by_handshake("2025-11-25");
    let ids: Vec<_> = ["tools/list", "prompts/list"]
        .map(|method| rig.sent_as(method)[0].id.unwrap())
        .into();
    rig.answer_to(ids[1], json!({"for": "second"}));
    rig.answer_to(ids[0], json!({"for": "first"}));
    assert_eq!(rig.result(first), json!({"for": "first"}));
    assert_eq!(rig.result(second), json!({"for": "second"}));
    rig.assert_no_calls();
}

#[test]
fn ids_on_the_wire_only_ever_grow_across_calls_sessions_and_eras() {
    let mut rig = Rig::dialling();
    rig.open_by_handshake("2025-11-25");
    for _ in 0..3 {
        rig.call("tools/list");
        rig.call("tools/list");
        rig.answer(json!({"tools": []}));
        rig.down();
        rig.call_with("prompts/list", json!({}), waiting());
        rig.redial();
        rig.call_with("prompts/list", json!({}), waiting());
        rig.open_by_handshake("2025-11-25");
    }
    let ids: Vec<_> = rig.sent.iter().filter_map(|sent| sent.id).collect();
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(ids[0], 1);
}

#[test]
fn progress_is_asked_for_and_handed_up_only_where_it_is_wanted() {
    let mut rig = Rig::ready();
    rig.tool_call(CallOptions::default());
    let unwanted = rig.last_sent();
    assert!(unwanted.json["params"].get("_meta").is_none());
    let id = unwanted.id.unwrap();
    progress(&mut rig, json!(id), 1);
    assert!(rig.progressed().is_empty());

    let call = rig.tool_call(reporting());
    let id = rig.last_request();
    let token = &rig.last_sent().json["params"]["_meta"]["progressToken"];
    assert_eq!(*token, id, "the token is the request's id");
    progress(&mut rig, json!(id), 1);
    assert_eq!(rig.progressed(), [call]);
}

#[test]
fn progress_for_tokens_that_are_not_ours_is_dropped() {
    let mut rig = Rig::ready();
    let gone = rig.tool_call(reporting());
    let token = rig.last_request();
    rig.cancel(gone, bowline_proto::client::Cancellation::Dropped);
    for token in [
        json!(token),
        json!(token.to_string()),
        json!(999),
        json!("x"),
    ] {
        progress(&mut rig, token, 1);
    }
    assert!(rig.progressed().is_empty());
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn progress_that_cannot_be_read_is_a_violation_and_no_more() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(reporting());
    rig.notified("notifications/progress", json!({"progress": 1}));
    assert!(rig.saw_violation(Violation::InvalidNotification));
    assert!(!rig.has_ended(call));
}

#[test]
fn progress_restarts_the_deadline_where_that_is_wanted() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(extending(10_000));
    let id = rig.last_request();
    for step in 0..5 {
        rig.pass_ms(900);
        progress(&mut rig, json!(id), step);
        assert!(!rig.has_ended(call));
    }
    rig.pass_ms(999);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    assert!(matches!(rig.failure(call), Failure::Timeout { .. }));
}

#[test]
fn progress_cannot_push_the_deadline_beyond_the_cap() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(extending(2_500));
    let id = rig.last_request();
    let start = rig.now;
    let mut step = 0;
    while !rig.has_ended(call) {
        progress(&mut rig, json!(id), step);
        rig.pass_ms(100);
        step += 1;
    }
    assert_eq!(rig.now - start, millis(2_500));
}

#[test]
fn a_cap_below_the_timeout_is_the_deadline() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(extending(400));
    rig.pass_ms(400);
    assert!(matches!(rig.failure(call), Failure::Timeout { .. }));
}

#[test]
fn progress_that_is_only_reported_does_not_touch_the_deadline() {
    let mut rig = Rig::ready();
    let mut options = reporting();
    options.timeout = Some(millis(1_000));
    let call = rig.tool_call(options);
    rig.pass_ms(900);
    let id = rig.last_request();
    progress(&mut rig, json!(id), 1);
    rig.pass_ms(100);
    assert!(matches!(rig.failure(call), Failure::Timeout { .. }));
}

#[test]
fn a_lost_call_is_sent_again_only_if_its_caller_said_so() {
    let mut rig = Rig::ready();
    let replay = CallOptions {
        retry_on_disconnect: true,
        ..CallOptions::default()
    };
    let params = json!({"name": "again", "arguments": {"a": 1}});
    let again = rig.call_with("tools/call", params.clone(), replay);
    let first = rig.last_request();
    let once = rig.tool_call(CallOptions::default());
    rig.sent.clear();
    rig.reconnect();
    assert_eq!(*rig.failure(once), Failure::ConnectionLost(exited()));
    let sent = rig.sent_as("tools/call");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].json["params"], params);
    assert!(sent[0].id.unwrap() > first, "under a new id");
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(again), json!({"content": []}));
    rig.assert_no_calls();
}

#[test]
fn the_late_answer_to_a_call_that_was_sent_again_is_not_its_answer() {
    let mut rig = Rig::ready();
    let call = rig.tool_call(CallOptions {
        retry_on_disconnect: true,
        ..CallOptions::default()
    });
    let first = rig.last_request();
    rig.reconnect();
    rig.answer_to(first, json!({"content": "old"}));
    assert!(!rig.has_ended(call));
    assert_eq!(rig.observed("response.late"), 1);
}
