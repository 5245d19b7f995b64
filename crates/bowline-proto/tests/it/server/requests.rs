//! What the client asks: handed up, counted, answered once.

use bowline_proto::{
    jsonrpc::{ErrorObject, RawJson},
    model::CallToolResult,
    server::{ConnectionStats, Event, Input, Output, Reply, Violation, encode_response},
};
use bytes::Bytes;
use serde_json::json;

use super::rig::Rig;

#[test]
fn a_request_is_handed_up_as_it_came() {
    let mut rig = Rig::session();
    rig.bytes(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name": "x"}}"#);
    let Event::Request {
        id,
        method,
        params,
        context,
        ..
    } = &rig.events[0]
    else {
        panic!("it is handed up");
    };
    assert_eq!((id, method.as_ref()), (&"a".into(), "tools/call"));
    assert_eq!(params.as_ref().unwrap().as_bytes(), r#"{"name": "x"}"#);
    assert_eq!(context.client.info.as_ref().unwrap().name, "tester");
    assert!(context.client.capabilities.has("elicitation.url"));
    assert_eq!(context.progress_token, None);
}

#[test]
fn params_may_be_missing() {
    let mut rig = Rig::session();
    rig.frame(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    assert!(matches!(
        &rig.events[0],
        Event::Request { params: None, .. }
    ));
}

#[test]
fn a_client_may_say_the_same_of_itself_again_and_then_something_else() {
    let mut rig = Rig::new();
    let frame = |id: u64, capability: &str, rest: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"{capability}":{{}}}}{rest}}},"name":"x","arguments":{{"a":{id}}}}}}}"#
        )
    };
    for (id, capability, rest, token) in [
        (1, "sampling", "", None),
        (2, "sampling", "", None),
        (3, "sampling", r#","progressToken":7"#, Some(7_u64.into())),
        (4, "sampling", r#","progressToken":7"#, Some(7_u64.into())),
        (5, "sampling", r#","progressToken":8"#, Some(8_u64.into())),
        (6, "elicitation", "", None),
        (7, "elicitation", "", None),
    ] {
        rig.bytes(frame(id, capability, rest));
        let context = rig.context();
        assert!(context.client.capabilities.has(capability), "{id}");
        assert_eq!(context.progress_token, token, "{id}");
        let Some(Event::Request { params, .. }) = rig.events.last() else {
            panic!("it is handed up");
        };
        let call = params.as_ref().unwrap().parse_call().unwrap();
        assert_eq!(call.name, "x");
        assert_eq!(call.arguments, Some(&*format!(r#"{{"a":{id}}}"#)));
    }
    rig.bytes(frame(8, "elicitation", r#","progressToken":1.5"#));
    assert_eq!(rig.refused(8), -32602);
    rig.bytes(frame(9, "elicitation", r#","progressToken":1.5"#));
    assert_eq!(rig.refused(9), -32602, "and again");
}

#[test]
fn the_context_of_a_stateless_request_is_its_own() {
    let mut rig = Rig::session();
    let mut params = json!({"name": "x", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
        "io.modelcontextprotocol/logLevel": "error",
        "progressToken": "t",
    }});
    rig.request(1, "tools/call", params.clone());
    let context = rig.context();
    assert!(context.client.capabilities.has("sampling"));
    assert!(
        !context.client.capabilities.has("elicitation"),
        "not the session's"
    );
    assert_eq!(context.progress_token, Some("t".into()));
    assert_eq!(
        context.log_level,
        Some(bowline_proto::model::LogLevel::Error)
    );
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
    rig.ask(2, "tools/call", params);
    assert_eq!(rig.refused(2), -32602, "no such level");
}

#[test]
fn it_is_answered_exactly_once() {
    let mut rig = Rig::session();
    let request = rig.request(7, "tools/list", json!({}));
    rig.respond(request, &json!({"tools": []}));
    assert_eq!(rig.result(7), &json!({"tools": []}));
    assert_eq!(rig.about, [Some(request)]);
    rig.respond(request, &json!({"tools": [1]}));
    rig.respond_error(request, -32603);
    assert_eq!(rig.sent.len(), 1);
    assert_eq!(rig.connection.stats(), ConnectionStats::default());
    assert_eq!(rig.observed("request.start"), 1);
    assert_eq!(rig.observed("request.stop"), 1);
}

#[test]
fn errors_are_answers_too() {
    let mut rig = Rig::session();
    let request = rig.request("x", "tools/list", json!({}));
    let answer: Result<RawJson, _> = Err(ErrorObject::new(-32602, "no such cursor"));
    rig.act(|it, now| it.respond(now, request, answer));
    assert_eq!(rig.refused("x"), -32602);
}

#[test]
fn a_whole_response_is_sent_as_it_is() {
    let mut rig = Rig::new();
    let request = rig.request_stateless("id", json!({"name": "x"}));
    let result = CallToolResult::text("done");
    let frame = encode_response(rig.context(), &"id".into(), result).unwrap();
    rig.act(|it, now| it.respond(now, request, Reply::Response(frame)));
    assert_eq!(rig.result("id")["resultType"], "complete");
}

#[test]
fn names_are_not_reused_though_ids_are() {
    let mut rig = Rig::session();
    let first = rig.request(1, "tools/list", json!({}));
    rig.respond(first, &json!({}));
    let second = rig.request(1, "tools/list", json!({}));
    assert_ne!(first, second);
    rig.respond(first, &json!({"stale": true}));
    assert_eq!(rig.sent.len(), 1, "an old name answers nothing");
    rig.respond(second, &json!({}));
    assert_eq!(rig.sent.len(), 2);
}

#[test]
fn ids_keep_their_type() {
    let mut rig = Rig::session();
    let number = rig.request(1, "tools/list", json!({}));
    let text = rig.request("1", "tools/list", json!({}));
    rig.respond(text, &json!({}));
    rig.result("1");
    rig.respond(number, &json!({}));
    rig.result(1);
}

#[test]
fn an_id_in_use_is_refused_without_hurting_its_owner() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/list", json!({}));
    rig.ask(1, "prompts/list", json!({}));
    assert_eq!(rig.refused(json!(null)), -32600);
    assert!(rig.saw(Violation::DuplicateId));
    rig.ask_stateless(1, "tools/list", json!({}));
    assert_eq!(rig.refused(json!(null)), -32600, "one link, one set of ids");
    rig.respond(request, &json!({}));
    rig.result(1);
}

#[test]
fn there_is_a_bound_on_open_requests() {
    let mut rig = Rig::with(|config| config.max_requests = 2).opened("2025-11-25", &json!({}));
    let first = rig.request(1, "tools/list", json!({}));
    rig.request(2, "tools/list", json!({}));
    rig.ask(3, "tools/list", json!({}));
    assert_eq!(rig.refused(3), -32603);
    assert!(rig.saw(Violation::TooManyRequests));
    rig.ask(4, "ping", json!({}));
    rig.result(4);
    rig.respond(first, &json!({}));
    rig.request(5, "tools/list", json!({}));
}

#[test]
fn what_the_revision_lacks_does_not_exist() {
    let mut rig = Rig::session_in("2024-11-05");
    for method in [
        "tasks/get",
        "subscriptions/listen",
        "nonsense",
        "notifications/cancelled",
    ] {
        rig.ask(1, method, json!({}));
        assert_eq!(rig.refused(1), -32601, "{method}");
    }
    assert_eq!(rig.observed("request.refused"), 4);
}

#[test]
fn what_was_not_declared_does_not_exist() {
    let mut rig = Rig::with(|config| {
        config.capabilities = serde_json::from_str(r#"{"resources":{}}"#).unwrap();
    });
    rig = rig.opened("2025-11-25", &json!({}));
    let undeclared = [
        "tools/call",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "resources/subscribe",
    ];
    for method in undeclared {
        rig.ask(1, method, json!({"uri": "x", "level": "info"}));
        assert_eq!(rig.refused(1), -32601, "{method}");
        rig.ask_stateless(1, method, json!({}));
        assert_eq!(rig.refused(1), -32601, "{method}");
    }
    rig.request(2, "resources/read", json!({"uri": "x"}));
}

#[test]
fn extension_methods_are_handed_up_in_both_eras() {
    let mut rig = Rig::with(|config| config.extension_methods = vec!["acme/do".into()]);
    rig = rig.opened("2025-11-25", &json!({}));
    rig.request(1, "acme/do", json!({}));
    rig.ask_stateless(2, "acme/do", json!({}));
    assert_eq!(rig.requests().len(), 2);
    rig.ask(3, "acme/other", json!({}));
    assert_eq!(rig.refused(3), -32601);
}

#[test]
fn notifications_are_handed_up_if_they_mean_something() {
    let mut rig = Rig::session();
    rig.notify("notifications/roots/list_changed", json!({}));
    assert!(
        matches!(&rig.events[0], Event::Notification { method, .. } if method == "notifications/roots/list_changed")
    );
    for nonsense in ["notifications/nonsense", "tools/call", "initialize"] {
        rig.notify(nonsense, json!({}));
    }
    assert_eq!(rig.events.len(), 1);
    assert_eq!(rig.observed("notification.dropped"), 3);
    assert!(rig.sent.is_empty(), "nobody answers a notification");
}

#[test]
fn task_methods_need_the_extension_on_both_sides() {
    let mut rig = Rig::with(|config| {
        let extensions = r#"{"io.modelcontextprotocol/tasks":{}}"#;
        config.capabilities.extensions = Some(serde_json::from_str(extensions).unwrap());
    });
    rig.ask_stateless(1, "tasks/get", json!({"taskId": "t"}));
    assert_eq!(rig.refused(1), -32021);
    let needed = &rig.last()["error"]["data"]["requiredCapabilities"];
    assert_eq!(
        needed,
        &json!({"extensions": {"io.modelcontextprotocol/tasks": {}}})
    );
    let mut params = super::rig::with_meta(json!({"taskId": "t"}), super::rig::modern_meta());
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = needed.clone();
    rig.request(2, "tasks/get", params);
}

#[test]
fn bad_meta_fails_its_own_request_with_the_path() {
    let mut rig = Rig::session();
    rig.ask(1, "tools/list", json!({"_meta": {"progressToken": [1]}}));
    assert_eq!(rig.refused(1), -32602);
    let message = rig.last()["error"]["message"].as_str().unwrap();
    assert!(message.contains("progressToken"), "{message}");
    rig.ask(2, "tools/list", json!([1, 2]));
    assert_eq!(rig.refused(2), -32602, "params are an object");
}

#[test]
fn there_is_a_bound_on_how_large_open_requests_are() {
    let mut rig =
        Rig::with(|config| config.max_frame_size = 10_000).opened("2025-11-25", &json!({}));
    let large = json!({"name": "x".repeat(9_000)});
    let first = rig.request(1, "tools/call", large.clone());
    for id in 2..=4 {
        rig.request(id, "tools/call", large.clone());
    }
    rig.ask(5, "tools/call", large.clone());
    assert_eq!(rig.refused(5), -32603);
    let id = "i".repeat(9_000);
    rig.ask(&*id, "tools/call", json!({"name": "x"}));
    assert_eq!(rig.refused(&*id), -32603, "an id is held, too");
    rig.ask(6, "ping", json!({}));
    rig.result(6);
    rig.respond(first, &json!({}));
    rig.request(7, "tools/call", large);
}

#[test]
fn a_small_request_does_not_hold_a_large_frame() {
    let mut rig = Rig::session();
    let mut frame = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call"});
    frame["params"] = json!({"name": "small"});
    frame["unknown"] = json!("x".repeat(1 << 20));
    let frame = Bytes::from(frame.to_string());
    let whole = frame.as_ptr_range();
    let now = rig.now;
    rig.connection.handle(now, Input::Frame(frame.clone()));
    let held = loop {
        match rig.connection.poll_output() {
            Output::Event(Event::Request { params, .. }) => break params.unwrap(),
            Output::Idle(_) => panic!("it is handed up"),
            _ => {}
        }
    };
    assert_eq!(held.as_bytes(), r#"{"name":"small"}"#);
    assert!(!whole.contains(&held.as_ptr()), "it is a copy");
}
