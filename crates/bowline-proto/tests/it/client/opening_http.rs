//! Finding the era and agreeing on a revision, over HTTP.

use std::time::Duration;

use bowline_proto::{
    client::{
        Config, ConnectionErrorKind, ConnectionState, Event, HttpStatusError, HttpVariant, Input,
        Output, SendError,
    },
    revision::{Era, Revision},
};
use bytes::Bytes;
use serde_json::{Value, json};

use super::rig::{Rig, discovery, exited, over_http};

fn probing() -> Rig {
    probing_with(|_| {})
}

fn probing_with(adjust: impl FnOnce(&mut Config)) -> Rig {
    let mut rig = Rig::with(|config| {
        over_http(config);
        adjust(config);
    })
    .started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["server/discover"]);
    rig
}

/// A connection whose probe led to the handshake.
fn initializing() -> Rig {
    initializing_with(|_| {})
}

fn initializing_with(adjust: impl FnOnce(&mut Config)) -> Rig {
    let mut rig = probing_with(adjust);
    answer_status(&mut rig, 404, "");
    assert_eq!(rig.last_sent().method(), "initialize");
    rig
}

/// Answers the last request with a status that is not success.
fn answer_status(rig: &mut Rig, status: u16, body: &str) {
    let id = rig.last_request();
    rig.status(id, status, body.to_owned());
}

fn error_body(code: i64, data: Value) -> String {
    let error = [
        ("code", code.into()),
        ("message", "no".into()),
        ("data", data),
    ];
    json!({"jsonrpc": "2.0", "id": 1, "error": Value::from_iter(error)}).to_string()
}

#[track_caller]
fn assert_asked_to_initialize(rig: &Rig) {
    assert_eq!(rig.state(), ConnectionState::Opening);
    assert_eq!(rig.last_sent().method(), "initialize");
    assert_eq!(rig.wirings, [HttpVariant::Streamable]);
}

/// The attempt failed, and said nothing about the era.
#[track_caller]
fn assert_failed_without_evidence(mut rig: Rig) {
    rig.assert_first_backoff();
    assert!(rig.sent_as("initialize").is_empty());
    rig.redial();
    rig.sent.clear();
    rig.up();
    assert_eq!(rig.methods_sent(), ["server/discover"]);
}

#[test]
fn a_discovery_opens_a_stateless_session() {
    let mut rig = probing();
    rig.answer(discovery());
    let server = rig.connection.server_info().unwrap();
    assert_eq!(server.revision, Revision::V2026_07_28);
}

#[test]
fn an_error_with_status_200_is_judged_like_any_other() {
    let mut rig = probing();
    rig.answer_error(-32601, "no such method");
    assert_asked_to_initialize(&rig);
}

#[test]
fn a_400_whose_body_lists_handshake_revisions_leads_to_the_handshake() {
    let mut rig = probing();
    let data = json!({"supported": ["2025-06-18"], "requested": "2026-07-28"});
    answer_status(&mut rig, 400, &error_body(-32022, data));
    assert_asked_to_initialize(&rig);
}

#[test]
fn a_400_whose_body_lists_nothing_in_common_is_a_failure() {
    let mut rig = probing();
    let data = json!({"supported": ["2031-01-01"], "requested": "2026-07-28"});
    answer_status(&mut rig, 400, &error_body(-32022, data));
    let offered = vec!["2031-01-01".to_owned()];
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::UnsupportedVersion { offered }
    );
    assert!(rig.sent_as("initialize").is_empty());
}

/// Some servers forget `jsonrpc` when they refuse a request.
#[test]
fn an_error_without_a_version_is_evidence_too() {
    let mut rig = probing();
    let data = json!({"supported": ["2031-01-01"], "requested": "2026-07-28"});
    let error = json!({"code": -32022, "message": "no", "data": data});
    answer_status(&mut rig, 400, &json!({"error": error}).to_string());
    let offered = vec!["2031-01-01".to_owned()];
    assert_eq!(
        *rig.fell().0,
        ConnectionErrorKind::UnsupportedVersion { offered }
    );
    assert!(rig.sent_as("initialize").is_empty());
}

#[test]
fn a_400_with_another_error_of_the_stateless_era_is_a_failure() {
    for code in [-32020, -32021] {
        let mut rig = probing();
        answer_status(&mut rig, 400, &error_body(code, Value::Null));
        assert!(matches!(rig.fell().0, ConnectionErrorKind::Refused(error) if error.code == code));
        assert!(rig.sent_as("initialize").is_empty());
    }
}

#[test]
fn a_404_with_method_not_found_leads_to_the_handshake() {
    let mut rig = probing();
    answer_status(&mut rig, 404, &error_body(-32601, Value::Null));
    assert_asked_to_initialize(&rig);
}

