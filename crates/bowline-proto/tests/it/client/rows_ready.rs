//! The rows R1 to R20 of the transition table: while a session is open.
//!
//! Where the table re-arms the link after a frame, `receiving` goes on naming
//! it; where it must not be re-armed, `receiving` names none.

use bowline_proto::{
    client::{
        CallOptions, ConnectionErrorKind, ConnectionState, Event, Failure, Input, SendError,
        SessionRequirement, Violation,
    },
    model::{ClientCapabilities, ElicitationCapability, Root, RootsCapability, SamplingCapability},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    look::{millis, raw, within},
    rig::{Rig, exited},
};

#[track_caller]
fn assert_still_ready(rig: &Rig) {
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert_eq!(rig.connection.readable_link(), Some(rig.current()));
}

#[test]
fn r1_a_frame_over_the_limit_that_is_no_answer_ends_nothing() {
    let mut rig = Rig::ready();
    let calls = [rig.call("tools/list"), rig.call("prompts/list")];
    let (link, size, prefix) = (rig.current(), 17_000_000, Bytes::new());
    rig.forget();
    rig.handle(Input::OversizedFrame { link, size, prefix });
    assert_still_ready(&rig);
    assert!(rig.sent.is_empty(), "no error reply is attempted");
    assert!(rig.saw_violation(Violation::OversizedFrame));
    assert!(calls.iter().all(|call| !rig.has_ended(*call)));
}

#[test]
fn r1_where_that_is_not_tolerated_it_ends_the_session_and_everything_in_flight() {
    let mut rig = Rig::ready_with(|config| config.strict = true);
    let calls = [rig.call("tools/list"), rig.call("prompts/list")];
    let retrying = rig.call("tools/list");
    rig.busy();
    let (link, size, prefix) = (rig.current(), 17_000_000, Bytes::new());
    rig.forget();
    rig.handle(Input::OversizedFrame { link, size, prefix });

    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!(rig.connection.readable_link(), None);
    assert_eq!(rig.hangups, [link]);
    assert!(rig.sent.is_empty(), "no error reply is attempted");
    assert!(rig.saw_violation(Violation::OversizedFrame));
    for call in calls.into_iter().chain([retrying]) {
        let lost = rig.failure(call);
        assert!(matches!(lost, Failure::ConnectionLost(cause)
                if matches!(cause.kind(), ConnectionErrorKind::OversizedFrame { size: 17_000_000, .. })));
    }
    rig.assert_no_calls();
    assert_eq!(
        rig.connection.stats().cancelled_calls,
        2,
        "those on the wire"
    );
    rig.assert_first_backoff();
}

#[test]
fn r2_an_answer_ends_its_call_and_nothing_of_it_is_left() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
    rig.assert_no_calls();
    assert_eq!(rig.connection.stats().cancelled_calls, 0);
    assert_still_ready(&rig);
}

#[test]
fn r2_an_error_ends_its_call_with_the_servers_own_words() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.answer_error(-32602, "bad cursor");
    assert_eq!(rig.refusal(call).code, -32602);
    assert_eq!(rig.refusal(call).message, "bad cursor");
    rig.assert_no_calls();
}

#[test]
fn r3_the_late_answer_to_a_call_that_was_given_up_is_dropped_silently() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    rig.pass_ms(30_000);
    assert!(rig.has_ended(call));
    rig.answer_to(id, json!({"tools": []}));
    assert_eq!(rig.done.len(), 1);
    assert_eq!(rig.observed("response.late"), 1);
    assert_eq!(rig.observed("response.unknown"), 0);
    assert_still_ready(&rig);
}

#[test]
fn r4_an_answer_to_an_unknown_id_is_dropped_and_counted() {
    let mut rig = Rig::ready();
    let live = rig.call("tools/list");
    for id in [json!(999), json!("3"), json!(-3)] {
        rig.frame(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
    }
    rig.frame(&json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "?"}}));
    assert_eq!(rig.observed("response.unknown"), 4);
    assert!(!rig.has_ended(live));
    assert_still_ready(&rig);
}

/// Ids that ended with an answer leave no tombstone.
#[test]
fn r4_a_second_answer_to_an_answered_call_is_unknown() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    rig.answer(json!({"tools": [1]}));
    assert_eq!(rig.result(call), json!({"tools": []}));
    assert_eq!(rig.observed("response.unknown"), 1);
}

#[test]
fn r5_a_frame_that_is_not_json_is_skipped() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    for junk in ["DEBUG: hello", "", "{", "\u{feff}{}", "[]", "null", "{}"] {
        rig.bytes(junk);
        assert_still_ready(&rig);
    }
    assert!(rig.saw_violation(Violation::MalformedMessage));
    rig.answer(json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
}

