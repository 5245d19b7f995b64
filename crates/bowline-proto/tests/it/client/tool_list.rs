//! What HTTP adds to the list of tools: annotations, and looking again.

use bowline_proto::client::{CallOptions, ConnectionState, Failure, TelemetryEvent};
use serde_json::{Value, json};

use super::rig::{Rig, over_http};

fn stateless() -> Rig {
    Rig::stateless_with(over_http)
}

fn tool(name: &str, kind: &str) -> Value {
    let properties = json!({"place": {"type": kind, "x-mcp-header": "Place"}});
    json!({"name": name, "inputSchema": {"type": "object", "properties": properties}})
}

fn mismatch(rig: &mut Rig) {
    let id = rig.last_request();
    let error = json!({"code": -32020, "message": "header mcp-param-place is missing"});
    let body = json!({"jsonrpc": "2.0", "id": id, "error": error});
    rig.status(id, 400, body.to_string());
}

fn call(rig: &mut Rig) -> bowline_proto::client::CallId {
    let params = json!({"name": "ask", "arguments": {"place": "here"}});
    rig.call_with("tools/call", params, CallOptions::default())
}

#[test]
fn tools_whose_annotations_are_at_fault_are_not_offered_over_http() {
    let mut rig = stateless();
    let list = rig.call("tools/list");
    rig.answer(json!({"tools": [tool("good", "string"), tool("bad", "number")]}));
    let names: Vec<_> = rig.result(list)["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].clone())
        .collect();
    assert_eq!(names, ["good"]);
    let dropped = rig.telemetry.iter().any(|seen| {
        matches!(seen, TelemetryEvent::ToolDropped { tool, .. } if &**tool == "bad")
            && seen.name() == "tool.dropped"
    });
    assert!(dropped);
}

#[test]
fn other_wires_and_eras_have_no_headers_and_offer_everything() {
    for mut rig in [Rig::stateless(), Rig::ready_with(over_http)] {
        let list = rig.call("tools/list");
        let page = json!({"tools": [tool("bad", "number")]});
        rig.answer(page.clone());
        assert_eq!(rig.result(list), page);
    }
}

#[test]
fn a_call_whose_headers_are_refused_is_made_again_with_a_fresh_list() {
    let mut rig = stateless();
    let made = call(&mut rig);
    let first = rig.last_sent().json.clone();
    mismatch(&mut rig);
    assert_eq!(rig.last_sent().method(), "tools/list");
    assert!(!rig.has_ended(made));
    rig.answer(json!({"tools": [], "nextCursor": "two"}));
    assert_eq!(rig.last_sent().json["params"]["cursor"], "two");
    rig.answer(json!({"tools": [tool("ask", "string")]}));
    assert_eq!(rig.last_sent().method(), "tools/call");
    assert_eq!(rig.sent_as("tools/list").len(), 2);
    let again = rig.last_sent().json.clone();
    assert_eq!(again["params"], first["params"]);
    assert_ne!(again["id"], first["id"]);
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(made), json!({"content": []}));
    rig.assert_no_calls();
}

#[test]
fn it_is_made_again_once() {
    let mut rig = stateless();
    let made = call(&mut rig);
    mismatch(&mut rig);
    rig.answer(json!({"tools": []}));
    mismatch(&mut rig);
    assert_eq!(rig.refusal(made).code, -32020);
    rig.assert_no_calls();
}

#[test]
fn where_the_list_cannot_be_had_the_first_refusal_stands() {
    let refuse: [fn(&mut Rig); 3] = [
        |rig| rig.answer_error(-32603, "not now"),
        |rig| rig.status(rig.last_request(), 500, ""),
        mismatch,
    ];
    for refuse in refuse {
        let mut rig = stateless();
        let made = call(&mut rig);
        mismatch(&mut rig);
        refuse(&mut rig);
        assert_eq!(rig.refusal(made).code, -32020);
        rig.assert_no_calls();
    }
}

#[test]
fn a_list_that_never_comes_or_never_ends_does_not_hold_the_call_for_ever() {
    let mut rig = stateless();
    let made = call(&mut rig);
    mismatch(&mut rig);
    rig.pass_ms(30_000);
    assert!(rig.has_ended(made));
    rig.assert_no_calls();

    let mut rig = stateless();
    let made = call(&mut rig);
    mismatch(&mut rig);
    let mut pages = 0;
    while rig.last_sent().method() == "tools/list" {
        rig.answer(json!({"tools": [], "nextCursor": "more"}));
        pages += 1;
        assert!(pages < 100);
    }
    assert_eq!(rig.last_sent().method(), "tools/call");
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(made), json!({"content": []}));
}

#[test]
fn a_call_that_waits_for_the_list_survives_a_fall_and_ends_once() {
    let mut rig = stateless();
    let made = call(&mut rig);
    mismatch(&mut rig);
    rig.down();
    assert!(!rig.has_ended(made), "it was not looked at, and waits");
    assert_eq!(rig.state(), ConnectionState::Backoff);
    rig.stop();
    assert_eq!(*rig.failure(made), Failure::Shutdown);
    rig.assert_no_calls();
}

#[test]
fn other_wires_and_other_requests_are_refused_as_ever() {
    let mut rig = Rig::stateless();
    let made = call(&mut rig);
    rig.answer_error(-32020, "what header?");
    assert_eq!(rig.refusal(made).code, -32020);
    let mut rig = stateless();
    let listed = rig.call("tools/list");
    mismatch(&mut rig);
    assert_eq!(rig.refusal(listed).code, -32020);
}
