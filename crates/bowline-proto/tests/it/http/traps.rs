//! The known traps of the protocol, as far as HTTP is concerned.

use std::time::Duration;

use bowline_proto::{
    Instant,
    http::{
        header::{MirroredHeaders, MismatchReason, ParamHeaders, check_protocol_version},
        resume::{ResumeAction, ResumeError, Resumption, ResumptionPolicy},
        sse::{Decoder, Event},
        status_for_error,
    },
    jsonrpc::code,
};

fn first_event(mut stream: &[u8]) -> Event {
    Decoder::default()
        .push(&mut stream)
        .expect("within the limits")
        .expect("an event")
}

#[test]
fn trap_missing_meta_is_invalid_params_and_400() {
    assert_eq!(status_for_error(code::INVALID_PARAMS, true), 400);
    assert_eq!(status_for_error(code::INVALID_PARAMS, false), 200);
}

#[test]
fn trap_header_faults_have_the_new_code() {
    let mismatch = check_protocol_version(&[("mcp-protocol-version", "v1")], "v2").unwrap_err();
    assert_eq!(mismatch.to_error().code, -32020);
    assert_eq!(status_for_error(mismatch.to_error().code, false), 400);
    assert!(mismatch.to_string().contains("mcp-protocol-version"));
}

#[test]
fn trap_a_mismatch_never_repeats_the_value() {
    let mirror =
        MirroredHeaders::from_message("tools/call", Some(br#"{"name": "body-secret"}"#)).unwrap();
    let headers = [("mcp-method", "tools/call"), ("mcp-name", "header-secret")];
    let message = mirror.check_request(&headers).unwrap_err().to_string();
    assert!(!message.contains("secret"), "{message}");
}

#[test]
fn trap_one_bad_annotation_drops_one_tool() {
    let property =
        |annotation: &str| format!(r#"{{"type": "object", "properties": {{"p": {annotation}}}}}"#);
    let tools = [
        (
            "valid_tool",
            property(r#"{"type": "string", "x-mcp-header": "Region"}"#),
        ),
        ("no_annotation", property(r#"{"type": "number"}"#)),
        (
            "empty",
            property(r#"{"type": "string", "x-mcp-header": ""}"#),
        ),
        (
            "object",
            property(r#"{"type": "object", "x-mcp-header": "A"}"#),
        ),
        (
            "array",
            property(r#"{"type": "array", "x-mcp-header": "A"}"#),
        ),
        ("null", property(r#"{"type": "null", "x-mcp-header": "A"}"#)),
        (
            "number",
            property(r#"{"type": "number", "x-mcp-header": "A"}"#),
        ),
        (
            "space",
            property(r#"{"type": "string", "x-mcp-header": "A B"}"#),
        ),
        (
            "colon",
            property(r#"{"type": "string", "x-mcp-header": "A:B"}"#),
        ),
        (
            "non_ascii",
            property(r#"{"type": "string", "x-mcp-header": "Ä"}"#),
        ),
        (
            "control",
            property(r#"{"type": "string", "x-mcp-header": "A\u0001"}"#),
        ),
    ];
    let kept: Vec<_> = tools
        .iter()
        .filter(|(_, schema)| ParamHeaders::from_schema(schema).is_ok())
        .map(|(name, _)| *name)
        .collect();
    assert_eq!(kept, ["valid_tool", "no_annotation"]);
}

#[test]
fn trap_an_empty_string_needs_an_empty_header() {
    let schema = r#"{"properties": {"p": {"type": "string", "x-mcp-header": "P"}}}"#;
    let params = ParamHeaders::from_schema(schema).unwrap();
    let arguments: Option<&[u8]> = Some(br#"{"p": ""}"#);
    assert_eq!(params.fields(arguments).unwrap()[0].value(), "");
    assert_eq!(params.check(&[("Mcp-Param-P", "")], arguments), Ok(()));
    let none: [(&str, &str); 0] = [];
    let missing = params.check(&none, arguments).unwrap_err();
    assert_eq!(missing.reason, MismatchReason::Missing);
}

#[test]
fn trap_the_priming_event_is_not_json() {
    let priming = first_event(b"id: s1_0\nretry: 500\ndata: \n\n");
    assert_eq!(priming.message(), None, "there is nothing to parse");
    assert_eq!(priming.id.as_deref(), Some("s1_0"));
    assert_eq!(priming.retry, Some(Duration::from_millis(500)));
    assert_eq!(
        first_event(b"id: s1_0\n\n").id.as_deref(),
        Some("s1_0"),
        "or without data"
    );
}

#[test]
fn trap_the_client_waits_as_long_as_it_is_told() {
    let mut stream = Resumption::new(ResumptionPolicy::default());
    stream.record_event(&first_event(b"id: 1\nretry: 500\ndata:\n\n"));
    let closed = Instant::ORIGIN + Duration::from_secs(3);
    let ResumeAction::Resume { at, last_event_id } = stream.stream_broken(closed) else {
        panic!("the server gave an id");
    };
    assert!(at - closed >= Duration::from_millis(500));
    assert_eq!(last_event_id, "1");
}

#[test]
fn trap_a_stream_without_ids_is_lost_not_resumed() {
    let mut stream = Resumption::new(ResumptionPolicy::default());
    stream.record_event(&first_event(b"data: {}\n\n"));
    assert_eq!(
        stream.stream_broken(Instant::ORIGIN),
        ResumeAction::GiveUp(ResumeError::NoEventId)
    );
}