#[test]
fn r6_notifications_are_handed_up_in_the_order_of_arrival() {
    let mut rig = Rig::ready();
    let methods = [
        "notifications/tools/list_changed",
        "notifications/message",
        "notifications/acme",
        "notifications/tools/list_changed",
    ];
    for method in methods {
        rig.notified(method, json!({"level": "info", "data": 1}));
    }
    assert_eq!(rig.handed_up(), methods);
    assert_still_ready(&rig);
}

#[test]
fn r6_parameters_are_handed_up_verbatim() {
    let mut rig = Rig::ready();
    let frame =
        r#"{"jsonrpc":"2.0","method":"notifications/acme","params":{"b":1.0,"a":"\u00e9"}}"#;
    rig.bytes(frame);
    let expected = br#"{"b":1.0,"a":"\u00e9"}"#.as_slice();
    assert!(rig.has_event(|event| matches!(event,
        Event::Notification { params: Some(params), .. } if params == expected)));
}

#[test]
fn r7_a_request_that_we_do_not_serve_gets_method_not_found() {
    let mut rig = Rig::ready();
    let methods = [
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "acme/do",
    ];
    for method in methods {
        rig.asked(json!("q"), method, json!({}));
        assert_eq!(rig.answered()["id"], "q");
        assert_eq!(rig.answered()["error"]["code"], -32601, "{method}");
    }
    assert_eq!(rig.connection.stats().peer_requests, 0);
    assert_still_ready(&rig);
}

#[test]
fn r7a_a_ping_is_answered() {
    let mut rig = Rig::ready();
    rig.asked(json!(0), "ping", json!({}));
    let pong = json!({"jsonrpc": "2.0", "id": 0, "result": {}});
    assert_eq!(*rig.answered(), pong);
    assert_still_ready(&rig);
}

#[test]
fn r7b_the_declared_roots_are_told() {
    let mut rig = Rig::ready_with(|config| {
        config.capabilities.roots = Some(RootsCapability::default());
        config.roots = vec![Root::new("file:///work")];
    });
    rig.asked(json!(1), "roots/list", json!({}));
    let roots = json!({"roots": [{"uri": "file:///work"}]});
    assert_eq!(rig.answered()["result"], roots);

    rig.act(|connection, _| connection.set_roots(Vec::new()));
    rig.asked(json!(2), "roots/list", json!({}));
    assert_eq!(rig.answered()["result"], json!({"roots": []}));
}

#[test]
fn r7c_declared_requests_are_handed_up_and_reading_goes_on_meanwhile() {
    let mut rig = Rig::ready_with(|config| {
        let mut capabilities = ClientCapabilities::default();
        capabilities.sampling = Some(SamplingCapability::default());
        capabilities.elicitation = Some(ElicitationCapability::default());
        config.capabilities = capabilities;
    });
    let schema = json!({"type": "object", "properties": {}});
    let elicit = json!({"message": "Your name?", "requestedSchema": schema});
    rig.asked(json!("e"), "elicitation/create", elicit);
    rig.asked(
        json!("s"),
        "sampling/createMessage",
        json!({"messages": [], "maxTokens": 1}),
    );
    assert_still_ready(&rig);
    let requests = rig.events.iter().filter_map(|event| match event {
        Event::Request { request, .. } => Some(*request),
        _ => None,
    });
    let requests: Vec<_> = requests.collect();
    assert_eq!(rig.connection.stats().peer_requests, 2);

    let answer = raw(&json!({"action": "decline"}));
    rig.act(|connection, now| connection.respond(now, requests[0], Ok(answer)));
    let declined = json!({"jsonrpc": "2.0", "id": "e", "result": {"action": "decline"}});
    assert_eq!(*rig.answered(), declined);
    assert_eq!(rig.connection.stats().peer_requests, 1);
}

#[test]
fn r8_a_lost_link_ends_what_is_in_flight_and_what_is_retried() {
    let mut rig = Rig::ready();
    let in_flight = rig.call("tools/list");
    let retrying = rig.call("tools/list");
    rig.busy();
    rig.down();
    for call in [in_flight, retrying] {
        assert_eq!(*rig.failure(call), Failure::ConnectionLost(exited()));
    }
    rig.assert_no_calls();
    assert_eq!(
        rig.connection.stats().cancelled_calls,
        1,
        "only one was sent"
    );
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert_eq!(rig.connection.readable_link(), None);
    rig.assert_first_backoff();
}

