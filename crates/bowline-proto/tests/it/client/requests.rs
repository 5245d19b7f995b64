//! Requests and answers: what may go out, what it carries, what comes back.

use bowline_proto::{
    ErrorKind, Reason,
    client::{CallOptions, ConnectionState, Event, Failure, Outcome, Request, Violation},
    model::Meta,
};
use bytes::Bytes;
use serde_json::json;

use super::{look::reporting, rig::Rig};

#[test]
fn a_request_over_the_limit_is_not_sent_and_hurts_nobody_else() {
    let mut rig = Rig::ready_with(|config| config.max_frame_size = 1_000);
    let small = rig.call("tools/list");
    let sent = rig.sent.len();
    let padding = "x".repeat(1_000);
    let large = rig.call_with(
        "tools/call",
        json!({"name": padding}),
        CallOptions::default(),
    );
    let failure = rig.failure(large);
    assert!(matches!(failure, Failure::RequestTooLarge { size, limit: 1_000 } if *size > 1_000));
    assert_eq!(failure.reason(), Reason::OversizedFrame);
    assert_eq!(rig.sent.len(), sent);
    assert_eq!(rig.state(), ConnectionState::Ready);
    assert!(!rig.has_ended(small));
}

#[test]
fn an_answer_that_cannot_be_read_fails_its_own_call_and_no_other() {
    let broken: [fn(u64) -> String; 5] = [
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":["#),
        |id| format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{{}}}}"#),
        |id| format!(r#"{{"id":{id},"result":{{}}}}"#),
        |id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{"code":1,"message":""}}}}"#
            )
        },
        |id| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":"x"}}}}"#),
    ];
    for broken in broken {
        let mut rig = Rig::ready();
        let other = rig.call("prompts/list");
        let call = rig.call("tools/list");
        let frame = broken(rig.last_request());
        rig.bytes(frame.clone());
        let failure = rig.failure(call);
        assert!(
            matches!(failure, Failure::InvalidResponse { .. }),
            "{frame}"
        );
        assert_eq!(failure.kind(), ErrorKind::Protocol);
        assert!(!rig.has_ended(other), "{frame}");
        assert_eq!(rig.state(), ConnectionState::Ready);
    }
}

#[test]
fn a_broken_request_with_the_id_of_a_call_does_not_end_that_call() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    rig.bytes(format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"#
    ));
    assert!(!rig.has_ended(call));
}

#[test]
fn the_servers_ids_may_be_the_same_as_ours() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    rig.asked(json!(id), "ping", json!({}));
    rig.notified("notifications/cancelled", json!({"requestId": id}));
    assert!(!rig.has_ended(call));
    rig.answer_to(id, json!({"tools": []}));
    assert_eq!(rig.result(call), json!({"tools": []}));
}

#[test]
fn what_the_server_did_not_advertise_is_refused_without_touching_the_wire() {
    let mut rig = Rig::bare();
    let cases = [
        ("tools/call", "tools"),
        ("resources/read", "resources"),
        ("prompts/get", "prompts"),
        ("completion/complete", "completions"),
    ];
    for (method, capability) in cases {
        let call = rig.call(method);
        assert_eq!(
            *rig.failure(call),
            Failure::CapabilityNotSupported { capability }
        );
        assert_eq!(rig.failure(call).kind(), ErrorKind::Capability);
    }
    assert!(rig.sent.is_empty());
    rig.assert_no_calls();
}

#[test]
fn the_guard_can_be_switched_off_for_a_call() {
    let mut rig = Rig::bare();
    rig.tool_call(CallOptions {
        check_capabilities: false,
        ..CallOptions::default()
    });
    assert_eq!(rig.methods_sent(), ["tools/call"]);
}

