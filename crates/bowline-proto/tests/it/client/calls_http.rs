//! Calls over HTTP, where each request has a fate of its own.

use bowline_proto::{
    ErrorKind,
    client::{
        CallOptions, ConnectionError, ConnectionErrorKind, ConnectionState, Failure,
        HttpStatusError, Input, SendError, Violation,
    },
    model::ToolMode,
};
use bytes::Bytes;
use serde_json::json;

use super::{
    look::millis,
    rig::{Rig, over_http},
};

fn handshake() -> Rig {
    Rig::ready_with(over_http)
}

fn stateless() -> Rig {
    Rig::stateless_with(over_http)
}

fn oversize(rig: &mut Rig, prefix: String) {
    let link = rig.current();
    rig.handle(Input::OversizedFrame {
        link,
        size: 17_000_000,
        prefix: Bytes::from(prefix),
    });
}

fn answer_prefix(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"#)
}

#[test]
fn over_a_stream_the_call_whose_answer_is_too_large_is_told_so_and_the_others_go_on() {
    let mut rig = Rig::ready();
    let other = rig.call("prompts/list");
    let guilty = rig.call("tools/list");
    let prefix = answer_prefix(rig.last_request());
    oversize(&mut rig, prefix);
    let too_large = Failure::ResponseTooLarge {
        size: 17_000_000,
        limit: 16_777_216,
    };
    assert_eq!(*rig.failure(guilty), too_large);
    assert!(!rig.has_ended(other));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn over_http_only_the_call_whose_answer_is_too_large_ends() {
    for mut rig in [handshake(), stateless()] {
        let other = rig.call("prompts/list");
        let guilty = rig.call("tools/list");
        let prefix = answer_prefix(rig.last_request());
        oversize(&mut rig, prefix);
        assert!(matches!(
            rig.failure(guilty),
            Failure::ResponseTooLarge { .. }
        ));
        assert!(!rig.has_ended(other));
        assert_eq!(rig.state(), ConnectionState::Ready);
        assert!(rig.saw_violation(Violation::OversizedFrame));
    }
}

#[test]
fn an_oversize_request_of_the_servers_does_not_end_our_call_of_the_same_id() {
    let mut rig = handshake();
    let call = rig.call("tools/list");
    let id = rig.last_request();
    oversize(
        &mut rig,
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"sampling/createMessage","params":{{"#),
    );
    assert!(!rig.has_ended(call));
}

/// The beginning does not say what it is: a request of the server's may have
/// the id of one of ours.
#[test]
fn an_oversize_frame_that_may_be_no_answer_ends_nobody() {
    for mut rig in [handshake(), Rig::ready()] {
        let call = rig.call("tools/list");
        let id = rig.last_request();
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"padding":"xxx"#);
        oversize(&mut rig, prefix);
        assert!(!rig.has_ended(call));
        assert!(rig.saw_violation(Violation::OversizedFrame));
    }
}

#[test]
fn an_oversize_frame_whose_id_cannot_be_read_ends_nobody_over_http() {
    let mut rig = handshake();
    let call = rig.call("tools/list");
    oversize(&mut rig, r#"{"result":{"content":["#.to_owned());
    assert!(!rig.has_ended(call));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_session_that_the_server_forgot_is_replaced_at_once_and_the_call_sent_again() {
    let mut rig = handshake();
    let params = json!({"name": "again"});
    let call = rig.call_with("tools/call", params.clone(), CallOptions::default());
    let first = rig.last_request();
    rig.status(first, 404, "");
    assert_eq!(*rig.fell().0, ConnectionErrorKind::SessionNotFound);
    assert_eq!(rig.fell().1, Some(std::time::Duration::ZERO));
    assert!(!rig.has_ended(call));
    rig.redial();
    rig.sent.clear();
    rig.open_by_handshake("2025-11-25");
    let sent = rig.sent_as("tools/call");
    assert_eq!(sent.len(), 1);
    assert_eq!(sent[0].json["params"], params);
    assert!(sent[0].id.unwrap() > first);
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(call), json!({"content": []}));
    rig.assert_no_calls();
}

#[test]
fn other_calls_of_a_session_that_the_server_forgot_are_lost() {
    let mut rig = handshake();
    let other = rig.call("tools/list");
    rig.call("prompts/list");
    rig.status(rig.last_request(), 404, "");
    assert!(matches!(rig.failure(other), Failure::ConnectionLost(cause)
        if *cause.kind() == ConnectionErrorKind::SessionNotFound));
}

#[test]
fn a_call_that_is_not_found_in_the_new_session_either_fails_and_the_session_stays() {
    let mut rig = handshake();
    let call = rig.call("tools/list");
    rig.status(rig.last_request(), 404, "");
    rig.redial();
    rig.open_by_handshake("2025-11-25");
    rig.status(rig.last_request(), 404, "");
    assert!(matches!(rig.failure(call), Failure::NotDelivered(cause)
        if matches!(cause.kind(), ConnectionErrorKind::Status { status: 404, .. })));
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_notification_that_is_not_found_cannot_make_the_connection_spin() {
    let mut rig = handshake();
    let link = rig.current();
    let refusal = HttpStatusError {
        status: 404,
        body: Bytes::new(),
        retry_after: None,
    };
    rig.handle(Input::SendFailed {
        link,
        id: None,
        error: SendError::Status(refusal),
    });
    assert_eq!(*rig.fell().0, ConnectionErrorKind::SessionNotFound);
    rig.assert_first_backoff();
}

#[test]
fn a_404_in_the_stateless_era_is_about_the_request_alone() {
    let mut rig = stateless();
    let call = rig.call("tools/list");
    let error = json!({"code": -32601, "message": "no such method"});
    let body = json!({"jsonrpc": "2.0", "id": rig.last_request(), "error": error});
    rig.status(rig.last_request(), 404, body.to_string());
    assert_eq!(rig.refusal(call).code, -32601);
    assert_eq!(rig.state(), ConnectionState::Ready);
}

#[test]
fn a_status_with_a_jsonrpc_error_is_the_servers_refusal() {
    for mut rig in [handshake(), stateless()] {
        let call = rig.call("tools/list");
        let body = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"bad"}}"#;
        rig.status(rig.last_request(), 400, body);
        assert_eq!(rig.refusal(call).code, -32602);
        rig.assert_no_calls();
    }
}

#[test]
fn a_status_without_one_means_that_the_request_was_not_delivered() {
    let cases = [
        (400, false),
        (401, false),
        (403, false),
        (408, true),
        (425, true),
        (429, true),
        (500, true),
        (501, false),
        (502, true),
        (503, true),
        (504, true),
        (505, false),
    ];
    for (status, retryable) in cases {
        for mut rig in [handshake(), stateless()] {
            let call = rig.call("tools/list");
            let refusal = HttpStatusError {
                status,
                body: Bytes::from_static(b"<html>"),
                retry_after: Some(millis(7_000)),
            };
            rig.refuse(rig.last_request(), SendError::Status(refusal));
            let failure = rig.failure(call);
            let kind = ConnectionErrorKind::Status {
                status,
                retry_after: Some(millis(7_000)),
            };
            assert_eq!(*failure, Failure::NotDelivered(ConnectionError::new(kind)));
            assert_eq!(failure.is_transient(), retryable, "{status}");
            assert_eq!(failure.kind(), ErrorKind::Transport);
            assert_eq!(rig.state(), ConnectionState::Ready);
        }
    }
}

/// Some servers forget `jsonrpc` when they refuse a request.
#[test]
fn an_error_without_a_version_is_the_servers_refusal_if_its_code_is_one_of_json_rpc() {
    for mut rig in [handshake(), stateless()] {
        let call = rig.call("tools/list");
        let body = r#"{"error":{"code":-32602,"message":"bad"}}"#;
        rig.status(rig.last_request(), 400, body);
        assert_eq!(rig.refusal(call).code, -32602);
        let call = rig.call("tools/list");
        let body = r#"{"error":{"code":400,"message":"the gateway's own"}}"#;
        rig.status(rig.last_request(), 400, body);
        assert!(matches!(rig.failure(call), Failure::NotDelivered(_)));
    }
}

/// The error explains the status. It is no answer to the request, which may be sent
/// again after the wait that the server asks for.
#[test]
fn a_busy_server_has_not_answered_whatever_its_body_says() {
    for status in [408, 425, 429, 503] {
        for mut rig in [handshake(), stateless()] {
            let call = rig.call("tools/list");
            let body =
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"too many"}}"#;
            let refusal = HttpStatusError {
                status,
                body: Bytes::from_static(body.as_bytes()),
                retry_after: Some(millis(7_000)),
            };
            rig.refuse(rig.last_request(), SendError::Status(refusal));
            let failure = rig.failure(call);
            let Failure::NotDelivered(cause) = failure else {
                panic!("{failure}");
            };
            assert_eq!(cause.retry_after(), Some(millis(7_000)));
            assert_eq!(cause.detail(), Some("too many"));
            assert!(failure.is_transient());
        }
    }
}

#[test]
fn an_exchange_that_ends_without_an_answer_loses_its_own_call_only() {
    for mut rig in [handshake(), stateless()] {
        let other = rig.call("prompts/list");
        let call = rig.call("tools/list");
        let cause: ConnectionError = ConnectionErrorKind::Io("stream closed".to_owned()).into();
        rig.refuse(rig.last_request(), SendError::NoResponse(cause.clone()));
        assert_eq!(*rig.failure(call), Failure::ConnectionLost(cause));
        assert!(!rig.has_ended(other));
        assert_eq!(rig.connection.stats().cancelled_calls, 1);
        assert_eq!(rig.state(), ConnectionState::Ready);
    }
}

fn broken() -> SendError {
    SendError::NoResponse(ConnectionErrorKind::Io("stream closed".to_owned()).into())
}

fn unreachable() -> SendError {
    SendError::Failed(ConnectionErrorKind::Unreachable("refused".to_owned()).into())
}

fn repeatable() -> CallOptions {
    CallOptions {
        retry_on_disconnect: true,
        ..CallOptions::default()
    }
}

#[test]
fn a_call_whose_exchange_broke_is_sent_again_in_the_session_if_its_caller_said_so() {
    for mut rig in [handshake(), stateless()] {
        let params = json!({"name": "again", "arguments": {"a": 1}});
        let call = rig.call_with("tools/call", params.clone(), repeatable());
        let first = rig.last_request();
        rig.refuse(first, broken());
        rig.sent.clear();
        rig.pass_ms(700);
        assert!(rig.sent_as("tools/call").is_empty(), "not at once");
        rig.pass_ms(500);
        let sent = rig.sent_as("tools/call");
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].json["params"]["arguments"], params["arguments"]);
        assert!(sent[0].id.unwrap() > first, "under a new id");
        // The server restarts, and cannot be reached in the meantime.
        rig.refuse(rig.last_request(), unreachable());
        rig.pass_ms(2_400);
        assert_eq!(rig.sent_as("tools/call").len(), 2);
        rig.answer(json!({"content": [], "resultType": "complete"}));
        assert_eq!(rig.result(call)["content"], json!([]));
        assert_eq!(rig.observed("retry.scheduled"), 2);
        assert_eq!(rig.state(), ConnectionState::Ready);
        rig.assert_no_calls();
    }
}

