//! Which calls outlive a session, and which end with it.

use bowline_proto::{
    ErrorKind, Reason,
    client::{CallId, CallOptions, CallPolicy, ConnectionState, Failure, Request, SessionNumber},
    model::ToolMode,
};
use serde_json::json;

use super::rig::{Rig, exited, over_http};

const STATEFUL: Option<ToolMode> = Some(ToolMode::Stateful);
const STATELESS: Option<ToolMode> = Some(ToolMode::Stateless);

fn options(mode: Option<ToolMode>) -> CallOptions {
    CallOptions {
        mode,
        ..CallOptions::default()
    }
}

fn repeatable(mode: Option<ToolMode>) -> CallOptions {
    CallOptions {
        retry_on_disconnect: true,
        ..options(mode)
    }
}

fn bound_to(session: SessionNumber) -> CallOptions {
    CallOptions {
        session: Some(session),
        policy: CallPolicy::WaitForConnection,
        ..CallOptions::default()
    }
}

fn call(rig: &mut Rig, options: CallOptions) -> CallId {
    let request = Request::raw("tools/call", &json!({"name": "book"}));
    let request = request.expect("an object");
    let now = rig.now;
    let call = rig.connection.call(now, request, options);
    rig.drain();
    call
}

fn declare(rig: &mut Rig, mode: &str) {
    let tool = json!({"name": "book", "inputSchema": {"type": "object"}, "mode": mode});
    rig.call_with("tools/list", json!({}), CallOptions::default());
    rig.answer(json!({"tools": [tool]}));
}

fn session(rig: &Rig) -> SessionNumber {
    rig.connection.session().expect("a session is open")
}

#[test]
fn a_stateful_call_is_not_repeated_in_another_session_even_if_it_may_be_repeated() {
    let mut rig = Rig::ready();
    let by_caller = call(&mut rig, repeatable(STATEFUL));
    declare(&mut rig, "stateful");
    let by_tool = call(&mut rig, repeatable(None));
    rig.sent.clear();
    rig.reconnect();
    for lost in [by_caller, by_tool] {
        assert_eq!(*rig.failure(lost), Failure::ConnectionLost(exited()));
    }
    assert!(rig.sent_as("tools/call").is_empty());
}

#[test]
fn a_call_that_nobody_declared_and_a_stateless_one_are_repeated_as_their_caller_allowed() {
    for mode in [None, STATELESS] {
        let mut rig = Rig::ready();
        let repeated = call(&mut rig, repeatable(mode));
        rig.sent.clear();
        rig.reconnect();
        assert_eq!(rig.sent_as("tools/call").len(), 1, "{mode:?}");
        rig.answer(json!({"content": []}));
        assert_eq!(rig.result(repeated), json!({"content": []}));
    }
}

#[test]
fn a_stateless_call_is_not_repeated_unasked() {
    let mut rig = Rig::ready();
    let lost = call(&mut rig, options(STATELESS));
    rig.reconnect();
    assert_eq!(*rig.failure(lost), Failure::ConnectionLost(exited()));
}

#[test]
fn a_stateful_call_is_not_taken_along_when_the_server_forgot_the_session() {
    let mut rig = Rig::ready_with(over_http);
    let stateful = call(&mut rig, options(STATEFUL));
    rig.status(rig.last_request(), 404, "");
    assert_eq!(*rig.failure(stateful), Failure::SessionLost);
    assert_eq!(rig.state(), ConnectionState::Backoff);
    rig.sent.clear();
    rig.redial();
    rig.open_by_handshake("2025-11-25");
    assert!(rig.sent_as("tools/call").is_empty());
}

#[test]
fn a_stateless_call_is_taken_along_when_the_server_forgot_the_session() {
    let mut rig = Rig::ready_with(over_http);
    let stateless = call(&mut rig, options(STATELESS));
    rig.status(rig.last_request(), 404, "");
    assert!(!rig.has_ended(stateless));
    rig.redial();
    rig.sent.clear();
    rig.open_by_handshake("2025-11-25");
    assert_eq!(rig.sent_as("tools/call").len(), 1);
}

