//! Frames that are batches, or garbage, or too large.

use bowline_proto::server::{Input, Violation};
use serde_json::json;

use super::rig::{Rig, initialize};

#[test]
fn garbage_is_answered_without_an_id() {
    let mut rig = Rig::session();
    for garbage in ["hello", "{", "", "{\"jsonrpc\":\"2.0\",}", "[1,"] {
        rig.bytes(garbage);
        assert_eq!(rig.refused(json!(null)), -32700, "{garbage}");
    }
    assert!(rig.saw(Violation::MalformedMessage));
    rig.ask(1, "ping", json!({}));
    rig.result(1);
}

#[test]
fn what_is_json_but_no_message_is_an_invalid_request() {
    let mut rig = Rig::session();
    for odd in ["7", "null", "[]", "{}", r#"{"jsonrpc":"2.0","method":7}"#] {
        rig.bytes(odd);
        assert_eq!(rig.refused(json!(null)), -32600, "{odd}");
    }
}

#[test]
fn a_readable_id_is_answered_under() {
    let mut rig = Rig::session();
    rig.bytes(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#);
    assert_eq!(rig.refused(3), -32600);
    rig.bytes(r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":7}"#);
    assert_eq!(rig.refused("x"), -32600);
    rig.bytes(r#"{"jsonrpc":"2.0","id":4,"method":"ping","params":{"a":"#);
    assert_eq!(rig.refused(4), -32700);
}

#[test]
fn garbage_under_an_id_in_use_does_not_hurt_its_owner() {
    let mut rig = Rig::session();
    let request = rig.request(3, "tools/list", json!({}));
    rig.bytes(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#);
    assert_eq!(rig.refused(json!(null)), -32600);
    rig.respond(request, &json!({}));
    rig.result(3);
}

#[test]
fn faults_inside_the_params_fail_the_request() {
    let mut rig = Rig::session();
    rig.bytes(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{},"a":tru}}"#);
    assert_eq!(rig.refused(5), -32700);
}

#[test]
fn nobody_answers_an_answer() {
    let mut rig = Rig::session();
    rig.bytes(r#"{"jsonrpc":"2.0","id":5,"result":{},"error":{}}"#);
    rig.bytes(r#"{"jsonrpc":"2.0","id":5,"result":"#);
    assert!(rig.sent.is_empty());
    assert!(rig.saw(Violation::MalformedMessage));
}

#[test]
fn batches_are_taken_apart_where_the_revision_has_them() {
    let mut rig = Rig::session_in("2025-03-26");
    rig.frame(&json!([
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        7,
        {"jsonrpc": "2.0", "id": 3, "method": "nonsense"},
    ]));
    assert_eq!(rig.sent.len(), 3, "each answer by itself");
    assert_eq!(rig.sent[0]["result"], json!({}));
    assert_eq!(rig.sent[1]["error"]["code"], -32600);
    assert_eq!(rig.sent[2]["error"]["code"], -32601);
    let request = rig.requests()[0];
    rig.respond(request, &json!({}));
    rig.result(2);
}

#[test]
fn the_same_id_twice_in_a_batch_is_a_duplicate() {
    let mut rig = Rig::session_in("2025-03-26");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"});
    rig.frame(&json!([list, list]));
    assert_eq!(rig.requests().len(), 1);
    assert_eq!(rig.refused(json!(null)), -32600);
}

#[test]
fn batches_are_refused_where_there_are_none() {
    let ping = json!([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]);
    let others = ["2024-11-05", "2025-06-18", "2025-11-25"].map(Rig::session_in);
    for mut rig in others.into_iter().chain([Rig::new()]) {
        rig.frame(&ping);
        assert_eq!(rig.refused(json!(null)), -32600);
        assert!(rig.saw(Violation::Batch));
    }
}

#[test]
fn openings_and_stateless_requests_come_alone() {
    let mut rig = Rig::session_in("2025-03-26");
    let params = initialize("2025-03-26", &json!({}));
    rig.frame(&json!([{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}]));
    assert_eq!(rig.refused(1), -32600);
    let params = json!({"_meta": super::rig::modern_meta()});
    rig.frame(&json!([{"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params}]));
    assert_eq!(rig.refused(2), -32600);
}

#[test]
fn a_frame_over_the_limit_is_refused_and_ends_nothing_else() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/list", json!({}));
    let prefix = br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"x":""#;
    rig.handle(Input::OversizedFrame {
        size: 20_000_000,
        prefix: prefix.as_slice().into(),
    });
    assert_eq!(rig.refused(2), -32600);
    assert!(rig.saw(Violation::OversizedFrame));
    assert!(rig.connection.is_receiving() && !rig.hung_up);
    rig.respond(request, &json!({"tools": []}));
    rig.result(1);
}

#[test]
fn an_answer_over_the_limit_is_not_answered() {
    let mut rig = Rig::session();
    let prefix = br#"{"jsonrpc":"2.0","id":2,"result":{"x":""#;
    rig.handle(Input::OversizedFrame {
        size: 20_000_000,
        prefix: prefix.as_slice().into(),
    });
    assert!(rig.sent.is_empty() && !rig.hung_up);
}

#[test]
fn a_whole_frame_over_the_limit_is_one_too() {
    let mut rig = Rig::with(|config| config.max_frame_size = 100);
    let ping = |pad: usize| {
        let text = "x".repeat(pad);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":"{text}"}}}}"#)
    };
    let spare = 100 - ping(0).len();
    rig.bytes(ping(spare));
    rig.result(1);
    rig.bytes(ping(spare + 1));
    assert_eq!(rig.refused(1), -32600);
    assert!(!rig.hung_up);
}

#[test]
fn an_answer_that_the_client_could_not_read_becomes_an_error() {
    let mut rig = Rig::with(|config| config.max_frame_size = 400).opened("2025-11-25", &json!({}));
    let request = rig.request(1, "resources/subscribe", json!({"uri": "file:///a"}));
    rig.respond(request, &json!({"text": "x".repeat(400)}));
    assert_eq!(rig.refused(1), -32603);
    assert!(
        rig.connection.subscribed_uris().is_empty(),
        "it was not granted"
    );
    let mut params = json!({"name": "x"});
    params["_meta"]["progressToken"] = json!(1);
    let request = rig.request(2, "tools/call", params);
    let long = "x".repeat(400);
    assert!(!rig.act(|it, _| it.progress(request, 1, None, Some(&long))));
}