#[test]
fn a_call_whose_exchanges_all_break_keeps_its_deadline() {
    let mut rig = stateless();
    let call = rig.call_with("tools/call", json!({"name": "again"}), repeatable());
    for _ in 0..30 {
        if !rig.has_ended(call) {
            rig.refuse(rig.last_request(), broken());
        }
        rig.pass_ms(1_000);
    }
    assert!(matches!(rig.failure(call), Failure::Timeout { .. }));
    assert!(rig.sent_as("tools/call").len() < 6, "with growing delays");
    rig.assert_no_calls();
}

#[test]
fn a_call_whose_exchange_broke_moves_on_if_the_session_is_lost_before_it_is_sent_again() {
    let mut rig = handshake();
    let call = rig.call_with("tools/call", json!({"name": "again"}), repeatable());
    rig.refuse(rig.last_request(), broken());
    rig.sent.clear();
    rig.reconnect();
    assert_eq!(rig.sent_as("tools/call").len(), 1);
    rig.answer(json!({"content": []}));
    assert_eq!(rig.result(call), json!({"content": []}));
    rig.assert_no_calls();
}

#[test]
fn a_call_that_was_never_delivered_or_is_stateful_is_not_repeated() {
    let mut rig = handshake();
    let call = rig.call_with("tools/call", json!({"name": "again"}), repeatable());
    rig.refuse(rig.last_request(), unreachable());
    assert!(matches!(rig.failure(call), Failure::NotDelivered(_)));
    let stateful = CallOptions {
        mode: Some(ToolMode::Stateful),
        ..repeatable()
    };
    let call = rig.call_with("tools/call", json!({"name": "again"}), stateful);
    rig.refuse(rig.last_request(), broken());
    assert!(matches!(rig.failure(call), Failure::ConnectionLost(_)));
}

/// The same status means the same, with and without an error in its body.
#[test]
fn a_status_that_denies_access_is_kept_with_the_error_in_its_body() {
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"not you"}}"#;
    for status in [401, 403, 407] {
        for mut rig in [handshake(), stateless()] {
            let call = rig.call("tools/list");
            rig.status(rig.last_request(), status, body);
            let Failure::NotDelivered(cause) = rig.failure(call) else {
                panic!("{}", rig.failure(call));
            };
            assert!(matches!(
                cause.kind(),
                ConnectionErrorKind::Status { status: it, .. } if *it == status
            ));
            assert_eq!(cause.server_error().map(|error| error.code), Some(-32001));
            assert_eq!(cause.detail(), Some("not you"));
        }
    }
}

#[test]
fn the_fate_of_a_request_that_was_answered_already_changes_nothing() {
    let mut rig = handshake();
    let call = rig.call("tools/list");
    rig.answer(json!({"tools": []}));
    let cause = ConnectionErrorKind::Io("stream closed".to_owned()).into();
    rig.refuse(rig.last_request(), SendError::NoResponse(cause));
    rig.status(rig.last_request(), 500, "");
    assert_eq!(rig.result(call), json!({"tools": []}));
}