#[test]
fn r9_a_request_timeout_cancels_once_buries_the_id_and_answers() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    rig.pass_ms(29_999);
    assert!(!rig.has_ended(call));
    rig.pass_ms(1);
    let after = millis(30_000);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert_eq!(rig.cancelled(), [id]);
    assert_eq!(rig.connection.stats().cancelled_calls, 1);
    rig.assert_no_calls();
    rig.pass_ms(60_000);
    assert_eq!(rig.cancelled(), [id], "a cancel is sent once");
}

#[test]
fn r9_a_cancel_that_cannot_be_sent_does_no_harm() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.pass_ms(30_000);
    let (link, frame) = (rig.current(), rig.last_sent().frame.clone());
    let sent = rig.sent.len();
    rig.handle(Input::SendFailed {
        link,
        id: None,
        error: SendError::Busy(frame),
    });
    rig.pass_ms(1_000);
    assert_eq!(rig.sent.len(), sent, "it is not sent again");
    assert_still_ready(&rig);
}

/// Timers are disarmed with their call, so that an unknown id cannot fire.
#[test]
fn r10_the_deadline_of_an_answered_call_does_nothing() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    rig.pass_ms(60_000);
    assert_eq!(rig.result(call), json!({"tools": []}));
    assert!(rig.cancelled().is_empty());
}

#[test]
fn r10b_a_call_that_times_out_between_two_sends_was_never_sent_and_is_not_cancelled() {
    let mut rig = Rig::ready();
    let call = rig.call_with("tools/list", json!({}), within(millis(4)));
    rig.busy();
    rig.pass_ms(4);
    let after = millis(4);
    assert_eq!(*rig.failure(call), Failure::Timeout { after });
    assert!(rig.cancelled().is_empty());
    rig.assert_no_calls();
    rig.pass_ms(100);
    assert_eq!(rig.sent_as("tools/list").len(), 1, "no further send");
}

#[test]
fn r11_the_sweep_forgets_expired_tombstones_and_goes_on_while_there_are_any() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.pass_ms(30_000);
    assert_eq!(rig.connection.stats().cancelled_calls, 1);
    rig.pass_ms(60_000);
    assert_eq!(
        rig.connection.stats().cancelled_calls,
        1,
        "75 s are not over"
    );
    rig.pass_ms(60_000);
    assert_eq!(rig.connection.stats().cancelled_calls, 0);
    assert_eq!(rig.observed("tombstones.swept"), 1);
    assert_eq!(rig.deadline, None, "nothing is left to sweep");
}

#[test]
fn r11_an_expired_tombstone_counts_as_unknown_even_before_the_sweep() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    let id = rig.last_request();
    rig.pass_ms(30_000);
    rig.pass_ms(74_999);
    rig.answer_to(id, json!({}));
    assert_eq!(rig.observed("response.late"), 1);
    rig.pass_ms(1);
    rig.answer_to(id, json!({}));
    assert_eq!(rig.observed("response.unknown"), 1);
}

/// Which task runs a stateless call is the driver's business; the machine
/// looks the mode up, and tells the server the session where it must.
#[test]
fn r12_calling_a_tool_of_unknown_mode_makes_the_connection_session_aware() {
    let mut rig = Rig::ready();
    assert_eq!(
        rig.connection.session_requirement(),
        SessionRequirement::Optional
    );
    rig.tool_call(CallOptions::default());
    assert_eq!(
        rig.connection.session_requirement(),
        SessionRequirement::Required
    );
    assert_eq!(rig.last_sent().method(), "tools/call");
}

#[test]
fn r13_every_other_call_is_sent_the_same_way_with_a_deadline() {
    let mut rig = Rig::ready();
    let call = rig.call("prompts/list");
    let sent = rig.last_sent();
    assert_eq!(sent.method(), "prompts/list");
    assert_eq!(sent.id, sent.json["id"].as_u64());
    assert_eq!(rig.connection.stats().timers, 1);
    assert!(!rig.has_ended(call));
}

#[test]
fn r13b_a_request_that_cannot_be_sent_fails_at_once() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let cause: bowline_proto::client::ConnectionError =
        ConnectionErrorKind::Io("broken pipe".to_owned()).into();
    rig.refuse(rig.last_request(), SendError::Failed(cause.clone()));
    assert_eq!(*rig.failure(call), Failure::NotDelivered(cause));
    rig.assert_no_calls();
    assert!(rig.cancelled().is_empty());
    assert_still_ready(&rig);
}