#[test]
fn completions_need_no_advertisement_in_the_first_revision() {
    for (version, needed) in [("2024-11-05", false), ("2025-03-26", true)] {
        let mut rig = Rig::dialling();
        rig.up();
        rig.answer_error(-32601, "no such method");
        rig.answer(json!({
            "protocolVersion": version,
            "capabilities": {"prompts": {}},
            "serverInfo": {"name": "fake", "version": "1"},
        }));
        let call = rig.call("completion/complete");
        assert_eq!(rig.has_ended(call), needed, "{version}");
    }
}

#[test]
fn whether_the_server_is_there_is_asked_as_the_revision_has_it() {
    for (mut rig, method) in [
        (Rig::ready(), "ping"),
        (Rig::stateless(), "server/discover"),
    ] {
        let options = CallOptions::default();
        rig.act(|connection, now| {
            connection.call(now, Request::ping(), options);
        });
        assert_eq!(rig.last_sent().method(), method);
        rig.answer(json!({"resultType": "complete"}));
        assert!(matches!(rig.done.last(), Some((_, Outcome::Result(_)))));
    }
}

#[test]
fn methods_that_the_revision_lacks_are_refused_without_touching_the_wire() {
    let lacking: [(Rig, &str, &[&'static str]); 2] = [
        (
            Rig::stateless(),
            "2026-07-28",
            &[
                "ping",
                "initialize",
                "logging/setLevel",
                "resources/subscribe",
            ],
        ),
        (
            Rig::ready(),
            "2025-11-25",
            &["server/discover", "subscriptions/listen", "tasks/update"],
        ),
    ];
    for (mut rig, version, methods) in lacking {
        for method in methods {
            let call = rig.call(method);
            let expected = Failure::NoSuchMethod {
                method: (*method).to_owned(),
                revision: version,
            };
            assert_eq!(*rig.failure(call), expected);
        }
        assert!(rig.sent.is_empty());
    }
}

#[test]
fn methods_that_the_protocol_does_not_know_are_the_callers_business() {
    for mut rig in [Rig::ready(), Rig::stateless()] {
        let call = rig.call("acme/do");
        assert_eq!(rig.last_sent().method(), "acme/do");
        rig.answer(json!({"done": true}));
        assert_eq!(rig.result(call), json!({"done": true}));
    }
}

#[test]
fn a_result_is_a_slice_of_the_frame_that_brought_it() {
    let mut rig = Rig::ready();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    let frame = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{ "tools" : [] }}}}"#);
    let frame = Bytes::from(frame);
    rig.bytes(frame.clone());
    let Outcome::Result(result) = rig.outcome(call) else {
        panic!("no result");
    };
    assert_eq!(result, br#"{ "tools" : [] }"#.as_slice());
    assert!(frame.as_ptr_range().contains(&result.as_ptr()));
}

#[test]
fn what_the_caller_puts_beside_a_request_travels_with_it() {
    for mut rig in [Rig::ready(), Rig::stateless()] {
        let mut meta = Meta::new();
        meta.set_traceparent("00-1-2-01");
        meta.write("io.modelcontextprotocol/protocolVersion", "1999")
            .unwrap();
        let request = Request::without_params("tools/list").with_meta(meta);
        rig.act(|connection, now| {
            connection.call(now, request, reporting());
        });
        let sent = &rig.last_sent().json["params"]["_meta"];
        assert_eq!(sent["traceparent"], "00-1-2-01");
        assert!(sent["progressToken"].is_number());
        let version = &sent["io.modelcontextprotocol/protocolVersion"];
        let stateless = version == "2026-07-28";
        assert!(stateless || version == "1999", "{version}");
    }
}

#[test]
fn a_raw_request_may_bring_its_own_meta_without_writing_it_twice() {
    let mut rig = Rig::stateless();
    let params = json!({"name": "x", "_meta": {"traceparent": "00-1-2-01"}});
    rig.call_with("tools/call", params, CallOptions::default());
    let text = std::str::from_utf8(&rig.last_sent().frame).unwrap();
    assert_eq!(text.matches("\"_meta\"").count(), 1, "{text}");
    let meta = &rig.last_sent().json["params"]["_meta"];
    assert_eq!(meta["traceparent"], "00-1-2-01");
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
}

