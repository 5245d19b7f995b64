//! Any bytes, read as headers and as the JSON that headers mirror: no panic,
//! and whatever a client would send, a server accepts.
#![no_main]

use bowline_proto::http::{
    Accept, OriginPolicy,
    header::{HeaderField, MirroredHeaders, ParamHeaders, decode_value, encode_value},
    is_event_stream, is_json, parse_error_body, parse_retry_after,
    resume::EventId,
    session_from_headers,
};

fn pairs(fields: &[HeaderField<'_>]) -> Vec<(String, String)> {
    let pair = |field: &HeaderField<'_>| {
        assert!(
            field
                .value()
                .bytes()
                .all(|byte| matches!(byte, 0x20..=0x7e))
        );
        (field.name().to_owned(), field.value().to_owned())
    };
    fields.iter().map(pair).collect()
}

fn values(raw: &[u8]) {
    if let Ok(text) = decode_value(raw) {
        assert_eq!(
            decode_value(encode_value(&text).as_bytes()).as_deref(),
            Ok(&*text)
        );
    }
    let text = String::from_utf8_lossy(raw);
    assert_eq!(
        decode_value(encode_value(&text).as_bytes()).as_deref(),
        Ok(&*text)
    );
    if let Some(id) = EventId::parse(raw) {
        assert_eq!(id.to_string().as_bytes(), raw);
    }
    let headers = [
        ("accept", raw),
        ("host", raw),
        ("origin", raw),
        ("mcp-session-id", raw),
    ];
    let _ = Accept::from_headers(&headers);
    let _ = OriginPolicy::loopback().check(&headers);
    let _ = session_from_headers(&headers, false, true);
    let _ = (
        is_json(raw),
        is_event_stream(raw),
        parse_retry_after(raw, 1 << 31),
    );
    let _ = parse_error_body(raw);
}

fn mirrors(schema: &[u8], body: &[u8]) {
    if let Ok(mirror) = MirroredHeaders::from_message("tools/call", Some(body)) {
        let fields = mirror.fields().expect("the method is plain");
        assert_eq!(mirror.check_request(&pairs(&fields)), Ok(()));
    }
    let Ok(params) = ParamHeaders::from_schema(&String::from_utf8_lossy(schema)) else {
        return;
    };
    for header in params.iter() {
        assert!(params.path(header.name()).is_some());
    }
    if let Ok(fields) = params.fields(Some(body)) {
        assert_eq!(params.check(&pairs(&fields), Some(body)), Ok(()));
    }
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    values(data);
    // A zero byte parts the schema from the arguments.
    let cut = data
        .iter()
        .position(|&byte| byte == 0)
        .unwrap_or(data.len());
    mirrors(&data[..cut], data.get(cut + 1..).unwrap_or_default());
});