#[test]
fn any_other_refusal_of_the_request_leads_to_the_handshake() {
    for status in [400, 404, 405, 406, 409, 410, 415, 422, 501] {
        for body in ["", "Bad Request", "{}", "<html>", r#"{"error":"no"}"#] {
            let mut rig = probing();
            answer_status(&mut rig, status, body);
            assert_asked_to_initialize(&rig);
        }
    }
}

#[test]
fn statuses_about_the_caller_or_the_weather_are_failures_and_no_evidence() {
    for status in [301, 401, 403, 407, 408, 425, 429, 500, 502, 503, 504] {
        let mut rig = probing();
        answer_status(&mut rig, status, "");
        let kind = rig.fell().0;
        assert!(matches!(kind, ConnectionErrorKind::Status { status: it, .. } if *it == status));
        assert_failed_without_evidence(rig);
    }
}

#[test]
fn a_request_that_met_no_server_is_a_failure_and_no_evidence() {
    let cause = || ConnectionErrorKind::Io("connection reset".to_owned()).into();
    for refusal in [SendError::Failed(cause()), SendError::NoResponse(cause())] {
        let mut rig = probing();
        rig.refuse(rig.last_request(), refusal);
        assert_failed_without_evidence(rig);
    }
}

/// A web page, say: servers of one era answer anything with something.
#[test]
fn an_answer_that_is_none_leads_to_the_handshake() {
    let mut rig = probing();
    let cause = ConnectionErrorKind::ProtocolViolation("a page in HTML".to_owned()).into();
    rig.refuse(rig.last_request(), SendError::NoResponse(cause));
    assert_asked_to_initialize(&rig);
    let cause = ConnectionErrorKind::ProtocolViolation("a page in HTML".to_owned()).into();
    rig.refuse(rig.last_request(), SendError::NoResponse(cause));
    rig.assert_first_backoff();
}

/// Only a process can die of a question.
#[test]
fn a_link_that_is_lost_during_the_probe_is_no_evidence() {
    let mut rig = probing();
    rig.down();
    assert_failed_without_evidence(rig);
}

#[test]
fn a_probe_that_is_not_answered_in_time_is_followed_by_the_handshake() {
    let mut rig = probing();
    rig.pass_ms(3_000);
    assert_asked_to_initialize(&rig);
}

#[test]
fn what_becomes_of_a_probe_that_was_given_up_does_not_disturb_the_handshake() {
    let mut rig = probing();
    let probe = rig.last_request();
    rig.pass_ms(3_000);
    rig.status(probe, 500, "");
    rig.refuse(probe, SendError::NoResponse(exited()));
    assert_asked_to_initialize(&rig);
}

#[test]
fn a_handshake_refused_without_a_word_is_tried_over_two_endpoints_at_once() {
    let gateway = r#"{"error":{"code":404,"message":"Not Found"}}"#;
    for (status, body) in [(400, ""), (404, ""), (405, ""), (404, gateway)] {
        let mut rig = initializing();
        answer_status(&mut rig, status, body);
        assert_eq!(rig.fell().1, Some(Duration::ZERO));
        rig.redial();
        assert_eq!(
            rig.wirings,
            [HttpVariant::Streamable, HttpVariant::LegacySse]
        );
        rig.sent.clear();
        rig.up();
        assert_eq!(rig.methods_sent(), ["initialize"], "no probe there");
    }
}

#[test]
fn a_server_with_two_endpoints_is_dialled_that_way_again() {
    let mut rig = initializing();
    answer_status(&mut rig, 405, "");
    rig.redial();
    rig.open_by_handshake("2024-11-05");
    rig.down();
    rig.redial();
    assert_eq!(*rig.wirings.last().unwrap(), HttpVariant::LegacySse);
}

#[test]
fn a_handshake_refused_for_another_reason_is_a_failure() {
    for (status, body) in [
        (401, String::new()),
        (406, String::new()),
        (500, String::new()),
        (400, error_body(-32602, Value::Null)),
    ] {
        let mut rig = initializing();
        answer_status(&mut rig, status, &body);
        rig.assert_first_backoff();
        rig.redial();
        assert_eq!(*rig.wirings.last().unwrap(), HttpVariant::Streamable);
    }
}

#[test]
fn two_endpoints_that_are_not_there_either_are_forgotten() {
    let refused: [fn(&mut Rig); 4] = [
        Rig::dial_failed,
        |rig| {
            rig.up();
            answer_status(rig, 404, "");
        },
        |rig| {
            rig.up();
            rig.down();
        },
        |rig| rig.pass_ms(10_000),
    ];
    for refuse in refused {
        let mut rig = initializing();
        answer_status(&mut rig, 404, "");
        rig.redial();
        assert_eq!(*rig.wirings.last().unwrap(), HttpVariant::LegacySse);
        refuse(&mut rig);
        rig.redial();
        assert_eq!(*rig.wirings.last().unwrap(), HttpVariant::Streamable);
    }
}

