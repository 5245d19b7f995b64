//! Tool modes, the session mode, and the session number in `_meta`.

use bowline_proto::{
    ErrorKind, Reason,
    client::{
        CallId, CallOptions, Config, Failure, Request, SessionMetaPolicy, SessionRequirement,
    },
    model::ToolMode,
};
use serde_json::{Value, json};

use super::rig::{Rig, server_capabilities};

const SESSION: &str = "dev.bowline/session-id";

fn tool(name: &str, mode: Option<&str>) -> Value {
    let mut tool = json!({"name": name, "inputSchema": {"type": "object"}});
    if let Some(mode) = mode {
        tool["mode"] = json!(mode);
    }
    tool
}

/// Lists tools: one page, with the cursor of the next if there is one.
fn list(rig: &mut Rig, cursor: Option<&str>, tools: Value, next: Option<&str>) {
    let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
    rig.call_with("tools/list", params, CallOptions::default());
    let next = next.map(|next| ("nextCursor", Value::from(next)));
    let result = [("tools", tools)].into_iter().chain(next);
    rig.answer(Value::from_iter(result));
}

fn call_tool(rig: &mut Rig, name: &str) -> CallId {
    call_tool_as(rig, name, None)
}

fn call_tool_as(rig: &mut Rig, name: &str, mode: Option<ToolMode>) -> CallId {
    let params = json!({"name": name});
    let request = Request::raw("tools/call", &params).expect("JSON encodes");
    let options = CallOptions {
        mode,
        ..CallOptions::default()
    };
    let now = rig.now;
    let call = rig.connection.call(now, request, options);
    rig.drain();
    call
}

/// The session number that the last request carries.
fn session(rig: &Rig) -> Option<u64> {
    rig.last_sent().json["params"]["_meta"][SESSION].as_u64()
}

fn mode(rig: &Rig) -> SessionRequirement {
    rig.connection.session_requirement()
}

/// A server that declares to take stateless calls only.
fn stateless_only() -> Rig {
    let mut rig = Rig::dialling();
    rig.up();
    rig.answer_error(-32601, "no such method");
    let mut capabilities = server_capabilities();
    capabilities["experimental"] = json!({"dev.bowline/tool-modes": "stateless"});
    rig.accept(capabilities);
    rig.forget();
    rig
}

#[test]
fn a_session_begins_without_knowing_of_a_stateful_tool() {
    assert_eq!(mode(&Rig::ready()), SessionRequirement::Optional);
    assert_eq!(mode(&Rig::new()), SessionRequirement::Optional);
}

#[test]
fn a_listed_stateful_tool_makes_the_session_required() {
    let cases = [
        (
            json!([tool("a", Some("stateless"))]),
            SessionRequirement::Optional,
        ),
        (
            json!([tool("a", Some("stateful"))]),
            SessionRequirement::Required,
        ),
        (
            json!([tool("a", Some("sideways"))]),
            SessionRequirement::Required,
        ),
        (json!([tool("a", None)]), SessionRequirement::Required),
        (
            json!([tool("a", Some("stateless")), tool("b", None)]),
            SessionRequirement::Required,
        ),
        (json!([]), SessionRequirement::Optional),
    ];
    for (tools, expected) in cases {
        let mut rig = Rig::ready();
        list(&mut rig, None, tools.clone(), None);
        assert_eq!(mode(&rig), expected, "{tools}");
    }
}

#[test]
fn the_mode_may_stand_in_the_tools_meta() {
    let mut rig = Rig::ready();
    let mut stateless = tool("a", None);
    stateless["_meta"] = json!({"dev.bowline/mode": "stateless"});
    list(&mut rig, None, json!([stateless]), None);
    assert_eq!(mode(&rig), SessionRequirement::Optional);
    call_tool(&mut rig, "a");
    assert_eq!(mode(&rig), SessionRequirement::Optional);
}

#[test]
fn calling_a_stateful_tool_makes_the_session_required() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    call_tool(&mut rig, "a");
    assert_eq!(mode(&rig), SessionRequirement::Optional);
    call_tool(&mut rig, "unlisted");
    assert_eq!(mode(&rig), SessionRequirement::Required);
}

#[test]
fn a_caller_may_know_the_mode_better_than_the_list() {
    let mut rig = Rig::ready();
    call_tool_as(&mut rig, "a", Some(ToolMode::Stateless));
    assert_eq!(mode(&rig), SessionRequirement::Optional);
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    call_tool_as(&mut rig, "a", Some(ToolMode::Stateful));
    assert_eq!(mode(&rig), SessionRequirement::Required);
}

#[test]
fn a_complete_list_decides_anew() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", None)]), None);
    assert_eq!(mode(&rig), SessionRequirement::Required);
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    assert_eq!(mode(&rig), SessionRequirement::Optional);
}