#[test]
fn in_the_stateless_era_every_request_has_parameters_that_say_who_we_are() {
    let mut rig = Rig::stateless();
    rig.act(|connection, now| {
        connection.call(
            now,
            Request::without_params("tools/list"),
            CallOptions::default(),
        );
    });
    let meta = &rig.last_sent().json["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    assert_eq!(
        meta["io.modelcontextprotocol/clientCapabilities"],
        json!({})
    );
    assert!(meta.get("io.modelcontextprotocol/logLevel").is_none());
}

#[test]
fn in_the_handshake_era_requests_carry_no_such_meta() {
    let mut rig = Rig::ready();
    rig.act(|connection, now| {
        connection.call(
            now,
            Request::without_params("tools/list"),
            CallOptions::default(),
        );
    });
    assert!(rig.last_sent().json.get("params").is_none());
}

#[test]
fn batches_are_taken_apart_where_the_revision_has_them() {
    let mut rig = Rig::dialling();
    rig.open_by_handshake("2025-03-26");
    let first = rig.call("tools/list");
    let id = rig.last_request();
    let second = rig.call("prompts/list");
    rig.frame(&json!([
        {"jsonrpc": "2.0", "id": id + 1, "result": {"of": "second"}},
        {"jsonrpc": "2.0", "method": "notifications/acme"},
        {"jsonrpc": "2.0", "id": 7, "method": "ping"},
        {"jsonrpc": "2.0", "id": id, "result": {"of": "first"}},
    ]));
    assert_eq!(rig.result(first), json!({"of": "first"}));
    assert_eq!(rig.result(second), json!({"of": "second"}));
    assert_eq!(rig.handed_up(), ["notifications/acme"]);
    assert_eq!(rig.answered()["id"], 7);
}

#[test]
fn one_bad_message_in_a_batch_does_not_spoil_the_others() {
    let mut rig = Rig::dialling();
    rig.open_by_handshake("2025-03-26");
    let call = rig.call("tools/list");
    let id = rig.last_request();
    rig.frame(&json!([{"nonsense": 1}, {"jsonrpc": "2.0", "id": id, "result": {}}]));
    assert_eq!(rig.result(call), json!({}));
    assert!(rig.saw_violation(Violation::MalformedMessage));
}

#[test]
fn batches_are_refused_where_the_revision_has_none() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut rig = Rig::dialling();
        rig.open_by_handshake(version);
        let call = rig.call("tools/list");
        let id = rig.last_request();
        rig.frame(&json!([{"jsonrpc": "2.0", "id": id, "result": {}}]));
        assert!(!rig.has_ended(call), "{version}");
        assert!(rig.saw_violation(Violation::Batch));
        assert_eq!(rig.state(), ConnectionState::Ready);
    }
}

#[test]
fn every_call_is_observed_from_its_start_to_its_end() {
    let mut rig = Rig::ready();
    rig.call("tools/list");
    rig.answer(json!({}));
    rig.call("tools/list");
    rig.answer_error(-32603, "no");
    rig.call("tools/list");
    rig.pass_ms(30_000);
    assert_eq!(rig.observed("request.start"), 3);
    assert_eq!(rig.observed("request.stop"), 2);
    assert_eq!(rig.observed("request.exception"), 1);
    assert!(!rig.has_event(|event| matches!(event, Event::Disconnected { .. })));
}

#[test]
fn nothing_is_observed_where_nobody_wants_to_know() {
    let mut rig = Rig::ready_with(|config| config.telemetry = false);
    rig.call("tools/list");
    rig.answer(json!({}));
    rig.bytes("junk");
    rig.down();
    assert!(rig.telemetry.is_empty());
}