/// Why the connection fell last, in words.
fn last_words(rig: &Rig) -> String {
    let mut causes = rig.events.iter().rev().filter_map(|event| match event {
        Event::Disconnected { cause, .. } => Some(cause.to_string()),
        _ => None,
    });
    causes.next().expect("it fell")
}

#[test]
fn what_the_server_said_first_is_told_where_two_endpoints_are_refused_too() {
    for status in [400, 404, 405] {
        let mut rig = initializing();
        answer_status(&mut rig, status, "the header X-Tenant\nis missing");
        rig.redial();
        rig.up();
        answer_status(&mut rig, 404, "no stream here");
        let first = format!("HTTP {status}: the header X-Tenant is missing");
        let told = last_words(&rig);
        assert!(told.ends_with(&first), "{told}");
        // Another attempt has another cause.
        rig.redial();
        rig.dial_failed();
        let told = last_words(&rig);
        assert!(!told.contains("X-Tenant"), "{told}");
    }
}

#[test]
fn the_two_endpoint_transport_can_be_forbidden() {
    let mut rig = initializing_with(|config| config.legacy_sse_fallback = false);
    answer_status(&mut rig, 404, "");
    rig.assert_first_backoff();
    rig.redial();
    assert_eq!(*rig.wirings.last().unwrap(), HttpVariant::Streamable);
}

#[test]
fn an_assumption_saves_the_probe_and_is_forgotten_when_it_fails() {
    let mut rig = Rig::with(|config| {
        over_http(config);
        config.assumed_era = Some(Era::Handshake);
    })
    .started();
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
    let data = json!({"supported": ["2031-01-01"], "requested": "2025-11-25"});
    answer_status(&mut rig, 400, &error_body(-32022, data));
    rig.assert_first_backoff();
    rig.redial();
    rig.sent.clear();
    rig.up();
    assert_eq!(rig.methods_sent(), ["server/discover"]);
}

#[test]
fn an_assumption_can_be_made_until_the_link_is_up() {
    let mut rig = Rig::with(over_http).started();
    rig.connection.assume_era(Era::Handshake);
    rig.up();
    assert_eq!(rig.methods_sent(), ["initialize"]);
}

#[test]
fn a_server_that_says_when_to_come_back_is_left_alone_until_then() {
    let mut rig = probing();
    let refusal = HttpStatusError {
        status: 503,
        body: Bytes::new(),
        retry_after: Some(Duration::from_secs(77)),
    };
    rig.refuse(rig.last_request(), SendError::Status(refusal));
    assert_eq!(rig.fell().1, Some(Duration::from_secs(77)));
    rig.pass_ms(76_999);
    assert_eq!(rig.state(), ConnectionState::Backoff);
    rig.pass_ms(1);
    assert_eq!(rig.state(), ConnectionState::Opening);
}

#[test]
fn a_server_cannot_ask_for_less_than_the_wait_there_is_anyway() {
    let mut rig = probing();
    let refusal = HttpStatusError {
        status: 503,
        body: Bytes::new(),
        retry_after: Some(Duration::ZERO),
    };
    rig.refuse(rig.last_request(), SendError::Status(refusal));
    rig.assert_first_backoff();
}

#[test]
fn a_stateless_server_that_refuses_the_handshake_by_status_is_probed_on_the_same_link() {
    let mut rig = Rig::with(|config| {
        over_http(config);
        config.assumed_era = Some(Era::Handshake);
    })
    .started();
    rig.up();
    let data = json!({"supported": ["2026-07-28"], "requested": "2025-11-25"});
    answer_status(&mut rig, 400, &error_body(-32022, data));
    assert_eq!(rig.methods_sent(), ["initialize", "server/discover"]);
    rig.answer(discovery());
    assert_eq!(rig.state(), ConnectionState::Ready);
}

/// Transports mark their messages with the revision.
#[test]
fn the_transport_is_told_the_revision_before_the_first_message_that_is_sent_in_it() {
    let mut rig = initializing();
    let (link, id) = (rig.current(), rig.last_request());
    let info = json!({"name": "fake", "version": "1"});
    let result = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info});
    let frame = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let frame = frame.into();
    rig.connection.handle(rig.now, Input::Frame { link, frame });
    let mut outputs = std::iter::from_fn(|| match rig.connection.poll_output() {
        Output::Idle(_) => None,
        output => Some(output),
    });
    let first =
        outputs.find(|output| matches!(output, Output::Negotiated { .. } | Output::Send { .. }));
    assert!(matches!(
        first,
        Some(Output::Negotiated {
            revision: Revision::V2025_06_18,
            ..
        })
    ));
}