#[test]
fn a_stateless_call_that_the_server_has_not_seen_waits_for_the_next_session() {
    let mut rig = Rig::ready();
    let stateless = call(&mut rig, options(STATELESS));
    rig.busy();
    let undeclared = call(&mut rig, options(None));
    rig.busy();
    rig.sent.clear();
    rig.reconnect();
    assert_eq!(*rig.failure(undeclared), Failure::ConnectionLost(exited()));
    assert_eq!(rig.sent_as("tools/call").len(), 1);
    rig.pass_ms(100);
    assert_eq!(rig.sent_as("tools/call").len(), 1, "its resending is off");
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(stateless), json!({"content": []}));
    rig.assert_no_calls();
}

#[test]
fn a_call_for_a_session_goes_out_in_that_session_only() {
    let mut rig = Rig::ready();
    let first = session(&rig);
    call(&mut rig, bound_to(first));
    rig.answer(json!({"content": []}));
    rig.down();
    let waiting = call(&mut rig, bound_to(first));
    assert_eq!(
        *rig.failure(waiting),
        Failure::SessionLost,
        "while there is none"
    );
    rig.redial();
    rig.open_by_handshake("2025-11-25");
    rig.sent.clear();
    let late = call(&mut rig, bound_to(first));
    let failure = rig.failure(late);
    assert_eq!(*failure, Failure::SessionLost);
    assert_eq!(failure.kind(), ErrorKind::State);
    assert_eq!(failure.reason(), Reason::SessionLost);
    assert!(!failure.is_transient());
    assert!(rig.sent.is_empty());
    let second = session(&rig);
    assert!(second > first);
    call(&mut rig, bound_to(second));
    assert_eq!(rig.sent_as("tools/call").len(), 1);
}

#[test]
fn where_the_server_keeps_no_sessions_a_call_cannot_be_bound_to_one() {
    let mut rig = Rig::stateless_with(over_http);
    assert_eq!(rig.connection.session(), None);
    let bound = call(&mut rig, options(STATEFUL));
    assert_eq!(*rig.failure(bound), Failure::NoSession);
    assert_eq!(rig.failure(bound).reason(), Reason::CapabilityMismatch);
    assert!(rig.sent.is_empty());
}

#[test]
fn what_a_tool_says_of_itself_does_not_matter_where_there_are_no_sessions() {
    let mut rig = Rig::stateless_with(over_http);
    declare(&mut rig, "stateful");
    rig.sent.clear();
    call(&mut rig, options(None));
    assert_eq!(rig.sent_as("tools/call").len(), 1);
}

#[test]
fn a_process_of_our_own_keeps_what_it_keeps_for_as_long_as_it_lives() {
    let mut rig = Rig::stateless();
    let first = session(&rig);
    let bound = call(&mut rig, bound_to(first));
    rig.down();
    assert_eq!(*rig.failure(bound), Failure::ConnectionLost(exited()));
}

#[test]
fn a_session_of_another_connection_is_none_of_ours() {
    let (mut rig, other) = (Rig::ready(), Rig::ready());
    let (ours, others) = (session(&rig), session(&other));
    assert_ne!(ours, others);
    assert_eq!(ours.to_string(), others.to_string(), "both are the first");
    rig.sent.clear();
    let call = call(&mut rig, bound_to(others));
    let failure = rig.failure(call);
    assert_eq!(*failure, Failure::ForeignSession);
    assert_eq!(failure.kind(), ErrorKind::Usage);
    assert!(!failure.is_transient());
    assert!(rig.sent.is_empty());
    // Nor is it one that has fallen.
    rig.down();
    let call = self::call(&mut rig, bound_to(others));
    assert_eq!(*rig.failure(call), Failure::ForeignSession);
}
