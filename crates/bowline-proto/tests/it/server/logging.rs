//! Log messages: eight levels, and who hears which.

use bowline_proto::{jsonrpc::RawJson, model::LogLevel, server::RequestKey};
use serde_json::json;

use super::rig::{Rig, initialize, modern_meta, with_meta};

fn log(rig: &mut Rig, request: Option<RequestKey>, level: &LogLevel) -> bool {
    let data = RawJson::encode("words").expect("JSON");
    rig.act(|it, _| it.log(request, level, Some("rig"), data))
}

/// Which levels are heard.
fn heard(rig: &mut Rig, request: Option<RequestKey>) -> Vec<LogLevel> {
    let mut heard = LogLevel::ALL.to_vec();
    heard.retain(|level| log(rig, request, level));
    heard
}

#[test]
fn a_session_hears_from_its_level_up() {
    let mut rig = Rig::session();
    assert_eq!(
        heard(&mut rig, None),
        LogLevel::ALL[1..],
        "info, by default"
    );
    for (at, level) in LogLevel::ALL.iter().enumerate() {
        rig.ask(1, "logging/setLevel", json!({"level": level.as_str()}));
        assert_eq!(rig.result(1), &json!({}));
        assert_eq!(heard(&mut rig, None), LogLevel::ALL[at..]);
    }
    let expected = json!({"level": "emergency", "logger": "rig", "data": "words"});
    assert_eq!(rig.last()["params"], expected);
    assert!(rig.requests().is_empty(), "nobody was asked");
}

#[test]
fn unknown_levels_are_refused_and_never_sent() {
    let mut rig = Rig::session();
    rig.ask(1, "logging/setLevel", json!({"level": "loud"}));
    assert_eq!(rig.refused(1), -32602);
    rig.ask(2, "logging/setLevel", json!({}));
    assert_eq!(rig.refused(2), -32602);
    assert!(!log(&mut rig, None, &LogLevel::from("loud")));
}

#[test]
fn undeclared_logging_is_silent() {
    let mut rig = Rig::with(|config| config.capabilities.logging = None);
    rig = rig.opened("2025-11-25", &json!({}));
    assert!(heard(&mut rig, None).is_empty());
    let mut params = with_meta(json!({}), modern_meta());
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    let request = rig.request(1, "tools/list", params);
    assert!(heard(&mut rig, Some(request)).is_empty());
}

#[test]
fn logging_need_not_wait_for_initialized() {
    let mut rig = Rig::new();
    assert!(heard(&mut rig, None).is_empty(), "there is no session");
    rig.ask(1, "initialize", initialize("2025-11-25", &json!({})));
    assert!(!heard(&mut rig, None).is_empty());
}

#[test]
fn a_stateless_request_hears_what_it_asked_for_while_it_is_open() {
    let mut rig = Rig::session();
    let mut params = with_meta(json!({"name": "x"}), modern_meta());
    let silent = rig.request(1, "tools/call", params.clone());
    assert!(heard(&mut rig, Some(silent)).is_empty(), "it did not ask");
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("error");
    let request = rig.request(2, "tools/call", params);
    assert_eq!(heard(&mut rig, Some(request)), LogLevel::ALL[4..]);
    assert_eq!(rig.about.last(), Some(&Some(request)));
    rig.respond(request, &json!({}));
    assert!(heard(&mut rig, Some(request)).is_empty(), "it is over");
}

#[test]
fn without_a_session_there_is_no_log_of_the_whole() {
    let mut rig = Rig::new();
    let mut params = with_meta(json!({"name": "x"}), modern_meta());
    params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("debug");
    rig.request(1, "tools/call", params);
    assert!(heard(&mut rig, None).is_empty());
}

#[test]
fn nothing_is_logged_about_a_request_that_is_over() {
    let mut rig = Rig::session();
    let request = rig.request(1, "tools/call", json!({"name": "x"}));
    assert!(log(&mut rig, Some(request), &LogLevel::Info));
    rig.notify("notifications/cancelled", json!({"requestId": 1}));
    assert!(!log(&mut rig, Some(request), &LogLevel::Info));
}
