//! `_meta`: known keys typed, all keys kept.

use bowline_proto::model::{
    ClientCapabilities, Implementation, LogLevel, Meta, Request, SubscribeParams, decode,
};

#[test]
fn what_is_set_is_read_back() {
    let mut meta = Meta::new();
    meta.set_progress_token(&"7".into());
    meta.set_protocol_version("2026-07-28");
    meta.set_client_info(&Implementation::new("ferry", "3.1"));
    meta.set_client_capabilities(&ClientCapabilities::default());
    meta.set_log_level(&LogLevel::Notice);
    meta.set_traceparent("00-1-2-01");
    let wire = serde_json::to_string(&meta).unwrap();
    let back: Meta = decode(wire.as_bytes()).unwrap();
    assert_eq!(back, meta);
    assert_eq!(back.progress_token().unwrap(), Some("7".into()));
    assert_eq!(
        back.protocol_version().unwrap().as_deref(),
        Some("2026-07-28")
    );
    assert_eq!(back.client_info().unwrap().unwrap().name, "ferry");
    assert_eq!(
        back.client_capabilities().unwrap(),
        Some(ClientCapabilities::default())
    );
    assert_eq!(back.log_level().unwrap(), Some(LogLevel::Notice));
    assert_eq!(back.server_info().unwrap(), None);
    assert_eq!(back.subscription_id().unwrap(), None);
}

#[test]
fn setting_again_replaces() {
    let mut meta = Meta::new();
    meta.set_tracestate("a=1");
    meta.set_baggage("b=2");
    meta.set_tracestate("a=3");
    assert_eq!(
        serde_json::to_string(&meta).unwrap(),
        r#"{"tracestate":"a=3","baggage":"b=2"}"#
    );
}

#[test]
fn the_type_of_a_token_is_kept() {
    for wire in [r#"{"progressToken":7}"#, r#"{"progressToken":"7"}"#] {
        let meta: Meta = decode(wire.as_bytes()).unwrap();
        let token = meta.progress_token().unwrap().unwrap();
        let mut copy = Meta::new();
        copy.set_progress_token(&token);
        assert_eq!(serde_json::to_string(&copy).unwrap(), wire);
    }
}

#[test]
fn a_bad_value_is_an_error_with_its_path_and_spoils_nothing_else() {
    let wire = br#"{"uri":"a:b","_meta":{
        "io.modelcontextprotocol/clientInfo":{"name":1},
        "traceparent":"00-1-2-01"
    }}"#;
    let mut params: SubscribeParams = decode(wire).unwrap();
    let meta = params.take_meta().unwrap();
    assert_eq!(params.meta, None);
    let error = meta.client_info().unwrap_err();
    assert_eq!(
        error.path,
        r#"_meta["io.modelcontextprotocol/clientInfo"].name"#
    );
    assert_eq!(meta.traceparent().unwrap().as_deref(), Some("00-1-2-01"));
}