#[test]
fn a_list_in_pages_decides_only_when_the_last_page_is_in() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("old", None)]), None);
    list(
        &mut rig,
        None,
        json!([tool("a", Some("stateless"))]),
        Some("2"),
    );
    assert_eq!(mode(&rig), SessionRequirement::Required, "not yet");
    list(
        &mut rig,
        Some("2"),
        json!([tool("b", Some("stateless"))]),
        None,
    );
    assert_eq!(mode(&rig), SessionRequirement::Optional);
    for name in ["a", "b"] {
        call_tool(&mut rig, name);
        assert_eq!(
            mode(&rig),
            SessionRequirement::Optional,
            "{name} is remembered"
        );
    }
}

#[test]
fn a_stateful_tool_on_the_first_page_is_not_forgotten_with_the_last() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", None)]), Some("2"));
    list(
        &mut rig,
        Some("2"),
        json!([tool("b", Some("stateless"))]),
        None,
    );
    assert_eq!(mode(&rig), SessionRequirement::Required);
}

#[test]
fn an_empty_cursor_is_a_cursor() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", None)]), Some(""));
    assert_eq!(mode(&rig), SessionRequirement::Optional, "more is to come");
    list(
        &mut rig,
        Some(""),
        json!([tool("b", Some("stateless"))]),
        None,
    );
    assert_eq!(mode(&rig), SessionRequirement::Required);
}

#[test]
fn a_page_that_is_fetched_by_itself_wipes_nothing() {
    let mut rig = Rig::ready();
    list(
        &mut rig,
        None,
        json!([tool("a", Some("stateless"))]),
        Some("2"),
    );
    list(
        &mut rig,
        Some("2"),
        json!([tool("b", Some("stateless"))]),
        None,
    );
    list(
        &mut rig,
        Some("2"),
        json!([tool("b", Some("stateless"))]),
        None,
    );
    call_tool(&mut rig, "a");
    assert_eq!(
        mode(&rig),
        SessionRequirement::Optional,
        "a is still stateless"
    );
}

#[test]
fn a_list_that_cannot_be_read_changes_nothing() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    list(&mut rig, None, json!("mode"), None);
    call_tool(&mut rig, "a");
    assert_eq!(mode(&rig), SessionRequirement::Optional);
}

#[test]
fn a_new_session_knows_nothing_of_the_old_ones_tools() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", None)]), None);
    assert_eq!(mode(&rig), SessionRequirement::Required);
    rig.reconnect();
    assert_eq!(mode(&rig), SessionRequirement::Optional);
}

#[test]
fn calls_carry_the_session_number_once_the_server_declared_a_mode() {
    let mut rig = Rig::ready();
    call_tool(&mut rig, "a");
    assert_eq!(session(&rig), None, "an ordinary server is spared it");
    let declared = json!([tool("a", Some("stateless")), tool("b", Some("stateful"))]);
    list(&mut rig, None, declared.clone(), None);
    call_tool(&mut rig, "b");
    assert_eq!(session(&rig), Some(1));
    call_tool(&mut rig, "a");
    assert_eq!(session(&rig), Some(1), "for consistent traces");

    rig.reconnect();
    list(&mut rig, None, declared, None);
    call_tool(&mut rig, "b");
    assert_eq!(session(&rig), Some(2));
}

#[test]
fn while_all_tools_are_stateless_no_session_number_is_carried() {
    let mut rig = Rig::ready();
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    call_tool(&mut rig, "a");
    assert_eq!(session(&rig), None);
}

#[test]
fn the_session_number_can_be_carried_always_or_never() {
    let declared = json!([tool("b", Some("stateful"))]);
    let undeclared = json!([tool("b", None)]);
    let cases = [
        (SessionMetaPolicy::Always, &declared, Some(1)),
        (SessionMetaPolicy::Always, &undeclared, Some(1)),
        (SessionMetaPolicy::Never, &declared, None),
        (SessionMetaPolicy::WhenDeclared, &undeclared, None),
    ];
    for (setting, tools, expected) in cases {
        let mut rig = Rig::ready_with(|config: &mut Config| config.session_meta = setting);
        list(&mut rig, None, tools.clone(), None);
        call_tool(&mut rig, "b");
        assert_eq!(session(&rig), expected, "{setting:?}, {tools}");
    }
}

#[test]
fn the_stateless_era_has_no_session_to_number() {
    let mut rig = Rig::stateless_with(|config| config.session_meta = SessionMetaPolicy::Always);
    list(&mut rig, None, json!([tool("b", Some("stateful"))]), None);
    call_tool(&mut rig, "b");
    assert_eq!(session(&rig), None);
}

#[test]
fn a_server_for_stateless_calls_only_is_not_sent_a_stateful_one() {
    let mut rig = stateless_only();
    list(&mut rig, None, json!([tool("a", Some("stateless"))]), None);
    rig.forget();
    let call = call_tool(&mut rig, "unlisted");
    let failure = rig.failure(call);
    assert_eq!(*failure, Failure::ModeMismatch);
    assert_eq!(failure.kind(), ErrorKind::Capability);
    assert_eq!(failure.reason(), Reason::CapabilityMismatch);
    assert!(rig.sent.is_empty());
    assert_eq!(
        mode(&rig),
        SessionRequirement::Optional,
        "it was not called"
    );

    call_tool(&mut rig, "a");
    assert_eq!(rig.methods_sent(), ["tools/call"]);
}