#[test]
fn r13c_a_busy_link_gets_the_same_frame_again_a_little_later() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let first = rig.last_sent().frame.clone();
    rig.busy();
    assert_eq!(rig.observed("retry.scheduled"), 1);
    rig.pass(millis(5) - std::time::Duration::from_nanos(1));
    assert_eq!(rig.sent.len(), 1, "not before 5 ms");
    rig.pass_ms(11);
    assert_eq!(rig.sent.len(), 2, "not after 15 ms");
    assert_eq!(rig.last_sent().frame, first);
    assert!(!rig.has_ended(call));
}

#[test]
fn r14_stop_answers_everybody_with_shutdown_and_hangs_up() {
    let mut rig = Rig::ready();
    let in_flight = rig.call("tools/list");
    let retrying = rig.call("tools/list");
    rig.busy();
    rig.forget();
    assert!(rig.stop());
    for call in [in_flight, retrying] {
        assert_eq!(*rig.failure(call), Failure::Shutdown);
    }
    assert_eq!(rig.state(), ConnectionState::Closing);
    assert_eq!(rig.hangups, [rig.current()]);
    assert!(rig.sent.is_empty(), "no cancels on shutdown");
    assert_eq!(rig.connection.readable_link(), None);
    rig.assert_no_calls();
}

#[test]
fn r15_a_resend_that_is_taken_goes_on_like_any_other() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.busy();
    rig.pass_ms(15);
    rig.answer(json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
    rig.assert_no_calls();
}

#[test]
fn r15_a_resend_that_cannot_be_sent_fails_at_once() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.busy();
    rig.pass_ms(15);
    let cause = ConnectionErrorKind::Io("broken pipe".to_owned()).into();
    rig.refuse(rig.last_request(), SendError::Failed(cause));
    assert!(matches!(rig.failure(call), Failure::NotDelivered(_)));
    rig.assert_no_calls();
}

/// The third "busy" is the end; there is no further wait after it.
#[test]
fn r16_the_third_busy_is_backpressure() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    for _ in 0..2 {
        rig.busy();
        rig.pass_ms(15);
        assert!(!rig.has_ended(call));
    }
    rig.busy();
    assert_eq!(*rig.failure(call), Failure::Busy { sends: 3 });
    assert_eq!(
        rig.failure(call).to_string(),
        "the transport's outbound queue is still full after 3 attempts"
    );
    assert_eq!(rig.sent.len(), 3);
    assert_eq!(rig.observed("retry.exhausted"), 1);
    rig.assert_no_calls();
    assert_still_ready(&rig);
}

/// Timers are disarmed with their call, so that an unknown id cannot fire.
#[test]
fn r17_the_resend_of_a_call_that_was_given_up_does_not_happen() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.busy();
    rig.cancel(call, bowline_proto::client::Cancellation::Dropped);
    rig.pass_ms(100);
    assert_eq!(rig.sent.len(), 1);
}

#[test]
fn r18_a_second_initialize_is_refused_and_the_session_stays() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    rig.asked(json!(1), "initialize", json!({}));
    assert_eq!(rig.answered()["error"]["code"], -32600);
    assert!(rig.saw_violation(Violation::SecondInitialize));
    assert!(!rig.has_ended(call));
    assert_still_ready(&rig);
}

#[test]
fn r18_with_strict_settings_a_second_initialize_ends_the_session() {
    let mut rig = Rig::ready_with(|config| config.strict = true);
    let call = rig.call("tools/list");
    rig.asked(json!(1), "initialize", json!({}));
    assert_eq!(rig.state(), ConnectionState::Backoff);
    assert!(matches!(
        rig.fell().0,
        ConnectionErrorKind::ProtocolViolation(_)
    ));
    assert!(matches!(rig.failure(call), Failure::ConnectionLost(_)));
}

#[test]
fn r19_a_complete_list_of_tools_decides_the_session_mode() {
    let stateless = json!({"name": "a", "inputSchema": {}, "mode": "stateless"});
    let stateful = json!({"name": "b", "inputSchema": {}});
    let lists: [(Value, SessionRequirement); 3] = [
        (json!([stateless, stateful]), SessionRequirement::Required),
        (json!([stateless]), SessionRequirement::Optional),
        (json!([]), SessionRequirement::Optional),
    ];
    let mut rig = Rig::ready();
    for (tools, mode) in lists {
        rig.call_with("tools/list", json!({}), CallOptions::default());
        rig.answer(json!({"tools": tools}));
        assert_eq!(rig.connection.session_requirement(), mode, "{tools}");
    }
}

#[test]
fn r20_a_second_up_changes_nothing() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let sent = rig.sent.len();
    rig.up();
    assert_eq!(rig.sent.len(), sent);
    assert!(!rig.has_ended(call));
    assert_still_ready(&rig);
}
